"""Tables in text (.csv, .tsv, .txt): a line that names the columns, then one sphere a line.

Tables of the variant "bare" may lack the names: their first three columns are the coordinates.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown, suggestion
from raytracer.files.access import OpenFile
from raytracer.memory import has_room, require_room
from raytracer.scene.colors import OPACITY
from raytracer.scene.particles import naming
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.labels import Labels
from raytracer.scene.particles.lines import aside, count_lines, pick_line
from raytracer.scene.particles.source import Column, Notes, Particles, Value
from raytracer.scene.particles.table_layout import (
    TableLayout,
    count_marks,
    long_row,
    read_layout,
)
from raytracer.scene.particles.text_table import (
    BLANK,
    COLOR_BYTES,
    line_at,
    number,
    read_columns,
)

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LOOK_AHEAD = 200
"""Rows in which a value is looked for, where the first has none, to know the kind of a column."""

HEADER = "it must name the columns: x,y,z[,radius][,r,g,b]"

BARE = "bare"
"""Variant of tables whose columns need no names."""

TEXT_BYTES = 64
"""Longest text of a column that is loaded; more of it is cut off."""

_DECIMAL_COMMA = r"^([+-]?\d*),(\d*(?:[eE][+-]?\d+)?)$"


NUMERIC_PARTS = ("x", "y", "z", "radius", "diameter")
"""Parts of a sphere whose columns hold numbers, by their names."""


class Source(ColumnSource):
    """A text table with named columns."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self.layout = read_layout(file)
        self.first_line = self.layout.skip + 1
        self._required: Container[str] = ()  # columns that need a value in each row
        self._label_column = ""  # is read as text, whatever its first cell holds
        if variant == BARE and not self.layout.named and len(self.layout.columns) >= 3:
            self.layout = _unnamed(file, self.layout)
            self.first_line = self.layout.skip + 1
            self.notes.append(("", (
                f"{self.name}: the columns have no names; the first three are taken as x, y and z: "
                "to set others, name all in a first line, for example '# x y z radius'"
            )))  # fmt: skip

    @property
    def where(self) -> str:
        return f"{self.name}: line {self.layout.line}"

    @property
    def names(self) -> list[str]:
        return self.layout.columns

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        layout = self.layout
        if not layout.named:
            return {}
        places = {name: place for place, name in reversed(list(enumerate(layout.columns)))}
        cells = self._first_values()

        def kind(name: str) -> str:
            if any(naming.usual(part, [name]) for part in NUMERIC_PARTS):
                return "number"  # a text there is a mistake of its line
            return "text" if _holds_text(cells, places[name]) else "number"

        return {name: Column(kind(name), (), naming.unit(name)) for name in layout.columns if name}

    def _first_values(self) -> list[str]:
        """Return the first cell of each column that has a value, by which its kind is known."""
        layout = self.layout
        cells = list(layout.cells(layout.first))
        if all(cell.strip() not in BLANK for cell in cells):
            return cells
        for line in self.file.lines(layout.skip + LOOK_AHEAD)[layout.skip :]:
            for place, cell in enumerate(layout.cells(line)[: len(cells)]):
                if cells[place].strip() in BLANK:
                    cells[place] = cell
        return [cell if cell.strip() not in BLANK else "nan" for cell in cells]

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        if not names:
            return {}
        label = self._label_column if self._label_column not in self.also else ""
        texts = [name for name in names if name == label or self.columns[name].kind == "text"]
        numbers = [name for name in names if name not in texts]
        width = COLOR_BYTES if self._required else TEXT_BYTES
        _require_room(self.file, self.layout, 8 * len(numbers) + (width + 4) * len(texts))
        optional = [name for name in numbers if name not in self._required]
        table, words = _read(self.file, self.layout, numbers, texts, width, optional)
        columns: dict[str, NDArray[Any]] = dict(zip(texts, words, strict=True))
        columns |= {name: table[:, place] for place, name in enumerate(numbers)}
        return {name: columns[name] for name in names}

    def particles(self, names: Mapping[str, str]) -> Particles:
        """Return the spheres of the table, whose columns have a value in each row."""
        try:
            return super().particles(names)
        finally:
            self._required, self._label_column = (), ""

    def labels_of_atoms(self) -> Labels | None:
        self._label_column = self._label(()) or ""
        try:
            return super().labels_of_atoms()
        finally:
            self._label_column = ""

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of each part; a name of one letter may be a size."""
        layout = self.layout
        if "centers" in names:
            raise DataFileError(f"{self.name}: a .csv file has columns; leave out arrays.centers")
        if not layout.named:
            what = "holds numbers" if any(layout.columns) else "is empty"
            raise DataFileError(f"{self.where} {what}; {HEADER}")
        lower = {column.lower(): column for column in reversed(layout.columns)}
        told = {part: name if name in layout.columns else lower.get(name.lower(), name)
                for part, name in names.items()}  # fmt: skip
        chosen = super().choose(told)
        if {"radius", "diameter"} & set(chosen) and {"r", "color"} & set(chosen):
            chosen.pop("label", None)
        left = [column for column in layout.columns if column not in chosen.values()]
        sized = {"radius", "diameter"} & set(chosen)
        if not sized and (found := naming.guess(left, self.name, "column")):
            chosen[found[0]] = found[1]
            self.notes.append(("radius", found[2]))
        self._required = frozenset(chosen.values())
        self._label_column = chosen.get("label", "")
        return chosen

    def labels(self, name: str, values: NDArray[Any]) -> Labels:
        import numpy as np

        if values.dtype.kind == "f" and bool(np.all(values % 1 == 0)):
            values = values.astype(np.int64)
        found = super().labels(name, values)
        return found._replace(names=[label.strip('"') for label in found.names])

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
        """Yield the cells of a line."""
        layout = self.layout
        cells = layout.cells(line_at(self.file, index + layout.inked))
        if layout.separator != ",":
            cells = [re.sub(_DECIMAL_COMMA, r"\1.\2", cell) for cell in cells]
        return _named(layout.columns, [number(cell) for cell in cells])


def _unnamed(file: OpenFile, layout: TableLayout) -> TableLayout:
    """Return the layout of a table without names: its columns are x, y, z, column 4, ..."""
    first = file.lines(layout.skip)[layout.skip - 1]
    names = [*"xyz", *(f"column {place}" for place in range(4, len(layout.columns) + 1))]
    return layout._replace(columns=names, skip=layout.skip - 1, inked=layout.inked - 1, first=first)


def _read(
    file: OpenFile,
    layout: TableLayout,
    numbers: Sequence[str],
    texts: Sequence[str],
    width: int = COLOR_BYTES,
    optional: Sequence[str] = (),
) -> tuple[NDArray[np.float64], list[NDArray[np.bytes_]]]:
    """Return the columns of numbers, (N, K), and those of texts, each (N,), `width` bytes each.

    Cells of `optional` columns of numbers may have no value: NaN.
    """
    places = layout.columns.index
    options = {"delimiter": layout.separator, "skiprows": layout.skip}
    with aside(lambda: count_marks(file, layout)) as counting:
        table, words = read_columns(
            file,
            {name: places(name) for name in numbers},
            {name: places(name) for name in texts},
            width,
            optional,
            **options,
        )
    counted = counting.result()
    if counted.quotes and texts:
        table, words = read_columns(
            file,
            {name: places(name) for name in numbers},
            {name: places(name) for name in texts},
            width,
            optional,
            **options | {"quotechar": '"'},
        )
    usual = layout.first.count(layout.separator or " ") * len(table)
    if counted.separators != usual or counted.quotes or usual > _separators(layout, len(table)):
        found = long_row(file, layout)
        if found is not None:
            raise _too_long(found, layout, file.source)
    if counted.quotes and pick_line(file, layout.inked + len(table)) is not None:
        raise DataFileError(
            f"{file.source}: a cell in quotes goes over the end of its line; write it in one line"
        )
    return table, words


def _holds_text(cells: Sequence[str], place: int) -> bool:
    """Whether a cell of the first row is a text."""
    try:
        float(cells[place].replace(",", "."))
    except (ValueError, IndexError):
        return place < len(cells)
    return False


def _separators(layout: TableLayout, rows: int) -> int:
    """Return how many separators rows have that are as long as the line of names."""
    return (len(layout.columns) - 1) * rows


def _too_long(found: tuple[int, int], layout: TableLayout, source: str) -> DataFileError:
    """Return the error for a row with more cells than there are names."""
    line, cells = found
    hint = "give each column a name"
    if layout.separator == ",":
        hint += "; if these are decimal commas, write points, or semicolons between the columns"
    names = len(layout.columns)
    return DataFileError(f"{source}: line {line} has {cells} values for {names} columns; {hint}")


def _require_room(file: OpenFile, layout: TableLayout, row: int) -> None:
    """Refuse a table of which the columns that are read do not fit; `row` bytes for each row."""
    # A letter for each column, and one after it.
    most = file.size // (2 * len(layout.columns)) + 1
    if not has_room(most * row):
        require_room(file.source, count_lines(file) * row)


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
