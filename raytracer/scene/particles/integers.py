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
    if values.size and not (values.min() >= -EXACT and values.max() <= EXACT):
        bad = values[~(np.abs(values) <= EXACT)][0]
        what = f"is beyond the range of integers, {-EXACT:,} to {EXACT:,}"
        problem = what if np.isfinite(bad) else "is not an integer"
        raise DataFileError(f"{source}: '{shown(name)}': {bad:.16g} {problem}")
    return values.astype(np.int64)


def counted_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as int64 if all are whole and of moderate size, otherwise unchanged."""
    is_whole = bool(((np.abs(values) < 1e12) & (values % 1 == 0)).all())
    return values.astype(np.int64) if is_whole else values
