"""Coordinate files of GROMACS (.gro): a title, the number of atoms, atoms in fixed columns, box.

Lengths are nanometres in the file and angstrom in its columns here, as radii of elements are.
"""

from __future__ import annotations

import re
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.fixed_columns import counted_values, optional, vectors, words
from raytracer.scene.particles.lines import has_ink, has_lines, pick_line
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box, Moment, Particles, moment_of, more_frames

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from numpy.typing import NDArray

NANOMETRE = 10.0
"""Angstrom."""

MEMORY = 8
"""Bytes of memory for each byte of the file while it is parsed."""

MOST_DIGITS = 18
"""Most digits of the number of atoms, and most decimals of a coordinate."""


class Source(LoadedSource):
    """A .gro file."""

    has_pieces = True

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        _, count, first = file.lines(3)
        text = count.strip()
        if not (text.isascii() and text.isdecimal() and len(text) <= MOST_DIGITS):
            raise DataFileError(
                f"{self.name}: line 2: '{shown(text, 40)}' is not the number of atoms"
            )
        self._atoms = int(text)
        self._width = _width_of(first) if self._atoms else 8

    @property
    def count(self) -> int | None:
        return self._atoms

    @property
    def frames(self) -> int | None:
        return None if has_lines(self.file, 3 + self._atoms) else 1

    def frame_starts(self) -> Sequence[int]:
        from raytracer.scene.particles.frames import counted_lines

        return counted_lines(self.file, 1, 3)

    @cached_property
    def box(self) -> Box | None:
        """The box; nine numbers are a triclinic one."""
        line = self._lines[self._atoms] if len(self._lines) > self._atoms else b""
        try:
            values = [NANOMETRE * float(word) for word in line.split()]
        except ValueError:
            return None
        if len(values) == 3:
            values += [0.0] * 6
        if len(values) != 9:
            return None
        ax, by, cz, ay, az, bx, bz, cx, cy = values
        return Box((0.0, 0.0, 0.0), ((ax, ay, az), (bx, by, bz), (cx, cy, cz)))

    @property
    def time(self) -> Moment | None:
        """The time in the title: "water t= 100.0 step= 50000"."""
        found = re.search(rb"\bt=\s*([-+.\deE]+)", self.file.lines(1)[0].encode())
        return None if found is None else moment_of(found[1], "ps")

    def read(self) -> dict[str, NDArray[Any]]:
        rows = self._lines[: self._atoms]
        if len(rows) < self._atoms:
            raise DataFileError(
                f"{self.name}: line 2 says {self._atoms} atoms, but there are {len(rows)}; "
                "is it cut short?"
            )
        width = self._width
        columns: dict[str, NDArray[Any]] = {
            "residue": words(rows, 5, 10),
            "name": words(rows, 10, 15),
        }
        columns["element"] = elements_of(columns["name"], columns["residue"])
        numbers = optional(rows, 0, 5)
        if numbers is not None:
            columns["residue_id"] = counted_values(numbers)
        columns["position"] = vectors(rows, 20, width, self.name, 3) * NANOMETRE
        if rows and min(map(len, rows)) >= 20 + 6 * width:  # of all atoms, or of none
            columns["velocity"] = vectors(rows, 20 + 3 * width, width, self.name, 3)
        return columns

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if has_lines(self.file, 3 + self._atoms) and self._next_line() is not None:
            result.notes.append(("", more_frames(self.name)))
        return result

    def _next_line(self) -> str | None:
        """Return the first line behind the frame, or None."""
        title = self.file.lines(1)[0]
        return pick_line(self.file, has_ink(title.encode()) + 2 + self._atoms)

    @cached_property
    def _lines(self) -> list[bytes]:
        """The lines from the first atom on, as many as the first frame has."""
        require_room(self.name, MEMORY * self.file.size)
        self.file.require_short_lines()
        stream = self.file.file
        stream.seek(0)
        for _ in range(2):
            stream.readline()
        size = self.file.size - stream.tell()
        return stream.read(size).split(b"\n", self._atoms + 1)[: self._atoms + 1]


def _width_of(line: str) -> int:
    """Return the width of a coordinate: the distance between two decimal points."""
    first = line.find(".", 20)
    second = line.find(".", first + 1) if first >= 0 else -1
    width = second - first
    return width if 0 < width <= MOST_DIGITS + 8 else 8
