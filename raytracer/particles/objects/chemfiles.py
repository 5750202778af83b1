"""Frames of chemfiles, and files that it reads (.dcd, .trr, .xtc, .gro, .mol2, .psf, ...)."""

import os
import re
import struct
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import cached_property
from itertools import accumulate
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import pluralize
from raytracer.files.access import OpenFile
from raytracer.model.particle_source import parse_time
from raytracer.particles.array_source import (
    Bonds,
    FrameContent,
    LibraryFile,
    ObjectSource,
    encode_texts,
    import_library,
)
from raytracer.particles.cell import box_from_cell
from raytracer.particles.molecules import FIRST_SHOWN, find_first_locations, guess_elements
from raytracer.particles.objects.tng import Blocks

ALIASES = {".mol": ".sdf", ".txyz": ".arc"}  # endings unknown to chemfiles
NAMES_ALONE = ("GRO", "PSF", "TNG")  # formats whose types are atom names, or those of a force field
ORDERS = {"single": 1.0, "down": 1.0, "up": 1.0, "dative": 1.0, "double": 2.0, "triple": 3.0,
          "quadruple": 3.0, "quintuplet": 3.0, "aromatic": 1.5}  # fmt: skip
"""Orders of bonds; 0, unknown, for others."""

V3000 = rb"(?m)^[ \d]{3}[^\n]*V3000[ \t\r]*$"
"""Line of counts of a structure of which chemfiles reads no atom."""

COPIES_LEFT_OUT = (
    "copies of its chains that make up biological assemblies are left out: to show an assembly, "
    "give its own file of the PDB, as 4hhb-assembly1.cif"
)

NO_POSITIONS = "holds no frame with positions"
TRR_HEAD = struct.Struct(">24x13i")  # after two lengths and a name: sizes, atoms, step and more

ROUNDING = 1e-12  # coordinates of an edge below this fraction are rounding errors of a right angle
AKMA = 0.0488882129  # picoseconds per time unit of CHARMM, which chemfiles ignores in .dcd files


class Source(ObjectSource):
    """A `chemfiles.Frame`."""

    noun = "property"
    names_alone = False  # whether elements follow from atom names
    lists_atoms = True  # whether it has more than coordinates; a million empty atoms take 10 s
    clock = 1.0  # picoseconds of its unit of time

    def read(self) -> FrameContent:
        frame = self.value
        columns = {"position": np.array(frame.positions)}
        if frame.has_velocities():
            columns["velocity"] = np.array(frame.velocities)
        if self.lists_atoms:
            columns |= self._atoms()
        edges = np.array(frame.cell.matrix).T
        edges[np.abs(edges) < ROUNDING * np.abs(edges).max()] = 0.0
        about = {name: frame[name] for name in frame.list_properties()}
        title = re.search(r"\bt=\s*([-+.\deE]+)", str(about.get("name", "")))  # of GROMACS
        time = parse_time(about.get("time", title and title[1]), "ps")
        time = time and parse_time(time.value * self.clock, "ps")
        return FrameContent(columns, box_from_cell(edges), time, self._read_bonds, len(frame.atoms))

    def _read_bonds(self) -> Bonds:
        topology = self.value.topology
        pairs = np.array(topology.bonds, np.int64).reshape(-1, 2)
        kinds = [each.name.lower() for each in topology.bonds_orders]
        orders = np.array([ORDERS.get(each, 0.0) for each in kinds], np.float64)
        return pairs if len(pairs) else None, {"order": orders} if (orders > 0.0).any() else {}

    def _atoms(self) -> dict[str, NDArray[Any]]:
        """Return the nonblank and nonzero data of the atoms."""
        atoms: Any = list(self.value.atoms)
        columns = self._residues(len(atoms)) | {
            "name": encode_texts([atom.name for atom in atoms]),
            "element": encode_texts([atom.type for atom in atoms]),
            "charge": np.array([atom.charge for atom in atoms], np.float64),
            "mass": np.array([atom.mass for atom in atoms], np.float64),
        }
        if self.names_alone:
            columns["element"] = guess_elements(columns["name"], columns["residue"])
            if not columns["charge"].any():
                del columns["mass"]  # of guessed elements
        return {name: each for name, each in columns.items()
                if (each != b"" if each.dtype.kind == "S" else each != 0).any()}  # fmt: skip

    def _residues(self, count: int) -> dict[str, NDArray[Any]]:
        """Return names and numbers of the residues; numbers only if all have one."""
        from chemfiles import ChemfilesError  # no Exception

        names, numbers = np.zeros(count, "S8"), np.zeros(count, np.int64)
        columns: dict[str, NDArray[Any]] = {"residue": names, "residue_id": numbers}
        for residue in self.value.topology.residues:
            rows = np.array(residue.atoms, np.int64)
            names[rows] = residue.name.encode("utf-8", "replace")
            try:
                numbers[rows] = residue.id
            except ChemfilesError:  # it has none, as in TNG
                columns.pop("residue_id", None)
        return columns


