"""Coordinate files of chemistry: plain .xyz, and extended .xyz with a list of columns.

Line 1 is the number of atoms, line 2 a comment, then one atom a line. In the extended format the
comment holds key=value pairs, of which `Properties=name:kind:columns:...` names the columns. Of
a file with several frames the first is read.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..door import OpenFile
from ..errors import DataFileError, SceneError, shown, suggestion
from ..memory import require_room
from .arrays import BLOCK_ROWS
from .csv_file import load_table
from .elements import Element, palette
from .particles import Particles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABEL_BYTES = 16
"""Longest label of an atom that is told apart from others."""

_PAIR = re.compile(r"(\w[\w-]*)\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|\{([^}]*)\}|(\S+))")


@dataclass(frozen=True)
class Column:
    """One property: its kind (S text, R real, I integer, L logical), first column and width."""

    kind: str
    first: int
    width: int


def read_xyz(
    file: OpenFile, names: Mapping[str, str], elements: Mapping[str, Element]
) -> Particles:
    """Read a plain or extended .xyz file; radii and colours come from the elements if need be.

    Raises:
        DataFileError: broken counts or columns, a label that is no element.
    """
    source = file.source
    count, comment = read_head(file)
    columns = properties(comment, source)
    _check_names(names, columns, source)
    position = names.get("centers", "pos")
    radius = names.get("radii") or _first_of(("radius", "radii"), columns)
    color = names.get("colors") or _first_of(("color", "colour", "colors"), columns)
    label = _first_of(("species", "element", "symbol", "Z"), columns)
    if position not in columns or columns[position].width != 3:
        raise DataFileError(f"{source}: line 2: Properties name no '{position}' of three columns")
    wanted = {"centers": position, "radius": radius, "color": color, "label": label}
    used = {part: (name, columns[name]) for part, name in wanted.items() if name is not None}
    table = _table(file, count, used)
    result = Particles(source, table["centers"])
    result.names = {part: name for part, (name, _) in used.items()}
    result.columns = {part: (name,) for part, name in result.names.items() if part != "label"}
    if "radius" in used:
        result.radius = table["radius"]
    if "color" in used:
        result.color = _colors(table["color"], used["color"][1], source)
    if result.radius is None or result.color is None:
        _from_elements(result, table, elements)
    return result


def read_head(file: OpenFile) -> tuple[int, str]:
    """Return the number of atoms and the comment."""
    first, comment = file.lines(2)
    try:
        count = int(first)
    except ValueError:
        count = -1
    if count < 0:
        text = shown(first.strip(), 40)
        raise DataFileError(f"{file.source}: line 1: '{text}' is not the number of atoms")
    return count, comment


def properties(comment: str, source: str) -> dict[str, Column]:
    """Return the columns of a file: those of Properties, or of a plain file."""
    pairs = {
        m[1]: next(v for v in m.groups()[1:] if v is not None) for m in _PAIR.finditer(comment)
    }
    if "Lattice" in pairs:
        _check_lattice(pairs["Lattice"], source)
    if "Properties" not in pairs:
        return {"species": Column("S", 0, 1), "pos": Column("R", 1, 3)}
    words = pairs["Properties"].split(":")
    columns: dict[str, Column] = {}
    first = 0
    for name, kind, width in zip(words[::3], words[1::3], words[2::3], strict=False):
        if kind not in "SRIL" or not width.isdecimal() or int(width) == 0:
            raise DataFileError(
                f"{source}: line 2: Properties: '{name}:{kind}:{width}' is not name:kind:columns"
            )
        columns[name] = Column(kind, first, int(width))
        first += int(width)
    if len(words) % 3:
        raise DataFileError(f"{source}: line 2: Properties: '{words[-1]}' lacks kind or columns")
    return columns


def _check_lattice(text: str, source: str) -> None:
    """Refuse a Lattice that is not nine numbers; the cell itself is not drawn."""
    try:
        size = len([float(v) for v in text.split()])
    except ValueError:
        size = 0
    if size != 9:
        raise DataFileError(f"{source}: line 2: Lattice: '{text}' is not nine numbers")


def _check_names(names: Mapping[str, str], columns: Mapping[str, Column], source: str) -> None:
    """Refuse own names that are not in the file."""
    for part, name in names.items():
        if part not in ("centers", "radii", "colors"):
            raise DataFileError(f"{source}: an .xyz file has properties; leave out arrays.{part}")
        if name not in columns:
            hint = suggestion(name, columns)
            raise DataFileError(f"{source}: there is no property named '{name}'; {hint}")


def _first_of(names: tuple[str, ...], columns: Mapping[str, Column]) -> str | None:
    """Return the first name that is a column."""
    return next((name for name in names if name in columns), None)


def _table(file: OpenFile, count: int, used: Mapping[str, tuple[str, Column]]) -> NDArray[Any]:
    """Read the columns in use as a structured array (N,)."""
    import numpy as np

    parts = sorted(used.items(), key=lambda item: item[1][1].first)
    fields: list[Any] = []
    places: list[int] = []
    labels: list[str] = []
    for part, (name, column) in parts:
        kind = f"S{LABEL_BYTES}" if part == "label" else "f8"
        fields.append((part, kind) if column.width == 1 else (part, kind, (column.width,)))
        places.extend(range(column.first, column.first + column.width))
        axes = list("xyz") if part == "centers" else [name] * column.width
        labels.extend(axes)
    if count == 0:
        return np.zeros(0, fields)
    # A line has a letter or more for each column, and one after it. Line 1 may say too many.
    most = min(count, file.size // (2 * len(places)) + 1)
    require_room(file.source, most * np.dtype(fields).itemsize)
    table = load_table(
        file,
        labels,
        dtype=np.dtype(fields),
        skiprows=2,
        max_rows=most,
        usecols=places,
        ndmin=1,
    )
    if len(table) != count:
        raise DataFileError(
            f"{file.source}: line 1 says {count} atoms, but there are {len(table)}; "
            "is it cut short?"
        )
    return table


def _colors(values: NDArray[Any], column: Column, source: str) -> NDArray[Any]:
    """Return colours in 0..1 from reals in 0..1 or integers in 0..255."""
    if column.width != 3:
        raise DataFileError(f"{source}: line 2: Properties: a colour has three columns")
    return values / 255.0 if column.kind == "I" else values


def _from_elements(result: Particles, table: NDArray[Any], elements: Mapping[str, Element]) -> None:
    """Fill in what the file does not say from the element table."""
    if "label" not in (table.dtype.names or ()):
        if result.radius is None:
            raise DataFileError(
                f"{result.source}: line 2: Properties name neither species nor radius, "
                "so nothing gives the spheres a size"
            )
        return
    labels, ids = _labels(table["label"])
    try:
        radii, colors = palette(labels, elements)
    except SceneError as error:
        raise _bad_label(error, result.source, labels, ids, elements) from None
    if result.radius is None:
        result.radius = radii[ids]
        result.names["radius"] = "species"
    if result.color is None:
        result.color, result.color_id = colors, ids


def _labels(column: NDArray[np.bytes_]) -> tuple[list[str], NDArray[np.int32]]:
    """Return the different labels in the order of their first use, and each atom's index."""
    import numpy as np

    # Labels are compared as numbers, block by block: sorting millions of texts is slow.
    known: dict[bytes, int] = {}
    ids = np.empty(len(column), np.int32)
    for start in range(0, len(column), BLOCK_ROWS):
        block = np.ascontiguousarray(column[start : start + BLOCK_ROWS])
        words = block.view(np.uint64).reshape(len(block), -1)
        first = words[:, 0] if not words[:, 1:].any() else block
        _, index, inverse = np.unique(first, return_index=True, return_inverse=True)
        here = [0] * len(index)
        for place in np.argsort(index):
            here[place] = known.setdefault(bytes(block[index[place]]), len(known))
        ids[start : start + BLOCK_ROWS] = np.array(here, np.int32)[inverse]
    return [label.decode("utf-8", "replace") for label in known], ids


def _bad_label(
    error: SceneError,
    source: str,
    labels: list[str],
    ids: NDArray[np.int32],
    elements: Mapping[str, Element],
) -> DataFileError:
    """Return the error for the first label that is no element, with the line it is on."""
    import numpy as np

    for index, label in enumerate(labels):
        try:
            palette([label], elements)
        except SceneError as problem:
            line = 3 + int(np.argmax(ids == index))
            return DataFileError(f"{source}: line {line}: {problem}")
    return DataFileError(f"{source}: {error}")
