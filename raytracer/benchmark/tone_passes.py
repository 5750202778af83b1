"""Film, settings and passes of `raytracer bench tone`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from raytracer.backends.cuda.passes import Pass
from raytracer.backends.cuda.tone import tone_kernels
from raytracer.benchmark import timing
from raytracer.benchmark.cuda.guarded_memory import Memory
from raytracer.benchmark.cuda.session import Session
from raytracer.errors import RaytracerError
from raytracer.film.film import Film, develop, measure, tone_arguments
from raytracer.film.tone_settings import ToneSettings
from raytracer.variants import discover

if TYPE_CHECKING:
    from numpy.typing import NDArray

Run = Callable[[], Any]
SIZE = (3840, 2160)
SAMPLES = 4


def film(size: tuple[int, int] = SIZE) -> Film:
    """Return a film of log-normal values; a tenth of the pixels is empty."""
    width, height = size
    rng = np.random.default_rng(1)
    sums = SAMPLES * np.exp(2.0 * rng.standard_normal((height, width, 4), np.float32) - 2.0)
    sums[..., 3] = SAMPLES
    sums[rng.random((height, width), np.float32) < 0.1] = 0.0
    return Film(sums, SAMPLES, 0, 0, width, height)


def settings(curve: str, automatic: bool = True) -> ToneSettings:
    """Return the settings for a tone curve."""
    return ToneSettings("auto" if automatic else 0.0, curve, dither=True)


class ToneBench:
    """A film on the device, and its passes; must be closed."""

    def __init__(self, session: Session, film: Film) -> None:
        """Copy the film to the device."""
        self._session, self._film = session, film
        self._height, self._width = film.sums.shape[:2]
        pixels = self._height * self._width
        sizes = {"film": film.sums.nbytes, "out": 4 * pixels, "between": 16 * pixels}
        self._memory = Memory(session, sizes)
        self._memory.upload("film", film.sums)
        self._kernels = tone_kernels(session.ordinal)
        self._three = Pass(session.driver, session.arch, discover("tone")[0], "tone", "ToneArgs")

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._session.wait()
        self._memory.close()

    def histogram(self) -> None:
        """Launch the statistics pass."""
        self._kernels.launch("film_histogram", self._arguments("linear"))

    def one_pass(self) -> None:
        """Launch tone mapping in one pass with fixed exposure."""
        self._kernels.launch("tone", self._arguments("linear", automatic=False))

    def three_passes(self) -> None:
        """Launch tone mapping in three passes, with floats between them."""
        args = self._arguments("linear", automatic=False)
        args["scratch"] = self._memory.address("between")
        axes = {"n": self._width * self._height}
        grid = self._three.kernel.launch(axes, self._session.multiprocessors).grid
        for stage in range(3):
            args["stage"] = stage
            self._three.launch(grid, args, self._session.stream)

    def whole(self, curve: str) -> Run:
        """Return a function that launches statistics and tone mapping, automatic exposure."""
        args = self._arguments(curve)

        def run() -> None:
            self._kernels.launch("film_histogram", args)
            self._kernels.launch("tone", args)

        return run

    def check(self) -> None:
        """Compare histogram and pictures with the CPU; raise RaytracerError if they differ."""
        self.whole("linear")()
        expected_bins = measure(self._film, settings("linear"))["bins"]
        if not np.array_equal(self._kernels.read_histogram()["bins"], expected_bins):
            raise RaytracerError("the histogram of the device differs from that of the CPU")
        expected = develop(self._film, settings("linear", False)).astype(np.int16)
        for run in (self.one_pass, self.three_passes):
            self._memory.poison("out")
            run()
            picture = np.empty(self._film.sums.shape, np.uint8)
            self._memory.download("out", picture)
            if np.abs(picture.astype(np.int16) - expected).max() > 1:
                raise RaytracerError("a picture of the device differs from that of the CPU")

    def sample(self, run: Run, min_time: float) -> list[float]:
        """Return seconds between events, with a flushed L2 cache."""
        self._session.cold(run, 3, True)
        samples: list[float] = []
        duration = 0.0
        while not timing.settled(samples, duration, min_time):
            samples += self._session.cold(run, 16, True)
            duration += 16 * 1e-3  # mostly flushes of the cache
        return samples

    def _arguments(self, curve: str, automatic: bool = True) -> NDArray[np.void]:
        """Return ToneArgs; with automatic exposure the histogram is written and read."""
        shape = self._height, self._width
        args = tone_arguments(shape, self._film.samples, settings(curve, automatic))
        args["film"], args["out"] = self._memory.address("film"), self._memory.address("out")
        if automatic:
            args["histogram"], args["scratch"] = self._kernels.histogram, self._kernels.scratch
        return args
