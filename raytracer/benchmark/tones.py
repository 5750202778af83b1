"""`raytracer bench tone`: a 4K film to a picture, in one pass and in several, beside CUB."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from raytracer import tone
from raytracer.benchmark import noise, record
from raytracer.benchmark.record import Device, Kind, Result, Row
from raytracer.benchmark.tone_film import SIZE, film, settings
from raytracer.errors import RaytracerError
from raytracer.film import Film
from raytracer.resources import thread_count
from raytracer.tone_settings import CURVES, ToneSettings

PIXEL, CODES = 16, 4  # bytes of a pixel on the film, and of its 8-bit RGBA
NOTES = {
    "histogram": "Ours also finds sums, extremes and the exposure that metering asks for.",
    "picture": "Exposure, linear curve, sRGB and dither; clipped and black pixels are not counted.",
    "whole": "Statistics, automatic exposure, curve, sRGB, dither; nothing leaves the device.",
}
Run = Callable[[], Any]


def on_host(min_time: float, threads: int = 0, size: tuple[int, int] = SIZE) -> list[Result]:
    """The results on the CPU."""
    made = film(size)
    fixed, auto = settings("linear", False), settings("linear")
    count = thread_count(threads)
    found: list[tuple[str, list[tuple[str, Run]]]] = [
        ("histogram", [("on all cores", lambda: tone.measure(made, auto, count))]),
        ("picture", [("one pass", lambda: tone.develop(made, fixed, 8, count))]),
        ("whole", [(c, _whole(made, settings(c), count)) for c in CURVES]),
    ]
    return [
        _result(name, size, [_row(label, _clock(run, min_time)) for label, run in runs], "warm")
        for name, runs in found
    ]


def on_device(
    min_time: float, peers: bool = True, size: tuple[int, int] = SIZE
) -> tuple[Device, list[Result]]:
    """The device with its ceilings, and the results on it; each is checked before it is timed."""
    from raytracer.benchmark import ceilings
    from raytracer.benchmark.cuda.session import Session
    from raytracer.benchmark.tone_device import ToneBench

    with Session() as session:
        device = session.describe()
        device["ceilings"] = ceilings.measure(session)
        with ToneBench(session, film(size)) as work:
            runs: dict[str, list[tuple[str, Kind, Run]]] = {
                "histogram": [("one kernel", "variant", work.tally)],
                "picture": [
                    ("three passes", "variant", work.three_passes),
                    ("one pass", "variant", work.one_pass),
                ],
                "whole": [(curve, "variant", work.whole(curve)) for curve in CURVES],
            }
            work.check()
            rows = {
                name: [_row(label, work.sample(run, min_time), kind) for label, kind, run in each]
                for name, each in runs.items()
            }
            if peers:
                rows["histogram"].append(_cub(work, min_time))
    return device, [_result(name, size, each, "cold") for name, each in rows.items()]


def _cub(work: Any, min_time: float) -> Row:
    label = "CUB over a transform iterator"
    try:
        return _row(label, work.sample(work.cub(), min_time), "peer")
    except RaytracerError as error:
        return record.row(label, label, "peer", "skipped", str(error).split("\n")[0])


def _whole(made: Film, chosen: ToneSettings, threads: int) -> Run:
    def run() -> None:
        tally = tone.measure(made, chosen, threads)
        tone.develop(made, chosen, 8, threads, tally)

    return run


def _clock(run: Run, min_time: float) -> list[float]:
    run()
    samples: list[float] = []
    while not noise.settled(samples, sum(samples), min_time):
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    return samples


def _row(label: str, samples: list[float], kind: Kind = "variant") -> Row:
    made = record.row(label, "", kind)
    made["time"], made["samples"] = noise.statistics(samples), samples
    return made


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
