"""Sources of particles from several: sets of one file, with the column `type` of their names; files
of a snapshot, whose names have a number after a point (snap.0.hdf5, snap_003.1); a trajectory with
only coordinates, and its atoms."""

import re
from abc import abstractmethod
from collections.abc import Callable, Collection, Container, Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile, is_file, opened
from raytracer.files.references import part_of
from raytracer.memory import require_room
from raytracer.scene.particles import naming
from raytracer.scene.particles.array_source import ArraySource, texts
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.labels import Labels
from raytracer.scene.particles.source import Column, Particles, ParticleSource, Value, of

MAX_PARTS = 10_000  # most files of a snapshot
TYPE = "type"  # the column with the name of the set of each particle

COORDINATES = ("position", "positions", "coordinates", "velocity", "velocities", "force", "forces",
               *"xyz", "vx", "vy", "vz", "fx", "fy", "fz", "ix", "iy", "iz")  # fmt: skip
"""Columns of the atoms that belong to another time than the frame; they are left out."""


class Together(ColumnSource):
    """The particles of several sets in sequence, with the columns that all of them have; the
    coordinates may have other names.

    Args:
        file: the file.
        sets: returns the sources of a frame by the names of the sets, of which none is empty.
        steps: number of frames with sets of their own; 1 if the sets have frames.
    """

    box = of("_first", "box")
    time = of("_first", "time")
    length = of("_first", "length")
    of_frame = ("sets", "columns")

    def __init__(
        self, file: OpenFile, sets: Callable[[int], Mapping[str, ArraySource]], steps: int
    ) -> None:
        super().__init__(file)
        self._sets, self._steps = sets, steps

    @cached_property
    def sets(self) -> Mapping[str, ArraySource]:
        return self._sets(self.frame)

    @property
    def _first(self) -> ArraySource:
        """The first set that has frames, or the first one."""
        sets = list(self.sets.values())
        return next((each for each in sets if (each.frames or 1) > 1), sets[0])

    def _name_in(self, each: ArraySource, name: str) -> str:
        return each.centers or name if name == self._first.centers else name

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        common = dict(self._first.columns)
        for each in self.sets.values():  # units may differ
            own = {name: each.columns.get(self._name_in(each, name)) for name in common}
            common = {name: column for name, column in common.items()
                      if (there := own[name]) and there[:2] == column[:2]}  # fmt: skip
        return {**common, TYPE: Column("text")}

    @property
    def _counts(self) -> list[int]:
        return [int(each.count or 0) for each in self.sets.values()]

    @property
    def count(self) -> int | None:
        return sum(self._counts)

    @property
    def frames(self) -> int | None:
        return max(self._steps, *(each.frames or 1 for each in self.sets.values()))

    @property
    def further_files(self) -> Sequence[Path]:
        files = (path for each in self.sets.values() for path in each.further_files)
        return list(dict.fromkeys(files))

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        sets = self.sets.values()
        columns = {TYPE: np.repeat(texts(list(self.sets)), self._counts)} if TYPE in names else {}
        stored = [name for name in names if name != TYPE]
        parts = [each.load([self._name_in(each, name) for name in stored]) for each in sets]
        for place, name in enumerate(stored):
            columns[name] = np.concatenate([[*part.values()][place] for part in parts])
        return columns

    def _label(self, taken: Collection[str]) -> str | None:
        return TYPE

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        result.notes += dict.fromkeys(note for each in self.sets.values() for note in each.notes)
        further = {name for each in self.sets.values() for name in each.columns} - {*self.columns}
        for part in ("radius", "diameter", "color"):
            if name := naming.usual(part, further):
                self.note(f"'{shown(name)}' is not used, since not all sets have it", part)
        if len(self.sets) > 1:
            counts = zip(self.sets, self._counts, strict=True)
            held = ", ".join(f"{shown(name)} ({count:,})" for name, count in counts)
            alone = f"{shown(self.file.path.name)}:{shown(next(iter(self.sets)))}"
            result.notes.append(("", (
                f"{self.name}: its sets of particles are drawn together: {held}; for one alone, "
                f"append it after a colon, as in '{alone}'"
            )))  # fmt: skip
        return result

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield also the columns that only this set has."""
        for (name, each), length in zip(self.sets.items(), self._counts, strict=True):
            if index < length:
                yield from [] if TYPE in used else [(TYPE, name)]
                yield from each.row(index, length, used)
                return
            index -= length


def parts_of(path: Path, count: int) -> list[Path]:
    """Return the files of a snapshot in the order of their numbers, which are 0 to `count` - 1.

    The list is empty for a snapshot in one file, or if a file is missing.
    """
    named = re.fullmatch(r"(.+\.)\d+((?:\.[A-Za-z]\w*)?)", path.name)
    if named is None or not 1 < count <= MAX_PARTS:
        return []
    files = [path.with_name(f"{named[1]}{part}{named[2]}") for part in range(count)]
    return files if path in files and all(map(is_file, files)) else []


class Snapshot(ColumnSource):
    """The particles of a snapshot in several files, in sequence; all else is that of this one."""

    stated: int  # number of files that the header states
    rows: int | None  # number of particles in this file
    optional: ClassVar[frozenset[str]] = frozenset()  # columns that some of the files may lack

    @abstractmethod
    def part(self, file: OpenFile) -> "Snapshot | None":
        """Return the source of one of the files; None if it has no such particles."""

    @abstractmethod
    def load_own(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of this file."""

    @cached_property
    def files(self) -> Sequence[Path]:
        """All files in order, [] for a snapshot in one, or if some are missing."""
        files = parts_of(self.file.path, self.stated)
        if self.stated > 1 and not files:
            self.note(
                f"is one of {self.stated} files of a snapshot, and some of the others are missing: "
                "only its particles are shown"
            )
        return files

    @property
    def further_files(self) -> Sequence[Path]:
        return [path for path in self.files if path != self.file.path]

    def _parts(self) -> Iterator["Snapshot"]:
        for path in self.files:
            with opened(part_of(self.file, path.name)) as file:
                if (part := self.part(file)) is not None:
                    yield part

    @cached_property
    def count(self) -> int | None:
        return sum(int(part.rows or 0) for part in self._parts()) if self.files else self.rows

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        if not self.files:
            return self.load_own(names)
        cells = sum(prod(self.columns[name].shape) for name in names)
        require_room(self.name, 16 * int(self.count or 0) * cells)
        parts = []
        for part in self._parts():
            lacking = (name for name in names if name not in self.optional
                       and part.columns.get(name) != self.columns[name])  # fmt: skip
            if name := next(lacking, None):
                raise part.error(f"has no {self.noun} '{shown(name)}', unlike {self.name}")
            parts.append(part.load_own(names))
        return {name: np.concatenate([part[name] for part in parts]) for name in names}


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
