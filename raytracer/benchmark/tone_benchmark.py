"""`raytracer bench tone`: statistics and tone mapping of a 4K film."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from raytracer.backends.cuda.kernel import Pass
from raytracer.backends.cuda.tone import tone_kernels
from raytracer.backends.kernel_sources import discover_variants, read_production_kernel
from raytracer.benchmark import record, statistics
from raytracer.benchmark.benchmark import Benchmark, BenchOptions, Tell, kernel_lines, picture_size
from raytracer.benchmark.cuda.session import Memory, Session
from raytracer.benchmark.record import Result
from raytracer.benchmark.sources import list_sources
from raytracer.config.errors import RaytracerError
from raytracer.config.tone_settings import CURVES, ToneSettings
from raytracer.film.film import Film, develop, measure, tone_arguments
from raytracer.system.memory import require_room

Run = Callable[[], Any]
Passes = dict[str, list[tuple[str, Run]]]  # the timed functions, with labels, by result

SIZE = (3840, 2160)
SAMPLES = 4
PIXEL, CODES = 16, 4  # bytes per pixel of the film, and of 8-bit RGBA
NEEDED = 2 * PIXEL  # and of the host's memory
# Reads of the film, bytes written per pixel, and a note, of each result.
RESULTS = {
    "histogram": (1, 0, "Ours also computes sums, extremes and the metered exposure."),
    "picture": (
        1,
        CODES,
        "Exposure, linear curve, sRGB and dither; no counts of clipped pixels.",
    ),
    "whole": (2, CODES, "Statistics, automatic exposure, curve, sRGB, dither; without transfers."),
}
FIXED = ToneSettings(0.0, "linear", dither=True)
AUTOMATIC = {curve: ToneSettings("auto", curve, dither=True) for curve in CURVES}


class ToneBenchmark(Benchmark):
    """Film statistics, tone mapping, and both."""

    name = "tone"
    default_on = "cpu"
    takes = ("axes",)

    def listing(self, ideas: bool) -> Iterator[str]:
        yield "tone: statistics and picture of a 4K film, on the CPU or a GPU"
        yield f"  axes width {SIZE[0]}, height {SIZE[1]}"
        yield from kernel_lines(
            [read_production_kernel("film_histogram"), *discover_variants("tone")], ideas
        )

    def check(self, options: BenchOptions) -> None:
        picture_size(self.name, options.axes, SIZE)

    def run(self, session: Session | None, options: BenchOptions, tell: Tell) -> list[Result]:
        film, min_time = self._film(options), options.min_time
        tell(f"tone mapping a film of {film.width}x{film.height}")
        if session is None:
            return _results(film, "warm", _on_host(film), lambda f: statistics.clocked(f, min_time))
        with _on_device(session, film) as passes:
            return _results(
                film, "cold", passes,
                lambda f: statistics.in_turns([session.sampler(f, "cold", True)], min_time)[0],
            )  # fmt: skip

    def sources(self, backend: str, options: BenchOptions) -> list[Path]:
        ladder = (
            [each.translation_unit for each in discover_variants("tone")]
            if backend == "cuda"
            else []
        )
        return list_sources(backend, "tone") + ladder

    def launches(self, session: Session, options: BenchOptions) -> Iterator[tuple[str, Run]]:
        with _on_device(session, self._film(options)) as results:
            yield from (each for passes in results.values() for each in passes)

    def _film(self, options: BenchOptions) -> Film:
        width, height = picture_size(self.name, options.axes, SIZE)
        pixels = f"for {width}x{height} pixels"
        require_room("bench tone", NEEDED * width * height, pixels, "give smaller sizes")
        rng = np.random.default_rng(1)
        sums = SAMPLES * np.exp(2.0 * rng.standard_normal((height, width, 4), np.float32) - 2.0)
        sums[..., 3] = SAMPLES
        sums[rng.random((height, width), np.float32) < 0.1] = 0.0
        return Film(sums, SAMPLES, 0, 0, width, height)


def _on_host(film: Film) -> Passes:

    def whole(settings: ToneSettings) -> None:
        develop(film, settings)

    return {
        "histogram": [("on all cores", partial(measure, film, AUTOMATIC["linear"], 0))],
        "picture": [("one pass", partial(develop, film, FIXED, measured=False))],
        "whole": [(curve, partial(whole, each)) for curve, each in AUTOMATIC.items()],
    }


@contextmanager
def _on_device(session: Session, film: Film) -> Iterator[Passes]:
    """Yield the passes on a GPU; raise RaytracerError if they differ from those of the CPU."""
    kernels = tone_kernels(session.ordinal)
    stages = Pass(session.ordinal, discover_variants("tone")[0], "tone", "ToneArgs")
    pixels = film.width * film.height
    grid = stages.grid(n=pixels)
    sizes = {"film": film.sums.nbytes, "out": CODES * pixels, "between": PIXEL * pixels}
    with Memory(session, sizes) as memory:
        memory.upload("film", film.sums)

        def arguments(settings: ToneSettings) -> Any:
            args = tone_arguments(film, settings)
            args["film"], args["out"] = memory.address("film"), memory.address("out")
            if settings is not FIXED:
                args["histogram"], args["scratch"] = kernels.histogram, kernels.scratch
            return args

        def three_passes() -> None:
            args = arguments(FIXED)
            args["scratch"] = memory.address("between")
            for stage in range(3):
                args["stage"] = stage
                stages.launch(grid, args, session.stream)

        def launched(*entries: str, settings: ToneSettings) -> Run:
            args = arguments(settings)

            def run() -> None:
                for entry in entries:
                    kernels.launch(entry, args)

            return run

        linear, both = AUTOMATIC["linear"], ("film_histogram", "tone")
        passes: Passes = {
            "histogram": [("one kernel", launched("film_histogram", settings=linear))],
            "picture": [
                ("three passes", three_passes),
                ("one pass", launched("tone", settings=FIXED)),
            ],
            "whole": [(curve, launched(*both, settings=x)) for curve, x in AUTOMATIC.items()],
        }
        launched(*both, settings=linear)()
        if not np.array_equal(kernels.read_histogram()["bins"], measure(film, linear)["bins"]):
            raise RaytracerError("the histogram of the device differs from that of the CPU")
        expected, picture = develop(film, FIXED)[0].astype(np.int16), np.empty_like(film.sums, "u1")
        for _, run in passes["picture"]:
            memory.poison("out")
            run()
            memory.download("out", picture)
            if np.abs(picture.astype(np.int16) - expected).max() > 1:
                raise RaytracerError("a picture of the device differs from that of the CPU")
        yield passes
        session.wait()


def _results(
    film: Film, mode: str, passes: Passes, clocked: Callable[[Run], statistics.Groups]
) -> list[Result]:
    """Time the passes; clocked: returns seconds of calls, by turns."""
    axes, pixels, results = {"width": film.width, "height": film.height}, film.sums[..., 0].size, []
    for name, each in passes.items():
        reads, written, note = RESULTS[name]
        rows = [statistics.timed(record.row(label), clocked(run)) for label, run in each]
        made = record.result(f"tone {name}", axes, rows, mode, "log-normal")
        made["work"] |= {"bytes_read": reads * PIXEL * pixels, "bytes_written": written * pixels}
        made["note"] = note
        results.append(made)
    return results
