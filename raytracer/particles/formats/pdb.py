"""Structures of the Protein Data Bank in the old format (.pdb, .ent). Models are frames: they start
with MODEL, or follow ENDMDL or END.
"""

import os
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model.particle_source import Box, describe_more_frames
from raytracer.particles.array_source import NO_BONDS, ArraySource, Bonds, FrameContent
from raytracer.particles.cell import cell_from_sizes
from raytracer.particles.lines import find_starting_lines
from raytracer.particles.molecules import (
    FIRST_SHOWN,
    Stretch,
    add_structure,
    fill_blank_elements,
    find_first_locations,
    parse_consecutive_ids,
)
from raytracer.particles.text_table import (
    FIXED,
    Cell,
    CellType,
    Layout,
    Rows,
    read_rows,
    to_whole_if_exact,
)

ATOMS = Layout({
    "name": Cell(CellType.TEXT, 12, 4),
    "alternate": Cell(CellType.TEXT, 16, 1),
    "residue": Cell(CellType.TEXT, 17, 3),
    "chain": Cell(CellType.TEXT, 21, 1),
    "residue_id": Cell(CellType.OPTIONAL, 22, 4),
    "position": Cell(CellType.NUMBER, 30, 8, 3),
    "occupancy": Cell(CellType.OPTIONAL, 54, 6),
    "b_factor": Cell(CellType.OPTIONAL, 60, 6),
    "element": Cell(CellType.TEXT, 76, 2),
}, FIXED, records=("ATOM  ", "HETATM"))  # fmt: skip
"""Columns of an atom; optional ones are omitted if an atom lacks them."""

_PLACE = {"place": Cell(CellType.TEXT, 21, 6)}  # chain, number and insertion code of a residue
_SERIAL = {"serial": Cell(CellType.TEXT, 6, 5)}

_RECORD = re.compile(rb"\n(?:ATOM  |HETATM)")
_READ_BYTES = 1 << 16  # that are searched at a time for the first atom of a frame

STRETCHES = {"HELIX ": (1, 19, 21), "SHEET ": (2, 21, 22)}
"""Secondary structure by record: its index in `NAMES`, columns of chain and first residue."""

LAST_RESIDUE = 33  # column of the last residue in both records
MAX_RECORD = 256  # bytes of a line that are read at a time; a record has 80


class Source(ArraySource):
    """A .pdb file; with the variant "names", elements follow from the names of atoms only."""

    has_pieces = True
    surrounded = True  # cell before the models, bonds after them

    def frame_starts(self) -> Sequence[int]:
        """Text before a model, as its cell, belongs to it; that before the first belongs to all."""
        cuts = sorted({0, *find_starting_lines(self.file, b"MODEL "), *self._find_ends()})
        starts: list[int] = []
        last = 0  # end of the last model with atoms
        for cut, end in pairwise([*cuts, self.file.size]):
            if (atom := self._first_atom(cut, end)) is not None:
                starts.append(last if starts else atom)
                last = end
        return [*starts, last] if len(starts) > 1 else [0, self.file.size]

    def _find_ends(self) -> Iterator[int]:
        """Yield the offsets after the lines ENDMDL and END."""
        for start in find_starting_lines(self.file, b"END"):
            line, *more = os.pread(self.file.file.fileno(), MAX_RECORD, start).split(b"\n", 1)
            if line.split()[0] in (b"END", b"ENDMDL"):
                yield start + len(line) + len(more)

    def _first_atom(self, start: int, end: int) -> int | None:
        """Return the offset of the first atom in a part of the file, or None."""
        rest = b"\n"
        while start < end:
            text = os.pread(self.file.file.fileno(), min(_READ_BYTES, end - start), start)
            block = rest + text
            if found := _RECORD.search(block):
                return start - len(rest) + found.start() + 1
            if not text:
                return None
            start, rest = start + len(text), block[-len(b"\nATOM ") :]
        return None

    @cached_property
    def _first(self) -> tuple[int, int]:
        """The end of the first model, 0 for that of the file, and the number of models."""
        starts = self.frame_starts()
        return int(starts[1]) if len(starts) > 2 else 0, len(starts) - 1

    def _rows(self, cells: Mapping[str, Cell]) -> Rows:
        """Return columns of the atoms of the first model."""
        has_lines = b"\n" in os.pread(self.file.file.fileno(), MAX_RECORD, 0)
        layout = ATOMS._replace(cells=cells, end=self._first[0], stop="" if has_lines else "ENDMDL")
        return read_rows(self.file, layout, list(cells), None)

    def _cell(self) -> Box | None:
        """Return the cell of the record CRYST1; a cube of 1 angstrom means none."""
        starts = list(find_starting_lines(self.file, b"CRYST1"))
        end = self._first[0] or self.file.size
        start = max((start for start in starts if start < end), default=None)  # the model's own
        line = b"" if start is None else os.pread(self.file.file.fileno(), 54, start)
        places = ((6, 15), (15, 24), (24, 33), (33, 40), (40, 47), (47, 54))
        try:
            sizes = [float(line[i:j]) for i, j in places]
        except ValueError:
            return None
        return None if sizes[:3] == [1.0, 1.0, 1.0] else cell_from_sizes(sizes)

    def _read_connections(self) -> Bonds:
        """Return the pairs of the records CONECT, if they include at least half of the atoms.

        Structures of proteins have such records only for ligands and bridges.
        """
        if next(iter(find_starting_lines(self.file, b"CONECT")), None) is None:
            return NO_BONDS
        atoms = self._rows(_SERIAL).columns["serial"].tolist()
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

    def atom_ids(self) -> NDArray[np.int64] | None:
        return parse_consecutive_ids(self._rows(_SERIAL).columns["serial"], self.count)

    def _find_stretches(self) -> Iterator[Stretch]:
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

    def read(self) -> FrameContent:
        if self._first[1] > 1:
            self.notes.append(("", describe_more_frames(self.name, self._first[1])))
        return FrameContent(self._atoms(), self._cell(), bonds=self._read_connections)

    def _atoms(self) -> dict[str, NDArray[Any]]:
        rows = self._rows(ATOMS.cells)
        if not rows.length:
            raise self.error("there are no atoms (records ATOM and HETATM)")
        columns = {
            name: values
            for name, values in rows.columns.items()
            if ATOMS.cells[name].kind != CellType.OPTIONAL or not np.isnan(values).any()
        }
        if "residue_id" in columns:
            columns["residue_id"] = to_whole_if_exact(columns["residue_id"])
        add_structure(columns, self._find_stretches())
        symbols = columns.pop("element")
        if self.variant == "names":  # AutoDock puts atom types in the element columns
            symbols = np.zeros_like(symbols)
        columns["element"] = fill_blank_elements(symbols, columns["name"], columns["residue"])
        alternate = columns.pop("alternate")
        if not (alternate != b"").any():
            return columns
        places = self._rows(_PLACE).columns["place"]
        kept = find_first_locations(alternate, places, columns["residue"], columns["name"])
        if not kept.all():
            self.note(FIRST_SHOWN)
        return {name: each[kept] for name, each in columns.items()}
