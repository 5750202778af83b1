"""Ranges of colour scales: limits that are numbers, ends of the data, or percentiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import ceil, floor, inf, isfinite
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.arrays import each_block
from raytracer.scene.coloring.kinds import Limit

Result = TypeVar("Result")

SAMPLE = 1 << 16
"""Values of which the neighbourhood of a percentile is estimated."""

MARGIN = 6.0
"""Standard deviations of a sampled rank within which the rank itself lies."""


def limits_of(limits: tuple[Limit, Limit], parts: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """Return the ends of a range over parts (N,); inf and -inf where there is no finite value."""
    ends = [extremes(part) for part in parts] if None in limits else []
    low, high = (
        percentile(parts, float(each[1:])) if isinstance(each, str) else each for each in limits
    )
    return (
        min(end for end, _ in ends) if low is None else float(low),
        max(end for _, end in ends) if high is None else float(high),
    )


def _of_blocks(values: NDArray[Any], work: Callable[[NDArray[Any]], Result]) -> list[Result]:
    """Return a function of each block of values, in any order."""
    results: list[Result] = []
    each_block(len(values), lambda rows: results.append(work(values[rows])))
    return results


def extremes(values: NDArray[Any]) -> tuple[float, float]:
    """Return the least and the greatest finite value; inf and -inf where there is none."""
    if values.dtype.kind != "f":
        return (float(values.min()), float(values.max())) if len(values) else (inf, -inf)

    def ends(block: NDArray[Any]) -> tuple[float, float]:
        low, high = float(np.minimum.reduce(block)), float(np.maximum.reduce(block))
        if not (isfinite(low) and isfinite(high)):
            block = block[np.isfinite(block)]
            low, high = float(block.min(initial=inf)), float(block.max(initial=-inf))
        return low, high

    parts = [(inf, -inf), *_of_blocks(values, ends)]
    return min(low for low, _ in parts), max(high for _, high in parts)


def least_positive(parts: Sequence[NDArray[Any]]) -> float:
    """Return the least value above zero; inf where there is none."""

    def least(block: NDArray[Any]) -> float:
        return float(np.min(block, initial=inf, where=block > 0))

    return min((each for values in parts for each in _of_blocks(values, least)), default=inf)


def percentile(parts: Sequence[NDArray[Any]], percent: float) -> float:
    """Return a percentile (0 to 100) of the finite values of parts (N,), as NumPy does by default.

    A sample shows between which values the percentile lies, so that only the few between them are
    sorted; the result is exact, NaN where there is no value.
    """
    values = parts[0] if len(parts) == 1 else np.concatenate(parts)
    if len(values) <= 4 * SAMPLE:
        finite = values[np.isfinite(values)]
        return float(np.percentile(finite, percent)) if finite.size else float("nan")
    sample = values[:: len(values) // SAMPLE]
    sample = np.sort(sample[np.isfinite(sample)])
    if not sample.size:
        return float(np.percentile(values[np.isfinite(values)], percent))
    share = percent / 100.0
    spread = MARGIN * (sample.size * max(share * (1.0 - share), 1.0 / sample.size)) ** 0.5 + 2.0
    first, last = floor(share * sample.size - spread), ceil(share * sample.size + spread)
    low = sample[first] if first >= 0 else -inf
    high = sample[last] if last < sample.size else inf
    return _between(values, low, high, share)


def _between(values: NDArray[Any], low: Any, high: Any, share: float) -> float:
    """Return the value at a share of the sorted finite ones, which lies in low..high."""

    def near(block: NDArray[Any]) -> tuple[int, int, NDArray[Any]]:
        block = block[np.isfinite(block)]
        within = block[(block >= low) & (block <= high)]
        return block.size, int(np.count_nonzero(block < low)), within

    counts, below, parts = zip(*_of_blocks(values, near), strict=True)
    count, before = sum(counts), sum(below)
    middle = np.sort(np.concatenate(parts))
    place = share * (count - 1)
    left, right = floor(place) - before, ceil(place) - before
    if left < 0 or right >= middle.size:  # the sample was misleading, for example a sorted column
        return float(np.percentile(values[np.isfinite(values)], 100.0 * share))
    return float(middle[left] + (middle[right] - middle[left]) * (place - floor(place)))
