"""Structures of the Protein Data Bank in the old format (.pdb, .ent): atoms of the first model.

Of an atom at several places (alternate locations) the first one is taken.
"""

from __future__ import annotations

import os
from collections import Counter
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError
from raytracer.memory import require_room
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.fixed_columns import counted_values, optional, vectors, words
from raytracer.scene.particles.lines import count_lines, starts_with
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.regular_text import (
    NUMBER,
    OPTIONAL,
    TEXT,
    FixedCell,
    fixed_rows,
)
from raytracer.scene.particles.source import Box

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

MEMORY = 8
"""Bytes of memory for each byte of the file while it is parsed."""

_RECORDS = ("ATOM  ", "HETATM")

_CELLS = {
    "name": FixedCell(TEXT, 12, 16),
    "alternate": FixedCell(TEXT, 16, 17),
    "residue": FixedCell(TEXT, 17, 20),
    "chain": FixedCell(TEXT, 21, 22),
    "residue_id": FixedCell(OPTIONAL, 22, 26),
    "x": FixedCell(NUMBER, 30, 38),
    "y": FixedCell(NUMBER, 38, 46),
    "z": FixedCell(NUMBER, 46, 54),
    "occupancy": FixedCell(OPTIONAL, 54, 60),
    "b_factor": FixedCell(OPTIONAL, 60, 66),
    "element": FixedCell(TEXT, 76, 78),
}
"""Columns of an atom."""

_OPTIONAL = ("residue_id", "occupancy", "b_factor")
"""Columns of numbers that a file may lack."""

_LEAST_BYTES = 54
"""Letters of the shortest line of an atom: up to its z."""

_ROW_BYTES = 6 * 8 + 12
"""Bytes of memory of an atom."""


