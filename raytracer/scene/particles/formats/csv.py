"""Text tables (.csv, .tsv, .txt): a line of column names, then one sphere per line.

Lines before the names that start with `#`, `%` or `//` are comments. The names may be in the last
of them, as `numpy.savetxt` writes them, if the next line has numbers. Tables of the variant "bare"
may lack names: the first three columns are then the coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown, suggestion
from raytracer.files.access import OpenFile
from raytracer.scene.colors import OPACITY
from raytracer.scene.particles import naming
from raytracer.scene.particles.columns import LABELS
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
)

SEPARATORS = (",", ";", "\t")  # separators of cells; without any of these, white space
COMMENTS = ("#", "%", "//")
HEAD_LINES = 1000  # most comment and blank lines before the names of the columns
LOOK_AHEAD = 200  # rows in which to look for a value of a column that begins without one

HEADER = "it must name the columns: x,y,z[,radius][,r,g,b]"

BARE = "bare"  # variant of tables whose columns need no names
TEXT_BYTES = 64  # longest text of a column that is loaded; the rest is cut off

_DECIMAL_COMMA = r"^([+-]?\d*),(\d*(?:[eE][+-]?\d+)?)$"

NUMERIC_PARTS = ("x", "y", "z", "radius", "diameter")  # parts of a sphere that are numbers


class Table(NamedTuple):
    """The layout of a table."""

    separator: str | None  # one character; None is any white space
    columns: list[str]  # names, in order; [] without a line of names
    skip: int  # lines before the first row, of which the last has the names
    first: str  # the first row, or ""

    @property
    def named(self) -> bool:
        """Whether the columns have names, not numbers."""
        return any(self.columns) and not is_numbers(self.columns)


class Source(TextSource):
    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self.table = _table(file)
        self._label_column = ""  # read as text
        if variant == BARE and not self.table.named and len(self.table.columns) >= 3:
            skip, count = self.table.skip - 1, len(self.table.columns)
            names = [*"xyz", *(f"column {place}" for place in range(4, count + 1))]
            self.table = Table(self.table.separator, names, skip, file.lines(skip + 1)[skip])
            self.notes.append(("", (
                f"{self.name}: the columns have no names; the first three are taken as x, y and z. "
                "To choose others, name all in a first line, for example '# x y z radius'"
            )))  # fmt: skip
        self.first_line = self.table.skip + 1
        self.layout = self._layout()

    def _layout(self) -> Layout:
        table, cells = self.table, {}
        first = self._first_values()
        for place, name in enumerate(table.columns if table.named else []):
            is_numeric = any(naming.usual(part, [name]) for part in NUMERIC_PARTS)
            if not name or name in cells:
                continue
            if not is_numeric and first[place:] and not is_numbers(first[place : place + 1]):
                is_short = name in LABELS or naming.usual("color", [name])
                cells[name] = Cell(TEXT, place, COLOR_BYTES if is_short else TEXT_BYTES)
            else:  # a text is then an error of its line
                cells[name] = Cell(NUMBER if is_numeric else OPTIONAL, place)
        return Layout(cells, table.separator or SPACES, table.skip, len(table.columns))

    @property
    def where(self) -> str:
        return f"{self.name}: line {max(self.table.skip, 1)}"

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
        return self.load_rows(self.layout._replace(cells=cells), names)

    def labels_of_atoms(self) -> Labels | None:
        self._label_column = self._label(()) or ""
        return super().labels_of_atoms()

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of each part; a name of one letter may be a size."""
        table = self.table
        if "centers" in names:
            raise DataFileError(f"{self.name}: a .csv file has columns; leave out arrays.centers")
        if not table.named:
            what = "holds numbers" if any(table.columns) else "is empty"
            raise DataFileError(f"{self.where} {what}; {HEADER}")
        lower = {column.lower(): column for column in reversed(table.columns)}
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
        if self.table.separator != ",":
            word = re.sub(_DECIMAL_COMMA, r"\1.\2", word)
        return number(word)


def _table(file: OpenFile) -> Table:
    """Return the layout of a table. Raises DataFileError: a line is too long, or not UTF-8."""
    lines = file.lines(2)
    if _is_comment(lines[0]):
        lines = file.lines(HEAD_LINES + 1)
    place = next((i for i, line in enumerate(lines[:-1]) if not _is_comment(line)), None)
    before = [line for line in lines[:place] if line]  # "" marks the end
    comment = next((line for line in reversed(before) if line.strip()), "")
    separator = separator_of(comment if place is None else lines[place])
    names = cells_of(comment.strip(" \r\n").lstrip("#%/"), separator)
    if place is None:
        return Table(separator, names, len(before), "")
    cells = cells_of(lines[place], separator)
    as_many = is_numbers(cells) and len(names) == len(cells)
    if comment and not _has_axes(cells) and (_has_axes(names) or as_many):
        return Table(separator, names, place, lines[place])
    return Table(separator, cells, place + 1, lines[place + 1])


def _is_comment(line: str) -> bool:
    """Whether a line is blank or a comment."""
    return not line.strip() or line.lstrip().startswith(COMMENTS)


def separator_of(line: str) -> str | None:
    """Return the separator of a line: the commonest of `SEPARATORS` outside quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    best = max(SEPARATORS, key=bare.count)
    return best if bare.count(best) else None


def _has_axes(names: list[str]) -> bool:
    return all(naming.usual(axis, names) for axis in "xyz")


def is_numbers(cells: list[str]) -> bool:
    """Whether all cells are numbers, with a decimal point or comma."""
    try:
        [float(cell.replace(",", ".")) for cell in cells]
    except ValueError:
        return False
    return bool(cells)
