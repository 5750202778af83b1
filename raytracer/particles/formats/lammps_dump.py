"""Dump files of LAMMPS, with coordinates of any style in any box.

A frame is a list of sections, each after a line "ITEM: ..."; the section ATOMS, or ENTRIES in local
dumps, names its columns. Coordinates are plain (x), unwrapped (xu), scaled by the box (xs) or both
(xsu).
"""

import os
import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote
from raytracer.files.access import OpenFile
from raytracer.model.particle_source import Box, Column, FrameTime, Particles, parse_time
from raytracer.particles.cell import box_from_lammps
from raytracer.particles.columns import stack_columns
from raytracer.particles.lines import LineEnds, find_starting_lines
from raytracer.particles.text_table import Cell, CellType, Layout, TextSource, find_cell_type

HEAD_LINES = 64  # most lines before the atoms; LAMMPS writes 9 to 13
HEAD_BYTES = 1 << 16
POSITION = "position"  # column of coordinates in the file's unit of length, for all styles

STYLES = (
    (("x", "y", "z"), False),
    (("xu", "yu", "zu"), False),
    (("xs", "ys", "zs"), True),
    (("xsu", "ysu", "zsu"), True),
)
"""Coordinate styles, the likeliest first, and whether they are scaled by the box."""

INTEGERS = frozenset(("id", "mol", "proc", "procp1", "type", "ix", "iy", "iz"))
"""Integer columns; a type may also be a text."""

TEXT_BYTES = 32
_BEFORE = 256  # bytes before the time step of a frame that hold its time and units

_HEAD = (
    rb"NUMBER OF (?:ATOMS|ENTRIES)[^\n]*\n\s*(\d{1,18})\s(?s:.*?)"
    rb"ITEM: (?:ATOMS|ENTRIES)[^\n]*\n"
)

_BEFORE_STEP = rb"(?:\A|(?<=\n))ITEM: (?:TIME|UNITS)\r?\n[^\n]*\n\Z"
UNITS = {"real": "fs", "electron": "fs", "metal": "ps", "si": "s", "cgs": "s", "micro": "µs",
         "nano": "ns"}  # fmt: skip
"""Time units of the unit styles."""

_LOCAL = {"NUMBER OF ENTRIES": "NUMBER OF ATOMS", "ENTRIES": "ATOMS"}
"""Sections of a local dump (pairs or bonds), and their names in a dump of atoms."""

_TITLES = ("TIMESTEP", "UNITS", "TIME", "NUMBER OF ATOMS", "BOX BOUNDS", "ATOMS", *_LOCAL)


