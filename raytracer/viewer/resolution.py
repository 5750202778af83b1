"""Resolution controller: picture size during interaction, from frame times."""

from collections import deque
from statistics import median_low

Size = tuple[int, int]

FRAME_BUDGET = 1.0 / 25.0  # seconds per frame during interaction, above half of the full resolution
COARSE_FRAME_BUDGET = 1.0 / 20.0  # seconds per frame at half of the full resolution or less
MIN_RENDER_BUDGET = 1.0 / 60.0  # even if the window is slow: a coarser level would save little
LEVELS = (1.0, 0.75, 0.6, 0.5, 0.375, 0.25, 0.1875, 0.125)  # fractions of width and height

HALF = LEVELS.index(0.5)
BUDGETS = [COARSE_FRAME_BUDGET if n >= HALF else FRAME_BUDGET for n in range(len(LEVELS))]

FINER_MARGIN = 0.8  # fraction of a finer level's budget below which that level is tried
SMOOTHING = 0.5  # weight of the latest frame in the time per pixel (exponential moving average)
HISTORY = 3  # frames that judge a level: single ones may be disturbed
SLACK = 1.1  # hysteresis: factor of the budget up to which a level is kept
ABANDON_FACTOR = 2.0  # factor of the budget above which a single frame is enough to leave a level
RETRY_FRAMES, MAX_RETRY_FRAMES = 8, 64  # before a level that was too slow is tried again


class ResolutionController:
    """Chooses the resolution of the next frame during interaction.

    The time of a frame is not proportional to its pixels, because rays of a coarse picture are less
    coherent. So a finer level is tried when there is time left, and abandoned if it is too slow.
    """

    def __init__(self, level: int = LEVELS.index(0.25)) -> None:
        self.level = level
        self.per_pixel = 0.0  # seconds per sample of a pixel; 0 before the first frame
        # Of the last frames at this level: seconds of rendering, and of presenting.
        self._frames: deque[tuple[float, float]] = deque(maxlen=HISTORY)
        self._retry, self._wait = RETRY_FRAMES, 0  # frames before a finer level is tried

    def choose(self, full: Size, seconds: float = 0.0) -> Size:
        """Return width and height of the next frame, in pixels, in a window of size `full`.

        It is that of the level, or the largest one that takes at most so many seconds.
        """
        sizes = (size_at(level, full) for level in range(self.level))
        fitting = (size for size in sizes if self.per_pixel and self.seconds(size) <= seconds)
        return next(fitting, size_at(self.level, full))

    def record(self, pixels: int, rendering: float, presenting: float = 0.0) -> None:
        """Learn from a frame of one sample per pixel."""
        self.learn(pixels, rendering)
        self._frames.append((rendering, presenting))
        self._wait = max(self._wait - 1, 0)
        rendering, presenting = map(median_low, zip(*self._frames, strict=True))
        # Presenting takes the same at any level; rendering should be proportional to pixels.
        budgets = [max(each - presenting, MIN_RENDER_BUDGET) for each in BUDGETS]
        expected = [rendering * (each / LEVELS[self.level]) ** 2 for each in LEVELS]
        level, last = self.level, len(LEVELS) - 1
        slack = SLACK if len(self._frames) == HISTORY else ABANDON_FACTOR
        if rendering > slack * budgets[level]:
            self._wait, self._retry = self._retry, min(2 * self._retry, MAX_RETRY_FRAMES)
            fitting = (n for n in range(level + 1, last) if expected[n] <= budgets[n])
            level = next(fitting, last)
        elif level and not self._wait and rendering <= FINER_MARGIN * budgets[level - 1]:
            level -= 1
            while level and expected[level - 1] <= FINER_MARGIN * budgets[level - 1]:
                level -= 1
        if level != self.level:
            self.level = level
            self._frames.clear()

    def learn(self, pixels: int, seconds: float) -> None:
        """Update the time per pixel from any picture of one sample per pixel."""
        cost = seconds / max(pixels, 1)
        if self.per_pixel:
            cost = SMOOTHING * cost + (1.0 - SMOOTHING) * self.per_pixel
        self.per_pixel = cost

    def seconds(self, size: Size) -> float:
        """Return an upper estimate of the time of a picture; 0 if unknown."""
        return self.per_pixel * size[0] * size[1]


def size_at(level: int, full: Size) -> Size:
    """Return the size of a level, at least one pixel."""
    width, height = (max(round(side * LEVELS[level]), 1) for side in full)
    return width, height


def next_size(size: Size, full: Size, controller: ResolutionController, seconds: float) -> Size:
    """Return the next size on the way to the full one."""
    if controller.seconds(full) <= seconds:
        return full
    doubled = min(2 * size[0], full[0]), min(2 * size[1], full[1])
    return full if doubled[0] * 4 > full[0] * 3 else doubled
