"""Statistics of timed samples, and the criterion to stop sampling."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, cast

from raytracer.benchmark.record import Row, Times
from raytracer.pipeline import quartiles

MIN_SAMPLES = 10
TARGET = 0.003  # relative uncertainty of the median at which sampling stops
PATIENCE = 6  # multiple of the minimum time after which sampling stops in any case


def statistics(samples: list[float]) -> Times:
    """Return median, minimum, quartiles, noise and count of one or more samples."""
    times = quartiles(samples)
    noise = (times["q3"] - times["q1"]) / times["median"] if times["median"] else 0.0
    return cast(Times, {**times, "noise": noise, "count": len(samples)})


def settled(samples: list[float], spent: float, min_time: float) -> bool:
    """Whether sampling can stop after `spent` seconds of device time, at least `min_time`."""
    if spent >= PATIENCE * min_time and len(samples) >= 2:
        return True
    if spent < min_time or len(samples) < MIN_SAMPLES:
        return False
    # Of normal noise 1.349 standard deviations lie between the quartiles; the median scatters by
    # 1.253 / sqrt(n) of one.
    return statistics(samples)["noise"] * 0.929 / math.sqrt(len(samples)) <= TARGET


def clocked(run: Callable[[], Any], min_time: float) -> list[float]:
    """Return seconds of calls of a function on the host, after one that is not timed."""
    run()
    samples: list[float] = []
    while not settled(samples, sum(samples), min_time):
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    return samples


def timed(row: Row, samples: list[float]) -> Row:
    """Put samples and their statistics into a row; return it."""
    row["time"], row["samples"] = statistics(samples), samples
    return row
