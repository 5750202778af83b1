"""Progressive film: coarse during interaction, then finer, then with more samples.

A draft is a picture of one sample per pixel that is soon replaced. With one sample, a
reconstruction filter moves each pixel's ray at random within its radius, which frays all outlines;
so a draft samples pixel centres. The finished picture starts again from zero samples.
"""

from collections import deque
from statistics import median_low

from raytracer.backends.base import Device, DeviceFilm, Picture, ProgressCall
from raytracer.film.aovs import GUIDES
from raytracer.film.film import Film
from raytracer.viewer.messages import RenderRequest, Size

FRAME_BUDGET = 1.0 / 25.0  # seconds per frame during interaction, above half of the full resolution
COARSE_FRAME_BUDGET = 1.0 / 20.0  # seconds per frame at half of the full resolution or less
MIN_RENDER_BUDGET = 1.0 / 60.0  # even if the window is slow: a coarser level would save little
LEVELS = (1.0, 0.75, 0.6, 0.5, 0.375, 0.25, 0.1875, 0.125)  # fractions of width and height

HALF = LEVELS.index(0.5)
BUDGETS = [COARSE_FRAME_BUDGET if n >= HALF else FRAME_BUDGET for n in range(len(LEVELS))]

SMOOTHING = 0.5  # weight of the latest frame in the time per pixel (exponential moving average)
HISTORY = 3  # frames that judge a level: single ones may be disturbed
SLACK = 1.1  # hysteresis: factor of the budget up to which a level is kept


class ResolutionController:
    """Chooses the resolution of the next frame during interaction: the finest level within its
    budget, if a pixel takes as long as in the latest frames.

    A pixel of a finer picture takes less, because its rays are more coherent.
    """

    def __init__(self, level: int = LEVELS.index(0.25)) -> None:
        self.level = level
        self.per_pixel = 0.0  # seconds per sample of a pixel; 0 before the first frame
        # Of the last frames: seconds of rendering per pixel, and of presenting.
        self._frames: deque[tuple[float, float]] = deque(maxlen=HISTORY)

    def choose(self, full: Size, seconds: float = 0.0) -> Size:
        """Return width and height of the next frame, in pixels, in a window of size `full`. It is
        that of the level, or the largest one that takes at most so many seconds."""
        sizes = (find_level_size(level, full) for level in range(self.level))
        fitting = (size for size in sizes if self.per_pixel and self.seconds(size) <= seconds)
        return next(fitting, find_level_size(self.level, full))

    def record(self, pixels: int, rendering: float, presenting: float = 0.0) -> None:
        """Learn from a frame of one sample per pixel, and choose the level of the next."""
        self.learn(pixels, rendering)
        self._frames.append((rendering / pixels, presenting))
        cost, presenting = map(median_low, zip(*self._frames, strict=True))
        full = cost * pixels / LEVELS[self.level] ** 2  # seconds at full size
        for level, share in enumerate(LEVELS):
            # presenting takes the same at any level
            budget = max(BUDGETS[level] - presenting, MIN_RENDER_BUDGET)
            if full * share**2 <= budget * (SLACK if level == self.level else 1.0):
                break
        self.level = level

    def learn(self, pixels: int, seconds: float) -> None:
        """Update the time per pixel from any picture of one sample per pixel."""
        cost = seconds / max(pixels, 1)
        if self.per_pixel:
            cost = SMOOTHING * cost + (1.0 - SMOOTHING) * self.per_pixel
        self.per_pixel = cost

    def seconds(self, size: Size) -> float:
        """Return an upper estimate of the time of a picture; 0 if unknown."""
        return self.per_pixel * size[0] * size[1]


def find_level_size(level: int, full: Size) -> Size:
    """Return the size of a level, at least one pixel."""
    width, height = (max(round(side * LEVELS[level]), 1) for side in full)
    return width, height


def choose_next_size(
    size: Size, full: Size, controller: ResolutionController, seconds: float
) -> Size:
    """Return the next size on the way to the full one."""
    if controller.seconds(full) <= seconds:
        return full
    doubled = min(2 * size[0], full[0]), min(2 * size[1], full[1])
    return full if doubled[0] * 4 > full[0] * 3 else doubled


class Superseded(Exception):  # noqa: N818 - not an error: the picture is no longer needed
    """Interrupts a pass; raised by what is called with its progress."""


class ProgressiveFilm:
    """A film that is restarted at another size or view; used by one thread."""

    def __init__(self) -> None:
        self.film: DeviceFilm | None = None
        self.size: Size = (0, 0)
        self.draft = False
        self.can_yield = False
        self._device: Device | None = None  # of the film
        self._clean: Film | None = None  # without noise, until samples are added

    @property
    def samples(self) -> int:
        return self.film.samples if self.film is not None else 0

    @property
    def pixels(self) -> int:
        return self.size[0] * self.size[1]

    def is_finished(self, request: RenderRequest) -> bool:
        """Return whether a request needs no more samples."""
        return not self.draft and self.size == request.size and self.samples >= request.samples

    def drop(self) -> None:
        if self.film is not None:
            self.film.close()
        self.film = None

    def restart(self, request: RenderRequest, size: Size, draft: bool) -> None:
        """Discard the samples and start at a size, in pixels."""
        view, device = request.job.view, request.job.device
        final = view.centered and not view.occlusion_rays and size == request.size
        self.draft = draft and not final
        if self.film is None or (self.size, self._device) != (size, device):
            self.drop()
            self.film, self.size = device.film(Film.blank(*size)), size
            self._device = device
        self.film.clear()
        self._clean = None

    def add(
        self, request: RenderRequest, count: int, check: ProgressCall, backup: bool = False
    ) -> float:
        """Add samples, and return the seconds of the device. If the pass is interrupted, the film
        is restored with a backup, or dropped."""
        assert self.film is not None
        job, sums = request.job, None
        if backup and self.samples and not job.device.has_own_memory:
            sums = self.film.to_host().sums.copy()
        self.can_yield = sums is not None or not self.samples
        self._clean = None
        view = job.view.as_draft(self.size[0] / request.size[0]) if self.draft else job.view
        try:
            return self.film.add(job.scene, view, count, check)
        except Superseded:
            if sums is None:
                self.drop()
            else:
                self.film.restore(sums)
            raise

    def develop_without_noise(self, request: RenderRequest, picture: Picture) -> None:
        """Develop the film denoised; the film keeps its noise. Takes a second or two."""
        from raytracer.film.denoise import denoise_film

        assert self.film is not None
        job = request.job
        if self._clean is None:
            host = self.film.to_host()
            job.find_aovs(host, tuple(GUIDES))
            self._clean = denoise_film(host, job.threads)
        with job.device.film(self._clean) as clean:
            clean.develop_into(request.tone, picture)
