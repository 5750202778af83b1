"""`raytracer bench tone`: statistics and tone mapping of a 4K film, beside CUB."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

from raytracer.benchmark import record, timing
from raytracer.benchmark.axes import picture_size
from raytracer.benchmark.benchmark import Benchmark, Machine, Tell
from raytracer.benchmark.explain import rung
from raytracer.benchmark.options import BenchOptions
from raytracer.benchmark.record import Kind, Result, Row
from raytracer.benchmark.tone_film import SIZE, film, settings
from raytracer.errors import RaytracerError, UserError
from raytracer.film.film import Film, develop, measure
from raytracer.film.tone_settings import CURVES, ToneSettings
from raytracer.resources import thread_count
from raytracer.variants import Kernel, discover, product

if TYPE_CHECKING:
    from raytracer.benchmark.cuda.session import Session
    from raytracer.benchmark.tone_passes import ToneBench

PIXEL, CODES = 16, 4  # bytes per pixel of the film, and of 8-bit RGBA
NOTES = {
    "histogram": "Ours also computes sums, extremes and the metered exposure.",
    "picture": "Exposure, linear curve, sRGB and dither; clipped and black pixels are not counted.",
    "whole": "Statistics, automatic exposure, curve, sRGB, dither; without transfer to the host.",
}
Run = Callable[[], Any]


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
        picture_size(self.name, dict(options.axes or {}), SIZE)
        if options.variant:
            raise UserError("tone times all passes: remove --variant")

    def run(self, machine: Machine, options: BenchOptions, tell: Tell) -> list[Result]:
        """Return results for statistics, tone mapping, and both."""
        size = picture_size(self.name, dict(options.axes or {}), SIZE)
        tell(f"tone mapping a film of {size[0]}x{size[1]}")
        if machine.backend == "cpu":
            return on_host(options.min_time, size=size)
        with machine.session(tell) as session:
            return on_device(session, options.min_time, options.peers, size)

    def explain(self, options: BenchOptions, arch: str) -> str:
        """Describe idea and resources of each pass."""
        width, height = picture_size(self.name, dict(options.axes or {}), SIZE)
        axes = {"width": width, "height": height, "n": width * height}
        lines = [f"tone: a film of {width}x{height}, from sums to code values"]
        for each in _kernels():
            lines += ["", *rung(each, arch, axes, {})]
        return "\n".join(lines) + "\n"

    def profile(self, options: BenchOptions) -> list[str]:
        """Launch each pass once; return labels."""
        from raytracer.benchmark.cuda.session import Session
        from raytracer.benchmark.tone_passes import ToneBench

        size, labels = picture_size(self.name, dict(options.axes or {}), SIZE), []
        with Session() as session, ToneBench(session, film(size)) as work:
            for each in _passes(work).values():
                for label, run in each:
                    run()
                    session.wait()
                    session.profiled(run)
                    labels.append(label)
        return labels


def _kernels() -> list[Kernel]:
    """Return the kernels of statistics, then those of tone mapping."""
    return [product("film_histogram"), *discover("tone")]


def on_host(min_time: float, threads: int = 0, size: tuple[int, int] = SIZE) -> list[Result]:
    """Measure on the CPU."""
    test_film = film(size)
    fixed, auto = settings("linear", False), settings("linear")
    count = thread_count(threads)
    passes: list[tuple[str, list[tuple[str, Run]]]] = [
        ("histogram", [("on all cores", lambda: measure(test_film, auto, count))]),
        ("picture", [("one pass", lambda: develop(test_film, fixed, 8, count))]),
        ("whole", [(c, _whole(test_film, settings(c), count)) for c in CURVES]),
    ]
    return [
        _result(name, size, [_row(label, _clock(run, min_time)) for label, run in runs], "warm")
        for name, runs in passes
    ]


def on_device(
    session: Session, min_time: float, peers: bool = True, size: tuple[int, int] = SIZE
) -> list[Result]:
    """Check, then measure on a GPU."""
    from raytracer.benchmark.tone_passes import ToneBench

    with ToneBench(session, film(size)) as work:
        work.check()
        rows = {
            name: [_row(label, work.sample(run, min_time)) for label, run in each]
            for name, each in _passes(work).items()
        }
        if peers:
            rows["histogram"].append(_cub(work, min_time))
    return [_result(name, size, each, "cold") for name, each in rows.items()]


def _passes(work: ToneBench) -> dict[str, list[tuple[str, Run]]]:
    """Return the timed functions by result."""
    return {
        "histogram": [("one kernel", work.histogram)],
        "picture": [("three passes", work.three_passes), ("one pass", work.one_pass)],
        "whole": [(curve, work.whole(curve)) for curve in CURVES],
    }


def _cub(work: ToneBench, min_time: float) -> Row:
    label = "CUB over a transform iterator"
    try:
        return _row(label, work.sample(work.cub(), min_time), "peer")
    except RaytracerError as error:
        return record.row(label, label, "peer", "skipped", str(error).split("\n")[0])


def _whole(test_film: Film, tone_settings: ToneSettings, threads: int) -> Run:
    def run() -> None:
        histogram = measure(test_film, tone_settings, threads)
        develop(test_film, tone_settings, 8, threads, histogram)

    return run


def _clock(run: Run, min_time: float) -> list[float]:
    run()
    samples: list[float] = []
    while not timing.settled(samples, sum(samples), min_time):
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    return samples


def _row(label: str, samples: list[float], kind: Kind = "variant") -> Row:
    row = record.row(label, "", kind)
    row["time"], row["samples"] = timing.statistics(samples), samples
    return row


def _result(name: str, size: tuple[int, int], rows: list[Row], mode: str) -> Result:
    pixels = size[0] * size[1]
    reads = {"histogram": 1, "picture": 1, "whole": 2}[name]
    written = 0 if name == "histogram" else CODES * pixels
    return {
        "op": f"tone {name}",
        "axes": {"width": size[0], "height": size[1]},
        "dtype": "float32",
        "input": "log-normal",
        "mode": mode,
        "work": {"flop": 0, "bytes_read": reads * PIXEL * pixels, "bytes_written": written},
        "note": NOTES[name],
        "rows": rows,
    }