class Source(TextSource):
    has_pieces = True
    integers = INTEGERS
    next_frame = "ITEM:"

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._lines = file.lines(HEAD_LINES)
        self._sections = self._find_sections()
        if "UNITS" in self._sections:
            self.units = self._lines[self._sections["UNITS"][1]].strip()
        self.atoms = self._read_count()
        title, skip = self._sections["ATOMS"]
        names = title.split()
        if not names:
            raise self.error(f"line {skip}: the section has no column names")
        first = self._lines[skip].split() if skip < len(self._lines) else []
        kinds = [find_cell_type(word) for word in first] + [CellType.NUMBER] * len(names)
        places: dict[str, int] = {}
        for place, name in enumerate(names):
            places.setdefault(name, place)  # LIGGGHTS may write one twice
        cells = {name: Cell(kinds[place], place, TEXT_BYTES) for name, place in places.items()}
        self.layout = Layout(cells, skip=skip)

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        position = {} if self._style is None else {POSITION: Column("number", (3,))}
        return {**position, **super().columns}

    @property
    def time(self) -> FrameTime | None:
        """The time if the dump has it (`dump_modify time yes`), otherwise the step."""
        lines = {name: self._lines[line] for name, (_, line) in self._sections.items()
                 if line < len(self._lines)}  # fmt: skip
        if "TIME" in lines:
            return parse_time(lines["TIME"], UNITS.get(self.units, ""))
        return parse_time(lines.get("TIMESTEP"), "steps")

    def frame_starts(self) -> Sequence[int]:
        starts = [self._head_before(at) for at in find_starting_lines(self.file, b"ITEM: TIMESTEP")]
        if len(starts) < 2:
            return [0, self.file.size]
        return [0, *starts[1:], *([self.file.size] if self._is_whole(starts[-1]) else [])]

    def _head_before(self, place: int) -> int:
        """Return the start of the frame with this time step: time and units come before."""
        before = min(place, _BEFORE)
        text = os.pread(self.file.file.fileno(), before, place - before)
        while head := re.search(_BEFORE_STEP, text):
            text = text[: head.start()]
        return place - before + len(text)

    def _is_whole(self, start: int) -> bool:
        """Whether the last frame, which starts there, has all its atoms."""
        head = re.search(_HEAD, os.pread(self.file.file.fileno(), HEAD_BYTES, start))
        if head is None:
            return False
        atoms = int(head[1])
        return not atoms or LineEnds(self.file, start + head.end()).after(atoms) is not None

    @cached_property
    def box(self) -> Box | None:
        """The box of three lines; a general triclinic one states its edges."""
        if "BOX BOUNDS" not in self._sections:
            return None
        title, start = self._sections["BOX BOUNDS"]
        rows = [self._numbers(start + axis) for axis in range(3)]
        widths = {len(row) for row in rows}
        periodic = _parse_periodic(title.split())
        if title.split()[:2] == ["abc", "origin"] and widths == {4}:
            a, b, c = ((row[0], row[1], row[2]) for row in rows)
            return Box((rows[0][3], rows[1][3], rows[2][3]), (a, b, c), periodic)
        if widths not in ({2}, {3}):
            raise self.error(
                f"line {start + 1}: a box has two or three numbers in each of three lines"
            )
        return box_from_lammps(rows, periodic)

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        style = self._style
        if style is None or POSITION not in names:
            return super().load(names)
        raw = dict.fromkeys([*(name for name in names if name != POSITION), *style[0]])
        columns = super().load(list(raw))
        columns[POSITION] = self._positions(columns, *style)
        return {name: columns[name] for name in names}

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        style = self._style
        if result.columns["centers"] == (POSITION,) and style is not None:
            result.columns["centers"] = (POSITION, *style[0])
        if result.radius is not None and result.columns["radius"] == ("radius",):
            result.radius = self.fill_zero_radii(result.radius, "radius")  # 0 is a point
        return result

    @property
    def _style(self) -> tuple[tuple[str, str, str], bool] | None:
        """The columns of coordinates and whether they are scaled, or None."""
        cells = self.layout.cells
        return next((style for style in STYLES if all(name in cells for name in style[0])), None)

    def _find_sections(self) -> dict[str, tuple[str, int]]:
        """Return the text after the name in each title, and the number of the next line."""
        sections: dict[str, tuple[str, int]] = {}
        for place, line in enumerate(self._lines, 1):
            title = line[5:].strip() if line.startswith("ITEM:") else ""
            name = next((each for each in _TITLES if f"{title} ".startswith(f"{each} ")), "")
            if name:
                sections.setdefault(_LOCAL.get(name, name), (title.removeprefix(name), place))
            if "ATOMS" in sections:
                break
        for name in ("NUMBER OF ATOMS", "ATOMS"):
            if name not in sections:
                raise self.error(
                    f"there is no line 'ITEM: {name}': the file is incomplete, or not a dump of "
                    "atoms"
                )
        return sections

    def _read_count(self) -> int:
        line = self._sections["NUMBER OF ATOMS"][1]
        self.announced = f"line {line + 1} states"
        text = self._lines[line].strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= 18):
            raise self.error(f"line {line + 1}: '{quote(text, 40)}' is not the number of atoms")
        return int(text)

    def _numbers(self, line: int) -> list[float]:
        """Return the numbers on a line of the head, counted from 0."""
        try:
            return [float(word) for word in self._lines[line].split()]
        except ValueError:
            raise self.error(
                f"line {line + 1}: '{quote(self._lines[line].strip(), 40)}' is not a line of "
                "numbers"
            ) from None

    def _positions(
        self, columns: Mapping[str, NDArray[Any]], names: Sequence[str], scaled: bool
    ) -> NDArray[np.float64]:
        values = stack_columns([columns[name] for name in names])
        if not scaled:
            return values
        box = self.box
        if box is None:
            raise self.error("coordinates are scaled, but there is no line 'ITEM: BOX BOUNDS'")
        places = np.empty(values.shape)
        # Column by column: the same sums on all machines, unlike matrix products.
        for axis in range(3):
            total = np.full(len(values), box.origin[axis])
            for edge in range(3):
                if box.edges[edge][axis]:
                    total += values[:, edge] * box.edges[edge][axis]
            places[:, axis] = total
        return places


def _parse_periodic(title: Sequence[str]) -> tuple[bool, bool, bool]:
    """Return which edges are periodic: "pp" in the title."""
    kinds = [word for word in title if len(word) == 2 and set(word) <= set("pfsm")]
    if len(kinds) != 3:
        return True, True, True
    a, b, c = (word == "pp" for word in kinds)
    return a, b, c
