"""What samples of a time say: median, quartiles, noise, and when there are enough of them."""

from __future__ import annotations

import math

from raytracer.benchmark.peer_comparison import summary
from raytracer.benchmark.record import Times

ENOUGH = 10  # samples at least
TARGET = 0.003  # of the median: its uncertainty at which sampling stops
PATIENCE = 6  # times the least time, after which it stops anyway


def statistics(samples: list[float]) -> Times:
    """Median, min, quartiles, noise and count of one time or more."""
    quartiles_ = summary(samples)
    median = quartiles_["median"]
    noise = (quartiles_["q3"] - quartiles_["q1"]) / median if median else 0.0
    return {
        "median": median,
        "min": quartiles_["min"],
        "q1": quartiles_["q1"],
        "q3": quartiles_["q3"],
        "noise": noise,
        "count": len(samples),
    }


def uncertainty(samples: list[float]) -> float:
    """The standard error of the median as a share of it, by the quartiles of normal noise."""
    if len(samples) < 2:
        return math.inf
    # 1.349 standard deviations lie between the quartiles; the median scatters 1.253 / sqrt(n).
    return float(statistics(samples)["noise"]) * 0.929 / math.sqrt(len(samples))


def settled(samples: list[float], spent: float, min_time: float) -> bool:
    """Whether to stop. spent: seconds of device time so far. min_time: at least so many."""
    if spent >= PATIENCE * min_time and len(samples) >= 2:
        return True
    return len(samples) >= ENOUGH and spent >= min_time and uncertainty(samples) <= TARGET
