"""Ranges of colour scales: from numbers, ends of the data, or percentiles."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import inf, isfinite
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.arrays import each_block
from raytracer.scene.coloring.field_types import Limit

Result = TypeVar("Result")


def limits_of(limits: tuple[Limit, Limit], parts: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """Return the ends of a range over arrays (N,); inf and -inf without a finite value."""
    ends = [extremes(part) for part in parts] if None in limits else []
    percents = [float(each[1:]) for each in limits if isinstance(each, str)]
    values = iter(percentiles(parts, percents) if percents else ())
    low, high = (next(values) if isinstance(each, str) else each for each in limits)
    return (
        min(end for end, _ in ends) if low is None else float(low),
        max(end for _, end in ends) if high is None else float(high),
    )


def _of_blocks(values: NDArray[Any], work: Callable[[NDArray[Any]], Result]) -> list[Result]:
    """Apply a function to each block of values; results are in any order."""
    results: list[Result] = []
    each_block(len(values), lambda rows: results.append(work(values[rows])))
    return results


def extremes(values: NDArray[Any]) -> tuple[float, float]:
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
    def least(block: NDArray[Any]) -> float:
        return float(np.min(block, initial=inf, where=block > 0))

    return min((each for values in parts for each in _of_blocks(values, least)), default=inf)


def percentiles(parts: Sequence[NDArray[Any]], percents: list[float]) -> list[float]:
    """Return percentiles (0 to 100) of the finite values of arrays (N,); NaN without any."""
    finite = np.concatenate([part[np.isfinite(part)] for part in parts])
    if not finite.size:
        return [float("nan")] * len(percents)
    return [float(np.percentile(finite, each, overwrite_input=True)) for each in percents]
