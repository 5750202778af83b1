"""Data files of LAMMPS (read_data): atoms of any common style, box, masses and bonds.

A header of counts and bounds, then sections: a line with the name, a blank line, rows. The atom
style is behind the name of the section ("Atoms # full"), or follows from the columns.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote, suggest
from raytracer.files.access import MAX_LINE_BYTES, OpenFile
from raytracer.model.elements import find_symbol, is_bead_mass
from raytracer.model.particle_labels import ParticleLabels
from raytracer.model.particle_source import Box, Particles
from raytracer.particles.text_table import (
    Cell,
    CellType,
    Layout,
    TextSource,
    find_cell_type,
    parse_number,
    read_rows,
    to_whole,
)

STYLES = {
    "atomic": ("id", "type", "x", "y", "z"),
    "charge": ("id", "type", "q", "x", "y", "z"),
    "molecular": ("id", "mol", "type", "x", "y", "z"),
    "bond": ("id", "mol", "type", "x", "y", "z"),
    "angle": ("id", "mol", "type", "x", "y", "z"),
    "full": ("id", "mol", "type", "q", "x", "y", "z"),
    "sphere": ("id", "type", "diameter", "density", "x", "y", "z"),
    "ellipsoid": ("id", "type", "ellipsoidflag", "density", "x", "y", "z"),
    "dipole": ("id", "type", "q", "x", "y", "z", "mux", "muy", "muz"),
    "hybrid": ("id", "type", "x", "y", "z"),
}
"""Columns of the section Atoms, by atom style."""

INTEGERS = frozenset(("id", "mol", "type", "ellipsoidflag", "ix", "iy", "iz"))

SECTIONS = (
    "Atoms", "Coords", "Masses", "Velocities", "Bonds", "Angles", "Dihedrals", "Impropers",
    "Ellipsoids", "Lines", "Triangles", "Bodies", "Atom Type Labels", "Bond Type Labels",
    "Angle Type Labels", "Dihedral Type Labels", "Improper Type Labels",
)  # fmt: skip

SHAPES = ("Ellipsoids", "Lines", "Triangles", "Bodies")  # sections with shapes of atoms

COUNTS = {"Masses": "atom types", "Velocities": "atoms", "Atom Type Labels": "atom types"}
MAX_TYPES = 100_000  # most atom types whose masses are read
TEXT_BYTES = 32  # longest text of a type


class DataSection(NamedTuple):
    """A section of the file."""

    line: int  # number of its first row, from 0
    hint: str  # text behind its name, or ""
    first: str  # its first row, or ""


class Source(TextSource):
    announced = "the header states"
    integers = INTEGERS

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._header: dict[str, list[str]] = {}
        self._sections: dict[str, DataSection] = {}
        if stated := re.search(r"\bunits\s*=\s*(\w+)", file.lines(1)[0]):  # of write_data
            self.units = stated[1]
        self._scan()
        if "Atoms" not in self._sections:
            is_template = "Coords" in self._sections
            hint = ": it is a molecule template: read it with LAMMPS, and write it by write_data"
            raise self.error(f"there is no section Atoms{hint * is_template}")
        self.atoms = self._total("atoms")
        section, names = self._sections["Atoms"], self._style_columns()
        words = section.first.split()
        place = names.index("type")
        kind = find_cell_type(words[place]) if place < len(words) else CellType.NUMBER
        cells = {name: Cell(kind if name == "type" else CellType.NUMBER, place, TEXT_BYTES)
                 for place, name in enumerate(names)}  # fmt: skip
        self.layout = Layout(cells, skip=section.line, comment="#")

    @property
    def box(self) -> Box | None:
        """The box, from bounds and tilts, or from three edges and an origin."""
        rows = [self._numbers(name, 3) for name in ("avec", "bvec", "cvec", "abc origin")]
        if all(rows):
            a, b, c, origin = ((x, y, z) for x, y, z in rows)
            return Box(origin, (a, b, c))
        bounds = [self._numbers(f"{axis}lo {axis}hi", 2) for axis in "xyz"]
        if not all(bounds):
            return None
        (xl, xh), (yl, yh), (zl, zh) = bounds
        xy, xz, yz = self._numbers("xy xz yz", 3) or (0.0, 0.0, 0.0)
        edges = ((xh - xl, 0.0, 0.0), (xy, yh - yl, 0.0), (xz, yz, zh - zl))
        return Box((xl, yl, zl), edges)

    def _numbers(self, name: str, count: int) -> list[float]:
        """Return numbers of the header; [] if their count is wrong."""
        words = self._header.get(name, [])
        return [float(word) for word in words] if len(words) == count else []

    @cached_property
    def _bonds(self) -> tuple[NDArray[np.int64] | None, dict[str, NDArray[Any]]]:
        section, count = self._sections.get("Bonds"), self._total("bonds")
        if section is None or not count:
            return None, {}
        cells = {"type": Cell(CellType.NUMBER, 1), "ends": Cell(CellType.NUMBER, 2, repeat=2)}
        layout = Layout(cells, skip=section.line, comment="#")
        rows = read_rows(self.file, layout, list(cells), count)
        if rows.length != count:
            raise self.error(
                f"line {section.line + 1}: {count} rows are stated, but there are {rows.length}"
            )
        types, ends = (to_whole(rows.columns[name], self.name, "Bonds") for name in cells)
        ids = self.load(["id"])["id"]
        order = np.argsort(ids, kind="stable")
        places = np.searchsorted(ids, ends, sorter=order).clip(0, max(len(ids) - 1, 0))
        pairs: NDArray[np.int64] = order[places]
        if not np.array_equal(ids[pairs], ends):
            raise self.error("a bond refers to an atom that is not in the file")
        return pairs, {"type": types}

    bonds = property(lambda self: self._bonds[0])
    bond_columns = property(lambda self: self._bonds[1])

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        for name in (each for each in SHAPES if each in self._sections):
            self.note(f"the section {name} is not used: its particles are drawn as spheres")
        symbols = self._find_symbols()
        if symbols and result.labels is not None and result.radius is None:
            result.labels = _named(result.labels, symbols)
            listed = ", ".join(f"{type_} = {symbols[type_]}" for type_ in list(symbols)[:8])
            result.notes.append(("radius+color", (
                f"{self.name}: types are taken as the elements in the section Masses "
                f"({listed}): to change that, set labels = \"types\" in a scene file"
            )))  # fmt: skip
        return result

    def labels_of_atoms(self) -> ParticleLabels | None:
        labels, symbols = super().labels_of_atoms(), self._find_symbols()
        return labels and _named(labels, symbols) if symbols else labels

    def _scan(self) -> None:
        """Find the header and the sections; rows are only counted."""
        stream, place = self.file.file, 0
        stream.seek(0)
        title = ""  # of a section whose first row follows
        while line := stream.readline(MAX_LINE_BYTES + 1):
            if len(line) > MAX_LINE_BYTES:
                raise self.file.too_long(place + 1)
            text = line.strip().decode("utf-8", "replace")
            words, _, hint = text.partition("#")
            if text and title:
                self._sections[title] = self._sections[title]._replace(line=place, first=text)
                rest = max(self._total(COUNTS.get(title, title.lower())) - 1, 0)
                place += sum(1 for _ in islice(stream, rest))
                title = ""
            elif (name := words.strip()) in SECTIONS and name not in self._sections:
                title, self._sections[name] = name, DataSection(place + 1, hint.strip(), "")
            elif text and not self._sections and place:  # values, then the words that name them
                cells = words.split()
                values = [cell for cell in cells if not isinstance(parse_number(cell), str)]
                self._header[" ".join(cells[len(values) :])] = values
            place += 1

    def _total(self, what: str) -> int:
        words = self._header.get(what, ["0"])
        if not words or not words[0].isdecimal() or len(words[0]) > 18:
            raise self.error(f"the number of {what} in the header is wrong")
        return int(words[0])

    def _style_columns(self) -> list[str]:
        section = self._sections["Atoms"]
        cells, hint = section.first.partition("#")[0].split(), section.hint.split()
        style = hint[0] if hint and (hint[0] in STYLES or len(hint) == 1) else _guess_style(cells)
        if style not in STYLES:  # other words are a comment
            raise self.error(f"there is no atom style '{quote(style)}'; {suggest(style, STYLES)}")
        names = STYLES[style]
        if cells and len(cells) < len(names):
            raise self.error(
                f"line {section.line + 1}: has {len(cells)} values; atoms of this style have "
                f"{len(names)}: {' '.join(names)}"
            )
        if len(cells) == len(names) + 3:
            return [*names, "ix", "iy", "iz"]
        return [*names, *(f"column {place + 1}" for place in range(len(names), len(cells)))]

    def _find_symbols(self) -> dict[str, str]:
        """Return the elements of the types from the comments in Masses, {} if any is missing."""
        section, types = self._sections.get("Masses"), self._total("atom types")
        if section is None or not 0 < types <= MAX_TYPES:
            return {}
        symbols: dict[str, str | None] = {}
        for line in self.file.lines(section.line + types)[section.line :]:
            values, _, comment = line.partition("#")
            (label,) = comment.split()[:1] or [""]
            cells = values.split()
            for type_ in cells[:1]:
                symbols[type_] = None if label.isdecimal() else find_symbol(label)
                if _is_bead(label, cells[1:2]):
                    self.note(
                        f"comments in the section Masses, such as {quote(label, 40)}, are names of "
                        "beads, not of elements, since the masses are others"
                    )
                    return {}
        known = {type_: symbol for type_, symbol in symbols.items() if symbol}
        return known if len(known) == types else {}


def _is_bead(label: str, masses: list[str]) -> bool:
    """Whether a mass, a text in atomic mass units, is not that of the element of a label."""
    mass = parse_number(masses[0]) if masses else ""
    return not isinstance(mass, str) and is_bead_mass(label, float(mass))


def _named(labels: ParticleLabels, symbols: Mapping[str, str]) -> ParticleLabels:
    return ParticleLabels(
        [symbols.get(name, name) for name in labels.names], labels.ids, "elements"
    )


def _guess_style(cells: Sequence[str]) -> str:
    """Guess the atom style from a row; integers at the end are periodic images."""
    whole = [isinstance(parse_number(cell), int) for cell in cells]
    length = len(cells) - 3 if len(cells) >= 8 and all(whole[-3:]) else len(cells)
    if length == 6:
        return "molecular" if whole[2] else "charge"
    if length == 7:
        return "full" if whole[2] else "sphere"
    return "dipole" if length == 9 else "atomic"
