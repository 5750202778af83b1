"""Coordinate files of chemistry: plain .xyz, and extended .xyz with named columns.

Line 1 is the number of atoms, line 2 a comment, then one atom per line. In the extended format the
comment has key=value pairs, of which `Properties=name:kind:columns:...` names the columns.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile
from raytracer.model.elements import load_elements as table_of_elements
from raytracer.model.particle_source import (
    Box,
    Column,
    FrameTime,
    Particles,
    parse_direction,
    parse_time,
)
from raytracer.particles.columns import LABELS, SPECIES, TYPES
from raytracer.particles.lines import COUNT, find_counted_frames
from raytracer.particles.text_table import (
    COLOR_BYTES,
    Cell,
    CellType,
    Layout,
    TextSource,
    parse_number,
)

LABEL_BYTES = 16  # longest distinct label of an atom
READ_KEYS = ("Lattice", "Properties")  # keys of the comment that are read
LAMMPS = "Atoms. Timestep:"  # start of LAMMPS' comment: labels are then types
PLAIN = "species:S:1:pos:R:3"  # Properties of a plain file
MAX_COLUMNS = 10_000  # most columns in Properties

# Matches keys only at their start, so that long words take linear time.
_KEY = re.compile(r"(?<![\w-])-*(\w[\w-]*+)\s*+=\s*+")
LAMMPS_STEP = re.compile(r"Atoms\. Timestep: *(\d+)")
_WORD = re.compile(r"\S+")
_QUOTES = {'"': '"', "'": "'", "{": "}"}
_LIST = re.compile(r"\[[^][]*+(?:\[[^][]*+\][^][]*+)*+\]")  # in brackets, or of such lists
_BETWEEN = str.maketrans("[](),;", " " * 6)  # between the numbers of a lattice


_KINDS = {"S": "text", "R": "number", "I": "integer", "L": "truth value"}
"""Types of columns by their letters in Properties."""


class Source(TextSource):
    noun = "property"
    first_line = 3
    has_pieces = True
    announced = "line 1 states"
    next_frame = rf"{COUNT}\Z"

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self.atoms, self.comment = read_head(file)
        self.pairs = parse_pairs(self.comment, self.name)
        self._lattice = _lattice(self.pairs, self.name)
        self._kinds, cells = parse_properties(self.pairs, self.name)
        self.layout = Layout(cells, skip=2)
        self._tell_further_columns()

    def _tell_further_columns(self) -> None:
        """Warn of values of the first atom that have no name."""
        words = self.file.lines(3)[2].partition("#")[0].split() if self.atoms else []
        count = sum(cell.repeat for cell in self.layout.cells.values())
        if len(words) > count:
            stated = self.pairs.get("Properties", PLAIN)
            kind = "S" if isinstance(parse_number(words[count]), str) else "R"
            self.note(
                f"each atom has {len(words)} values, but {count} have a name: the others are "
                f"ignored; name them in line 2, as in Properties={quote(stated)}:NAME:{kind}:"
                f"{len(words) - count}"
            )

    @property
    def where(self) -> str:
        return f"{self.name}: line 2"

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return {name: Column(_KINDS[self._kinds[name]], (each.repeat,) if each.repeat > 1 else ())
                for name, each in self.layout.cells.items()}  # fmt: skip

    def frame_starts(self) -> Sequence[int]:
        return find_counted_frames(self.file, 0, 2)

    @property
    def box(self) -> Box | None:
        if not self._lattice:
            return None
        a, b, c, d, e, f, g, h, i = self._lattice
        edges = ((a, b, c), (d, e, f), (g, h, i))
        return Box((0.0, 0.0, 0.0), edges, _parse_periodic(self.pairs.get("pbc", "")))

    @property
    def time(self) -> FrameTime | None:
        pairs = {key.lower(): word for key, word in self.pairs.items()}
        if (text := pairs.get("time")) is not None:
            return parse_time(text)
        step = LAMMPS_STEP.match(self.comment)
        return parse_time(step[1] if step else pairs.get("step", pairs.get("timestep")), "steps")

    @property
    def gravity(self) -> Sequence[float] | None:
        return parse_direction(self.pairs.get("gravity", "").split())

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        columns = super().load(names)
        for name in names:
            if self._kinds[name] == "L":
                columns[name] = np.isin(columns[name], (b"T", b"t", b"true", b"True", b"1"))
        return columns

    def particles(self, names: Mapping[str, str]) -> Particles:
        known = self.layout.cells
        types = next((name for name in TYPES if name in known and known[name].repeat == 1), "")
        wanted = self.also
        if types and any(name in known for name in SPECIES):
            self.also = list(dict.fromkeys([*wanted, types]))
        result = super().particles(names)
        labels, values = result.labels, result.extra.get(types)
        if labels is not None and labels.meaning is None:
            is_lammps = self.comment.startswith(LAMMPS) and all(map(str.isdecimal, labels.names))
            texts = labels.names if values is None else _to_types(labels.names, labels.ids, values)
            result.labels = labels._replace(names=texts, meaning="types" if is_lammps else None)
        result.extra = {name: result.extra[name] for name in wanted}
        return result


def _to_types(labels: list[str], ids: NDArray[np.int32], types: NDArray[Any]) -> list[str]:
    """Return types instead of labels if these are just the elements with those atomic numbers.

    ASE writes such files: by default it takes LAMMPS types for atomic numbers.
    """
    symbols = list(table_of_elements())
    numbers = [symbols.index(label) + 1 if label in symbols else 0 for label in labels]
    if all(numbers) and (np.array(numbers)[ids] == types).all():
        return [str(number) for number in numbers]
    return labels


def read_head(file: OpenFile) -> tuple[int, str]:
    first, comment = file.lines(2)
    count = re.fullmatch(COUNT, first.strip(), re.ASCII)  # int() also accepts 1_000 and others
    if count is None:
        text = quote(first.strip(), 40)
        problem = f"line 1: '{text}' is not" if text else "line 1 is empty: it must be"
        raise DataFileError(f"{file.source}: {problem} the number of atoms")
    return int(count[1]), comment


def parse_properties(
    pairs: Mapping[str, str], source: str
) -> tuple[dict[str, str], dict[str, Cell]]:
    """Return kinds and cells of the columns from Properties, or of those of a plain file."""
    words = pairs.get("Properties", PLAIN).split(":")
    kinds: dict[str, str] = {}
    cells: dict[str, Cell] = {}
    first = 0
    start = f"{source}: line 2: Properties"
    for name, kind, width in zip(words[::3], words[1::3], words[2::3], strict=False):
        is_width = width.isascii() and width.isdecimal()
        if kind not in _KINDS or not is_width or int(width[:10]) == 0:
            wrong = quote(f"{name}:{kind}:{width}")
            raise DataFileError(f"{start}: '{wrong}' is not name:kind:columns")
        if len(width) > 9 or first + int(width) > MAX_COLUMNS:
            raise DataFileError(f"{start} name more than {MAX_COLUMNS:,} columns")
        if name in kinds:
            raise DataFileError(f"{start} name '{quote(name)}' twice; rename one")
        is_text = kind in "SL"
        size = LABEL_BYTES if name in LABELS or kind == "L" else COLOR_BYTES
        cells[name] = Cell(
            CellType.TEXT if is_text else CellType.NUMBER, first, size * is_text, int(width)
        )
        kinds[name], first = kind, first + int(width)
    if len(words) % 3:
        raise DataFileError(f"{start}: '{quote(words[-1])}' lacks kind or columns")
    return kinds, cells


def parse_pairs(comment: str, source: str) -> dict[str, str]:
    """Return the key=value pairs of a comment; values may be quoted or in braces.

    Raises:
        DataFileError: a used key appears twice.
    """
    pairs: dict[str, str] = {}
    unclosed: set[str] = set()
    at = 0
    while key := _KEY.search(comment, at):
        at = key.end()
        if key[1] in READ_KEYS and key[1] in pairs:
            raise DataFileError(f"{source}: line 2: {key[1]} appears twice; leave out one")
        close = _QUOTES.get(comment[at : at + 1], "")
        end = comment.find(close, at + 1) if close and close not in unclosed else -1
        if end >= 0:
            pairs[key[1]], at = comment[at + 1 : end], end + 1
            continue
        if close:
            unclosed.add(close)  # there are no more in the text
        if word := _LIST.match(comment, at) or _WORD.match(comment, at):
            pairs[key[1]], at = word[0], word.end()
    return pairs


def _parse_periodic(text: str) -> tuple[bool, bool, bool]:
    """Return which edges are periodic: all that pbc="T T F" does not exclude."""
    words = text.replace(",", " ").strip("[]() ").lower().split()
    if len(words) != 3:
        return True, True, True
    a, b, c = (word not in ("f", "0", "false") for word in words)
    return a, b, c


def _lattice(pairs: Mapping[str, str], source: str) -> list[float]:
    text = pairs.get("Lattice")
    try:
        numbers = [float(word) for word in (text or "").translate(_BETWEEN).split()]
    except ValueError:
        numbers = []
    if text is not None and (len(numbers) != 9 or not all(map(isfinite, numbers))):
        raise DataFileError(f"{source}: line 2: Lattice: '{quote(text)}' is not nine numbers")
    return numbers
