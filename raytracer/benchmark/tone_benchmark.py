"""`raytracer bench tone`: statistics and tone mapping of a 4K film."""

from __future__ import annotations

from collections.abc import Iterator

from raytracer.benchmark import record, timing
from raytracer.benchmark.axes import picture_size
from raytracer.benchmark.benchmark import Benchmark, Machine, Tell
from raytracer.benchmark.cuda.session import Session
from raytracer.benchmark.explain import rung
from raytracer.benchmark.options import BenchOptions
from raytracer.benchmark.record import Result, Row
from raytracer.benchmark.tone_passes import SIZE, Run, ToneBench, film, settings
from raytracer.errors import UserError
from raytracer.film.film import Film, develop, measure
from raytracer.film.tone_settings import CURVES
from raytracer.variants import Kernel, discover, product

PIXEL, CODES = 16, 4  # bytes per pixel of the film, and of 8-bit RGBA
# Reads of the film, bytes written per pixel, and a note, of each result.
RESULTS = {
    "histogram": (1, 0, "Ours also computes sums, extremes and the metered exposure."),
    "picture": (
        1,
        CODES,
        "Exposure, linear curve, sRGB and dither; clipped and black pixels are not counted.",
    ),
    "whole": (
        2,
        CODES,
        "Statistics, automatic exposure, curve, sRGB, dither; without transfer to the host.",
    ),
}
Passes = dict[str, list[tuple[str, Run]]]


class ToneBenchmark(Benchmark):
    """Film statistics, tone mapping, and both."""

    name = "tone"

    def listing(self) -> Iterator[str]:
        """Yield sizes and kernels."""
        yield "tone: statistics and picture of a 4K film, on the CPU or a GPU"
        yield f"  axes width {SIZE[0]}, height {SIZE[1]}"
        for each in _kernels():
            yield f"  {each.label:<28} {', '.join(map(str, each.needs)):<10} {each.title}"

    def check(self, options: BenchOptions) -> None:
        """Validate the size; raise UserError for variants."""
        self._size(options)
        if options.variant:
            raise UserError("tone times all passes: remove --variant")

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        """Return results for statistics, tone mapping, and both."""
        size, min_time = self._size(options), options.min_time
        tell(f"tone mapping a film of {size[0]}x{size[1]}")
        rows: dict[str, list[Row]] = {}
        if machine.backend == "cpu":
            for name, passes in _on_host(film(size)).items():
                rows[name] = [timing.row(x, timing.clocked(run, min_time)) for x, run in passes]
            return [_result(name, size, each, "warm") for name, each in rows.items()]
        with machine.session(tell) as session, ToneBench(session, film(size)) as work:
            work.check()
            for name, passes in _on_device(work).items():
                rows[name] = [timing.row(x, work.sample(run, min_time)) for x, run in passes]
        return [_result(name, size, each, "cold") for name, each in rows.items()]

    def explain(self, options: BenchOptions, arch: str) -> str:
        """Describe idea and resources of each pass."""
        width, height = self._size(options)
        axes = {"width": width, "height": height, "n": width * height}
        lines = [f"tone: a film of {width}x{height}, from sums to code values"]
        for each in _kernels():
            lines += ["", *rung(each, arch, axes, {})]
        return "\n".join(lines) + "\n"

    def profile(self, options: BenchOptions) -> list[str]:
        """Launch each pass once; return labels."""
        labels = []
        with Session() as session, ToneBench(session, film(self._size(options))) as work:
            for passes in _on_device(work).values():
                for label, run in passes:
                    run()
                    session.wait()
                    session.profiled(run)
                    labels.append(label)
        return labels

    def _size(self, options: BenchOptions) -> tuple[int, int]:
        return picture_size(self.name, options.axes, SIZE)


def _kernels() -> list[Kernel]:
    """Return the kernels of statistics, then those of tone mapping."""
    return [product("film_histogram"), *discover("tone")]


def _on_host(test_film: Film) -> Passes:
    """Return the timed functions by result, on all cores."""

    def whole(curve: str) -> Run:
        automatic = settings(curve)
        return lambda: develop(test_film, automatic, 8, 0, measure(test_film, automatic, 0))

    return {
        "histogram": [("on all cores", lambda: measure(test_film, settings("linear"), 0))],
        "picture": [("one pass", lambda: develop(test_film, settings("linear", False), 8, 0))],
        "whole": [(curve, whole(curve)) for curve in CURVES],
    }


def _on_device(work: ToneBench) -> Passes:
    """Return the timed functions by result."""
    return {
        "histogram": [("one kernel", work.histogram)],
        "picture": [("three passes", work.three_passes), ("one pass", work.one_pass)],
        "whole": [(curve, work.whole(curve)) for curve in CURVES],
    }


def _result(name: str, size: tuple[int, int], rows: list[Row], mode: str) -> Result:
    pixels = size[0] * size[1]
    reads, written, note = RESULTS[name]
    axes = {"width": size[0], "height": size[1]}
    made = record.result(f"tone {name}", axes, rows, mode, "log-normal")
    made["work"] |= {"bytes_read": reads * PIXEL * pixels, "bytes_written": written * pixels}
    made["note"] = note
    return made
