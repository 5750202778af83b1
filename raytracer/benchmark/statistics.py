"""Statistics of timed samples, and the criterion to stop sampling."""

import math
import time
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, cast

import numpy as np

from raytracer.benchmark.record import Row, Times

MIN_SAMPLES = 10
TARGET = 0.003  # relative uncertainty of the median at which sampling stops
DECIMALS = 10  # of samples in seconds; the clock of events counts in steps of 32 ns or longer
Groups = list[list[float]]  # samples of each turn
Turn = Callable[[float], list[float]]  # returns samples that take about as many seconds
PATIENCE = 6  # multiple of the minimum time after which sampling stops in any case


def statistics(samples: list[float]) -> Times:
    """Return median, minimum, quartiles, noise and count of one or more samples."""
    figures = np.quantile(samples, [0.5, 0.0, 0.25, 0.75]).tolist()
    times = dict(zip(("median", "min", "q1", "q3"), figures, strict=True))
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


def in_turns(turns: Sequence[Turn], min_time: float) -> list[Groups]:
    """Take samples in turns (A B B A) until the median of each has settled.

    Those that have settled keep their turns: kernels that went on alone would run hotter, and at
    lower clocks where the power limit decides, than those beside which they are reported. One that
    returns no samples ends.
    """
    every, spent = [list[float]() for _ in turns], [0.0] * len(turns)
    groups: list[Groups] = [[] for _ in turns]
    going, seconds = list(range(len(turns))), min_time / 4
    while any(not settled(every[each], spent[each], min_time) for each in going):
        for each in (*going, *reversed(going)):
            samples = turns[each](seconds)
            every[each] += samples
            groups[each] += [samples] if samples else []
            # A sample of a short kernel is the mean of a batch, so the sum underestimates.
            spent[each] += max(seconds / 2, sum(samples)) if samples else math.inf
        going = [each for each in going if spent[each] < math.inf]
    return groups


def repeated(run: Callable[[], float], seconds: float) -> list[float]:
    """Call a function that returns its seconds, for that long or once; return those of each."""
    samples = [run()]
    while sum(samples) < seconds:
        samples.append(run())
    return samples


def make_timer(
    run: Callable[[], Any], wait: Callable[[], Any] = lambda: None
) -> Callable[[], float]:
    """Return a function that calls another one and returns its seconds on the host. wait: for work
    of a device, before the call and after it."""

    def once() -> float:
        wait()
        start = time.perf_counter()
        run()
        wait()
        return time.perf_counter() - start

    return once


def clocked(run: Callable[[], Any], min_time: float) -> Groups:
    """Return seconds of calls of a function on the host, after one that is not timed."""
    once = make_timer(run)
    once()
    return in_turns([partial(repeated, once)], min_time)[0]


def timed(row: Row, groups: Groups) -> Row:
    """Put samples and their statistics into a row; return it."""
    samples = [round(sample, DECIMALS) for group in groups for sample in group]
    row["time"], row["samples"] = statistics(samples), samples
    row["groups"] = [len(group) for group in groups]
    return row
