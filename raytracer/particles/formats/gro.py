"""Coordinate files of GROMACS (.gro): title, number of atoms, atoms in fixed columns, box.

Lengths are nanometres in the file and angstrom in its columns here, the unit of atomic radii.
"""

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote
from raytracer.files.access import OpenFile
from raytracer.model.particle_source import (
    NANOMETRE,
    Box,
    describe_more_frames,
    parse_time,
)
from raytracer.particles.array_source import ArraySource, FrameContent
from raytracer.particles.cell import box_from_cell
from raytracer.particles.lines import MAX_DIGITS, LineEnds, find_counted_frames, read_first_line
from raytracer.particles.molecules import guess_elements, parse_consecutive_ids
from raytracer.particles.text_table import (
    FIXED,
    Cell,
    CellType,
    Layout,
    read_rows,
    to_whole_if_exact,
)


class Source(ArraySource):
    has_pieces = True
    length = NANOMETRE

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._title, count, first = file.lines(3)
        text = count.strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
            raise self.error(f"line 2: '{quote(text, 40)}' is not the number of atoms")
        self._atoms = int(text)
        self._width = _coordinate_width(first) if self._atoms else 8

    def frame_starts(self) -> Sequence[int]:
        return find_counted_frames(self.file, 1, 3)

    def atom_ids(self) -> NDArray[np.int64] | None:
        layout = Layout({"number": Cell(CellType.TEXT, 15, 5)}, FIXED, skip=2)
        numbers = read_rows(self.file, layout, ["number"], self._atoms).columns["number"]
        return parse_consecutive_ids(numbers, self.count)

    def read(self) -> FrameContent:
        width = self._width
        if LineEnds(self.file).after(2 + self._atoms) is None:
            raise self.error(
                f"line 2 states {self._atoms} atoms, but there are fewer lines: the file is "
                "incomplete"
            )
        cells = {
            "residue": Cell(CellType.TEXT, 5, 5),
            "name": Cell(CellType.TEXT, 10, 5),
            "residue_id": Cell(CellType.OPTIONAL, 0, 5),
            "position": Cell(CellType.NUMBER, 20, width, 3),
            "velocity": Cell(CellType.OPTIONAL, 20 + 3 * width, width, 3),
        }
        rows = read_rows(self.file, Layout(cells, FIXED, skip=2), list(cells), self._atoms)
        columns = {name: rows.columns[name] for name in ("residue", "name")}
        columns["element"] = guess_elements(columns["name"], columns["residue"])
        columns |= rows.columns
        columns["position"] = columns["position"] * NANOMETRE
        for name in ("residue_id", "velocity"):  # for all atoms, or none
            if np.isnan(columns[name]).any():
                del columns[name]
        if "residue_id" in columns:
            columns["residue_id"] = to_whole_if_exact(columns["residue_id"])
        end = LineEnds(self.file, rows.end).after(1)  # of the box
        if end is not None and read_first_line(self.file, end):
            self.notes.append(("", describe_more_frames(self.name)))
        time = re.search(r"\bt=\s*([-+.\deE]+)", self._title)  # "water t= 100.0 step= 50000"
        box = _parse_box(read_first_line(self.file, rows.end).split())
        return FrameContent(columns, box, time and parse_time(time[1], "ps"))


def _parse_box(words: Sequence[Any]) -> Box | None:
    """Return the box: its edges' x, y and z, then their other six numbers unless these are 0."""
    try:
        values = [NANOMETRE * float(word) for word in words]
    except ValueError:
        return None
    if len(values) not in (3, 9):
        return None
    ax, by, cz, ay, az, bx, bz, cx, cy = values + [0.0] * (9 - len(values))
    return box_from_cell([[ax, ay, az], [bx, by, bz], [cx, cy, cz]])


def _coordinate_width(line: str) -> int:
    """Return the width of a coordinate: the distance between two decimal points."""
    first = line.find(".", 20)
    second = line.find(".", first + 1) if first >= 0 else -1
    width = second - first
    return width if 0 < width <= MAX_DIGITS + 8 else 8
