"""Structures of the Protein Data Bank in the old format (.pdb, .ent): atoms of the first model.

Of alternate locations of an atom the first one is used.
"""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.array_source import NO_BONDS, ArraySource, Bonds, Frame
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.lines import starts_with
from raytracer.scene.particles.molecules import Stretch, add_structure, elements_of
from raytracer.scene.particles.source import Box
from raytracer.scene.particles.text_table import (
    FIXED,
    Cell,
    Kind,
    Layout,
    counted_values,
    read_rows,
)

ATOMS = Layout({
    "name": Cell(Kind.TEXT, 12, 4),
    "alternate": Cell(Kind.TEXT, 16, 1),
    "residue": Cell(Kind.TEXT, 17, 3),
    "chain": Cell(Kind.TEXT, 21, 1),
    "residue_id": Cell(Kind.OPTIONAL, 22, 4),
    "position": Cell(Kind.NUMBER, 30, 8, 3),
    "occupancy": Cell(Kind.OPTIONAL, 54, 6),
    "b_factor": Cell(Kind.OPTIONAL, 60, 6),
    "element": Cell(Kind.TEXT, 76, 2),
}, FIXED, records=("ATOM  ", "HETATM"), stop="ENDMDL")  # fmt: skip
"""Columns of an atom; optional ones are omitted if an atom lacks them."""

_IDENTITY = ATOMS._replace(
    cells={"name": Cell(Kind.TEXT, 12, 4), "residue": Cell(Kind.TEXT, 17, 10)}
)
"""Columns that identify an atom with alternate locations."""

STRETCHES = {"HELIX ": (1, 19, 21), "SHEET ": (2, 21, 22)}
"""Secondary structure by record: its index in `NAMES`, columns of chain and first residue."""

LAST_RESIDUE = 33  # column of the last residue in both records
MAX_RECORD = 256  # bytes of a line that are read at a time; a record has 80


class Source(ArraySource):
    """A .pdb file; with the variant "names", elements follow from the names of atoms only."""

    has_pieces = True
    surrounded = True  # cell before the models, bonds after them

    def frame_starts(self) -> Sequence[int]:
        starts = list(starts_with(self.file, b"MODEL "))
        if not starts:
            return [0, self.file.size]
        ends = [end for end in starts_with(self.file, b"ENDMDL") if end > starts[-1]]
        return [*starts, min([end + len("ENDMDL\n") for end in ends[:1]] + [self.file.size])]

    def _cell(self) -> Box | None:
        """Return the cell of the record CRYST1; a cube of 1 angstrom means none."""
        start = next(iter(starts_with(self.file, b"CRYST1")), None)
        line = b"" if start is None else os.pread(self.file.file.fileno(), 54, start)
        places = ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))
        try:
            sizes = [float(line[i:j]) for i, j in places]
        except ValueError:
            return None
        return None if sizes[:3] == [1.0, 1.0, 1.0] else cell_of(sizes)

    def _connected(self) -> Bonds:
        """Return the pairs of the records CONECT, if they include at least half of the atoms.

        Structures of proteins have such records only for ligands and bridges.
        """
        if next(iter(starts_with(self.file, b"CONECT")), None) is None:
            return NO_BONDS
        serials = ATOMS._replace(cells={"serial": Cell(Kind.TEXT, 6, 5)})
        atoms = read_rows(self.file, serials, ["serial"], None).columns["serial"].tolist()
        number = {serial: index for index, serial in enumerate(atoms)}
        if len(number) != len(atoms) or len(atoms) != self.count:
            return NO_BONDS  # ambiguous serial numbers
        named: Counter[tuple[int, int]] = Counter()
        self.file.file.seek(0)
        for line in self.file.file:
            if line.startswith(b"CONECT"):
                first, *others = (line[at : at + 5].strip() for at in range(6, 31, 5))
                for other in others:
                    if first in number and other in number and first != other:
                        named[number[first], number[other]] += 1
        pairs = sorted({(min(pair), max(pair)) for pair in named})
        rows = np.array(pairs, np.int64).reshape(-1, 2)
        if 2 * len(np.unique(rows)) < len(atoms):
            return NO_BONDS
        # An atom listed twice in the records of another has a double bond to it.
        orders = np.array([max(named[i, j], named[j, i]) for i, j in pairs], np.float64)
        return rows, {"order": orders.clip(1.0, 3.0)} if (orders > 1).any() else {}

    def _stretches(self) -> Iterator[Stretch]:
        """Yield the helices and strands of the records HELIX and SHEET, before the atoms."""
        self.file.file.seek(0)
        while line := self.file.file.readline(MAX_RECORD):
            record = line[:6].decode("latin-1")
            if record in ("MODEL ", *ATOMS.records):
                return
            if record not in STRETCHES:
                continue
            kind, chain, first = STRETCHES[record]
            try:
                ends = int(line[first : first + 4]), int(line[LAST_RESIDUE : LAST_RESIDUE + 4])
            except ValueError:
                continue
            yield kind, line[chain : chain + 1].strip(), *ends

    def read(self) -> Frame:
        return Frame(self._atoms(), self._cell(), bonds=self._connected)

    def _atoms(self) -> dict[str, NDArray[Any]]:
        rows = read_rows(self.file, ATOMS, list(ATOMS.cells), None)
        if not rows.length:
            raise self.error("there are no atoms (records ATOM and HETATM)")
        columns = {
            name: values
            for name, values in rows.columns.items()
            if ATOMS.cells[name].kind != Kind.OPTIONAL or not np.isnan(values).any()
        }
        if "residue_id" in columns:
            columns["residue_id"] = counted_values(columns["residue_id"])
        add_structure(columns, self._stretches())
        symbols = columns.pop("element")
        if self.variant == "names":  # AutoDock puts atom types in the element columns
            symbols = np.zeros_like(symbols)
        blank = symbols == b""
        if blank.any():
            guesses = elements_of(columns["name"][blank], columns["residue"][blank])
            symbols = symbols.astype("S4")
            symbols[blank] = guesses
        columns["element"] = symbols
        alternate = np.flatnonzero(columns.pop("alternate") != b"")
        if not len(alternate):
            return columns
        known = read_rows(self.file, _IDENTITY, list(_IDENTITY.cells), None).columns
        atoms = np.char.add(known["name"], known["residue"])[alternate]
        kept = np.ones(rows.length, bool)
        kept[alternate] = False  # keep the first location of each atom
        kept[alternate[np.unique(atoms, return_index=True)[1]]] = True
        return {name: each[kept] for name, each in columns.items()}
