"""Trajectories of MDTraj in HDF5: coordinates in nanometres, cells, and the atoms in JSON."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.hdf5_members import found_at, text_of
from raytracer.scene.particles.loaded import library, texts
from raytracer.scene.particles.source import Box, Column, Moment, moment_of

NANOMETRE = 10.0  # angstrom
CONVENTIONS = "Pande"  # the attribute `conventions` of these files


def is_trajectory(root: Any) -> bool:
    """Whether an open HDF5 file follows the conventions of MDTraj."""
    stated = text_of(root.attrs.get("conventions", ""))
    return CONVENTIONS in stated and found_at(root, "coordinates") is not None


class Source(ColumnSource):
    noun = "dataset"

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._root = library("h5py", self.name, "hdf5").File(file.name, "r", locking=False)
        self._coordinates = found_at(self._root, "coordinates")
        if len(getattr(self._coordinates, "shape", ())) != 3:
            raise DataFileError(f"{self.name}: its coordinates are not of the shape (T, N, 3)")

    @property
    def count(self) -> int | None:
        return int(self._coordinates.shape[1])

    @property
    def frames(self) -> int | None:
        return int(self._coordinates.shape[0])

    @property
    def length(self) -> float:
        return NANOMETRE

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        columns = {"coordinates": Column("number", (3,), "Å")}
        return columns | {name: Column("text") for name in self._atoms}

    @cached_property
    def _atoms(self) -> dict[str, NDArray[Any]]:
        """Elements, names and residues of the atoms; none if the topology is of other atoms."""
        topology = found_at(self._root, "topology")
        document = json.loads(text_of(topology[0])) if topology is not None else {}
        rows = [
            (atom["index"], atom.get("element", ""), atom.get("name", ""), residue.get("name", ""))
            for chain in document.get("chains", ())
            for residue in chain["residues"]
            for atom in residue["atoms"]
        ]
        if len(rows) != self.count:
            return {}
        _, *columns = zip(*sorted(rows), strict=True)
        names = ("element", "name", "residue")
        return {name: texts(each) for name, each in zip(names, columns, strict=True)}

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        require_room(self.name, 12 * int(self.count or 0))
        loaded = dict(self._atoms)
        if "coordinates" in names:
            loaded["coordinates"] = np.asarray(self._coordinates[self.frame]) * np.float32(
                NANOMETRE
            )
        return {name: loaded[name] for name in names}

    def _of_frame(self, name: str) -> Any:
        values = found_at(self._root, name)
        return None if values is None or self.frame >= len(values) else values[self.frame]

    @property
    def box(self) -> Box | None:
        lengths, angles = self._of_frame("cell_lengths"), self._of_frame("cell_angles")
        if lengths is None or angles is None:
            return None
        a, b, c = (NANOMETRE * float(each) for each in lengths)
        alpha, beta, gamma = map(float, angles)
        return cell_of((a, b, c), (alpha, beta, gamma))

    @property
    def time(self) -> Moment | None:
        return moment_of(self._of_frame("time"), "ps")
