"""Ranges of colour scales: limits that are numbers, ends of the data, or percentiles."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import ceil, floor, inf, isfinite
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

Limit = float | str | None
"""A number; "p1" for the first percentile; None for the end of the data."""

SAMPLE = 1 << 16
"""Values of which the neighbourhood of a percentile is estimated."""

MARGIN = 6.0
"""Standard deviations of a sampled rank within which the rank itself lies."""

_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d{1,9})?)%?", re.ASCII)


def limit_of(value: Any) -> Limit:
    """Return an end of a range.

    Args:
        value: a finite number, "p" and a percentile, a number as text; "min", "max", "" or None
            for the end of the data.

    Raises:
        ValueError: it is none of them.
    """
    if value is None or value in ("", "min", "max"):
        return None
    if isinstance(value, str):
        word = value.strip().lower()
        if found := _PERCENTILE.fullmatch(word):
            if float(found[1]) > 100.0:
                raise ValueError(value)
            return word.rstrip("%")
        value = float(word)  # raises ValueError
    number = float(value)
    if not isfinite(number):
        raise ValueError(value)
    return number


def limits_of(limits: tuple[Limit, Limit], parts: Sequence[NDArray[Any]]) -> tuple[float, float]:
    """Return the ends of a range.

    Args:
        limits: the lower and the upper one.
        parts: values of which they are taken, arrays (N,) of numbers.

    Returns:
        Two floats; inf and -inf where there is no finite value.
    """
    low, high = limits
    ends = (inf, -inf) if None not in limits else (low, high)
    if None in limits:
        found = [extremes(part) for part in parts]
        ends = min(each[0] for each in found), max(each[1] for each in found)
    if isinstance(low, str) or isinstance(high, str):
        low, high = (
            percentile(parts, float(each[1:])) if isinstance(each, str) else each
            for each in (low, high)
        )
    return (
        float(ends[0] if low is None else low),  # type: ignore[arg-type]
        float(ends[1] if high is None else high),  # type: ignore[arg-type]
    )


def extremes(values: NDArray[Any]) -> tuple[float, float]:
    """Return the least and the greatest finite value; inf and -inf where there is none."""
    import numpy as np

    from raytracer.scene.arrays import each_block

    if values.dtype.kind != "f":
        return (float(values.min()), float(values.max())) if len(values) else (inf, -inf)
    found: list[tuple[float, float]] = []

    def work(rows: slice) -> None:
        block = values[rows]
        low, high = float(np.minimum.reduce(block)), float(np.maximum.reduce(block))
        if not (isfinite(low) and isfinite(high)):
            block = block[np.isfinite(block)]
            low = float(block.min()) if block.size else inf
            high = float(block.max()) if block.size else -inf
        found.append((low, high))

    each_block(len(values), work)
    return min((e[0] for e in found), default=inf), max((e[1] for e in found), default=-inf)


def least_positive(parts: Sequence[NDArray[Any]]) -> float:
    """Return the least value above zero; inf where there is none."""
    import numpy as np

    from raytracer.scene.arrays import each_block

    found: list[float] = [inf]
    for values in parts:

        def work(rows: slice, values: NDArray[Any] = values) -> None:
            block = values[rows]
            found.append(float(np.min(block, initial=inf, where=block > 0)))

        each_block(len(values), work)
    return min(found)


def percentile(parts: Sequence[NDArray[Any]], percent: float) -> float:
    """Return a percentile of the finite values, interpolated linearly as NumPy does by default.

    A sample says between which values the percentile lies, so that only the few between them are
    sorted; the result is exact.

    Args:
        parts: arrays (N,) of numbers.
        percent: 0 to 100.

    Returns:
        The value; NaN where there is none.
    """
    import numpy as np

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
    import numpy as np

    from raytracer.scene.arrays import each_block

    below, total = [0], [0]
    kept: list[tuple[int, NDArray[Any]]] = []

    def work(rows: slice) -> None:
        block = values[rows]
        block = block[np.isfinite(block)]
        total.append(block.size)
        below.append(int(np.count_nonzero(block < low)))
        kept.append((rows.start, block[(block >= low) & (block <= high)]))

    each_block(len(values), work)
    count, before = sum(total), sum(below)
    near = np.sort(np.concatenate([part for _, part in kept]))
    place = share * (count - 1)
    left, right = floor(place) - before, ceil(place) - before
    if left < 0 or right >= near.size:  # the sample was misleading, for example a sorted column
        return float(np.percentile(values[np.isfinite(values)], 100.0 * share))
    return float(near[left] + (near[right] - near[left]) * (place - floor(place)))
