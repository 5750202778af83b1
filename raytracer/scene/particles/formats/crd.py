"""Coordinates of CHARMM (.crd, with atoms) and restart files of AMBER (.inpcrd, .rst7), in text.

The two share the ending .crd; lines of a title that begin with an asterisk are those of CHARMM.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.files.access import LINE_BYTES, OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import (
    Box,
    Moment,
    Particles,
    ParticleSource,
    moment_of,
    no_atoms,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY = 16
"""Bytes of memory for each byte of the file while it is parsed."""

WIDTH = 12
"""Letters of a number of AMBER."""

MOST_DIGITS = 15
"""Most digits of the number of atoms."""


def opened_source(file: OpenFile, variant: str = "") -> ParticleSource:
    """Return the source of a .crd or .inpcrd file, or of a trajectory of AMBER with that ending."""
    if file.atoms is not None and _is_trajectory(file):
        from raytracer.scene.particles.formats import mdcrd

        return mdcrd.Source(file, variant)
    return Source(file, variant)


def _is_trajectory(file: OpenFile) -> bool:
    """Whether coordinates follow the title, and no number of atoms."""
    file.file.seek(0)
    title, second = file.file.readline(LINE_BYTES), file.file.readline(LINE_BYTES)
    words = second.split()
    return not title.startswith(b"*") and bool(words) and not words[0].isdigit()


class Source(LoadedSource):
    """A .crd or .inpcrd file."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        require_room(self.name, MEMORY * file.size)
        self._lines = file.read(file.size).splitlines()
        self._is_charmm = bool(self._lines) and self._lines[0].startswith(b"*")
        self._first = 1
        if self._is_charmm:
            while self._first < len(self._lines) and self._lines[self._first].startswith(b"*"):
                self._first += 1
        words = self._lines[self._first].split() if self._first < len(self._lines) else []
        if not words or not words[0].isdigit() or len(words[0]) > MOST_DIGITS:
            raise DataFileError(
                f"{self.name}: line {self._first + 1}: is not the number of atoms, so this is "
                "neither a file of CHARMM nor a restart file of AMBER"
            )
        self._atoms, self._head = int(words[0]), words

    @property
    def count(self) -> int | None:
        return self._atoms

    @property
    def time(self) -> Moment | None:
        is_time = not self._is_charmm and len(self._head) > 1
        return moment_of(self._head[1], "ps") if is_time else None

    @cached_property
    def _numbers(self) -> NDArray[Any]:
        """All numbers of a file of AMBER: coordinates, velocities where there are, the box."""
        import numpy as np

        rows = self._lines[self._first + 1 :]
        cells = [row[at : at + WIDTH] for row in rows for at in range(0, len(row.rstrip()), WIDTH)]
        try:
            found = np.array(cells, np.float64)
        except ValueError:
            raise DataFileError(f"{self.name}: holds a cell that is no number") from None
        if len(found) < 3 * self._atoms:
            raise DataFileError(
                f"{self.name}: line {self._first + 1} says {self._atoms} atoms, but there are "
                f"coordinates for {len(found) // 3}; is it cut short?"
            )
        return found

    @property
    def box(self) -> Box | None:
        """The box at the end of a file of AMBER: three lengths and three angles."""
        if self._is_charmm:
            return None
        rest = len(self._numbers) - 3 * self._atoms
        if rest not in (6, 6 + 3 * self._atoms):
            return None
        a, b, c, alpha, beta, gamma = self._numbers[-6:].tolist()
        return cell_of((a, b, c), (alpha, beta, gamma))

    def read(self) -> dict[str, NDArray[Any]]:
        if self._is_charmm:
            return self._charmm()
        count = 3 * self._atoms
        columns = {"position": self._numbers[:count].reshape(-1, 3)}
        if len(self._numbers) >= 2 * count > 0 and len(self._numbers) - 2 * count in (0, 6):
            columns["velocity"] = self._numbers[count : 2 * count].reshape(-1, 3)
        return columns

    def _charmm(self) -> dict[str, NDArray[Any]]:
        """Return the columns of CHARMM: atom, residue, its name, atom's name, x, y, z, segment."""
        import numpy as np

        first = self._first + 1
        rows = [line.split() for line in self._lines[first : first + self._atoms]]
        if len(rows) < self._atoms:
            raise DataFileError(
                f"{self.name}: line {first} says {self._atoms} atoms, but there are {len(rows)}; "
                "is it cut short?"
            )
        for place, row in enumerate(rows):
            if len(row) < 7:
                raise DataFileError(
                    f"{self.name}: line {first + place + 1}: has {len(row)} columns; atoms have at "
                    "least 7"
                )
        try:
            position = np.array([row[4:7] for row in rows], np.float64).reshape(-1, 3)
            number = np.array([row[1] for row in rows], np.int64)
        except (ValueError, OverflowError):
            bad = next((place for place, row in enumerate(rows) if not _is_atom(row)), 0)
            text = shown(b" ".join(rows[bad]).decode("utf-8", "replace"), 60)
            raise DataFileError(
                f"{self.name}: line {first + bad + 1}: '{text}' is no atom: its residue is to be a "
                "whole number and its coordinates three numbers"
            ) from None
        residue, name = (np.array([row[place] for row in rows], "S8") for place in (2, 3))
        segment = np.array([row[7] if len(row) > 7 else b"" for row in rows], "S8")
        return {
            "residue_id": number,
            "residue": residue,
            "name": name,
            "element": elements_of(name, residue),
            "segment": segment,
            "position": position,
        }

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if not self._is_charmm:
            result.notes.append(no_atoms(self.name))
        return result


def _is_atom(row: list[bytes]) -> bool:
    """Whether the words of a line are those of an atom."""
    try:
        int(row[1])
        return all(float(word) == float(word) for word in row[4:7])
    except ValueError:
        return False
