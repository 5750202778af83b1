"""Integers of text files: values beyond the range of their type are refused, not wrapped."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown

EXACT = 1 << 53  # integers up to this size are exact in float64, the type of parsed text


def whole(values: NDArray[np.float64], source: str, name: str) -> NDArray[np.int64]:
    """Truncate a column to int64.

    Raises:
        DataFileError: a number is NaN, infinite, or beyond 2**53.
    """
    _require(values, -EXACT, EXACT, source, name, "integers")
    return values.astype(np.int64)


def counted_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as int64 if all are whole and of moderate size, otherwise unchanged."""
    is_whole = bool(((np.abs(values) < 1e12) & (values % 1 == 0)).all())
    return values.astype(np.int64) if is_whole else values


def narrowed(values: NDArray[Any], dtype: np.dtype[Any], source: str, name: str) -> NDArray[Any]:
    """Convert float64 or int64 numbers to the type that a file declares.

    Raises:
        DataFileError: the type is an integer, and a number is not one or out of range.
    """
    dtype = dtype.newbyteorder("=")
    if dtype.kind in "iu":
        limits = np.iinfo(dtype)
        low, high = int(limits.min), int(limits.max)
        if values.dtype.kind == "f":
            low, high = max(low, -EXACT), min(high, EXACT)
        _require(values, low, high, source, name, f"{dtype.name}s")
        if values.dtype.kind == "f" and (fraction := values % 1 != 0).any():
            raise _wrong(values[fraction][0], source, name, "is not an integer")
    with np.errstate(over="ignore"):
        return values.astype(dtype)


def _require(values: NDArray[Any], low: int, high: int, source: str, name: str, kind: str) -> None:
    """Refuse numbers beyond limits, and NaN."""
    if not values.size or (values.min() >= low and values.max() <= high):
        return
    bad = values[~((values >= low) & (values <= high))][0]
    if np.isfinite(bad):
        raise _wrong(bad, source, name, f"is beyond the range of {kind}, {low:,} to {high:,}")
    raise _wrong(bad, source, name, "is not an integer")


def _wrong(value: Any, source: str, name: str, problem: str) -> DataFileError:
    return DataFileError(f"{source}: '{shown(name)}': {value:.16g} {problem}")
