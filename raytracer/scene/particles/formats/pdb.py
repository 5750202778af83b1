"""Structures of the Protein Data Bank in the old format (.pdb, .ent): atoms of the first model.

Of an atom at several places (alternate locations) the first one is taken.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError
from raytracer.memory import require_room
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.fixed_columns import optional, vectors, words
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

MEMORY = 8
"""Bytes of memory for each byte of the file while it is parsed."""

_RECORDS = (b"ATOM  ", b"HETATM")


class Source(LoadedSource):
    """A .pdb file; with the variant "names", the names of atoms alone tell the elements."""

    has_pieces = True
    surrounded = True  # by the cell before the models, and the bonds behind them

    @property
    def frames(self) -> int | None:
        return max(sum(line.startswith(b"MODEL ") for line in self._lines), 1)

    def frame_starts(self) -> Sequence[int]:
        from raytracer.scene.particles.lines import starts_with

        starts = list(starts_with(self.file, b"MODEL "))
        if not starts:
            return [0, self.file.size]
        ends = [end for end in starts_with(self.file, b"ENDMDL") if end > starts[-1]]
        return [*starts, min([end + len("ENDMDL\n") for end in ends[:1]] + [self.file.size])]

    @cached_property
    def box(self) -> Box | None:
        """The cell of the record CRYST1; a cube of 1 angstrom stands for none."""
        line = next((line for line in self._lines if line.startswith(b"CRYST1")), b"")
        places = ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))
        try:
            a, b, c, alpha, beta, gamma = (float(line[i:j]) for i, j in places)
        except ValueError:
            return None
        if (a, b, c) == (1.0, 1.0, 1.0):
            return None
        from raytracer.scene.particles.cell import cell_of

        return cell_of((a, b, c), (alpha, beta, gamma))

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        places: list[int] = []
        for place, line in enumerate(self._lines):
            if line.startswith(_RECORDS):
                places.append(place)
            elif line.startswith(b"ENDMDL"):
                break
        if not places:
            raise DataFileError(f"{self.name}: there are no atoms (records ATOM and HETATM)")
        rows = [self._lines[place] for place in places]
        numbers = [place + 1 for place in places]
        columns: dict[str, NDArray[Any]] = {
            "name": words(rows, 12, 16),
            "alternate": words(rows, 16, 17),
            "residue": words(rows, 17, 20),
            "chain": words(rows, 21, 22),
            "position": vectors(rows, 30, 8, self.name, numbers),
        }
        for name, (start, stop) in {"occupancy": (54, 60), "b_factor": (60, 66)}.items():
            values = optional(rows, start, stop)
            if values is not None:
                columns[name] = values
        symbols = words(rows, 76, 78)
        if self.variant == "names":  # types of atoms of AutoDock stand where the elements do
            symbols[:] = b""
        blank = symbols == b""
        if blank.any():
            guesses = elements_of(columns["name"][blank], columns["residue"][blank])
            symbols = symbols.astype("S4")
            symbols[blank] = guesses
        columns["element"] = symbols
        kept = np.ones(len(rows), bool)
        alternate = np.flatnonzero(columns.pop("alternate") != b"")
        if len(alternate):  # the first place of each atom: chain, residue and name tell which
            atoms = np.array([rows[row][12:16] + rows[row][17:27] for row in alternate])
            kept[alternate] = False
            kept[alternate[np.unique(atoms, return_index=True)[1]]] = True
        return columns if kept.all() else {name: each[kept] for name, each in columns.items()}

    @cached_property
    def _lines(self) -> list[bytes]:
        require_room(self.name, MEMORY * self.file.size)
        self.file.require_short_lines()
        return self.file.read(self.file.size).splitlines()