class FileSource(LibraryFile, Source):
    memory = 8
    _with_positions: Sequence[int] | None = None  # frames of TRR
    is_structure = False  # whether it is of MMTF, to which chemfiles adds copies of chains

    def open_frame(self, frame: int) -> tuple[Any, int]:
        chemfiles = import_library("chemfiles", self.name, "md")
        chemfiles.set_warnings_callback(lambda _: None)
        form = next(each for each in _formats() if _ending(self.variant) == each.extension)
        self.names_alone, self.lists_atoms = form.name in NAMES_ALONE, bool(form.atoms)
        self.has_coordinates, self.clock = bool(form.positions), AKMA if form.name == "DCD" else 1.0
        self.is_structure = form.name == "MMTF"
        if form.name == "SDF" and re.search(V3000, self.stream().read()):
            raise self.error(
                "structures of version V3000 need RDKit: pip install 'raytracer[rdkit]'"
            )
        if form.name == "TNG":
            return self._read_frame_set(chemfiles, frame)
        with chemfiles.Trajectory(self.file.name, "r", form.name) as trajectory:
            every = range(max(trajectory.nsteps, 1))  # without one, chemfiles says why
            numbers = self._select_known(every) if form.name == "TRR" else every
            self.require_memory(len(numbers))
            return trajectory.read_step(numbers[frame]), len(numbers)

    def _select_known(self, numbers: range) -> Sequence[int]:
        """Return the frames of a TRR trajectory with positions."""
        if self._with_positions is None:
            complete = [*read_trr_frames(self.file)][: len(numbers)]
            found = [number for number, has_positions in enumerate(complete) if has_positions]
            if complete and not found:
                raise self.error(NO_POSITIONS)
            if len(found) < len(complete):
                self._tell_positions(len(found))
            if 0 < len(complete) < len(numbers):
                self.note("its last frame is incomplete and left out")
            self._with_positions = found or [*numbers]
        return self._with_positions

    def _tell_positions(self, count: int) -> None:
        self.note(
            "frames of boxes, velocities or forces without positions are left out: "
            f"{pluralize(count, 'frame')} with positions counted from 0"
        )

    def read(self) -> FrameContent:
        frame = super().read()
        return self._drop_copies(frame) if self.is_structure else frame

    def _drop_copies(self, frame: FrameContent) -> FrameContent:
        """Return the atoms of a structure as in its PDB and mmCIF files: without the copies of
        biological assemblies, and with one location each."""
        atoms: Any = list(self.value.atoms)
        is_copy, place = np.zeros(len(atoms), bool), np.zeros(len(atoms), "S64")
        alternate = encode_texts([each["altloc"] if "altloc" in each.list_properties() else ""
                           for each in atoms])  # fmt: skip
        for number, residue in enumerate(self.value.topology.residues):
            rows = np.array(residue.atoms, np.int64)
            is_copy[rows] = residue["chainindex"] < 0
            # Insertion codes are not told: one without letters has a place of its own.
            code = "" if (alternate[rows] != b"").any() else f" {number}"
            place[rows] = f"{residue['chainid']} {residue.id}{code}".encode("utf-8", "replace")
        blank = np.zeros(len(atoms), "S1")
        words = (frame.columns.get(name, blank) for name in ("residue", "name"))
        kept = find_first_locations(alternate, place, *words)
        if not kept.all():
            self.note(FIRST_SHOWN)
        if is_copy.any():
            self.note(COPIES_LEFT_OUT)
        kept &= ~is_copy
        columns = {name: each[kept] for name, each in frame.columns.items()}
        return frame._replace(columns=columns, bonds=lambda: self._bonds_among(kept),
                              rows=int(kept.sum()))  # fmt: skip

    def _bonds_among(self, kept: NDArray[np.bool_]) -> Bonds:
        pairs, about = self._read_bonds()
        if pairs is None:
            return pairs, about
        inside = kept[pairs].all(axis=1)
        places = np.cumsum(kept) - 1
        return places[pairs[inside]], {name: each[inside] for name, each in about.items()}

    @cached_property
    def _frame_sets(self) -> tuple[Blocks, list[int]]:
        """The blocks of a TNG trajectory, and the frames with positions before and after each frame
        set, (F + 1,)."""
        blocks = Blocks(self.file)
        ends = [0, *accumulate(len(each.with_positions) for each in blocks.sets)]
        if not ends[-1]:
            part = " in the part that is complete" if blocks.is_cut else ""
            raise self.error(NO_POSITIONS + part)
        if blocks.is_cut:
            self.note("its last frame set is incomplete and left out")
        if any(each.lacks_positions for each in blocks.sets):
            self._tell_positions(ends[-1])
        return blocks, ends

    def _read_frame_set(self, chemfiles: Any, frame: int) -> tuple[Any, int]:
        """Return a frame of a TNG trajectory, and the number of those with positions."""
        blocks, ends = self._frame_sets
        self.require_memory(ends[-1])
        place = bisect_right(ends, frame) - 1
        with NamedTemporaryFile(suffix=".tng") as part:
            blocks.write(blocks.sets[place], part)
            part.flush()
            with chemfiles.Trajectory(part.name, "r", "TNG") as trajectory:
                return trajectory.read_step(frame - ends[place]), ends[-1]


def read_trr_frames(file: OpenFile) -> Iterator[bool]:
    """Yield whether a frame holds positions, for each complete frame of a TRR trajectory."""
    at = 0
    while len(head := os.pread(file.file.fileno(), TRR_HEAD.size, at)) == TRR_HEAD.size:
        *sizes, atoms, _, _ = TRR_HEAD.unpack(head)
        box, positions, velocities, forces = (sizes[place] for place in (2, 7, 8, 9))
        number_of = 9 if box else 3 * max(atoms, 1)
        is_double = (box or positions or velocities or forces) >= 8 * number_of
        size = TRR_HEAD.size + (16 if is_double else 8) + sum(sizes)
        if min(sizes) < 0 or at + size > file.size:
            return
        yield positions > 0
        at += size


def knows(file: OpenFile, ending: str) -> bool:
    """Whether chemfiles reads files with this ending."""
    ending = _ending(ending)
    return bool(ending) and any(each.extension == ending for each in _formats())


def _formats() -> list[Any]:
    import chemfiles

    return [each for each in chemfiles.formats_list() if each.read]


def _ending(suffix: str) -> str:
    return ALIASES.get(suffix, suffix)
