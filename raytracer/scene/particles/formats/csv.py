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
from raytracer.scene.arrays import distinct
from raytracer.scene.colors import OPACITY, color_numbers
from raytracer.scene.particles import naming
from raytracer.scene.particles.columns import ATOMIC_NUMBERS, LABELS, TYPES, wrong_colors
from raytracer.scene.particles.labels import Labels
from raytracer.scene.particles.lines import aside, count_lines, pick_line
from raytracer.scene.particles.source import Column, Notes, Particles, ParticleSource, Value
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
    text_palette,
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

_GROUPS = {
    "centers": ("x", "y", "z"),
    "radius": ("radius", "diameter"),
    "color": ("r", "g", "b", "color"),
}
"""The parts of a sphere, and the columns that say them."""


class Source(ParticleSource):
    """A text table with named columns."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self.layout = read_layout(file)
        self._notes: Notes = []
        if variant == BARE and not self.layout.named and len(self.layout.columns) >= 3:
            self.layout = _unnamed(file, self.layout)
            self._notes.append(("", (
                f"{self.name}: the columns have no names; the first three are taken as x, y and z: "
                "to set others, name all in a first line, for example '# x y z radius'"
            )))  # fmt: skip

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        layout = self.layout
        if not layout.named:
            return {}
        places = {name: place for place, name in reversed(list(enumerate(layout.columns)))}
        cells = self._first_values()
        return {
            name: Column(
                "text" if _holds_text(cells, places[name]) else "number", (), naming.unit(name)
            )
            for name in layout.columns
            if name
        }

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
        texts = [name for name in names if self.columns[name].kind == "text"]
        numbers = [name for name in names if name not in texts]
        table, words = _read(self.file, self.layout, numbers, texts, TEXT_BYTES, numbers)
        columns: dict[str, NDArray[Any]] = dict(zip(texts, words, strict=True))
        columns |= {name: table[:, place] for place, name in enumerate(numbers)}
        return {name: columns[name] for name in names}

    def particles(self, names: Mapping[str, str]) -> Particles:
        """Return the spheres of the table.

        Colours are numbers, see `color_numbers`, or one column of texts.
        """
        source, layout = self.name, self.layout
        chosen, notes = _choose(layout, names, source)
        notes += self._notes
        text = chosen.get("color")
        numeric = [part for part in chosen if part not in ("color", "label")]
        _require_room(self.file, layout, chosen)
        texts = [chosen[part] for part in ("color", "label") if part in chosen]
        own = [chosen[part] for part in numeric]
        kinds = self.columns
        also = [n for n in self.also if n not in own and n in kinds and kinds[n].kind == "number"]
        numbers, words = _read(self.file, layout, [*own, *also], texts, optional=also)
        columns = {part: numbers[:, place] for place, part in enumerate(numeric)}
        result = Particles(source, numbers[:, :3], notes=notes)
        result.extra = {name: numbers[:, place] for place, name in enumerate(also, len(own))}
        if "radius" in columns:
            result.radius = columns["radius"]
        elif "diameter" in columns:
            result.radius = columns["diameter"] * 0.5
        if text is not None:
            result.color, result.color_id = text_palette(words[0], source, text, layout.skip + 1)
        elif "r" in columns:
            rows = numbers[:, len(own) - 3 : len(own)]
            result.color = color_numbers(rows, wrong_colors(source, "columns r, g, b"))
        if "label" in chosen:
            result.labels = self._labels(chosen["label"], words[-1])
        size = chosen.get("radius") or chosen.get("diameter") or "radius"
        result.names = {"centers": "x, y, z", "radius": size, "color": text or "r, g, b"}
        result.columns = {
            name: tuple(chosen[part] for part in parts if part in chosen)
            for name, parts in _GROUPS.items()
        }
        result.unit = naming.unit_of_all(result.columns["centers"])
        return result

    def _labels(self, name: str, words: NDArray[np.bytes_]) -> Labels:
        """Return the labels of the particles, from a column of texts."""
        says = "elements" if name in ATOMIC_NUMBERS else "types" if name in TYPES else None
        labels, ids = distinct(words, self.name)
        return Labels([label.strip('"') for label in labels], ids, says, self.layout.skip + 1)

    def labels_of_atoms(self) -> Labels | None:
        name = _label(self.layout, {})
        if name is None:
            return None
        return self._labels(name, _read(self.file, self.layout, [], [name])[1][0])

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


def _choose(
    layout: TableLayout, names: Mapping[str, str], source: str
) -> tuple[dict[str, str], Notes]:
    """Return the columns to read, x, y and z first and colours last, and what to warn of.

    Their parts are x, y, z, then radius or diameter, then r, g, b, or color for one of texts.
    """
    if "centers" in names:
        raise DataFileError(f"{source}: a .csv file has columns; leave out arrays.centers")
    parts = {"radii": "radius", "diameters": "diameter", "colors": "color"}
    told = {parts.get(part, part): name for part, name in names.items()}
    chosen: dict[str, str] = {}
    for part in ("x", "y", "z", *sorted(set(told) - set("xyz"))):
        column = _find(part, told.get(part), layout, chosen) if layout.named else None
        if column is None:
            raise _no_column(told.get(part) or part, layout, source)
        chosen[part] = column
    notes: Notes = []
    if not {"radius", "diameter"} & set(chosen):
        _add(("radius",), layout, chosen) or _add(("diameter",), layout, chosen)
    _choose_colors(layout, chosen, source)
    if not ({"radius", "diameter"} & set(chosen) and {"r", "color"} & set(chosen)):
        label = _label(layout, chosen)
        chosen |= {} if label is None else {"label": label}
    if not {"radius", "diameter"} & set(chosen):
        left = [column for column in layout.columns if column not in chosen.values()]
        if found := naming.guess(left, source, "column"):
            chosen[found[0]] = found[1]
            notes.append(("radius", found[2]))
    line = f"{source}: line {layout.line}"
    naming.require_one(chosen.values(), layout.columns, line, "column", told.values())
    _note_unused(layout, chosen, notes, source)
    order = ("x", "y", "z", "radius", "diameter", "r", "g", "b", "color", "label")
    return {part: chosen[part] for part in order if part in chosen}, notes


def _find(
    part: str, told: str | None, layout: TableLayout, chosen: Mapping[str, str]
) -> str | None:
    """Return the column of a part, by the name that it was given or by a usual one, or None."""
    if told is None:
        return naming.usual(part, [c for c in layout.columns if c and c not in chosen.values()])
    lower = [column.lower() for column in layout.columns]
    if told in layout.columns:
        return told
    return layout.columns[lower.index(told.lower())] if told.lower() in lower else None


def _add(parts: tuple[str, ...], layout: TableLayout, chosen: dict[str, str]) -> bool:
    """Choose columns with usual names if all of them are there; whether they are."""
    found = {part: _find(part, None, layout, chosen) for part in parts if part not in chosen}
    columns = {part: column for part, column in found.items() if column is not None}
    if len(columns) == len(found):
        chosen.update(columns)
    return len(columns) == len(found)


def _choose_colors(layout: TableLayout, chosen: dict[str, str], source: str) -> None:
    """Choose r, g and b, or one column of texts."""
    if "color" in chosen or _add(("r", "g", "b"), layout, chosen):
        return
    there = [part for part in "rgb" if part in chosen or _find(part, None, layout, chosen)]
    if len(there) == 2 or set("rgb") & set(chosen):
        missing = next(part for part in "rgb" if part not in there)
        raise _no_column(missing, layout, source)
    column = naming.usual("color", [c for c in layout.columns if c not in chosen.values()])
    if column is not None and _is_text(layout, column):
        chosen["color"] = column


def _note_unused(layout: TableLayout, chosen: Mapping[str, str], notes: Notes, source: str) -> None:
    """Note columns that sound like what was not found."""
    left = [column for column in layout.columns if column and column not in chosen.values()]
    sizes = [] if {"radius", "diameter"} & set(chosen) else naming.sizes(left)
    colors = [] if {"r", "color"} & set(chosen) else naming.colors(left)
    if "r" in chosen and (alpha := [each for each in left if naming.plain(each) in naming.ALPHA]):
        notes.append(("color", f"{source}: column '{shown(alpha[0])}' is ignored; {OPACITY}"))
    notes += naming.unused(source, "column", sizes, colors, 'r = "...", g = "...", b = "..."')


def _label(layout: TableLayout, chosen: Mapping[str, str]) -> str | None:
    """Return the column of labels, or None."""
    left = [column for column in layout.columns if column not in chosen.values()]
    return next((name for name in LABELS if name in left), None) if layout.named else None


def _is_text(layout: TableLayout, column: str) -> bool:
    """Whether a column holds texts, by its first row."""
    return _holds_text(layout.cells(layout.first), layout.columns.index(column))


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


def _require_room(file: OpenFile, layout: TableLayout, chosen: Mapping[str, str]) -> None:
    """Refuse a table that will not fit. Its rows are counted if the shortest ones would not.

    chosen: columns by part. Colours are read once more as 0..1, diameters as radii.
    """
    row = 8 * len(chosen)
    row += (COLOR_BYTES + 4) * (("color" in chosen) + ("label" in chosen))
    if "r" in chosen:
        row += 24
    if "diameter" in chosen:
        row += 8
    # A separator or a line's end after each cell, and something in those that are read.
    most = file.size // (len(layout.columns) + len(chosen)) + 1
    if not has_room(most * row):
        require_room(file.source, count_lines(file) * row)


def _no_column(name: str, layout: TableLayout, source: str) -> DataFileError:
    """Return the error for a column that is not there."""
    if not any(layout.columns):
        return DataFileError(f"{source}: line {layout.line} is empty; {HEADER}")
    if not layout.named:
        return DataFileError(f"{source}: line {layout.line} holds numbers; {HEADER}")
    hint = suggestion(name, layout.columns)
    return DataFileError(f"{source}: there is no column '{shown(name)}'; {hint}")


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
