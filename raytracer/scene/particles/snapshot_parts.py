"""Snapshots in several files, whose names have a number after a point: snap.0.hdf5, snap_003.1."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from math import prod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown
from raytracer.files.access import OpenFile, is_file, opened
from raytracer.memory import require_room
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.source import Particles

MAX_PARTS = 10_000  # most files of a snapshot


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
    """The particles of a snapshot in several files, in sequence; all else is that of this one.

    Attributes:
        stated: number of files that the header states.
        rows: number of particles in this file.
        optional: columns that some of the files may lack.
    """

    stated: int
    rows: int | None
    optional: ClassVar[frozenset[str]] = frozenset()

    @abstractmethod
    def part(self, file: OpenFile) -> Snapshot | None:
        """Return the source of one of the files; None if it has no such particles."""

    @abstractmethod
    def load_own(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        """Return columns of this file."""

    @cached_property
    def files(self) -> Sequence[Path]:
        """All files in order, [] for a snapshot in one, or if some are missing."""
        return parts_of(self.file.path, self.stated)

    @property
    def further_files(self) -> Sequence[Path]:
        return [path for path in self.files if path != self.file.path]

    def _parts(self) -> Iterator[Snapshot]:
        for path in self.files:
            with opened(path) as file:
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

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if self.stated > 1 and not self.files:
            result.notes.append(("", (
                f"{self.name}: is one of {self.stated} files of a snapshot, and some of the others "
                "are missing: only its particles are shown"
            )))  # fmt: skip
        return result
