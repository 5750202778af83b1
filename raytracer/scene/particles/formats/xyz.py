"""Coordinate files of chemistry: plain .xyz, and extended .xyz with a list of columns.

Line 1 is the number of atoms, line 2 a comment, then one atom a line. In the extended format the
comment holds key=value pairs, of which `Properties=name:kind:columns:...` names the columns. Of
a file with several frames the first is read.
"""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.elements import table as table_of_elements
from raytracer.scene.particles.columns import SPECIES, TYPES, ColumnSource
from raytracer.scene.particles.integers import whole
from raytracer.scene.particles.lines import aside, has_ink, has_lines, pick_line
from raytracer.scene.particles.regular_text import table_rows
from raytracer.scene.particles.source import (
    Box,
    Column,
    Moment,
    Particles,
    Value,
    direction_of,
    moment_of,
    more_frames,
)
from raytracer.scene.particles.text_table import COLOR_BYTES, line_at, load_table, number

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

LABEL_BYTES = 16
"""Longest label of an atom that is told apart from others."""

READ_KEYS = ("Lattice", "Properties")
"""Keys of the comment that are read."""

LAMMPS = "Atoms. Timestep:"
"""Start of the comment that LAMMPS writes: numbers are types."""

MOST_COLUMNS = 10_000
"""Most columns that Properties may name."""

# A key that is looked at from its start only, so that a long word costs no more than its length.
_KEY = re.compile(r"(?<![\w-])-*(\w[\w-]*+)\s*+=\s*+")

LAMMPS_STEP = re.compile(r"Atoms\. Timestep: *(\d+)")
"""Comment of LAMMPS."""

_COUNT = re.compile(r"\s*\d{1,18}\s*", re.ASCII)  # Python also takes 1_000 and digits of Unicode

_WORD = re.compile(r"\S+")

_QUOTES = {'"': '"', "'": "'", "{": "}"}


class Property(NamedTuple):
    """A property: its kind (S text, R real, I integer, L logical), first column and width."""

    kind: str
    first: int
    width: int


_TRUTH = {"t": True, "true": True, "1": True, "f": False, "false": False, "0": False}

_KINDS = {"S": "text", "R": "number", "I": "integer", "L": "truth value"}


