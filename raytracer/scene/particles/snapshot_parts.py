"""Snapshots in several files: the particles of all of them, one file after another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.access import opened
from raytracer.memory import require_room
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.hdf5_members import found_at
from raytracer.scene.particles.source import Box, Column, Moment


class Part(ColumnSource):
    """A file of the snapshot.

    Attributes:
        root: the file of h5py.
        group_name: path of the group of the particles.
        joined: whether other files of the snapshot are read with it.
    """

    root: Any
    group_name: str
    joined: bool


class SnapshotParts(ColumnSource):
    """The particles of a snapshot of Gadget that lies in several files.

    Args:
        first: the file that was named; box, time and columns are its.
        others: the other files, in the order of their numbers. Those without particles of the kind
            are left out.
    """

    noun = "dataset"

    def __init__(self, first: Part, others: Sequence[Path]) -> None:
        super().__init__(first.file, first.variant)
        self._first, self._others = first, list(others)
        first.joined = True

    @property
    def columns(self) -> Mapping[str, Column]:
        return self._first.columns

    @cached_property
    def count(self) -> int | None:
        return sum(int(part.count or 0) for part in self._parts())

    @property
    def further_files(self) -> Sequence[Path]:
        return self._others

    @property
    def box(self) -> Box | None:
        return self._first.box

    @property
    def time(self) -> Moment | None:
        return self._first.time

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        return self._first.choose(names)

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        own = self._first.load(names)
        rows = len(next(iter(own.values()), ()))
        size = sum(array.nbytes for array in own.values())
        require_room(self.name, 2 * size * (int(self.count or 0) // max(rows, 1) + 1))
        parts = [own if part is self._first else self._of(part, names) for part in self._parts()]
        return {name: np.concatenate([part[name] for part in parts]) for name in names}

    def _of(self, part: Part, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of another file."""
        for name in names:
            if part.columns.get(name) != self.columns[name]:
                raise DataFileError(
                    f"{part.name}: has no dataset '{shown(name)}' as {self.name} has, of the same "
                    "snapshot"
                )
        return part.load(names)

    def _parts(self) -> Iterator[Part]:
        """Yield each file that holds such particles, open, in the order of their numbers."""
        own = self.file.path
        group = self._first.group_name
        for path in sorted([*self._others, own], key=_number):
            if path == own:
                yield self._first
                continue
            with opened(path) as file:
                part = type(self._first)(file, group)
                if found_at(part.root, group) is not None:
                    yield part


def _number(path: Path) -> int:
    """Return the number of a file: 3 of "snap_007.3.hdf5"."""
    return int(path.stem.rpartition(".")[2])
