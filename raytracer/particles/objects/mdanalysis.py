"""Universes and atom groups of MDAnalysis, current frame in angstrom; files it reads."""

import re
from io import StringIO
from typing import Any

import numpy as np

from raytracer.config.errors import DataFileError, pluralize, quote
from raytracer.files.access import OpenFile
from raytracer.model.particle_source import parse_time
from raytracer.particles.array_source import (
    NO_BONDS,
    Bonds,
    FrameContent,
    LazyColumn,
    LibraryFile,
    ObjectSource,
    encode_objects,
    import_library,
)
from raytracer.particles.cell import cell_from_sizes
from raytracer.particles.molecules import guess_elements

ATTRIBUTES = {
    "velocities": "velocity", "forces": "force", "masses": "mass", "charges": "charge",
    "radii": "radius", "tempfactors": "b_factor", "occupancies": "occupancy", "ids": "id",
    "resids": "residue_id", "names": "name", "resnames": "residue", "chainIDs": "chain",
    "segids": "segment",
}  # fmt: skip
"""Attributes, and their column names."""

ALIASES = {".cor": "CRD"}  # formats of endings unknown to MDAnalysis
AMBER_TEXT = ("TRJ", "MDCRD", "CRDBOX")  # formats that need a topology for the number of atoms
TIMED = ("HISTORY", "TRC")  # formats with times, which MDAnalysis does not keep with the frame
PQR_RECORDS = ("ATOM", "HETATM")
_FIXED = r"\s*([-+]?\d+\.\d+?(?:[eE][-+]?\d+)?)(?=[\s+-]|$)"
PQR_ATOM = (
    r"(ATOM|HETATM)\s*(\S+)\s+(\S+)\s+(\S+)\s+(?:([^\s\d-]\S*?)\s*)?(-?\d+)\s?([A-Za-z])?"
    + _FIXED * 3 + r"\s+(\S+)\s+(\S+)"
)  # fmt: skip
"""Line of an atom: fields that may touch."""

TNG_POSITIONS = "TNG_TRAJ_POSITIONS"  # name of the block
TRZ_ATOMS = 112  # offset of the number of atoms in a .trz trajectory


class Source(ObjectSource):
    noun = "attribute"
    has_coordinates = True
    has_time = True

    @property
    def frames(self) -> int | None:
        return int(self.value.atoms.universe.trajectory.n_frames)

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.value.atoms.universe.trajectory[frame]  # makes it the current frame

    def read(self) -> FrameContent:
        atoms, columns, sizes, time = self.value.atoms, dict[str, Any](), None, None
        if self.has_coordinates:
            sizes = atoms.universe.dimensions
            time = parse_time(atoms.universe.trajectory.time, "ps") if self.has_time else None
            columns["position"] = LazyColumn(
                np.dtype(float), (len(atoms), 3), lambda: atoms.positions
            )
        if (label := self._label_column()) is not None:
            columns["element"] = label
        for name, column in ATTRIBUTES.items():
            if (values := self._has(name)) is not None:
                columns[column] = values
        if "radius" in columns and (lost := int((columns["radius"] <= 0.0).sum())):
            if lost < len(atoms):  # else the file has none
                what = f"{pluralize(lost, 'atom')} of {len(atoms):,} without a radius"
                self.note(f"has {what}: all have the radii of their elements", "radius")
            del columns["radius"]
        box = None if sizes is None else cell_from_sizes(sizes)
        return FrameContent(columns, box, time, self._read_bonds, len(atoms))

    def _read_bonds(self) -> Bonds:
        atoms, bonds = self.value.atoms, self._has("bonds")
        if bonds is None or not len(bonds):
            return NO_BONDS
        places = np.full(len(atoms.universe.atoms), -1, np.int64)
        places[atoms.indices] = np.arange(len(atoms))
        pairs = places[bonds.indices]
        inside = pairs[(pairs >= 0).all(axis=1)]
        return inside if len(inside) else None, {}

    def _label_column(self) -> Any:
        """Return the elements: from the file, otherwise by the names or types of atoms."""
        elements, names, types = map(self._has, ("elements", "names", "types"))
        if elements is not None and (elements != "").all():
            return elements
        if names is not None and (names != "").all():
            residues = self._has("resnames")
            residues = [""] * len(names) if residues is None else residues
            return LazyColumn(
                np.dtype("S"),
                (len(names),),
                lambda: guess_elements(encode_objects(names), encode_objects(residues)),
            )
        return types

    def _has(self, name: str) -> Any:
        """Return an attribute of all atoms, or None."""
        try:
            return getattr(self.value.atoms, name, None)
        except (ValueError, KeyError):  # in some releases NoDataError is no AttributeError
            return None


