"""How finely a picture is rendered while it moves: arithmetic alone."""

from __future__ import annotations

from collections import deque
from statistics import median_low

Size = tuple[int, int]

FRAME = 1.0 / 25.0
"""Seconds that a frame of a moving picture may take."""

SLOWEST = 1.0 / 20.0
"""The same at half the window's resolution, and where it has to be coarser."""

LEVELS = (1.0, 0.75, 0.6, 0.5, 0.375, 0.25, 0.1875, 0.125)
"""Parts of the window's width and height that are rendered, from fine to coarse."""

LEAST = 1.0 / 60.0
"""Seconds that rendering may take however long the window takes: coarser would gain little."""

HALF = LEVELS.index(0.5)

FINER = 0.8
"""A picture may take this part of what one of a finer level may, before that level is tried."""

NEW = 0.5
"""Weight of the latest frame in what is known of a pixel."""

LAST, ENOUGH = 5, 3
"""Frames that tell of a level, and of one that is only tried: some may have been disturbed."""

SLACK = 1.1
"""A level that was tried with success stays while its pictures take so many times what they may."""

HOPELESS = 2.0
"""A picture that takes so many times what it may condemns its level alone."""

WAIT, LONGEST_WAIT = 8, 64
"""Frames before a level that was too slow is tried again; each failure doubles them."""


class ResolutionController:
    """Chooses the level of a moving picture by what its frames took.

    How the time of a frame grows with its pixels depends on the scene (rays of a coarse picture
    have less in common), so a finer level is tried when there is room, and left if it is too slow.
    """

    def __init__(self, level: int = LEVELS.index(0.25)) -> None:
        """Begin coarse: nothing is known of the scene yet."""
        self.level = level
        self.per_pixel = 0.0  # seconds to a picture; 0 before the first frame
        # Of the last frames at this level: seconds to the picture, and from there to the window.
        self._frames: deque[tuple[float, float]] = deque(maxlen=LAST)
        self._wait, self._left = WAIT, 0  # frames before a finer level is tried
        self._trial, self._home = False, level  # whether a level is tried, and from which
        self._age = LONGEST_WAIT  # frames since a trial began

    def choose(self, full: Size) -> Size:
        """The size of the next moving frame, in pixels.

        full: of the window.
        """
        return at(self.level, full)

    def record(self, pixels: int, seconds: float, shown: float = 0.0) -> None:
        """Learn from a moving frame of one sample per pixel.

        seconds: to the picture. shown: from there until it was on the window.
        """
        self.learn(pixels, seconds)
        self._frames.append((seconds, shown))
        self._left, self._age = max(self._left - 1, 0), self._age + 1
        if self._too_slow():
            self._coarser()
        elif self.level and not self._left and self._fits(self.level - 1, self._rendering):
            self._finer()
        elif len(self._frames) >= ENOUGH:
            self._trial = False

    @property
    def _rendering(self) -> float:
        """Seconds that a picture of this level takes."""
        return median_low(seconds for seconds, _ in self._frames)

    def _room(self, level: int) -> float:
        """Seconds that a picture of a level may take, for showing it takes the same at any."""
        shown = median_low(shown for _, shown in self._frames)
        return max((SLOWEST if level >= HALF else FRAME) - shown, LEAST)

    def _too_slow(self) -> bool:
        room = self._room(self.level)
        enough, slack = (ENOUGH, 1.0) if self._trial else (LAST, SLACK)
        certain = len(self._frames) >= enough or self._rendering > HOPELESS * room
        return certain and self._rendering > room * slack

    def learn(self, pixels: int, seconds: float) -> None:
        """Learn from any picture what a sample of a pixel takes."""
        cost = seconds / max(pixels, 1)
        self.per_pixel = NEW * cost + (1.0 - NEW) * self.per_pixel if self.per_pixel else cost

    def seconds(self, size: Size) -> float:
        """What a picture of that size is expected to take, rather too much; 0 if nobody knows."""
        return self.per_pixel * size[0] * size[1]

    def _coarser(self) -> None:
        """Go where a frame would fit if its time were that of its pixels; at least one level.

        After a trial no farther than to where it began.
        """
        last = len(LEVELS) - 1
        if self._trial:
            last = self._home
        if self._age < LONGEST_WAIT:  # the trial was a success for a moment at best
            self._left, self._wait = self._wait, min(2 * self._wait, LONGEST_WAIT)
        level = min(self.level + 1, last)
        while level < last and self._expected(level) > self._room(level):
            level += 1
        self._go(level)

    def _finer(self) -> None:
        """Try the next level, or the finest that would fit if all time were that of pixels."""
        level, self._home = self.level - 1, self.level
        while level and self._fits(level - 1, self._expected(level - 1)):
            level -= 1
        self._go(level)
        self._trial, self._age = True, 0

    def _expected(self, level: int) -> float:
        return self._rendering * (LEVELS[level] / LEVELS[self.level]) ** 2

    def _fits(self, level: int, seconds: float) -> bool:
        """Whether a picture that takes so long leaves room to try a level."""
        return seconds <= FINER * self._room(level)

    def _go(self, level: int) -> None:
        if level != self.level:
            self.level = level
            self._frames.clear()
        self._trial = False


def at(level: int, full: Size) -> Size:
    """The size of a level, at least a pixel."""
    width, height = (max(round(side * LEVELS[level]), 1) for side in full)
    return width, height


def finer(size: Size, full: Size, resolution: ResolutionController, patience: float) -> Size:
    """The next size on the way to the full one: there at once, if that takes no longer than this.

    patience: seconds.
    """
    if resolution.seconds(full) <= patience:
        return full
    doubled = min(2 * size[0], full[0]), min(2 * size[1], full[1])
    return full if doubled[0] * 4 > full[0] * 3 else doubled
