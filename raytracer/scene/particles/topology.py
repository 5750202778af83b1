"""Atoms of a trajectory with only coordinates, from another file."""

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.scene.particles import naming
from raytracer.scene.particles.labels import Labels
from raytracer.scene.particles.source import Column, Particles, ParticleSource, of

COORDINATES = ("position", "positions", "coordinates", "velocity", "velocities", "force", "forces",
               *"xyz", "vx", "vy", "vz", "fx", "fy", "fz", "ix", "iy", "iz")  # fmt: skip
"""Columns of the atoms that belong to another time than the frame; they are left out."""


class SourceWithAtoms(ParticleSource):
    """A frame of a trajectory with labels, bonds and further columns of a topology.

    Data of the trajectory take precedence, except for labels.

    Args:
        moving: the trajectory, at its frame.
        atoms: the topology, with atoms in the same order.
    """

    count = of("moving", "count")
    frames = of("moving", "frames")
    box = of("moving", "box")
    gravity = of("moving", "gravity")
    time = of("moving", "time")
    bonds = of("_bonded", "bonds")
    bond_columns = of("_bonded", "bond_columns")

    def __init__(self, moving: ParticleSource, atoms: ParticleSource) -> None:
        super().__init__(moving.file, moving.variant)
        self.moving, self.atoms = moving, atoms
        self.notes, self.format, self.is_chosen = moving.notes, moving.format, moving.is_chosen

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return {**self.moving.columns, **self._of_atoms}

    @cached_property
    def _of_atoms(self) -> dict[str, Column]:
        hidden = {*COORDINATES, *map(naming.plain, self.moving.columns)}
        return {name: column for name, column in self.atoms.columns.items()
                if naming.plain(name) not in hidden}  # fmt: skip

    @property
    def _bonded(self) -> ParticleSource:
        return self.atoms if self.moving.bonds is None else self.moving

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {}
        for source, is_of_atoms in ((self.moving, False), (self.atoms, True)):
            if here := [name for name in names if (name in self._of_atoms) == is_of_atoms]:
                columns |= source.load(here)
        return {name: columns[name] for name in names}

    def particles(self, names: Mapping[str, str]) -> Particles:
        self.moving.also = [name for name in self.also if name not in self._of_atoms]
        result = self.moving.particles(names)
        count = len(result.centers) if result.centers.ndim else 1
        labels = self.atoms.labels_of_atoms()
        if labels is None:
            raise DataFileError(f"{self.atoms.name}: has no elements or types of atoms")
        if len(labels.ids) != count:
            raise DataFileError(
                f"{self.atoms.name}: has {len(labels.ids):,} atoms, but {self.name} has "
                f"{count:,}: give the topology of the same atoms"
            )
        result.labels = labels
        return result

    def labels_of_atoms(self) -> Labels | None:
        return self.atoms.labels_of_atoms()
