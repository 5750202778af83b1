"""Fixed columns of text lines: numbers and words at the same places in each line."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown


def words(rows: Sequence[bytes], start: int, stop: int) -> NDArray[np.bytes_]:
    """Return a column of texts without spaces around them, (N,)."""
    return np.array([row[start:stop].strip() for row in rows], f"S{stop - start}")


def vectors(
    rows: Sequence[bytes], start: int, width: int, source: str, lines: Sequence[int] | int
) -> NDArray[np.float64]:
    """Return three columns of numbers that lie side by side, (N, 3).

    Args:
        rows: lines.
        start: of the first column.
        width: of each.
        source: the file, for messages.
        lines: numbers of the rows in the file, or that of the first one.

    Raises:
        DataFileError: something is no number.
    """
    values = np.empty((len(rows), 3))
    for axis in range(3):
        place = start + axis * width
        cells = [row[place : place + width] for row in rows]
        try:
            values[:, axis] = np.fromiter(map(float, cells), np.float64, len(cells))
        except ValueError:
            raise _wrong(cells, source, lines) from None
    return values


def optional(rows: Sequence[bytes], start: int, stop: int) -> NDArray[Any] | None:
    """Return a column of numbers, (N,), or None where a cell is blank or no number."""
    try:
        return np.fromiter((float(row[start:stop]) for row in rows), np.float64, len(rows))
    except ValueError:
        return None


def counted_values(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as int64 if all of them are whole and of few digits, otherwise themselves."""
    is_whole = bool(((np.abs(values) < 1e12) & (values % 1 == 0)).all())
    return values.astype(np.int64) if is_whole else values


def _wrong(cells: Sequence[bytes], source: str, lines: Sequence[int] | int) -> DataFileError:
    """Return the error for the first cell that is no number."""
    for place, cell in enumerate(cells):
        try:
            float(cell)
        except ValueError:
            line = lines + place if isinstance(lines, int) else lines[place]
            text = shown(cell.decode("utf-8", "replace").strip(), 40)
            what = f"'{text}' is not a number" if text else "there is no value"
            return DataFileError(
                f"{source}: line {line}: {what}; the columns of this format have fixed places"
            )
    return DataFileError(f"{source}: is not of this format")
