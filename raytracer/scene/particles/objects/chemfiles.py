"""Frames of chemfiles, and files that it reads (.dcd, .trr, .xtc, .gro, .mol2, .psf, ...)."""

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.files.access import OpenFile
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.loaded import library, texts
from raytracer.scene.particles.objects.source import LibraryFile, ObjectSource
from raytracer.scene.particles.source import Box, Moment, moment_of

ALIASES = {".mol": ".sdf", ".txyz": ".arc"}  # endings unknown to chemfiles
NAMES_ALONE = ("GRO", "PSF", "TNG")  # formats whose types are atom names, or those of a force field
ORDERS = {"single": 1.0, "down": 1.0, "up": 1.0, "dative": 1.0, "double": 2.0, "triple": 3.0,
          "quadruple": 3.0, "quintuplet": 3.0, "aromatic": 1.5}  # fmt: skip
"""Orders of bonds; 0, unknown, for others."""

ROUNDING = 1e-12  # coordinates of an edge below this fraction are rounding errors of a right angle
AKMA = 0.0488882129  # picoseconds per time unit of CHARMM, which chemfiles ignores in .dcd files


class Source(ObjectSource):
    """A `chemfiles.Frame`; with `names_alone` elements follow from atom names."""

    noun = "property"
    names_alone = False
    lists_atoms = True

    @property
    def count(self) -> int | None:
        return len(self.value.atoms)

    @property
    def box(self) -> Box | None:
        edges = np.array(self.value.cell.matrix).T
        edges[np.abs(edges) < ROUNDING * np.abs(edges).max()] = 0.0
        return cell_box(edges)

    @property
    def time(self) -> Moment | None:
        """The time in picoseconds; text files of GROMACS state it in the title."""
        properties = {name: self.value[name] for name in self.value.list_properties()}
        title = re.search(r"\bt=\s*([-+.\deE]+)", str(properties.get("name", "")))
        return moment_of(properties.get("time", title and title[1]), "ps")

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        pairs = np.array(self.value.topology.bonds, np.int64).reshape(-1, 2)
        return pairs if len(pairs) else None

    @property
    def bond_columns(self) -> dict[str, NDArray[Any]]:
        kinds = self.value.topology.bonds_orders
        orders = np.array([ORDERS.get(each.name.lower(), 0.0) for each in kinds], np.float64)
        return {"order": orders} if (orders > 0.0).any() else {}

    def entries(self) -> Mapping[str, Any]:
        frame = self.value
        columns = {"position": np.array(frame.positions)}
        if frame.has_velocities():
            columns["velocity"] = np.array(frame.velocities)
        return columns | (self._atoms if self.lists_atoms else {})

    @cached_property
    def _atoms(self) -> dict[str, NDArray[Any]]:
        """Nonblank and nonzero data of the atoms."""
        atoms: Any = list(self.value.atoms)
        columns = self._residues(len(atoms)) | {
            "name": texts([atom.name for atom in atoms]),
            "element": texts([atom.type for atom in atoms]),
            "charge": np.array([atom.charge for atom in atoms], np.float64),
            "mass": np.array([atom.mass for atom in atoms], np.float64),
        }
        if self.names_alone:
            columns["element"] = elements_of(columns["name"], columns["residue"])
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

    @cached_property
    def _format(self) -> Any:
        return next(each for each in _formats() if _ending(self.variant) == each.extension)

    @property
    def names_alone(self) -> bool:  # type: ignore[override]
        return self._format.name in NAMES_ALONE

    @property
    def lists_atoms(self) -> bool:  # type: ignore[override]
        """Whether the format has more than coordinates; a million empty atoms take 10 s."""
        return bool(self._format.atoms)

    def opened(self, frame: int) -> tuple[Any, int]:
        chemfiles = library("chemfiles", self.name, "md")
        chemfiles.set_warnings_callback(lambda _: None)
        with chemfiles.Trajectory(self.file.name, "r", self._format.name) as trajectory:
            frames = trajectory.nsteps
            self.require_frame(frames)
            read = trajectory.read_step(frame)
        if "has_positions" in read.list_properties() and not read["has_positions"]:
            raise self.error(f"frame {frame} has no positions; choose another one")
        return read, frames

    @property
    def time(self) -> Moment | None:
        time = super().time
        if time is None or self._format.name != "DCD":
            return time
        return moment_of(time.value * AKMA, "ps")

    @property
    def has_coordinates(self) -> bool:
        return bool(self._format.positions)


def knows(file: OpenFile) -> bool:
    """Whether chemfiles reads files with this ending."""
    ending = _ending(file.path.suffix.lower())
    return bool(ending) and any(each.extension == ending for each in _formats())


def _formats() -> list[Any]:
    import chemfiles

    return [each for each in chemfiles.formats_list() if each.read]


def _ending(suffix: str) -> str:
    return ALIASES.get(suffix, suffix)
