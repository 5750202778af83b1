"""Structures of VASP (POSCAR, CONTCAR, .vasp): a lattice, counts of species, positions.

Lengths are angstrom. The symbols of the species are on line 6 since VASP 5; without them, the atoms
of each count are a type.
"""

from __future__ import annotations

import os
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.elements import symbol_of
from raytracer.scene.particles.lines import LinesAhead
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box
from raytracer.scene.particles.text_table import read_columns

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

HEAD_LINES = 9
"""Lines before the positions, at most."""

_CONFIGURATION = "direct configuration"
"""How the line before the positions of each frame of an XDATCAR begins, in small letters."""

MOST_ATOMS = 10**12
"""Most atoms of one species."""


class Source(LoadedSource):
    """A POSCAR file."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._lines = file.lines(HEAD_LINES)
        self._edges = self._lattice()
        self._species, place = self._read_species()
        self._counts = self._read_counts(place)
        mode = self._lines[place + 1].strip()[:1].lower()
        if mode == "s":  # selective dynamics: flags stand behind the positions
            place += 1
            mode = self._lines[place + 1].strip()[:1].lower()
        self._cartesian = mode in ("c", "k")
        self._skip = place + 2

    @property
    def count(self) -> int | None:
        return sum(self._counts)

    @property
    def has_pieces(self) -> bool:  # type: ignore[override]
        """Whether frames are pieces of the file: those of an XDATCAR are."""
        return self._lines[self._skip - 1].lower().startswith(_CONFIGURATION)

    @cached_property
    def surrounded(self) -> bool:  # type: ignore[override]
        """Whether the frames of an XDATCAR share one head; with a cell that varies each has one."""
        lines = LinesAhead(self.file)
        end = lines.after(self._skip + sum(self._counts))
        start = b"" if end is None else os.pread(self.file.file.fileno(), 64, end)
        return not start.strip() or start.lower().startswith(_CONFIGURATION.encode())

    def frame_starts(self) -> Sequence[int]:
        lines = LinesAhead(self.file)
        first = lines.after(self._skip - 1) if self.surrounded else 0
        starts = [first or 0]
        step = sum(self._counts) + (1 if self.surrounded else self._skip)
        while (end := lines.after(step)) is not None:
            starts.append(end)
        return starts if len(starts) > 1 else [starts[0], self.file.size]

    @property
    def box(self) -> Box | None:
        a, b, c = (tuple(row) for row in self._edges.tolist())
        return Box((0.0, 0.0, 0.0), (a, b, c))

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        count = sum(self._counts)
        names = {"x": 0, "y": 1, "z": 2}
        if count:
            most = min(count, self.file.size // 6 + 1)
            require_room(self.name, most * 80)
            values, _ = read_columns(self.file, names, {}, skiprows=self._skip, max_rows=most)
        else:
            values = np.zeros((0, 3))
        if len(values) != count:
            raise DataFileError(
                f"{self.name}: {count} atoms are announced, but there are {len(values)}; "
                "is it cut short?"
            )
        columns: dict[str, NDArray[Any]] = {}
        if self._species:
            columns["element"] = np.repeat(np.array(self._species, "S8"), self._counts)
        else:
            columns["type"] = np.repeat(np.arange(1, len(self._counts) + 1), self._counts)
        columns["position"] = values * self._factors if self._cartesian else self._placed(values)
        return columns

    def _placed(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return positions for coordinates in units of the lattice."""
        import numpy as np

        places = np.zeros_like(values)
        for axis in range(3):
            for edge in range(3):
                places[:, axis] += values[:, edge] * self._edges[edge, axis]
        return places

    def _lattice(self) -> NDArray[np.float64]:
        """Return the scaled edges of the lattice, (3, 3), one a row."""
        import numpy as np

        rows = [self._numbers(line, 3) for line in (2, 3, 4)]
        edges = np.array(rows)
        is_triple = sum(map(_is_number, self._lines[1].split()[:3])) == 3
        self._factors = np.array(self._numbers(1, 3 if is_triple else 1))
        volume = abs(float(np.linalg.det(edges)))
        if not is_triple and self._factors[0] < 0.0 and volume > 0.0:  # the volume of the cell
            self._factors = (-self._factors / volume) ** (1.0 / 3.0)
        if not (np.all(self._factors > 0.0) and np.all(self._factors < np.inf)):
            what = "three scales" if is_triple else "scale"
            must = "be above 0" if is_triple else "not be 0"
            raise DataFileError(f"{self.name}: line 2: the {what} of the lattice must {must}")
        scaled: NDArray[np.float64] = edges * self._factors  # of x, y and z, if they are three
        return scaled

    def _numbers(self, line: int, count: int) -> list[float]:
        """Return the first numbers on a line, counted from 0."""
        words = self._lines[line].split()[:count]
        try:
            values = [float(word) for word in words]
        except ValueError:
            values = []
        if len(values) != count:
            text = shown(self._lines[line].strip(), 40)
            what = "a number" if count == 1 else f"a line of {count} numbers"
            raise DataFileError(f"{self.name}: line {line + 1}: '{text}' is not {what}")
        return values

    def _read_species(self) -> tuple[list[bytes], int]:
        """Return the symbols of the species, and the line of their counts."""
        words = self._lines[5].split()
        if words and words[0].isdecimal():
            title = self._lines[0].split()  # where VASP 4 has the symbols, by convention
            counts = len(words)
            known = len(title) == counts and all(map(symbol_of, title))
            return ([word.encode() for word in title] if known else []), 5
        # "Fe_pv/0123abcd" is a symbol with the name of its potential.
        return [word.split("/")[0].split("_")[0].encode() for word in words], 6

    def _read_counts(self, line: int) -> list[int]:
        """Return the number of atoms of each species."""
        words = self._lines[line].partition("!")[0].split()
        good = words and all(word.isascii() and word.isdecimal() for word in words)
        counts = [int(word[:18]) for word in words] if good else []
        wrong = not counts or max(counts) > MOST_ATOMS
        if wrong or (self._species and len(self._species) != len(counts)):
            text = shown(self._lines[line].strip(), 40)
            raise DataFileError(
                f"{self.name}: line {line + 1}: '{text}' is not a count for each species"
            )
        return counts


def _is_number(word: str) -> bool:
    """Whether a word is a number."""
    try:
        float(word)
    except ValueError:
        return False
    return True