class Source(ColumnSource):
    """A plain or extended .xyz file."""

    noun = "property"
    first_line = 3
    has_pieces = True

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self.atoms, self.comment = read_head(file)
        self._color = ""  # the property that is the colour

    @property
    def where(self) -> str:
        return f"{self.name}: line 2"

    @cached_property
    def properties(self) -> dict[str, Property]:
        """The properties of an atom, by name."""
        return properties(self.comment, self.name)

    @property
    def columns(self) -> Mapping[str, Column]:
        return {
            name: Column(_KINDS[each.kind], (each.width,) if each.width > 1 else ())
            for name, each in self.properties.items()
        }

    @property
    def count(self) -> int | None:
        return self.atoms

    @property
    def frames(self) -> int | None:
        """One, or None: where more lines follow, only reading them tells how many frames."""
        if not has_lines(self.file, 2 + self.atoms):
            return 1
        return None if pick_line(self.file, self._head_lines + self.atoms) is not None else 1

    def frame_starts(self) -> Sequence[int]:
        from raytracer.scene.particles.frames import counted_lines

        return counted_lines(self.file, 0, 2)

    @property
    def box(self) -> Box | None:
        pairs = _pairs(self.comment, self.name)
        text = pairs.get("Lattice")
        if text is None:
            return None
        _check_lattice(text, self.name)
        a, b, c, d, e, f, g, h, i = map(float, text.split())
        edges = ((a, b, c), (d, e, f), (g, h, i))
        return Box((0.0, 0.0, 0.0), edges, _periodic(pairs.get("pbc", "")))

    @property
    def time(self) -> Moment | None:
        pairs = {key.lower(): word for key, word in _pairs(self.comment, self.name).items()}
        if (text := pairs.get("time")) is not None:
            return moment_of(text)
        found = LAMMPS_STEP.match(self.comment)
        text = found[1] if found else pairs.get("step", pairs.get("timestep"))
        return moment_of(text, "steps")

    @property
    def gravity(self) -> Sequence[float] | None:
        return direction_of(_pairs(self.comment, self.name).get("gravity", "").split())

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        kept = {name: self.properties[name] for name in names}
        if not kept:
            return {}
        table = _table(self.file, self.atoms, kept, self._color)
        return {
            name: _converted(table[name], each.kind, self.name, name) for name, each in kept.items()
        }

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        chosen = super().choose(names)
        self._color = chosen.get("color", "")
        return chosen

    def particles(self, names: Mapping[str, str]) -> Particles:
        known = self.properties
        types = next((name for name in TYPES if name in known and known[name].width == 1), "")
        asked = self.also
        if types and any(name in known for name in SPECIES):
            self.also = list(dict.fromkeys([*asked, types]))
        with aside(lambda: has_lines(self.file, 2 + self.atoms)) as longer:
            result = super().particles(names)
        if longer.result():
            result.notes += [("", note) for note in self._following()]
        labels, values = result.labels, result.extra.get(types)
        if labels is not None and labels.says is None:
            of_lammps = self.comment.startswith(LAMMPS) and all(map(str.isdecimal, labels.names))
            found = labels.names if values is None else _as_types(labels.names, labels.ids, values)
            result.labels = labels._replace(names=found, says="types" if of_lammps else None)
        result.extra = {name: result.extra[name] for name in asked}
        return result

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the properties of an atom; words beyond them are columns without a name."""
        words = line_at(self.file, self._head_lines + index).split()
        end = 0
        for name, column in self.properties.items():
            end = column.first + column.width
            values = tuple(_typed(word, column.kind) for word in words[column.first : end])
            yield name, values if column.width > 1 else values[0]
        for place, word in enumerate(words[end:], end):
            yield f"column {place + 1}", number(word)

    @property
    def _head_lines(self) -> int:
        """Number of lines before the first atom that are not blank."""
        return 1 + has_ink(self.comment.encode())

    def _following(self) -> Iterator[str]:
        """Yield what to warn of if a file goes on after its first frame; the rest is not read."""
        line = pick_line(self.file, self._head_lines + self.atoms)
        if line is None:
            return
        if line.strip().isdecimal():
            yield more_frames(self.name)
        else:
            yield (
                f"{self.name}: line 1 says {self.atoms} atoms, but more lines follow, which are "
                f"left out, the first of them '{shown(line.strip())}'"
            )


def _converted(values: NDArray[Any], kind: str, source: str, name: str) -> NDArray[Any]:
    """Return the values of a property as its kind has them."""
    import numpy as np

    if kind == "L":
        return np.isin(values, (b"T", b"t", b"true", b"True", b"1"))
    return whole(values, source, name) if kind == "I" else values


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


def properties(comment: str, source: str) -> dict[str, Property]:
    """Return the columns of a file: those of Properties, or of a plain file."""
    pairs = _pairs(comment, source)
    if "Lattice" in pairs:
        _check_lattice(pairs["Lattice"], source)
    if "Properties" not in pairs:
        return {"species": Property("S", 0, 1), "pos": Property("R", 1, 3)}
    words = pairs["Properties"].split(":")
    columns: dict[str, Property] = {}
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
        columns[name] = Property(kind, first, int(width))
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


def _periodic(text: str) -> tuple[bool, bool, bool]:
    """Return along which edges a cell repeats itself: those that pbc="T T F" does not deny."""
    words = text.replace(",", " ").strip("[]() ").lower().split()
    if len(words) != 3:
        return True, True, True
    a, b, c = (word not in ("f", "0", "false") for word in words)
    return a, b, c


def _check_lattice(text: str, source: str) -> None:
    """Refuse a Lattice that is not nine numbers; the cell itself is not drawn."""
    try:
        size = len([float(v) for v in text.split()])
    except ValueError:
        size = 0
    if size != 9:
        raise DataFileError(f"{source}: line 2: Lattice: '{shown(text)}' is not nine numbers")


def _table(
    file: OpenFile, count: int, used: Mapping[str, Property], color: str
) -> Mapping[str, NDArray[Any]]:
    """Read properties, each (N,) or (N, K), truth values as texts; that of the colour is longer."""
    import numpy as np

    fields: list[Any] = []
    places: list[int] = []
    labels: list[str] = []
    for name, each in sorted(used.items(), key=lambda item: item[1].first):
        text = f"S{COLOR_BYTES if name == color else LABEL_BYTES}"
        kind = text if each.kind in "SL" else "f8"
        fields.append((name, kind) if each.width == 1 else (name, kind, (each.width,)))
        places.extend(range(each.first, each.first + each.width))
        labels.extend(
            [name] if each.width == 1 else "xyz" if each.width == 3 else [name] * each.width
        )
    dtype = np.dtype(fields)
    if count == 0:
        return _by_name(np.zeros(0, dtype))
    # A line has a letter or more for each column, and one after it. Line 1 may say too many.
    most = min(count, file.size // (2 * len(places)) + 1)
    require_room(file.source, most * dtype.itemsize)
    regular = _regular(file, used, dtype, most)
    if regular is not None and len(next(iter(regular.values()))) == count:
        return regular
    table = load_table(
        file, labels, dtype=dtype, skiprows=2, max_rows=most, usecols=places, ndmin=1
    )
    if len(table) != count:
        raise DataFileError(
            f"{file.source}: line 1 says {count} atoms, but there are {len(table)}; "
            "is it cut short?"
        )
    return _by_name(table)


def _regular(
    file: OpenFile, used: Mapping[str, Property], dtype: np.dtype[Any], most: int
) -> Mapping[str, NDArray[Any]] | None:
    """Return the properties by the compiled parser, or None."""
    numbers: list[int] = []
    texts: dict[int, int] = {}
    for name in dtype.names or ():
        each = used[name]
        if dtype[name].base.kind != "S":
            numbers += range(each.first, each.first + each.width)
        elif each.width == 1:
            texts[each.first] = dtype[name].itemsize
        else:
            return None
    file.require_short_lines()
    rows = table_rows(file, numbers, texts, None, 2, most)
    if rows is None:
        return None
    found: dict[str, NDArray[Any]] = {}
    words, place = iter(rows.texts), 0
    for name in dtype.names or ():
        if dtype[name].base.kind == "S":
            found[name] = next(words)
            continue
        values = rows.numbers[:, place : place + used[name].width]
        found[name] = values if used[name].width > 1 else values[:, 0]
        place += used[name].width
    return found


def _by_name(table: NDArray[Any]) -> dict[str, NDArray[Any]]:
    """Return the fields of records."""
    return {name: table[name] for name in table.dtype.names or ()}


def _typed(word: str, kind: str) -> str | int | float | bool:
    """Return a word of an extended .xyz file as its kind says, or as it is."""
    if kind == "L":
        return _TRUTH.get(word.lower(), word)
    value = word if kind == "S" else number(word)
    return float(value) if kind == "R" and isinstance(value, int) else value
