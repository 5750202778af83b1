"""What is a click, a double click, a drag."""

from __future__ import annotations

from math import inf

TWICE = 0.35
"""Seconds between the clicks of a double click."""

Place = tuple[float, float]


class Clicks:
    """One button of a mouse.

    still: how far a click moves at most, and the second one of a double click is from the first;
        in the units of the places.
    """

    def __init__(self, still: float) -> None:
        self._still = still
        self._pressed: Place | None = None  # until it is let go, or is a drag
        self._clicked: Place | None = None  # the latest click, if another makes it a double click
        self._when = -inf  # it was

    def press(self, x: float, y: float) -> None:
        """Begin a click or a drag."""
        self._pressed = x, y

    def leave(self) -> None:
        """Let it be no click, for instance because of another button."""
        self._pressed = self._clicked = None

    def dragged(self, x: float, y: float) -> bool:
        """Whether it is a drag, now that the mouse is there."""
        if not self._near(self._pressed, x, y):
            self.leave()
        return self._pressed is None

    def release(self, x: float, y: float, now: float) -> int:
        """2 for a double click, 1 for another one, 0 for the end of a drag. now: seconds."""
        if self._pressed is None:
            return 0
        self._pressed = None
        twice = now - self._when < TWICE and self._near(self._clicked, x, y)
        self._clicked, self._when = None if twice else (x, y), now
        return 2 if twice else 1

    def _near(self, place: Place | None, x: float, y: float) -> bool:
        return place is not None and abs(x - place[0]) + abs(y - place[1]) <= self._still
