"""Rows of a text: columns of numbers and texts, separated or at fixed positions; and particles in
them: the common part of XYZ, LAMMPS files and tables.

The compiled parser reads them block by block. It rejects anything unusual without a reason; the
text is then read line by line here, and errors are reported with line and column.
"""

import os
import re
from array import array
from collections.abc import Mapping, Sequence
from enum import IntEnum
from functools import cached_property
from math import nan
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer._native import core
from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import MAX_LINE_BYTES, OpenFile
from raytracer.model.particle_source import Column, Particles, describe_more_frames
from raytracer.particles.columns import ColumnSource
from raytracer.particles.lines import count_lines, read_first_line
from raytracer.system.memory import require_room
from raytracer.system.resources import choose_thread_count

EXACT = 1 << 53  # integers up to this size are exact in float64, the type of parsed text
COLOR_BYTES = 32  # longest text of a colour; the longest CSS name has 20 letters
BLOCK_BYTES = 1 << 23  # bytes that are parsed at a time
HEAD_BYTES = 1 << 20  # most bytes before the rows
SPACES, FIXED = "spaces", "fixed"  # ways to split lines, beside a separator

BLANK = frozenset({"", "NA", "N/A", "NULL", "null", "None"})
"""Cells that mean a missing value in tables of other programs; `nan` is a number."""

_DECIMAL_COMMA = re.compile(r"[+-]?(\d+,\d*|,\d+)([eE][+-]?\d+)?")
_FORTRAN = re.compile(r"([+-]?\d*+(?:\.\d*+)?)[dD]([+-]?\d++)")
_THOUSANDS = re.compile(r"[+-]?\d{1,3}(,\d{3})+(\.\d*|(?<=,\d{3},\d{3}))")
_POINTS = re.compile(r"[+-]?\d{1,3}(\.\d{3})+,\d*")
_QUOTED = re.compile(r'"([^"]*)"|(\S+)')
_WHOLE = re.compile(r"[+-]?[0-9]+")


class CellType(IntEnum):
    """Types of cells, as in text_table.h; missing optional numbers are NaN."""

    NUMBER = 0
    OPTIONAL = 1
    TEXT = 2


class Cell(NamedTuple):
    """A column of a text."""

    kind: CellType
    place: int  # index of its cell in a row, from 0; for fixed columns the first byte
    width: int = 0  # bytes of a fixed column, or of a text to keep
    repeat: int = 1  # number of adjacent cells: 3 for a vector

    @property
    def bytes(self) -> int:
        return self.repeat * (self.width if self.kind == CellType.TEXT else 8)


class Layout(NamedTuple):
    """The layout of the rows of a text."""

    cells: Mapping[str, Cell]  # the columns by name
    split: str = SPACES  # SPACES, FIXED, or a separator character
    skip: int = 0  # lines before the first row
    # most cells of a row, without empty ones at its end; 0 is any number, for texts without quotes
    columns: int = 0
    records: tuple[str, ...] = ()  # six-letter starts of rows with fixed columns; () is any row
    stop: str = ""  # six-letter start of the line that ends such rows
    comment: str = ""  # character that starts a comment, or ""
    end: int = 0  # offset after the last row; 0 is the end of the file

    def cut(self, line: str) -> list[str]:
        separator = None if self.split == SPACES else self.split
        cells = split_cells(line, separator)
        # Cells that fill the columns of a table may have a colour, `#ff8800`.
        is_whole = 0 < len(cells) <= self.columns and not cells[0].startswith(self.comment)
        if is_whole or not self.comment:
            return cells
        return split_cells(line.partition(self.comment)[0], separator)


class Rows(NamedTuple):
    """Rows of a text."""

    columns: dict[str, NDArray[Any]]  # by name, (N,) or (N, K); float64, or texts as bytes
    length: int  # number of rows
    end: int  # offset after the last row
    most: int  # rows that there may be, by the lines of the text


