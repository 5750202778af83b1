"""How finely a picture is rendered while it moves: arithmetic alone.

The time of a frame grows with its pixels, so the last frames tell how many fit the next one.
"""

from __future__ import annotations

Size = tuple[int, int]

FRAME = 1.0 / 30.0
"""Seconds that a frame of a moving picture aims at, at any resolution."""

SLOWEST = 1.0 / 21.0
"""Seconds that it may take before it becomes coarser than half the window's resolution."""

LEVELS = (1.0, 0.75, 0.6, 0.5, 0.375, 0.25, 0.1875, 0.125)
"""Parts of the window's width and height that are rendered, from fine to coarse."""

HALF = LEVELS.index(0.5)

FINER = 0.8
"""A finer level must promise to take at most this part of the time, or levels would alternate."""

NEW = 0.5
"""Weight of the latest frame in the estimate."""


class Pace:
    """Chooses the level of a moving picture by what the last frames took."""

    def __init__(self, level: int = LEVELS.index(0.25)) -> None:
        """Begin coarse: nothing is known of the scene yet."""
        self.level = level
        self.per_pixel = 0.0  # seconds; 0 before the first frame
        self.fixed = 0.0  # seconds, at any resolution

    def record(self, pixels: int, seconds: float, shown: float = 0.0) -> None:
        """Learn from a frame of one sample a pixel.

        seconds: to the picture. shown: from there until it was on the window.
        """
        cost = seconds / max(pixels, 1)
        known = self.per_pixel > 0.0
        self.per_pixel = NEW * cost + (1.0 - NEW) * self.per_pixel if known else cost
        self.fixed = NEW * shown + (1.0 - NEW) * self.fixed if known else shown

    def seconds(self, size: Size) -> float:
        """What a frame of that size is expected to take to its picture; 0 before the first."""
        return self.per_pixel * size[0] * size[1]

    def choose(self, full: Size) -> Size:
        """The size of the next moving frame, in pixels.

        full: of the window.
        """
        if self.per_pixel:
            fits = [self._fits(level, full) for level in range(len(LEVELS))]
            self.level = fits.index(True) if any(fits) else len(LEVELS) - 1
        return at(self.level, full)

    def _fits(self, level: int, full: Size) -> bool:
        allowed = SLOWEST if level == HALF else FRAME
        taken = self.fixed + self.seconds(at(level, full))
        return taken <= allowed * (FINER if level < self.level else 1.0)


def at(level: int, full: Size) -> Size:
    """The size of a level, at least a pixel."""
    width, height = (max(round(side * LEVELS[level]), 1) for side in full)
    return width, height


def finer(size: Size, full: Size, pace: Pace, patience: float) -> Size:
    """The next size on the way to the full one: there at once, if that takes no longer than this.

    patience: seconds.
    """
    if pace.seconds(full) <= patience:
        return full
    doubled = min(2 * size[0], full[0]), min(2 * size[1], full[1])
    return full if doubled[0] * 4 > full[0] * 3 else doubled
