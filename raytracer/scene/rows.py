"""One row of a particle file, read when it is asked for: what loading left in the file.

Nothing is kept between calls. Of uncompressed .npz arrays only the row itself is read; compressed
ones and texts are read through to the row, block by block.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator
from typing import IO, TYPE_CHECKING, Any

from ..errors import DataFileError
from ..files.access import OpenFile, opened
from .data_file import DataFile
from .lines import has_ink, pick_line
from .sheet import read_sheet
from .xyz_file import properties, read_head

if TYPE_CHECKING:
    from numpy.typing import NDArray

Value = str | int | float | bool | tuple[Any, ...]
"""What a file says of one particle under one name; vectors are tuples, matrices tuples of these."""

_WHOLE = re.compile(r"[+-]?[0-9]+")
DECIMAL_COMMA = re.compile(r"^([+-]?\d*),(\d*(?:[eE][+-]?\d+)?)$")
_TRUTH = {"t": True, "true": True, "1": True, "f": False, "false": False, "0": False}


def read_row(file: DataFile, row: int, count: int) -> dict[str, Value]:
    """Return what a particle file says of one particle beyond what was loaded.

    Args:
        file: unchanged since it was loaded.
        row: of the particle, from 0.
        count: how many particles were loaded.

    Returns:
        By array, property or column, in the order of the file. Arrays of Python objects, which
        only pickle could read, and empty cells are left out.

    Raises:
        Exception: of any kind, where the file is damaged.
    """
    readers = {".npz": _npz_row, ".csv": _csv_row, ".xyz": _xyz_row, ".extxyz": _xyz_row}
    reader = readers.get(file.path.suffix.lower())
    if reader is None:
        return {}
    with opened(file.path) as found:
        pairs = reader(found, file.used, row, count)
        return {name: value for name, value in pairs if name not in file.used}


def _npz_row(
    file: OpenFile, used: Container[str], row: int, count: int
) -> Iterator[tuple[str, Value]]:
    """Yield the row of every array whose first axis is the particles'."""
    from ..files.npz import Archive

    with Archive(file) as archive:
        for name, entry in archive.members.items():
            if name in used:
                continue  # it may be compressed, and long to read
            with archive.stream(entry) as stream:
                values = _array_row(stream, row, count, archive.label(name))
            if values is not None:
                yield from _fields(name, values)


def _array_row(stream: IO[bytes], row: int, count: int, label: str) -> NDArray[Any] | None:
    """Return `array[row]` of an array (count, ...), or None if it is something else."""
    from math import prod

    import numpy as np

    from ..files.npz import read_header

    try:
        header = read_header(stream, label)
    except DataFileError:
        return None  # no array, or one of Python objects
    shape, by_column, dtype = header.shape, header.fortran_order, header.dtype
    length = prod(shape[1:])
    if shape[:1] != (count,) or length * dtype.itemsize == 0:
        return None
    start = stream.tell()
    # In Fortran order the row's numbers lie apart, each among those of the other rows.
    pieces, step = (length, count) if by_column else (1, 0)
    size = length // pieces * dtype.itemsize
    data = bytearray()
    for piece in range(pieces):
        stream.seek(start + row * size + piece * step * dtype.itemsize)
        data += stream.read(size)
    return np.frombuffer(data, dtype).reshape(shape[1:], order="F" if by_column else "C")


def _fields(name: str, values: NDArray[Any]) -> Iterator[tuple[str, Value]]:
    """Yield the value of an array, or those of its named fields."""
    if values.dtype.names is None:
        # Dates, spans and complex numbers as NumPy writes them: JSON has no such types.
        kind = values.dtype.kind
        shown = values.astype(str if kind in "mMc" else float) if kind in "mMcf" else values
        yield name, _plain(shown.tolist())
    else:
        for field in values.dtype.names:
            yield from _fields(f"{name}.{field}", values[field])


def _plain(value: Any) -> Value:
    """Return lists as tuples, and bytes as text."""
    if isinstance(value, list):
        return tuple(_plain(item) for item in value)
    result: Value = value.decode("utf-8", "replace") if isinstance(value, bytes) else value
    return result


def _csv_row(file: OpenFile, _: Any, row: int, __: int) -> Iterator[tuple[str, Value]]:
    """Yield the cells of a line."""
    sheet = read_sheet(file)
    cells = sheet.cells(_line(file, row + sheet.inked))
    if sheet.separator != ",":
        cells = [DECIMAL_COMMA.sub(r"\1.\2", cell) for cell in cells]
    return _named(sheet.columns, [number(cell) for cell in cells])


def _named(columns: list[str], values: Iterable[Value]) -> Iterator[tuple[str, Value]]:
    """Yield values with the names of their columns, made up where there is none or one twice."""
    seen: set[str] = set()
    for index, value in enumerate(values):
        name = columns[index] if index < len(columns) else ""
        if name in seen or not name:
            name = f"column {index + 1}"
        seen.add(name)
        if value != "":
            yield name, value


def _xyz_row(file: OpenFile, _: Any, row: int, __: int) -> Iterator[tuple[str, Value]]:
    """Yield the properties of an atom; words beyond them are columns without a name."""
    comment = read_head(file)[1]
    known = properties(comment, file.source)
    words = _line(file, row + 1 + has_ink(comment.encode())).split()
    end = 0
    for name, column in known.items():
        end = column.first + column.width
        values = tuple(_typed(word, column.kind) for word in words[column.first : end])
        yield name, values if column.width > 1 else values[0]
    for index, word in enumerate(words[end:], end):
        yield f"column {index + 1}", number(word)


def _typed(word: str, kind: str) -> str | int | float | bool:
    """Return a word of an extended .xyz file as its kind says, or as it is."""
    if kind == "L":
        return _TRUTH.get(word.lower(), word)
    value = word if kind == "S" else number(word)
    return float(value) if kind == "R" and isinstance(value, int) else value


def number(text: str) -> int | float | str:
    """Return a text as the number that it is, or as it is."""
    try:
        if _WHOLE.fullmatch(text):
            return int(text)
        return text if "_" in text else float(text)  # Python takes 1_000 for a number
    except ValueError:
        return text


def _line(file: OpenFile, index: int) -> str:
    """Return a line by its number among those that are not blank. Raises IndexError."""
    line = pick_line(file, index)
    if line is None:
        raise IndexError(f"there is no line {index}")
    return line
