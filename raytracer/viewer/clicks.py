"""Distinction of clicks, double clicks and drags."""

from math import inf

DOUBLE_CLICK_SECONDS = 0.35  # most seconds between the clicks of a double click

Place = tuple[float, float]


class Clicks:
    def __init__(self, tolerance: float) -> None:
        self._tolerance = tolerance
        self._pressed: Place | None = None  # until the release, or the start of a drag
        self._clicked: Place | None = None  # the latest click, if another makes it a double click
        self._click_time = -inf  # seconds

    def press(self, x: float, y: float) -> None:
        self._pressed = x, y

    def cancel(self) -> None:
        """Cancel a click, for example because of another button."""
        self._pressed = self._clicked = None

    def dragged(self, x: float, y: float) -> bool:
        """Return whether the mouse is dragged, given its new position."""
        if not self._near(self._pressed, x, y):
            self.cancel()
        return self._pressed is None

    def release(self, x: float, y: float, now: float) -> int:
        """Return 2 for a double click, 1 for a single one, 0 for the end of a drag."""
        if self._pressed is None:
            return 0
        self._pressed = None
        is_double = now - self._click_time < DOUBLE_CLICK_SECONDS and self._near(
            self._clicked, x, y
        )
        self._clicked, self._click_time = None if is_double else (x, y), now
        return 2 if is_double else 1

    def _near(self, place: Place | None, x: float, y: float) -> bool:
        return place is not None and abs(x - place[0]) + abs(y - place[1]) <= self._tolerance
