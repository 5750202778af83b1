"""Text tables (.csv, .tsv, .txt, .pts, .imd, ...): one sphere per line.

The rows are the first lines with the same cells of which three are numbers. The names of the
columns are in a line above them: the nearest that names coordinates, which may be a comment, or
stand above others, a line of units or further tables. Without names the first three columns of
numbers are the coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown, suggestion
from raytracer.files.access import OpenFile
from raytracer.scene.colors import OPACITY
from raytracer.scene.particles import naming
from raytracer.scene.particles.columns import label_in
from raytracer.scene.particles.labels import Labels
from raytracer.scene.particles.source import Column, Notes, Value
from raytracer.scene.particles.text_source import TextSource
from raytracer.scene.particles.text_table import (
    BLANK,
    COLOR_BYTES,
    NUMBER,
    OPTIONAL,
    SPACES,
    TEXT,
    Cell,
    Layout,
    cells_of,
    number,
    number_in,
)

SEPARATORS = (",", ";", "\t", "|")  # separators of cells; without any of these, white space
COMMENTS = ("#", "%", "//", "!")
HEAD_LINES = 1000  # most lines before the first row
LOOK_AHEAD = 200  # rows in which to look for a value of a column that begins without one
SAMPLE = 4  # rows that must have the same cells

HEADER = "it must name the columns: x,y,z[,radius][,r,g,b]"

PTX_LINES = 10  # lines before the points of a scan: its size and two matrices

TEXT_BYTES = 64  # longest text of a column that is loaded; the rest is cut off

_DECIMAL_COMMA = r"^([+-]?\d*),(\d*(?:[eE][+-]?\d+)?)$"
_PREFIX = r"(?i)^[\s#%/!]*(?:variables\s*=|format\s+(?=\w+$))?\s*"  # before names of columns

NUMERIC_PARTS = ("x", "y", "z", "radius", "diameter")  # parts of a sphere that are numbers


KNOWN = {
    ".ptx": ("x y z intensity", "x y z intensity red green blue"),
    ".pts": ("x y z", "x y z intensity", "x y z red green blue", "x y z intensity red green blue"),
}
"""Names of columns by the variant, for each number of columns that its files may have."""


class Table(NamedTuple):
    """The layout of a table."""

    separator: str | None  # one character; None is any white space
    columns: list[str]  # names, in order
    skip: int  # lines before the first row
    first: str  # the first row, or ""
    header: int = 0  # number of the line with the names, from 1; 0 if there is none
    numbers: tuple[int, ...] = ()  # places of columns of numbers, if there are no names
    is_plain: bool = True  # whether there is nothing above the rows but names, comments and numbers
    is_counted: bool = False  # whether a number is above the rows, as in formats that state theirs

    @property
    def named(self) -> bool:
        """Whether the columns have names, not numbers."""
        return any(self.columns) and not is_numbers(self.columns)

    @property
    def has_rows(self) -> bool:
        """Whether a text is certainly a table: with names of coordinates, or of numbers alone."""
        return bool(self.first and (self.is_plain if self.numbers else _has_axes(self.columns)))


class Source(TextSource):
    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self.table = table_of(file, PTX_LINES if variant == ".ptx" else 0)
        self._label_column = ""  # read as text
        if self.table.numbers:
            self._name_columns()
        self.first_line = self.table.skip + 1
        self.layout = self._layout()

    def _name_columns(self) -> None:
        """Name columns without names by the variant; otherwise the first numbers are x, y, z."""
        count = len(self.table.columns)
        known = [names.split() for names in KNOWN.get(self.variant, ())]
        names = next((each for each in known if len(each) == count), [])
        if not names:
            names = [f"column {place}" for place in range(1, count + 1)]
            for axis, place in zip("xyz", self.table.numbers, strict=False):
                names[place] = axis
            texts = [place for place in range(count) if place not in self.table.numbers]
            if texts:
                names[texts[0]] = "species"
            which = [str(names.index(axis) + 1) for axis in "xyz"]
            self.notes.append(("", (
                f"{self.name}: the columns have no names; columns {', '.join(which[:2])} and "
                f"{which[2]} are taken as x, y and z. To choose others, give their numbers, as in "
                f"--columns x={which[0]},y={which[1]},z={which[2]},radius={count}"
            )))  # fmt: skip
        self.table = self.table._replace(columns=names)

    def _layout(self) -> Layout:
        table, cells = self.table, {}
        first = self._first_values()
        for place, name in enumerate(table.columns if table.named else []):
            is_numeric = any(naming.usual(part, [name]) for part in NUMERIC_PARTS)
            if not name or name in cells:
                continue
            if not is_numeric and first[place:] and not is_numbers(first[place : place + 1]):
                is_short = label_in([name]) or naming.usual("color", [name])
                cells[name] = Cell(TEXT, place, COLOR_BYTES if is_short else TEXT_BYTES)
            else:  # a text is then an error of its line
                cells[name] = Cell(NUMBER if is_numeric else OPTIONAL, place)
        split = table.separator or SPACES
        return Layout(cells, split, table.skip, len(table.columns), comment="#")

    @property
    def where(self) -> str:
        return f"{self.name}: line {max(self.table.header, 1)}"

    @property
    def names(self) -> list[str]:
        return self.table.columns

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return {name: each._replace(unit=naming.unit(name))
                for name, each in super().columns.items()}  # fmt: skip

    def _first_values(self) -> list[str]:
        """Return the first nonempty cell of each column, which determines its type."""
        table = self.table
        cells = cells_of(table.first, table.separator)
        if not BLANK.isdisjoint(cells):
            for line in self.file.lines(table.skip + LOOK_AHEAD)[table.skip :]:
                for place, cell in enumerate(cells_of(line, table.separator)[: len(cells)]):
                    if cells[place] in BLANK:
                        cells[place] = cell
        return ["nan" if cell in BLANK else cell for cell in cells]

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        label, self._label_column = self._label_column, ""
        cells = dict(self.layout.cells)
        if label and label not in self.also:
            cells[label] = Cell(TEXT, cells[label].place, COLOR_BYTES)
        # Rows are those with a coordinate, whichever columns are read; the last may have none.
        x = naming.usual("x", cells)
        read = names if x is None or x in names else [*names, x]
        rows = self.load_rows(self.layout._replace(cells=cells), read)
        if x is not None and (end := _numbers_end(rows[x])) < len(rows[x]):
            others = [name for axis in "yz" if (name := naming.usual(axis, cells))]
            there = self.load_rows(self.layout._replace(cells=cells), others)
            end = max([end, *map(_numbers_end, there.values())]) or len(rows[x])
            if cut := len(rows[x]) - end:
                note = f"{self.name}: the last rows have no coordinates and are left out: {cut:,}"
                self.notes += [("", note)] if ("", note) not in self.notes else []
            rows = {name: values[:end] for name, values in rows.items()}
        return {name: rows[name] for name in names}

    def labels_of_atoms(self) -> Labels | None:
        self._label_column = self._label(()) or ""
        return super().labels_of_atoms()

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of each part; a name of one letter may be a size."""
        table = self.table
        if "centers" in names:
            raise DataFileError(f"{self.name}: a table has columns; give x, y and z, not centers")
        if not table.named:
            what = "holds numbers" if any(table.columns) else "is empty"
            raise DataFileError(f"{self.where} {what}; {HEADER}")
        lower = {column.lower(): column for column in reversed(table.columns)}
        if table.numbers:
            lower |= {str(place): column for place, column in enumerate(table.columns, 1)}
        stated = {part: name if name in table.columns else lower.get(name.lower(), name)
                  for part, name in names.items()}  # fmt: skip
        chosen = super().choose(stated)
        if {"radius", "diameter"} & set(chosen) and {"r", "color"} & set(chosen):
            chosen.pop("label", None)
        self._guess_size(chosen)
        self._label_column = chosen.get("label", "")
        return chosen

    def labels(self, name: str, values: NDArray[Any]) -> Labels:
        if values.dtype.kind == "f" and bool(np.all(values % 1 == 0)):
            values = values.astype(np.int64)
        return super().labels(name, values)

    def _choose_color(self, chosen: dict[str, str]) -> None:
        super()._choose_color(chosen)
        if not {"r", "color"} & set(chosen):
            there = [part for part in "rgb" if naming.usual(part, self.columns)]
            if len(there) == 2:
                missing = next(part for part in "rgb" if part not in there)
                hint = suggestion(missing, self.names)
                raise DataFileError(f"{self.name}: there is no column '{missing}'; {hint}")

    def _unused(self, chosen: Mapping[str, str]) -> Notes:
        notes = super()._unused(chosen)
        left = [column for column in self.names if column and column not in chosen.values()]
        if "r" in chosen and (
            alpha := [each for each in left if naming.plain(each) in naming.ALPHA]
        ):
            notes.append(
                ("color", f"{self.name}: column '{shown(alpha[0])}' is ignored; {OPACITY}")
            )
        return notes

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the cells of a line that are not blank."""
        return ((name, value) for name, value in super().row(index, count, used) if value != "")

    def value(self, name: str, word: str) -> Value:
        return number(re.sub(_DECIMAL_COMMA, r"\1.\2", word))


def _numbers_end(values: NDArray[Any]) -> int:
    """Return the number of values without those at the end that are NaN."""
    if not len(values) or values.dtype.kind != "f" or not np.isnan(values[-1]):
        return len(values)
    numbers = np.flatnonzero(~np.isnan(values))
    return int(numbers[-1]) + 1 if len(numbers) else 0


def table_of(file: OpenFile, skip: int = 0) -> Table:
    """Return the layout of a table; its first lines are left out.

    Raises:
        DataFileError: a line is too long, or not text.
    """
    file.guess_encoding()
    lines = file.lines(2)
    separator = separator_of(lines[0])
    if not (_has_axes(cells_of(lines[0], separator)) and _places([lines[1]], separator)):
        lines = file.lines(HEAD_LINES + SAMPLE)
    while lines and not lines[-1]:  # after the end of the file
        lines.pop()
    lines[:skip] = ["#\n"] * len(lines[:skip])
    rows = _first_row(lines)
    if rows is None:
        return _without_rows(lines)
    start, separator, numbers = rows
    cells = _trimmed(cells_of(lines[start], separator))
    found = _header(lines[:start], separator, cells)
    if found is None:
        is_plain = all(_is_comment(line) or is_numbers(line.split()) for line in lines[:start])
        is_counted = any(not _is_comment(line) for line in lines[:start])
        return Table(separator, cells, start, lines[start], 0, tuple(numbers), is_plain, is_counted)
    header, names = found
    # A row with a mistake is reported, and a line of units is not a row.
    for place in range(header + 1, start):
        if not _is_comment(lines[place]):
            there = cells_of(lines[place], separator)
            if len(there) >= len(cells) and any(is_numbers([cell]) for cell in there):
                start = place
                break
    return Table(separator, names, start, lines[start], header + 1)


def _first_row(lines: list[str]) -> tuple[int, str | None, list[int]] | None:
    """Return the line of the first row, its separator, and the places of its numbers."""
    for start, line in enumerate(lines[:HEAD_LINES]):
        if _is_comment(line) or not any(map(str.isdigit, line)):
            continue
        sample = [each for each in lines[start : start + 2 * SAMPLE] if not _is_comment(each)]
        for separator in (*SEPARATORS, None):
            if (separator is None or separator in line) and (
                places := _places(sample[:SAMPLE], separator)
            ):
                return start, separator, places
    return None


def _places(lines: list[str], separator: str | None) -> list[int]:
    """Return the places of numbers in rows of the same layout; [] unless there are three."""
    rows = [cells_of(line, separator) for line in lines]
    if len({len(row) for row in rows}) != 1:
        rows = [_trimmed(row) for row in rows]
    count = len(rows[0])
    if any(len(row) != count for row in rows):
        return []
    places = [
        place
        for place in range(count)
        if all(row[place] in BLANK or is_numbers([row[place]]) for row in rows)
        and any(row[place] not in BLANK for row in rows)
    ]
    return places if len(places) >= 3 and any(rows[0][place] for place in places) else []


def _header(
    before: list[str], separator: str | None, row: list[str]
) -> tuple[int, list[str]] | None:
    """Return the line of the names of columns and these, or None.

    Args:
        before: the lines before the first row.
        separator: of the rows.
        row: cells of the first row.
    """
    for place in reversed(range(len(before))):
        known = [names for names in _names_in(before[place], separator) if _has_axes(names)]
        if known:
            return place, min(map(partial(_fitted, row=row), known), key=lambda names: (
                abs(len(names) - len(row))))  # fmt: skip
    place = next((i for i in reversed(range(len(before))) if before[i].strip()), -1)
    if place < 0:
        return None
    names = _trimmed(cells_of(before[place].strip(" \r\n").lstrip("#%/! "), separator))
    is_header = len(names) == len(row) if is_numbers(row) else not _is_comment(before[place])
    return (place, names) if is_header and len(names) > 1 and not is_numbers(names) else None


def _names_in(line: str, separator: str | None) -> Iterator[list[str]]:
    """Yield the names that a line may have: with the separator of the rows, or with another."""
    text = re.sub(_PREFIX, "", line.removeprefix("\ufeff")).strip()
    yield (names := cells_of(text, separator))
    yield _trimmed(names)
    yield from (_trimmed(cells_of(text, each)) for each in SEPARATORS if each in text)
    yield re.findall(r"\[\s*\d+\s+(.*?)\s*\]", text)  # of SPLASH: [01 x]
    yield re.split(r"\s{2,}|\t", text)
    yield cells_of(text, None)
    if re.match(r"#\s*format\s", line):  # of YADE: x_y_z_r
        yield text.split("_")


def _fitted(names: list[str], row: list[str]) -> list[str]:
    """Leave out a word before the names; name a column of row numbers before those of names."""
    if len(names) == len(row) + 1 and names[-1] and len(names[0]) < 2 and _has_axes(names[1:]):
        return names[1:]
    if len(names) == len(row) - 1 and row[0].isdigit() and _has_axes(names):
        return ["row", *names]
    return names


def _without_rows(lines: list[str]) -> Table:
    """Return the table of lines of which none is a row of three numbers."""
    place = next((i for i, line in enumerate(lines) if not _is_comment(line)), None)
    comments = [i for i, line in enumerate(lines[:place]) if line.strip()]
    header = place if place is not None else comments[-1] if comments else None
    if header is None:
        return Table(None, [], len(lines), "")
    if comments and place is not None and not _has_axes(cells_of(lines[place], None)):
        known = [(i, names) for i in reversed(comments) for names in _names_in(lines[i], None)
                 if _has_axes(names)]  # fmt: skip
        if known:
            return Table(separator_of(lines[place]), known[0][1], place, lines[place],
                         known[0][0] + 1)  # fmt: skip
    separator = separator_of(lines[header])
    names = cells_of(lines[header].strip(" \r\n").lstrip("#%/!"), separator)
    first = lines[header + 1] if header + 1 < len(lines) else ""
    return Table(separator, names, header + 1, first, header + 1)


def _trimmed(cells: list[str]) -> list[str]:
    """Leave out empty cells at the end."""
    while cells and not cells[-1]:
        cells = cells[:-1]
    return cells


def _is_comment(line: str) -> bool:
    """Whether a line is blank or a comment."""
    return not line.strip() or line.lstrip("\ufeff \t").startswith(COMMENTS)


def separator_of(line: str) -> str | None:
    """Return the separator of a line: the commonest of `SEPARATORS` outside quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    best = max(SEPARATORS, key=bare.count)
    return best if bare.count(best) else None


def _has_axes(names: list[str]) -> bool:
    return all(naming.usual(axis, names) for axis in "xyz")


def is_numbers(cells: list[str]) -> bool:
    """Whether all cells are numbers, in any of the forms of `text_table.number_in`."""
    return bool(cells) and not any(isinstance(number_in(cell), str) for cell in cells)