class Source(LoadedSource):
    """A .pdb file; with the variant "names", the names of atoms alone tell the elements."""

    has_pieces = True
    surrounded = True  # by the cell before the models, and the bonds behind them

    @cached_property
    def frames(self) -> int | None:
        return max(sum(1 for _ in starts_with(self.file, b"MODEL ")), 1)

    def frame_starts(self) -> Sequence[int]:
        starts = list(starts_with(self.file, b"MODEL "))
        if not starts:
            return [0, self.file.size]
        ends = [end for end in starts_with(self.file, b"ENDMDL") if end > starts[-1]]
        return [*starts, min([end + len("ENDMDL\n") for end in ends[:1]] + [self.file.size])]

    @cached_property
    def box(self) -> Box | None:
        """The cell of the record CRYST1; a cube of 1 angstrom stands for none."""
        start = next(iter(starts_with(self.file, b"CRYST1")), None)
        line = b"" if start is None else os.pread(self.file.file.fileno(), 54, start)
        places = ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))
        try:
            a, b, c, alpha, beta, gamma = (float(line[i:j]) for i, j in places)
        except ValueError:
            return None
        if (a, b, c) == (1.0, 1.0, 1.0):
            return None
        from raytracer.scene.particles.cell import cell_of

        return cell_of((a, b, c), (alpha, beta, gamma))

    @cached_property
    def bonds(self) -> NDArray[np.int64] | None:
        """The pairs of the records CONECT, if they name at least half of the atoms.

        Structures of proteins have such records for ligands and bridges alone.
        """
        import numpy as np

        if next(iter(starts_with(self.file, b"CONECT")), None) is None:
            return None
        atoms = self._serials()
        number = {serial: index for index, serial in enumerate(atoms)}
        if len(number) != len(atoms) or len(atoms) != len(self.load(["position"])["position"]):
            return None  # numbers that are no names, or alternate places
        said: Counter[tuple[int, int]] = Counter()
        for line in self._lines:
            if line.startswith(b"CONECT"):
                first, *others = (line[at : at + 5].strip() for at in range(6, 31, 5))
                for other in others:
                    if first in number and other in number and first != other:
                        said[number[first], number[other]] += 1
        pairs = sorted({(min(pair), max(pair)) for pair in said})
        rows = np.array(pairs, np.int64).reshape(-1, 2)
        if 2 * len(np.unique(rows)) < len(atoms):
            return None
        # An atom that names another twice, in its own records, has a double bond to it.
        self._orders = np.array([max(said[i, j], said[j, i]) for i, j in pairs], np.float64)
        return rows

    @property
    def bond_columns(self) -> dict[str, NDArray[Any]]:
        several = self.bonds is not None and bool((self._orders > 1).any())
        return {"order": self._orders.clip(1.0, 3.0)} if several else {}

    def _serials(self) -> list[bytes]:
        """Return the numbers of the atoms of the first model, as the file writes them."""
        serials = []
        for line in self._lines:
            if line.startswith((b"ATOM  ", b"HETATM")):
                serials.append(line[6:11].strip())
            elif line.startswith(b"ENDMDL"):
                break
        return serials

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        columns, atoms = self._regular(), None
        if columns is None:
            columns, atoms = self._line_by_line()
        if "residue_id" in columns:
            columns["residue_id"] = counted_values(columns["residue_id"])
        symbols = columns.pop("element")
        if self.variant == "names":  # types of atoms of AutoDock stand where the elements do
            symbols = np.zeros_like(symbols)
        blank = symbols == b""
        if blank.any():
            guesses = elements_of(columns["name"][blank], columns["residue"][blank])
            symbols = symbols.astype("S4")
            symbols[blank] = guesses
        columns["element"] = symbols
        kept = np.ones(len(symbols), bool)
        alternate = np.flatnonzero(columns.pop("alternate") != b"")
        if len(alternate) and atoms is not None:  # the first place of each atom
            kept[alternate] = False
            kept[alternate[np.unique(atoms[alternate], return_index=True)[1]]] = True
        return columns if kept.all() else {name: each[kept] for name, each in columns.items()}

    def _regular(self) -> dict[str, NDArray[Any]] | None:
        """Return the columns by the compiled parser; None of what it does not take.

        Alternate places are not sorted out here.
        """
        most = min(count_lines(self.file), self.file.size // _LEAST_BYTES + 1)
        require_room(self.name, most * _ROW_BYTES)
        self.file.require_short_lines()
        rows = fixed_rows(self.file, _CELLS, _RECORDS, "ENDMDL", most)
        if rows is None or not len(rows.numbers):
            return None
        texts = [name for name, cell in _CELLS.items() if cell.kind == TEXT]
        columns: dict[str, NDArray[Any]] = dict(zip(texts, rows.texts, strict=True))
        if (columns["alternate"] != b"").any():
            return None
        numbers = [name for name, cell in _CELLS.items() if cell.kind != TEXT]
        first = numbers.index("x")
        columns["position"] = rows.numbers[:, first : first + 3]
        for place, name in enumerate(numbers):
            if name in _OPTIONAL and name not in rows.lacking:
                columns[name] = rows.numbers[:, place]
        return columns

    def _line_by_line(self) -> tuple[dict[str, NDArray[Any]], NDArray[Any]]:
        """Return the columns, and what tells an atom from others: chain, residue and name."""
        import numpy as np

        starts = tuple(record.encode() for record in _RECORDS)
        places: list[int] = []
        for place, line in enumerate(self._lines):
            if line.startswith(starts):
                places.append(place)
            elif line.startswith(b"ENDMDL"):
                break
        if not places:
            raise DataFileError(f"{self.name}: there are no atoms (records ATOM and HETATM)")
        rows = [self._lines[place] for place in places]
        columns: dict[str, NDArray[Any]] = {
            name: words(rows, cell.start, cell.stop)
            for name, cell in _CELLS.items()
            if cell.kind == TEXT
        }
        numbers = [place + 1 for place in places]
        columns["position"] = vectors(rows, 30, 8, self.name, numbers)
        for name in _OPTIONAL:
            values = optional(rows, _CELLS[name].start, _CELLS[name].stop)
            if values is not None:
                columns[name] = values
        return columns, np.array([row[12:16] + row[17:27] for row in rows])

    @cached_property
    def _lines(self) -> list[bytes]:
        require_room(self.name, MEMORY * self.file.size)
        self.file.require_short_lines()
        return self.file.read(self.file.size).splitlines()
