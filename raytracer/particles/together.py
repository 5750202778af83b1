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

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile, is_file, open_file
from raytracer.files.references import resolve_part
from raytracer.model import particle_names as naming
from raytracer.model.elements import find_symbol
from raytracer.model.particle_labels import ParticleLabels
from raytracer.model.particle_source import (
    Column,
    Particles,
    ParticleSource,
    Value,
    forward_property,
)
from raytracer.particles import molecules
from raytracer.particles.array_source import ArraySource, Bonds, encode_texts
from raytracer.particles.columns import ColumnSource, index_labels
from raytracer.system.memory import require_room

Rows = NDArray[np.intp]

MAX_PARTS = 10_000  # most files of a snapshot
TYPE = "type"  # the column with the name of the set of each particle

COORDINATES = ("position", "positions", "coordinates", "velocity", "velocities", "force", "forces",
               *"xyz", "vx", "vy", "vz", "fx", "fy", "fz", "ix", "iy", "iz")  # fmt: skip
"""Columns of the atoms that belong to another time than the frame; they are left out."""


class CombinedSource(ColumnSource):
    """The particles of several sets in sequence, with the columns that all of them have; the
    coordinates may have other names.

    Args:
        file: the file.
        sets: returns the sources of a frame by the names of the sets, of which none is empty.
        steps: number of frames with sets of their own; 1 if the sets have frames.
    """

    box = forward_property("_first", "box")
    time = forward_property("_first", "time")
    length = forward_property("_first", "length")
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

    def _find_name_in(self, each: ArraySource, name: str) -> str:
        return each.centers or name if name == self._first.centers else name

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        common = dict(self._first.columns)
        for each in self.sets.values():  # units may differ
            own = {name: each.columns.get(self._find_name_in(each, name)) for name in common}
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
        columns = (
            {TYPE: np.repeat(encode_texts(list(self.sets)), self._counts)} if TYPE in names else {}
        )
        stored = [name for name in names if name != TYPE]
        parts = [each.load([self._find_name_in(each, name) for name in stored]) for each in sets]
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
            if name := naming.find_usual_name(part, further):
                self.note(f"'{quote(name)}' is not used, since not all sets have it", part)
        if len(self.sets) > 1:
            counts = zip(self.sets, self._counts, strict=True)
            held = ", ".join(f"{quote(name)} ({count:,})" for name, count in counts)
            alone = f"{quote(self.file.path.name)}:{quote(next(iter(self.sets)))}"
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


def find_snapshot_files(path: Path, count: int) -> list[Path]:
    """Return the files of a snapshot in the order of their numbers, which are 0 to `count` - 1.

    The list is empty for a snapshot in one file, or if a file is missing.
    """
    named = re.fullmatch(r"(.+\.)\d+((?:\.[A-Za-z]\w*)?)", path.name)
    if named is None or not 1 < count <= MAX_PARTS:
        return []
    files = [path.with_name(f"{named[1]}{part}{named[2]}") for part in range(count)]
    return files if path in files and all(map(is_file, files)) else []


