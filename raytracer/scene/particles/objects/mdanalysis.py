"""Universes and atom groups of MDAnalysis, current frame in angstrom; files it reads."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.objects.source import (
    Entry,
    LibraryFile,
    ObjectSource,
    encoded,
    texts_of,
)
from raytracer.scene.particles.source import Box, Column, Moment, moment_of

NUMBERS = {
    "velocities": "velocity", "forces": "force", "masses": "mass", "charges": "charge",
    "radii": "radius", "tempfactors": "b_factor", "occupancies": "occupancy", "ids": "id",
    "resids": "residue_id",
}  # fmt: skip
"""Numeric attributes, and their column names."""

TEXTS = {"names": "name", "resnames": "residue", "chainIDs": "chain", "segids": "segment"}
ALIASES = {".cor": "CRD"}  # formats of endings unknown to MDAnalysis
AMBER_TEXT = ("TRJ", "MDCRD", "CRDBOX")  # formats that need a topology for the number of atoms
TIMED = ("HISTORY", "TRC")  # formats with times, which MDAnalysis does not keep with the frame
TRZ_ATOMS = 112  # offset of the number of atoms in a .trz trajectory


class Source(ObjectSource):
    noun = "attribute"

    @cached_property
    def _atoms(self) -> Any:
        return self.value.atoms

    @property
    def count(self) -> int | None:
        return len(self._atoms)

    @property
    def frames(self) -> int | None:
        return int(self._atoms.universe.trajectory.n_frames)

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self._atoms.universe.trajectory[frame]  # makes it the current frame

    @property
    def box(self) -> Box | None:
        sizes = self._atoms.universe.dimensions
        return None if sizes is None else cell_of(sizes)

    @property
    def time(self) -> Moment | None:
        return moment_of(self._atoms.universe.trajectory.time, "ps")

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        bonds = self._has("bonds")
        if bonds is None or not len(bonds):
            return None
        places = np.full(len(self._atoms.universe.atoms), -1, np.int64)
        places[self._atoms.indices] = np.arange(len(self._atoms))
        pairs: NDArray[np.int64] = places[bonds.indices]
        inside = pairs[(pairs >= 0).all(axis=1)]
        return inside if len(inside) else None

    def entries(self) -> Mapping[str, Any]:
        atoms = self._atoms
        entries: dict[str, Any] = {
            "position": Entry(Column("number", (3,)), lambda: atoms.positions)
        }
        label = self._label_column()
        entries |= {} if label is None else {"element": label}
        numbers = {column: self._has(name) for name, column in NUMBERS.items()}
        arrays = {column: values for column, values in numbers.items() if values is not None}
        if "radius" in arrays and not (arrays["radius"] > 0.0).all():
            del arrays["radius"]  # the file has none
        words = {column: self._has(name) for name, column in TEXTS.items()}
        words = {name: texts_of(values) for name, values in words.items() if values is not None}
        return entries | arrays | words

    def _label_column(self) -> Entry | None:
        """Return the elements: from the file, otherwise by the names or types of atoms."""
        elements, names, types = map(self._has, ("elements", "names", "types"))
        if elements is not None and (elements != "").all():
            return texts_of(elements)
        if names is not None and (names != "").all():
            residues = self._has("resnames")
            residues = [""] * len(names) if residues is None else residues
            return Entry(Column("text"), lambda: elements_of(encoded(names), encoded(residues)))
        return None if types is None else texts_of(types)

    def _has(self, name: str) -> Any:
        """Return an attribute of all atoms, or None."""
        try:
            return getattr(self._atoms, name, None)
        except (ValueError, KeyError):  # in some releases NoDataError is no AttributeError
            return None


class FileSource(LibraryFile, Source):
    @cached_property
    def form(self) -> str:
        return ALIASES.get(self.variant, self.variant[1:].upper())

    def go_to(self, frame: int) -> None:
        Source.go_to(self, frame)
        self.forget()

    def opened(self, frame: int) -> tuple[Any, int]:
        package = library("MDAnalysis", self.name, "mdanalysis")
        form, path = self.form, self.file.name
        if form not in package._READERS and form not in package._PARSERS:
            raise self.error("has a format that MDAnalysis cannot read")
        if form in package._PARSERS:
            self.require_frame()
            coordinates = {"format": form} if form in package._READERS else {}
            made = package.Universe(path, topology_format=form, to_guess=(), **coordinates)
        else:
            count = self._atoms_of(package)
            if count > self.file.size:  # each atom takes more than a byte
                raise self.error(f"is incomplete or damaged: it states {count:,} atoms")
            made = package.Universe.empty(count)
            made.load_new(path, format=form, n_atoms=count)
        frames = len(made.trajectory) if form in package._READERS else 1
        self.require_frame(frames)
        return made, frames

    def _atoms_of(self, package: Any) -> int:
        """Return the number of atoms of a trajectory that does not list them."""
        if self.form in AMBER_TEXT:
            if self.file.atoms is None:
                raise DataFileError(
                    f"{self.name}: files ending in '{self.variant}' cannot be read without a "
                    "topology, which states the number of atoms: give --topology ATOMS.prmtop, "
                    'or topology = "ATOMS.prmtop" in a scene file'
                )
            return self.file.atoms()
        if self.form == "TRZ":
            self.file.file.seek(TRZ_ATOMS)
            return int.from_bytes(self.file.file.read(4), "little")
        with package._READERS[self.form](self.file.name) as reader:
            return int(reader.n_atoms)

    @property
    def has_coordinates(self) -> bool:
        return hasattr(self.value, "trajectory")

    @property
    def box(self) -> Box | None:
        return super().box if self.has_coordinates else None

    @property
    def time(self) -> Moment | None:
        if not self.has_coordinates:
            return None
        timed = self.form in TIMED or "time" in self.value.trajectory.ts.data
        return super().time if timed else None

    def entries(self) -> Mapping[str, Any]:
        entries = dict(super().entries())
        if not self.has_coordinates:
            del entries["position"]
        return entries


def knows(file: OpenFile) -> bool:
    """Whether MDAnalysis reads files with this ending; XML has no places for it."""
    import MDAnalysis

    form = file.path.suffix[1:].upper()
    return form != "XML" and form in {*MDAnalysis._READERS, *MDAnalysis._PARSERS}