class FileSource(LibraryFile, Source):
    def go_to(self, frame: int) -> None:
        Source.go_to(self, frame)

    def open_frame(self, frame: int) -> tuple[Any, int]:
        package = import_library("MDAnalysis", self.name, "mdanalysis")
        form, path = ALIASES.get(self.variant, self.variant[1:].upper()), self.file.name
        has_reader = form in package._READERS
        if form in package._PARSERS:
            self.require_memory()
            coordinates = {"format": form} if has_reader else {}
            made = self._universe(package, path, topology_format=form, **coordinates)
        elif has_reader:
            count = self._count_atoms(package, form)
            if count > self.file.size:  # each atom takes more than a byte
                raise self.error(f"is incomplete or damaged: it states {count:,} atoms")
            made = package.Universe.empty(count)
            made.load_new(path, format=form, n_atoms=count)
        else:
            raise self.error("has a format that MDAnalysis cannot read")
        frames = len(made.trajectory) if has_reader else 1
        has_positions = not has_reader or made.trajectory.ts.has_positions
        if form == "TNG" and TNG_POSITIONS not in made.trajectory.blocks:  # which would be 0
            has_positions = False
        if not has_positions:
            raise self.error("its first frame holds no positions")
        self.require_memory(frames)
        self.has_coordinates = hasattr(made, "trajectory")
        self.has_time = has_reader and (form in TIMED or "time" in made.trajectory.ts.data)
        return made, frames

    def _universe(self, package: Any, path: Any, **formats: str) -> Any:
        try:
            return package.Universe(path, to_guess=(), **formats)
        except Exception:  # whatever it raises
            if formats["topology_format"] != "PQR":
                raise
        from MDAnalysis.lib.util import NamedStream

        lines = self.stream().read().decode("utf-8", "replace").splitlines()
        atoms = [self._pqr_atom(number, line) for number, line in enumerate(lines, 1)
                 if line.startswith(PQR_RECORDS)]  # fmt: skip
        stream = NamedStream(StringIO("\n".join(atoms)), "atoms.pqr")
        return package.Universe(stream, to_guess=(), **formats)

    def _pqr_atom(self, number: int, line: str) -> str:
        """Return the line of an atom with a space between all fields, and with a chain. In files
        with fixed columns long numbers touch. Raises DataFileError: fields are missing."""
        fields = re.match(PQR_ATOM, line)
        if fields is None:
            raise self.error(
                f"line {number} is no atom of PQR: '{quote(line.strip())}'; it has record, serial "
                "number, name, residue, perhaps a chain, number of the residue, x, y, z, charge "
                "and radius"
            )
        record, serial, name, residue, chain, place, code, *numbers = fields.groups()
        serial = serial if serial.isdecimal() else "0"  # in other notations beyond 99,999
        chain, code = chain or "SYSTEM", code or ""
        return " ".join((record, serial, name, residue, chain, place + code, *numbers))

    def _count_atoms(self, package: Any, form: str) -> int:
        """Return the number of atoms of a trajectory that does not list them."""
        if form in AMBER_TEXT:
            if self.file.atoms is None:
                raise DataFileError(
                    f"{self.name}: files ending in '{self.variant}' cannot be read without a "
                    "topology, which states the number of atoms: give --topology ATOMS.prmtop, "
                    'or topology = "ATOMS.prmtop" in a scene file'
                )
            return self.file.atoms()
        if form == "TRZ":
            self.file.file.seek(TRZ_ATOMS)
            return int.from_bytes(self.file.file.read(4), "little")
        with package._READERS[form](self.file.name) as reader:
            return int(reader.n_atoms)


def knows(file: OpenFile, ending: str) -> bool:
    """Whether MDAnalysis reads files with this ending; XML has no places for it."""
    import MDAnalysis

    form = ending[1:].upper()
    return form != "XML" and form in {*MDAnalysis._READERS, *MDAnalysis._PARSERS}
