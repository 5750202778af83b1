"""Coordinate files of chemistry: plain .xyz, and extended .xyz with a list of columns.

Line 1 is the number of atoms, line 2 a comment, then one atom a line. In the extended format the
comment holds key=value pairs, of which `Properties=name:kind:columns:...` names the columns. Of
a file with several frames the first is read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, NamedTuple

from ..errors import DataFileError, shown, suggestion
from ..files.access import OpenFile
from ..memory import require_room
from . import naming
from .arrays import distinct
from .csv_file import COLOR_BYTES, load_table, text_palette
from .elements import table as table_of_elements
from .labels import Labels
from .lines import aside, has_ink, has_lines, pick_line
from .particles import Particles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABEL_BYTES = 16
"""Longest label of an atom that is told apart from others."""

ATOMIC_NUMBERS = ("Z", "numbers", "atomic_numbers", "atomic_number")
TYPES = ("type", "types", "particle_type")
SPECIES = ("species", "element", "symbol")
LABELS = (*SPECIES, *ATOMIC_NUMBERS, *TYPES)
"""Properties that hold labels, the likeliest first."""

NUMBERS = ("R", "I")
"""Kinds of properties that are numbers."""

READ_KEYS = ("Lattice", "Properties")
"""Keys of the comment that are read."""

MOST_COLUMNS = 10_000
"""Most columns that Properties may name."""

# A key that is looked at from its start only, so that a long word costs no more than its length.
_KEY = re.compile(r"(?<![\w-])-*(\w[\w-]*+)\s*+=\s*+")

_COUNT = re.compile(r"\s*\d{1,18}\s*", re.ASCII)  # Python also takes 1_000 and digits of Unicode

_WORD = re.compile(r"\S+")

_QUOTES = {'"': '"', "'": "'", "{": "}"}


class Column(NamedTuple):
    """One property: its kind (S text, R real, I integer, L logical), first column and width."""

    kind: str
    first: int
    width: int


def read_xyz(file: OpenFile, names: Mapping[str, str]) -> Particles:
    """Read the first frame of a plain or extended .xyz file.

    Raises:
        DataFileError: broken counts or columns.
    """
    source = file.source
    count, comment = read_head(file)
    columns = properties(comment, source)
    _check_names(names, columns, source)
    wanted = _choose(names, columns, source)
    line = f"{source}: line 2"
    naming.require_one(wanted.values(), list(columns), line, "property", names.values())
    used = {part: (name, columns[name]) for part, name in wanted.items()}
    with aside(lambda: has_lines(file, 2 + count)) as longer:
        table = _table(file, count, used)
    notes = _notes(file, columns, wanted)
    if longer.result():
        notes += [("", note) for note in _following(file, count)]
    result = Particles(source, table["centers"], notes=notes)
    if "radius" in used:
        result.radius = table["radius"]
    elif "diameter" in used:
        result.radius = table["diameter"] * 0.5
    if "color" in used:
        name, column = used["color"]
        if column.kind == "S" and column.width == 1:
            result.color, result.color_id = text_palette(table["color"], source, name, 3)
        else:
            result.color = _colors(table["color"], column, source)
    if "label" in used:
        labels, ids = distinct(table["label"], source)
        if "type" in used:
            labels = _as_types(labels, ids, table["type"])
        result.labels = Labels(labels, ids, _meaning(wanted["label"]))
    groups = {"centers": "centers", "radius": "radius", "diameter": "radius", "color": "color"}
    result.names = {groups[part]: name for part, name in wanted.items() if part in groups}
    result.columns = {part: (name,) for part, name in result.names.items()}
    return result


def _choose(names: Mapping[str, str], columns: Mapping[str, Column], source: str) -> dict[str, str]:
    """Return the properties to read: centers, radius or diameter, color, label."""
    vectors = [name for name, column in columns.items() if column.width == 3]
    places = [name for name in vectors if columns[name].kind in NUMBERS]
    single = [name for name, column in columns.items() if column.width == 1]
    sizes = [name for name in single if columns[name].kind in NUMBERS]
    texts = [name for name in single if columns[name].kind == "S"]
    colors = [name for name in vectors if columns[name].kind != "S"]
    position = names.get("centers") or naming.usual("centers", places) or "pos"
    if position not in places:
        raise DataFileError(
            f"{source}: line 2: Properties name no '{shown(position)}' of three columns of numbers"
        )
    radius, diameter = names.get("radii"), names.get("diameters")
    radius = radius or (None if diameter else naming.usual("radius", sizes))
    diameter = diameter or (None if radius else naming.usual("diameter", sizes))
    wanted = {
        "centers": position,
        "radius": radius,
        "diameter": diameter,
        "color": names.get("colors") or naming.usual("color", [*colors, *texts]),
        "label": next((name for name in LABELS if name in single), None),
    }
    if wanted["label"] in SPECIES:
        wanted["type"] = next((name for name in TYPES if name in single), None)
    return {part: name for part, name in wanted.items() if name is not None}


def _as_types(labels: list[str], ids: NDArray[np.int32], types: NDArray[Any]) -> list[str]:
    """Return the types for labels that are nothing but the elements of these atomic numbers.

    ASE writes such files: where it is not told otherwise, it takes LAMMPS types for atomic numbers.

    Args:
        labels: the K different ones.
        ids: (N,), the label of each atom.
        types: (N,), what the file says of each.
    """
    import numpy as np

    symbols = list(table_of_elements())
    numbers = [symbols.index(label) + 1 if label in symbols else 0 for label in labels]
    if all(numbers) and (np.array(numbers)[ids] == types).all():
        return [str(number) for number in numbers]
    return labels


def _meaning(name: str) -> str | None:
    """Return what the name of a property says of its labels."""
    if name in ATOMIC_NUMBERS:
        return "elements"
    return "types" if name in TYPES else None


def _notes(
    file: OpenFile, columns: Mapping[str, Column], wanted: Mapping[str, str]
) -> list[tuple[str, str]]:
    """Return what to warn of: properties that are not used."""
    left = [name for name in columns if name not in wanted.values()]
    sizes = [] if {"radius", "diameter", "label"} & set(wanted) else naming.sizes(left)
    colors = [] if {"color", "label"} & set(wanted) else naming.colors(left)
    return naming.unused(file.source, "property", sizes, colors, 'colors = "..."')


def _following(file: OpenFile, count: int) -> Iterator[str]:
    """Yield what to warn of if a file goes on after its first frame; the rest is not read."""
    comment = read_head(file)[1]
    line = pick_line(file, 1 + has_ink(comment.encode()) + count)
    if line is None:
        return
    if line.strip().isdecimal():
        yield (
            f"{file.source}: more frames follow; the first is shown: for another one, write it to "
            "a file of its own"
        )
    else:
        yield (
            f"{file.source}: line 1 says {count} atoms, but more lines follow, which are left out, "
            f"the first of them '{shown(line.strip())}'"
        )


def read_head(file: OpenFile) -> tuple[int, str]:
    """Return the number of atoms and the comment."""
    first, comment = file.lines(2)
    count = -1
    if _COUNT.fullmatch(first):
        count = int(first)
    if count < 0:
        text = shown(first.strip(), 40)
        raise DataFileError(f"{file.source}: line 1: '{text}' is not the number of atoms")
    return count, comment


def properties(comment: str, source: str) -> dict[str, Column]:
    """Return the columns of a file: those of Properties, or of a plain file."""
    pairs = _pairs(comment, source)
    if "Lattice" in pairs:
        _check_lattice(pairs["Lattice"], source)
    if "Properties" not in pairs:
        return {"species": Column("S", 0, 1), "pos": Column("R", 1, 3)}
    words = pairs["Properties"].split(":")
    columns: dict[str, Column] = {}
    first = 0
    for name, kind, width in zip(words[::3], words[1::3], words[2::3], strict=False):
        number = width.isascii() and width.isdecimal()
        if kind not in ("S", "R", "I", "L") or not number or int(width[:10]) == 0:
            wrong = shown(f"{name}:{kind}:{width}")
            raise DataFileError(f"{source}: line 2: Properties: '{wrong}' is not name:kind:columns")
        if len(width) > 9 or first + int(width) > MOST_COLUMNS:
            raise DataFileError(
                f"{source}: line 2: Properties name more than {MOST_COLUMNS:,} columns"
            )
        if name in columns:
            raise DataFileError(
                f"{source}: line 2: Properties name '{shown(name)}' twice; give each property a "
                "name of its own"
            )
        columns[name] = Column(kind, first, int(width))
        first += int(width)
    if len(words) % 3:
        raise DataFileError(
            f"{source}: line 2: Properties: '{shown(words[-1])}' lacks kind or columns"
        )
    return columns


def _pairs(comment: str, source: str) -> dict[str, str]:
    """Return the key=value pairs of a comment; values may be quoted or in braces.

    Raises:
        DataFileError: a key that is read has two values.
    """
    pairs: dict[str, str] = {}
    unclosed: set[str] = set()
    at = 0
    while key := _KEY.search(comment, at):
        at = key.end()
        if key[1] in READ_KEYS and key[1] in pairs:
            raise DataFileError(f"{source}: line 2: {key[1]} stands there twice; leave out one")
        close = _QUOTES.get(comment[at : at + 1], "")
        end = comment.find(close, at + 1) if close and close not in unclosed else -1
        if end >= 0:
            pairs[key[1]], at = comment[at + 1 : end], end + 1
            continue
        if close:
            unclosed.add(close)  # none follows: it is not looked for again
        if word := _WORD.match(comment, at):
            pairs[key[1]], at = word[0], word.end()
    return pairs


def _check_lattice(text: str, source: str) -> None:
    """Refuse a Lattice that is not nine numbers; the cell itself is not drawn."""
    try:
        size = len([float(v) for v in text.split()])
    except ValueError:
        size = 0
    if size != 9:
        raise DataFileError(f"{source}: line 2: Lattice: '{shown(text)}' is not nine numbers")


def _check_names(names: Mapping[str, str], columns: Mapping[str, Column], source: str) -> None:
    """Refuse own names that are not in the file."""
    for part, name in names.items():
        if part not in ("centers", "radii", "diameters", "colors"):
            raise DataFileError(f"{source}: an .xyz file has properties; leave out arrays.{part}")
        if name not in columns:
            hint = suggestion(name, columns)
            raise DataFileError(f"{source}: there is no property named '{name}'; {hint}")


def _table(file: OpenFile, count: int, used: Mapping[str, tuple[str, Column]]) -> NDArray[Any]:
    """Read the columns in use as a structured array (N,)."""
    import numpy as np

    parts = sorted(used.items(), key=lambda item: item[1][1].first)
    fields: list[Any] = []
    places: list[int] = []
    labels: list[str] = []
    for part, (name, column) in parts:
        kind = "f8"
        if part == "label" or (part == "color" and column.kind == "S"):
            kind = f"S{LABEL_BYTES if part == 'label' else COLOR_BYTES}"
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
    if column.width != 3:  # also of texts
        raise DataFileError(f"{source}: line 2: Properties: a colour has three columns")
    return values / 255.0 if column.kind == "I" else values
