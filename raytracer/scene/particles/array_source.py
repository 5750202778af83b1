"""Named arrays: which axis counts the particles, and which the frames."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles import naming
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.source import Column, kind_of

if TYPE_CHECKING:
    from raytracer.files.npz import Header


class ArraySource(ColumnSource):
    """Arrays (N, ...). If the centres are frames, (T, N, 3), others may be (T, N, ...); if they
    are (3, N), others may be (K, N).
    """

    @property
    @abstractmethod
    def stored(self) -> Mapping[str, Header | NDArray[Any]]:
        """The arrays by name, or their headers."""

    @abstractmethod
    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        """Return an array; of one that moves a frame."""

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """Shape of the centres, or of x; () without any."""
        name = naming.usual("centers", self.stored) or naming.usual("x", self.stored)
        return () if name is None else self.stored[name].shape

    @property
    def count(self) -> int | None:
        if not self._shape:
            return None
        return self._shape[1 if are_frames(self._shape) or is_across(self._shape) else 0]

    @property
    def frames(self) -> int | None:
        return self._shape[0] if are_frames(self._shape) else 1

    def moves(self, name: str) -> bool:
        """Whether the first axis of an array is time."""
        return are_frames(self._shape) and self._shape_of(name)[:2] == self._shape[:2]

    def is_turned(self, name: str) -> bool:
        """Whether the last axis of an array is that of the particles."""
        shape = self._shape_of(name)
        return is_across(self._shape) and shape[1:] == (self.count,) != shape[:1]

    def _shape_of(self, name: str) -> tuple[int, ...]:
        return self.stored[name].shape if name in self.stored else ()

    @property
    def columns(self) -> Mapping[str, Column]:
        count, columns = self.count, {}
        for name, each in self.stored.items():
            shape = each.shape[:: -1 if self.is_turned(name) else 1][self.moves(name) :]
            if shape and (count is None or shape[0] == count):
                columns[name] = Column(kind_of(each.dtype), shape[1:])
        return columns

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return {name: self.oriented(name) for name in names}

    def oriented(self, name: str) -> NDArray[Any]:
        """Return the values of the frame, (N, ...)."""
        values = self.values(name, self.frame if self.moves(name) else None)
        return np.ascontiguousarray(values.T) if self.is_turned(name) else values


def are_frames(shape: Sequence[int]) -> bool:
    """Whether an array of coordinates has frames, (T, N, 3) or (T, N, 2)."""
    return len(shape) == 3 and shape[2] in (2, 3) and shape[0] > 0


def is_across(shape: Sequence[int], least: int = 4) -> bool:
    """Whether an array has a row for each axis, (3, N), N at least `least`."""
    return len(shape) == 2 and shape[0] == 3 and shape[1] >= least