class SnapshotSource(ColumnSource):
    """The particles of a snapshot in several files, in sequence; all else is that of this one."""

    stated: int  # number of files that the header states
    rows: int | None  # number of particles in this file
    optional: ClassVar[frozenset[str]] = frozenset()  # columns that some of the files may lack

    @abstractmethod
    def part(self, file: OpenFile) -> "SnapshotSource | None":
        """Return the source of one of the files; None if it has no such particles."""

    @abstractmethod
    def load_own(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of this file."""

    @cached_property
    def files(self) -> Sequence[Path]:
        """All files in order, [] for a snapshot in one, or if some are missing."""
        files = find_snapshot_files(self.file.path, self.stated)
        if self.stated > 1 and not files:
            self.note(
                f"is one of {self.stated} files of a snapshot, and some of the others are missing: "
                "only its particles are shown"
            )
        return files

    @property
    def further_files(self) -> Sequence[Path]:
        return [path for path in self.files if path != self.file.path]

    def _parts(self) -> Iterator["SnapshotSource"]:
        for path in self.files:
            with open_file(resolve_part(self.file, path.name)) as file:
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
                raise part.error(f"has no {self.noun} '{quote(name)}', unlike {self.name}")
            parts.append(part.load_own(names))
        return {name: np.concatenate([part[name] for part in parts]) for name in names}


class TopologySource(ParticleSource):
    """A frame of a trajectory with labels, bonds and further columns of a topology. Atoms are
    matched by their ids where both files state them, otherwise by order; those that one of the
    files lacks are left out.

    Data of the trajectory take precedence, except for labels.

    Args:
        moving: the trajectory, at its frame.
        atoms: the topology.
    """

    frames = forward_property("moving", "frames")
    box = forward_property("moving", "box")
    gravity = forward_property("moving", "gravity")
    time = forward_property("moving", "time")
    units = forward_property("moving", "units")
    bonds = property(lambda self: self._bonds[0])
    bond_columns = property(lambda self: self._bonds[1])

    def __init__(self, moving: ParticleSource, atoms: ParticleSource) -> None:
        super().__init__(moving.file, moving.variant)
        self.moving, self.atoms = moving, atoms
        self.notes, self.format, self.is_chosen = moving.notes, moving.format, moving.is_chosen

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return {**self.moving.columns, **self._of_atoms}

    @cached_property
    def _of_atoms(self) -> dict[str, Column]:
        hidden = {*COORDINATES, *map(naming.normalize_name, self.moving.columns)}
        return {name: column for name, column in self.atoms.columns.items()
                if naming.normalize_name(name) not in hidden}  # fmt: skip

    @property
    def count(self) -> int | None:
        return self.moving.count if self._rows is None else len(self._rows[0])

    @cached_property
    def _rows(self) -> tuple[Rows, Rows] | None:
        """The rows in the trajectory and in the topology of the atoms that both have, (N,) each;
        None for all atoms in their order. Raises DataFileError: there are none."""
        own, known = self.moving.atom_ids(), self.atoms.atom_ids()
        if own is None:
            if known is not None and (np.diff(known) < 0).any():
                self.note(
                    f"states no ids of atoms, so those of {self.atoms.name}, which are not in "
                    "order, are matched row by row: if the trajectory is sorted by id, sort them"
                )
            return None
        if known is None:
            known = np.arange(1, (self.atoms.count or 0) + 1)
            if np.array_equal(own, known):
                return None
            self.note(f"{self.atoms.name} states no ids of atoms: they are counted from 1")
        if any(len(np.unique(ids)) < len(ids) for ids in (own, known)):
            self.note(f"ids of atoms repeat, so they are matched with {self.atoms.name} row by row")
            return None
        _, rows, rows_of_atoms = np.intersect1d(own, known, True, return_indices=True)
        if not len(rows):
            raise self.error(f"no id of an atom is in {self.atoms.name}: give its topology")
        if len(rows) < len(own):
            self.note(f"atoms whose ids are not in {self.atoms.name} are left out")
        if len(rows) < len(known):
            self.note(f"lacks atoms of {self.atoms.name}, which are left out")
        order = np.argsort(rows)  # that of the trajectory
        return rows[order], rows_of_atoms[order]

    @cached_property
    def _bonds(self) -> Bonds:
        source, part = (self.atoms, 1) if self.moving.bonds is None else (self.moving, 0)
        pairs, columns = source.bonds, source.bond_columns
        if pairs is None or not len(pairs) or self._rows is None:
            return pairs, columns
        rows = self._rows[part]
        places = np.full(max(int(rows.max()), int(pairs.max())) + 1, -1)
        places[rows] = np.arange(len(rows))
        pairs = places[pairs]
        are_there = (pairs >= 0).all(axis=1)
        return pairs[are_there], {name: each[are_there] for name, each in columns.items()}

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {}
        for part, source in enumerate((self.moving, self.atoms)):
            if here := [name for name in names if (name in self._of_atoms) == bool(part)]:
                columns |= source.load(here)
                if self._rows is not None:
                    columns |= {name: columns[name][self._rows[part]] for name in here}
        return {name: columns[name] for name in names}

    def particles(self, names: Mapping[str, str]) -> Particles:
        self.moving.also = [name for name in self.also if name not in self._of_atoms]
        result = self.moving.particles(names)
        labels = self.atoms.labels_of_atoms()
        if labels is None:
            raise DataFileError(f"{self.atoms.name}: has no elements or types of atoms")
        if self._rows is not None:
            rows, rows_of_atoms = self._rows
            result = result.taken(rows)
            labels = labels._replace(ids=labels.ids[rows_of_atoms])
        count = len(result.centers) if result.centers.ndim else 1
        if len(labels.ids) != count:
            raise DataFileError(
                f"{self.atoms.name}: has {len(labels.ids):,} atoms, but {self.name} has "
                f"{count:,}: give the topology of the same atoms"
            )
        if result.labels is not None and _do_labels_contradict(result.labels, labels):
            self.note(
                f"the elements of atoms differ from those of {self.atoms.name}, which are shown: "
                "is it the topology of the same atoms, in the same order?"
            )
        known = [name for name in molecules.OF_BEADS if name in self._of_atoms]
        if labels.meaning is None and {"name", "residue"} <= {*known}:
            texts = self.load(known)
            if molecules.are_beads(texts, result.centers):
                labels = ParticleLabels(*index_labels(texts["name"], self.name), "types")
                self.note(
                    molecules.describe_beads(labels.names, molecules.FAR_APART), "radius+color"
                )
            else:
                labels = labels._replace(with_residues=True)
        result.labels = labels
        return result

    def labels_of_atoms(self) -> ParticleLabels | None:
        return self.atoms.labels_of_atoms()


def _do_labels_contradict(one: ParticleLabels, other: ParticleLabels) -> bool:
    """Whether an atom has two elements by the labels (N,) of two files; numbers are types."""
    symbols = [np.array([(not name.isdecimal() and find_symbol(name)) or "" for name in each.names])
               for each in (one, other)]  # fmt: skip
    first, second = (known[each.ids] for known, each in zip(symbols, (one, other), strict=True))
    return bool(((first != second) & (first != "") & (second != "")).any())