def read_rows(file: OpenFile, layout: Layout, names: Sequence[str], most: int | None) -> Rows:
    """Read columns of a text, `most` rows or all. Raises DataFileError: a cell is not a number, or
    a line is too short or too long; MemoryNeedError: the columns do not fit into memory."""
    cells = {name: layout.cells[name] for name in names}
    # A file may state too many rows: each has at least two bytes.
    most = min(count_lines(file) if most is None else most, file.size // 2 + 1)
    require_room(file.source, most * sum(cell.bytes for cell in cells.values()))
    table = _ColumnBuffers(cells, layout, most)
    return table.parse_compiled(file) or table.parse_line_by_line(file)


class _ColumnBuffers:
    """Columns that are filled with rows; unused memory is never touched."""

    def __init__(self, cells: Mapping[str, Cell], layout: Layout, most: int) -> None:
        self.cells, self.layout, self.most = cells, layout, most
        self.numbers = [name for name, cell in cells.items() if cell.kind != CellType.TEXT]
        self.texts = [name for name, cell in cells.items() if cell.kind == CellType.TEXT]

    def kinds(self) -> np.dtype[Any]:
        """Return the dtype of the texts of a row."""
        cells = [(name, self.cells[name]) for name in self.texts]
        rows: list[Any] = [(name, f"S{cell.width}", (cell.repeat,) if cell.repeat > 1 else ())
                           for name, cell in cells]  # fmt: skip
        return np.dtype(rows or "u1")

    def columns(self, numbers: NDArray[np.float64], texts: NDArray[Any]) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {name: texts[name] for name in self.texts}
        place = 0
        for name in self.numbers:
            end = place + self.cells[name].repeat
            columns[name] = numbers[:, place] if end == place + 1 else numbers[:, place:end]
            place = end
        return {name: columns[name] for name in self.cells}

    def parse_compiled(self, file: OpenFile) -> Rows | None:
        """Return the rows read by the compiled parser, or None if the text is unusual."""
        layout = self.layout
        head = os.pread(file.file.fileno(), HEAD_BYTES, 0).split(b"\n", layout.skip)[:-1]
        place = sum(map(len, head)) + len(head)
        is_mixed = any(b"\r" in line.removesuffix(b"\r") for line in head)
        if len(head) < layout.skip or is_mixed or not layout.split.isascii():
            return None
        table = self._offsets()
        numbers = np.empty((self.most, sum(self.cells[name].repeat for name in self.numbers)))
        texts = np.empty(self.most, self.kinds())
        letters = texts.view(np.uint8).reshape(self.most, texts.dtype.itemsize)
        descriptor, count, kept = file.file.fileno(), 0, 0
        buffer = np.empty(
            min(BLOCK_BYTES, max(file.size - place, 0)) + MAX_LINE_BYTES + 1, np.uint8
        )
        while count < self.most:
            left = max(layout.end - place - kept, 0) if layout.end else None
            there = os.preadv(descriptor, [buffer[kept:-1][:left].data], place + kept)
            length = kept + there
            if not there and length:  # the last line may lack its end
                buffer[length] = ord("\n")
                length += 1
            end = _find_last_break(buffer[:length])
            if end == 0 and length:
                return None
            rows, used, stopped = core().parse_rows(
                buffer[:end], layout.split, layout.columns, table, count, numbers, letters,
                list(layout.records), layout.stop, choose_thread_count(),
            )  # fmt: skip
            if rows < 0:
                return None
            count, place = count + rows, place + used
            if stopped or (not there and used == end):
                break
            kept = length - used
            buffer[:kept] = buffer[used:length].copy()
        return Rows(self.columns(numbers[:count], texts[:count]), count, place, self.most)

    def _offsets(self) -> NDArray[np.int32]:
        """Return kind, place, width and offset of the cells for the parser, sorted by place."""
        rows, ends = [], [0, 0]
        for cell in self.cells.values():
            is_text = cell.kind == CellType.TEXT
            for index in range(cell.repeat):
                place = cell.place + index * (cell.width if self.layout.split == FIXED else 1)
                rows.append((cell.kind, place, cell.width, ends[is_text]))
                ends[is_text] += cell.width if is_text else 1
        return np.array(sorted(rows, key=lambda row: row[1]), np.int32).reshape(-1, 4)

    def parse_line_by_line(self, file: OpenFile) -> Rows:
        """Return the rows; errors are reported with line and column."""
        layout, numbers, texts = self.layout, array("d"), list[Any]()
        count = end = 0
        for line, (text, after) in enumerate(file.text_lines(layout.split != FIXED), 1):
            if (
                count == self.most
                or (layout.stop and text.startswith(layout.stop))
                or (layout.end and after > layout.end)
            ):
                break
            if line <= layout.skip or not text.startswith(layout.records or ""):
                continue
            cells = [] if layout.split == FIXED or not text.strip() else layout.cut(text)
            if layout.split != FIXED and (not cells or (
                layout.columns and BLANK.issuperset(cells))):  # fmt: skip
                continue
            try:
                _check_length(cells, layout)
                words = {name: self._words(name, text, cells) for name in self.cells}
                for name in self.numbers:
                    numbers.extend(_convert_cell(name, self.cells[name], word, layout.split, place)
                                   for place, word in enumerate(words[name]))  # fmt: skip
            except ValueError as problem:
                raise DataFileError(f"{file.source}: line {line}{problem}") from None
            row = [[word.encode(errors="surrogateescape") for word in words[name]]
                   for name in self.texts]  # fmt: skip
            texts.append(tuple(each if len(each) > 1 else each[0] for each in row))
            end, count = after, count + 1
        width = sum(self.cells[name].repeat for name in self.numbers)
        values = np.array(numbers).reshape(count, width)
        rows = np.array(texts, self.kinds()) if self.texts else np.empty(count, "u1")
        return Rows(self.columns(values, rows), count, end, self.most)

    def _words(self, name: str, text: str, cells: list[str]) -> list[str]:
        cell = self.cells[name]
        if self.layout.split == FIXED:
            starts = (cell.place + place * cell.width for place in range(cell.repeat))
            return [text[start : start + cell.width].strip() for start in starts]
        words = cells[cell.place : cell.place + cell.repeat]
        if len(words) < cell.repeat:
            if self.layout.columns and '"' in text:
                raise ValueError(": a quoted cell continues on the next line; write it on one line")
            raise ValueError(f": too few columns for {', '.join(self.cells)}")
        return words


def _check_length(cells: list[str], layout: Layout) -> None:
    """Raise ValueError for more cells than columns: the message after the number of a line."""
    count = max((place for place, cell in enumerate(cells, 1) if cell), default=0)
    if layout.columns and count > layout.columns:
        hint = "give each column a name"
        if layout.split == ",":
            hint += "; for decimal commas, use decimal points, or semicolons between columns"
        raise ValueError(f" has {count} values for {layout.columns} columns; {hint}")


def _convert_cell(name: str, cell: Cell, text: str, split: str, place: int) -> float:
    """Return a cell as a number; `place` is its index in a vector."""
    value = parse_cell(text)
    if not isinstance(value, str):
        return float(value)
    if cell.kind == CellType.OPTIONAL and (text in BLANK or split == FIXED):
        return nan
    column = "xyz"[place] if cell.repeat == 3 else name
    what = "there is no value" if text in BLANK else f"'{quote(text, 40)}' is not a number"
    what += "; the columns of this format have fixed places" if split == FIXED else ""
    raise ValueError(f", column '{quote(column)}': {what}")


def split_cells(line: str, separator: str | None) -> list[str]:
    """Return the cells of a line, without white space and quotes around them.

    An unclosed quote is ignored.

    line: of the text. separator: one character; None is any white space."""
    has_quotes = '"' in line and line.count('"') % 2 == 0
    if separator is None:
        if has_quotes:
            return [inside or word for inside, word in _QUOTED.findall(line)]
        return [cell.strip('"') for cell in line.split()]
    if not has_quotes:
        return [cell.strip().strip('"') for cell in line.strip("\r\n").split(separator)]
    import csv

    rows = list(csv.reader([line.strip("\r\n")], delimiter=separator, skipinitialspace=True))
    return [cell.strip() for cell in rows[0]] if rows else []


def _find_last_break(text: NDArray[np.uint8]) -> int:
    """Return the number of bytes up to the end of the last complete line."""
    window = text[-MAX_LINE_BYTES:].tobytes()
    place = window.rfind(b"\n")
    return 0 if place < 0 else len(text) - len(window) + place + 1


def parse_cell(text: str) -> int | float | str:
    """Return a cell of a table as a number if it is one, otherwise unchanged.

    Numbers may have a decimal comma, the exponent of Fortran (1.5D+03), and separated thousands
    if these are not decimals (1,234.5 or 1.234,5).
    """
    value = parse_number(text) if text.isascii() else text
    if not isinstance(value, str) or not text.isascii():
        return value
    if _DECIMAL_COMMA.fullmatch(text):
        return parse_number(text.replace(",", "."))
    if match := _FORTRAN.fullmatch(text):
        return parse_number(f"{match[1]}e{match[2]}")
    if _THOUSANDS.fullmatch(text):
        return parse_number(text.replace(",", ""))
    if _POINTS.fullmatch(text):
        return parse_number(text.replace(".", "").replace(",", "."))
    return value


def find_cell_type(text: str) -> CellType:
    return CellType.TEXT if isinstance(parse_number(text), str) else CellType.NUMBER


def parse_number(text: str) -> int | float | str:
    """Return a text as a number if it is one, otherwise unchanged."""
    try:
        if _WHOLE.fullmatch(text):
            return int(text)
        return text if "_" in text else float(text)  # Python accepts 1_000 as a number
    except ValueError:
        return text


def to_whole(values: NDArray[np.float64], source: str, name: str) -> NDArray[np.int64]:
    """Truncate to int64. Raises DataFileError: a number is NaN, infinite, or beyond 2**53."""
    if values.size and not (values.min() >= -EXACT and values.max() <= EXACT):
        bad = values[~(np.abs(values) <= EXACT)][0]
        what = f"is beyond the range of integers, {-EXACT:,} to {EXACT:,}"
        problem = what if np.isfinite(bad) else "is not an integer"
        raise DataFileError(f"{source}: '{quote(name)}': {bad:.16g} {problem}")
    return values.astype(np.int64)


def to_whole_if_exact(values: NDArray[Any]) -> NDArray[Any]:
    """Return numbers as int64 if all are whole and of moderate size, otherwise unchanged."""
    is_whole = bool(((np.abs(values) < 1e12) & (values % 1 == 0)).all())
    return values.astype(np.int64) if is_whole else values


class TextSource(ColumnSource):
    """A text with a row of cells per particle."""

    layout: Layout  # of the rows, with all columns
    atoms: int | None = None  # number of rows that the text states
    announced = ""  # start of the message about it, "line 1 states"
    integers: ClassVar[frozenset[str]] = frozenset()  # columns that hold integers
    # Regular expression of the line after the last row if another frame begins; "" if files have
    # one frame.
    next_frame: ClassVar[str] = ""

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        columns = {}
        for name, cell in self.layout.cells.items():
            kind = "integer" if name in self.integers else "number"
            columns[name] = Column("text" if cell.kind == CellType.TEXT else kind)
        return columns

    @property
    def count(self) -> int | None:
        return self.atoms

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return self.load_rows(self.layout, names)

    def load_rows(self, layout: Layout, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of all rows of a layout; integers as such if all values are whole."""
        rows = read_rows(self.file, layout, names, self.atoms)
        if self.atoms is not None and rows.length != self.atoms:
            raise self.error(
                f"{self.announced} {self.atoms} atoms, but there are {rows.length}: the file is "
                "incomplete"
            )
        self._end, self._most = rows.end, rows.most
        return {name: self._whole(name, values) for name, values in rows.columns.items()}

    def _whole(self, name: str, values: NDArray[Any]) -> NDArray[Any]:
        is_whole = self.columns[name].kind == "integer" and bool(np.all(values % 1 == 0))
        return to_whole(values, self.name, name) if is_whole else values

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if self.next_frame and (line := read_first_line(self.file, self._end).strip()):
            note = describe_more_frames(self.name)
            if not re.match(self.next_frame, line):
                note = (
                    f"{self.name}: {self.announced} {self.atoms} atoms; further lines are ignored, "
                    f"the first is '{quote(line)}'"
                )
            result.notes.append(("", note))
        return result
