"""Trajectories of MDTraj in HDF5: coordinates in nanometres, cells, and the atoms in JSON."""

import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.formats import hdf5_groups
from raytracer.scene.particles.hdf5_members import found_at, text_of
from raytracer.scene.particles.loaded import texts
from raytracer.scene.particles.source import NANOMETRE, Box, Column, Moment, moment_of

CONVENTIONS = "Pande"  # the attribute `conventions` of these files


def is_trajectory(root: Any) -> bool:
    """Whether an open HDF5 file follows the conventions of MDTraj."""
    stated = text_of(root.attrs.get("conventions", ""))
    shape = getattr(found_at(root, "coordinates"), "shape", ())
    return CONVENTIONS in stated and len(shape) == 3


class Source(hdf5_groups.Source):
    _scale = NANOMETRE

    @cached_property
    def _members(self) -> list[hdf5_groups.Member]:
        dataset = found_at(self.root, "coordinates")
        return [hdf5_groups.Member("coordinates", dataset, True, dataset.shape)]

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return {**super().columns, **dict.fromkeys(self._atoms, Column("text"))}

    @cached_property
    def _atoms(self) -> dict[str, NDArray[Any]]:
        """Elements, names and residues of the atoms; none if the topology is of other atoms."""
        topology = found_at(self.root, "topology")
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
        stored = super().load([name for name in names if name not in self._atoms])
        return {name: stored[name] if name in stored else self._atoms[name] for name in names}

    def _of_frame(self, name: str) -> Any:
        values = found_at(self.root, name)
        return None if values is None or self.frame >= len(values) else values[self.frame]

    @property
    def box(self) -> Box | None:
        lengths, angles = self._of_frame("cell_lengths"), self._of_frame("cell_angles")
        if lengths is None or angles is None:
            return None
        return cell_of([*(NANOMETRE * float(each) for each in lengths), *angles])

    @property
    def time(self) -> Moment | None:
        return moment_of(self._of_frame("time"), "ps")
