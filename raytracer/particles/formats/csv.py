"""Text tables (.csv, .tsv, .txt, .pts, .imd, ...): one sphere per line.

`table_layout` finds the rows and the names of their columns. Rows without coordinates are left out.
"""

import re
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile
from raytracer.model import particle_names as naming
from raytracer.model.colors import OPACITY
from raytracer.model.particle_labels import ParticleLabels
from raytracer.model.particle_source import Box, Column, Notes, Particles, Value
from raytracer.particles.cell import box_from_cell
from raytracer.particles.columns import find_label_name
from raytracer.particles.lines import find_starting_lines, read_pieces
from raytracer.particles.rewritten import rewrite_table
from raytracer.particles.table_layout import MANY, NBODY, are_numbers
from raytracer.particles.text_table import (
    BLANK,
    COLOR_BYTES,
    SPACES,
    Cell,
    CellType,
    Layout,
    TextSource,
    split_cells,
)

MIN_SHARE = 1e-3  # of the box that spheres fill, if a column without a name is their radius
_ECSV = "# %ECSV "
_ECSV_UNIT = r"(?m)^#\s*-\s*\{name: ([^,}]+),[^}]*\bunit: ([^,}]+)"  # of a line of its header

PARSECS = {"pc": 1e-6, "kpc": 1e-3, "Mpc": 1.0}  # units of catalogues of haloes
_VIRIAL = ("rvir", "r_vir", "r200", "r200c", "r200m", "r_200", "r500", "r500c")
MIN_OTHERS = 1  # lines beside rows for which a text is searched for parts
LOOK_AHEAD = 200  # rows in which to look for a value of a column that begins without one
HEADER = "it must name the columns: x,y,z[,radius][,r,g,b]"
PTX_LINES = 10  # lines before the points of a scan: its size and two matrices
TEXT_BYTES = 64  # longest text of a column that is loaded; the rest is cut off
NUMERIC = frozenset(name for part in ("x", "y", "z", "radius", "diameter")
                    for name in naming.USUAL[part])  # fmt: skip
"""Names of parts of a sphere that are numbers."""


KNOWN = {
    ".ptx": ("x y z intensity", "x y z intensity red green blue"),
    ".xyzr": ("x y z radius", "x y z radius name"),
    ".xyzn": ("x y z nx ny nz",),
    ".xyzrgb": ("x y z red green blue",),
    ".swc": ("id type x y z radius parent",),
    ".pts": ("x y z", "x y z intensity", "x y z red green blue", "x y z intensity red green blue"),
}
"""Names of columns by the variant, for each number of columns that its files may have."""


