"""Coordinate files of GROMACS (.gro): title, number of atoms, atoms in fixed columns, box.

Lengths are nanometres in the file and angstrom in its columns here, the unit of atomic radii.
"""

import re
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown
from raytracer.files.access import OpenFile
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.lines import MAX_DIGITS, LineEnds, counted_frames, first_line_from
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import (
    NANOMETRE,
    Box,
    Moment,
    Particles,
    moment_of,
    more_frames,
)
from raytracer.scene.particles.text_table import (
    FIXED,
    Cell,
    Kind,
    Layout,
    Rows,
    counted_values,
    read_rows,
)


class Source(LoadedSource):
    has_pieces = True

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        _, count, first = file.lines(3)
        text = count.strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS):
            raise self.error(f"line 2: '{shown(text, 40)}' is not the number of atoms")
        self._atoms = int(text)
        self._width = _width_of(first) if self._atoms else 8

    @property
    def count(self) -> int | None:
        return self._atoms

    def frame_starts(self) -> Sequence[int]:
        return counted_frames(self.file, 1, 3)

    @property
    def length(self) -> float:
        return NANOMETRE

    @cached_property
    def box(self) -> Box | None:
        try:
            values = [
                NANOMETRE * float(word)
                for word in first_line_from(self.file, self._rows.end).split()
            ]
        except ValueError:
            return None
        if len(values) == 3:
            values += [0.0] * 6
        if len(values) != 9:
            return None
        ax, by, cz, ay, az, bx, bz, cx, cy = values
        return cell_box([[ax, ay, az], [bx, by, bz], [cx, cy, cz]])

    @property
    def time(self) -> Moment | None:
        """The time in the title: "water t= 100.0 step= 50000"."""
        time = re.search(rb"\bt=\s*([-+.\deE]+)", self.file.lines(1)[0].encode())
        return None if time is None else moment_of(time[1], "ps")

    def read(self) -> dict[str, NDArray[Any]]:
        rows = self._rows
        columns = {name: rows.columns[name] for name in ("residue", "name")}
        columns["element"] = elements_of(columns["name"], columns["residue"])
        columns |= rows.columns
        columns["position"] = columns["position"] * NANOMETRE
        for name in ("residue_id", "velocity"):  # for all atoms, or none
            if np.isnan(columns[name]).any():
                del columns[name]
        if "residue_id" in columns:
            columns["residue_id"] = counted_values(columns["residue_id"])
        return columns

    @cached_property
    def _rows(self) -> Rows:
        width = self._width
        if LineEnds(self.file).after(2 + self._atoms) is None:
            raise self.error(
                f"line 2 states {self._atoms} atoms, but there are fewer lines: the file is "
                "incomplete"
            )
        cells = {
            "residue": Cell(Kind.TEXT, 5, 5),
            "name": Cell(Kind.TEXT, 10, 5),
            "residue_id": Cell(Kind.OPTIONAL, 0, 5),
            "position": Cell(Kind.NUMBER, 20, width, 3),
            "velocity": Cell(Kind.OPTIONAL, 20 + 3 * width, width, 3),
        }
        return read_rows(self.file, Layout(cells, FIXED, skip=2), list(cells), self._atoms)

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        end = LineEnds(self.file, self._rows.end).after(1)  # of the box
        if end is not None and first_line_from(self.file, end):
            result.notes.append(("", more_frames(self.name)))
        return result


def _width_of(line: str) -> int:
    """Return the width of a coordinate: the distance between two decimal points."""
    first = line.find(".", 20)
    second = line.find(".", first + 1) if first >= 0 else -1
    width = second - first
    return width if 0 < width <= MAX_DIGITS + 8 else 8