class Source(TextSource):
    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self.file, self.table = rewrite_table(file, PTX_LINES if variant == ".ptx" else 0)
        for where, line in (("above", self.table.before), ("after", self.table.after)):
            if line:
                self.note(f"the lines {where} the rows are left out, from '{quote(line, 40)}' on")
        self._label_column = ""  # read as text
        self._taken = ""  # the note about coordinates that nobody named
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
            mass = self.table.mass
            parts = "xyz" if mass is None else ("x", "y", "z", "vx", "vy", "vz")
            for axis, place in zip(parts, self.table.numbers, strict=False):
                names[place] = axis
            cells = split_cells(self.table.first, self.table.separator)
            numbers = set(self.table.numbers)
            others = [place for place in range(count) if place not in numbers]
            if mass is not None:
                names[mass] = "mass"
                others.remove(mass)
            if others:  # the numbers of the rows, or a text
                names[others[0]] = "id" if are_numbers([cells[others[0]]]) else "species"
            which = [names.index(axis) + 1 for axis in "xyz"]
            after = "" if mass is None else f", column {mass + 1} as the mass"
            why, other = "To choose others, give their numbers, as in", which
            radius = "" if count in which else f",radius={count}"
            if mass is None and len(self.table.numbers) >= NBODY:
                why = f"If column {which[0]} is another quantity, as the mass, give"
                other, radius = [place + 1 for place in self.table.numbers[1:4]], ""
            self._taken = (
                f"{self.name}: the columns have no names; columns {which[0]}, {which[1]} and "
                f"{which[2]} are taken as x, y and z{after}. {why} --columns x={other[0]},"
                f"y={other[1]},z={other[2]}{radius}"
            )
        self.table = self.table._replace(columns=names)

    def _layout(self) -> Layout:
        table, cells = self.table, {}
        first = self._first_values()
        places = naming.find_axes(table.columns)
        for place, name in enumerate(table.columns if table.named else []):
            is_numeric = name in places or not NUMERIC.isdisjoint(
                (name, naming.normalize_name(name))
            )
            if not name or name in cells:
                continue
            if not is_numeric and place < len(first) and not are_numbers(first[place : place + 1]):
                is_short = find_label_name([name]) or naming.find_usual_name("color", [name])
                cells[name] = Cell(CellType.TEXT, place, COLOR_BYTES if is_short else TEXT_BYTES)
            else:  # a text is then an error of its line
                cells[name] = Cell(CellType.NUMBER if is_numeric else CellType.OPTIONAL, place)
        split = table.separator or SPACES
        many = next((place for place, name in enumerate(table.columns) if MANY in name), None)
        if many is not None and split == SPACES:  # rows differ in length from there on
            cells = {name: cell for name, cell in cells.items() if cell.place < many}
        count = len(table.columns) if many is None else 0
        return Layout(cells, split, table.skip, count, comment="#", end=table.end)

    @property
    def where(self) -> str:
        return f"{self.name}: line {max(self.table.header, 1)}"

    @property
    def names(self) -> list[str]:
        return self.table.columns

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        head = "".join(self.file.lines(self.table.skip))
        known = dict(re.findall(_ECSV_UNIT, head)) if head.startswith(_ECSV) else {}
        return {name: each._replace(unit=known.get(name) or naming.parse_unit(name))
                for name, each in super().columns.items()}  # fmt: skip

    @property
    def box(self) -> Box | None:
        """The vectors of the lines X, Y and Z of the header of IMD."""
        head = self.file.lines(self.table.skip) if self.variant == ".imd" else []
        lines = {line[1:2]: line.split()[1:4] for line in head}
        try:
            return box_from_cell([[float(word) for word in lines[axis]] for axis in "XYZ"])
        except (KeyError, ValueError):
            return None

    def _first_values(self) -> list[str]:
        """Return the first nonempty cell of each column, which determines its type."""
        table = self.table
        cells = split_cells(table.first, table.separator)
        if not BLANK.isdisjoint(cells):
            for line in self.file.lines(table.skip + LOOK_AHEAD)[table.skip :]:
                for place, cell in enumerate(split_cells(line, table.separator)[: len(cells)]):
                    if cells[place] in BLANK:
                        cells[place] = cell
        return ["nan" if cell in BLANK else cell for cell in cells]

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        label, self._label_column = self._label_column, ""
        cells = dict(self.layout.cells)
        if label and label not in self.also:
            cells[label] = Cell(CellType.TEXT, cells[label].place, COLOR_BYTES)
        # Rows are those with coordinates, which may be missing together, whichever are read.
        axes = naming.find_axes(cells)
        optional = {name: cells[name]._replace(kind=CellType.OPTIONAL) for name in axes}
        wanted = list(dict.fromkeys([*names, *axes]))
        rows = self.load_rows(self.layout._replace(cells={**cells, **optional}), wanted)
        missing = np.array([np.isnan(rows[name]) for name in axes])
        if missing.any() and (missing != missing[0]).any():  # an empty cell is an error of its line
            rows = self.load_rows(self.layout._replace(cells=cells), wanted)
        kept = ~missing.all(axis=0)
        if kept.all() or not kept.any():
            return {name: rows[name] for name in names}
        note = f"{self.name}: rows without coordinates are left out: {np.count_nonzero(~kept):,}"
        self.notes += [("", note)] if ("", note) not in self.notes else []
        return {name: rows[name][kept] for name in names}

    def particles(self, names: Mapping[str, str]) -> Particles:
        wanted, guess, factor = self.also, *self._find_possible_radius(names)
        self.also = list(dict.fromkeys([*wanted, guess] if guess else wanted))
        result = super().particles(names)
        if guess and result.radius is None and (
            factor or _are_radii(result.extra[guess], result.centers)
        ):  # fmt: skip
            result.radius = result.extra[guess] * (factor or 1.0)
            result.columns["radius"], result.names["radius"] = (guess,), guess
            why = "in the unit of the positions" if factor else (
                "since its values are positive and the spheres fit between the centres"
            )  # fmt: skip
            result.notes = [note for note in result.notes if note[0] != "radius"]
            self.note(
                f"'{quote(guess)}' is taken as the radius, {why}; for another give --radius NUMBER",
                "radius",
            )
        self.also, result.extra = wanted, {name: result.extra[name] for name in wanted}
        if self._most - self.table.skip - len(result.centers) > MIN_OTHERS and (
            count := self._count_parts()
        ) > 1:  # fmt: skip
            self.note(
                f"the rows of {count:,} parts are shown together, which the names of columns or "
                "empty lines divide: for frames, write a file of each"
            )
        return result

    def _find_possible_radius(self, names: Mapping[str, str]) -> tuple[str, float]:
        """Return a column that may be the radius, and its unit in that of the positions, 0 if
        unknown: the last after id, x, y and z without names, or that of haloes if a unit is stated
        for both.
        """
        columns = self.table.columns
        if self._taken and not names and columns[:-1] == ["id", *"xyz"]:
            return columns[-1], 0.0
        name = next((each for each in columns if naming.normalize_name(each) in _VIRIAL), "")
        if (
            not name
            or {"radii", "diameters"} & set(names)
            or naming.find_usual_name("radius", columns)
        ):
            return "", 0.0
        head = "".join(self.file.lines(self.table.skip))
        length = _parse_parsecs(name, "radii", head)
        place = _parse_parsecs(naming.find_usual_name("x", columns) or "", "positions", head)
        return (name, length / place) if length and place else ("", 0.0)

    def _count_parts(self) -> int:
        """Return the number of parts of a text, each below its names or two empty lines."""
        header = self.table.header and self.file.lines(self.table.header)[-1].rstrip()
        if header:
            return sum(1 for _ in find_starting_lines(self.file, header.encode(self.file.encoding)))
        ends = (b"\n\n\n", b"\r\n\r\n\r\n")
        return 1 + sum(
            piece.rstrip().count(end) for piece in read_pieces(self.file) for end in ends
        )

    def labels_of_atoms(self) -> ParticleLabels | None:
        self._label_column = self._label(()) or ""
        return super().labels_of_atoms()

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        """Return the columns of each part; a name of one letter may be a size."""
        table = self.table
        if not table.named:
            what = "holds numbers" if any(table.columns) else "is empty"
            raise DataFileError(f"{self.where} {what}; {HEADER}")
        lower = {column.lower(): column for column in reversed(table.columns)}
        if table.numbers:
            lower |= {str(place): column for place, column in enumerate(table.columns, 1)}
        stated = {part: name if name in table.columns else lower.get(name.lower(), name)
                  for part, name in names.items()}  # fmt: skip
        chosen = super().choose(stated)
        if self._taken and not {"x", "y", "z"} & set(stated):
            self.notes.append(("", self._taken))
        if {"radius", "diameter"} & set(chosen) and {"r", "color"} & set(chosen):
            chosen.pop("label", None)
        self._guess_size(chosen)
        self._label_column = chosen.get("label", "")
        return chosen

    def labels(self, name: str, values: NDArray[Any]) -> ParticleLabels:
        if values.dtype.kind == "f" and bool(np.all(values % 1 == 0)):
            values = values.astype(np.int64)
        return super().labels(name, values)

    def _describe_unused(self, chosen: Mapping[str, str]) -> Notes:
        notes = super()._describe_unused(chosen)
        alpha = [name for name in self.names if naming.normalize_name(name) in naming.ALPHA]
        left = [quote(name) for name in alpha if name not in chosen.values()]
        if "r" in chosen and left:
            notes.append(("color", f"{self.name}: column '{left[0]}' is ignored; {OPACITY}"))
        return notes

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the values that are not missing; whole numbers as integers."""
        for name, value in super().row(index, count, used):
            if value == value:
                is_whole = isinstance(value, float) and value.is_integer()
                yield name, int(value) if is_whole else value  # type: ignore[arg-type]


def _parse_parsecs(name: str, what: str, head: str) -> float:
    """Return the unit of a column by its name, or by lines such as "Positions in Mpc / h", else 0.

    Lengths per h are not told from others: both columns have the same.
    """
    stated = re.search(rf"(?i:{what})\b[^\n]* in ([kM]?pc)\b", head)
    word = naming.parse_unit(name).partition("/")[0] or (stated[1] if stated else "")
    return PARSECS.get(word, 0.0)


def _are_radii(values: NDArray[Any], centers: NDArray[Any]) -> bool:
    """Whether numbers can be radii: positive, and of spheres that fill a part of their box."""
    if not len(values) or not np.isfinite(values).all() or values.min() <= 0:
        return False
    sides = np.ptp(centers, axis=0) + 2 * values.max()
    share = 4 / 3 * np.pi * float((values**3).sum()) / float(np.prod(sides))
    return bool(2 * values.max() < np.ptp(centers, axis=0).max()) and MIN_SHARE < share < 1
