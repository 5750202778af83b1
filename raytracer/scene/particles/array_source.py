"""Stored arrays as columns: which of them are coordinates, and which axis counts the particles, and
which the frames."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, ClassVar, Protocol

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles import naming
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.source import Column, kind_of


class Stored(Protocol):
    """An array, in memory or in a file."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...


class ArraySource(ColumnSource):
    """Arrays (N, ...). If the centres are frames, (T, N, 3), others may be (T, N, ...); if they
    are (3, N), others may be (K, N).
    """

    of_frame: ClassVar[tuple[str, ...]] = ("centers", "_shape")

    @property
    @abstractmethod
    def stored(self) -> Mapping[str, Stored]:
        """The arrays by name."""

    @abstractmethod
    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        """Return an array; of one that moves a frame."""

    def unit(self, name: str) -> str:
        return ""

    @cached_property
    def centers(self) -> str | None:
        """The array of coordinates, or None."""
        return coordinates(self.stored)

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """Shape of the centres, or of x; () without any."""
        name = self.centers or naming.usual("x", self.stored)
        return () if name is None else self.stored[name].shape

    @property
    def rows(self) -> int | None:
        if not self._shape:
            return None
        return self._shape[1 if are_frames(self._shape) or is_across(self._shape) else 0]

    @property
    def count(self) -> int | None:
        return self.rows

    @property
    def frames(self) -> int | None:
        return self._shape[0] if are_frames(self._shape) else 1

    def moves(self, name: str) -> bool:
        """Whether the first axis of an array is time."""
        return are_frames(self._shape) and self.shape_of(name)[:2] == self._shape[:2]

    def is_turned(self, name: str) -> bool:
        """Whether the last axis of an array is that of the particles."""
        shape = self.shape_of(name)
        return is_across(self._shape) and shape[1:] == (self.rows,) != shape[:1]

    def shape_of(self, name: str) -> tuple[int, ...]:
        return self.stored[name].shape if name in self.stored else ()

    @property
    def columns(self) -> Mapping[str, Column]:
        rows, columns = self.rows, {}
        for name, each in self.stored.items():
            shape = each.shape[:: -1 if self.is_turned(name) else 1][self.moves(name) :]
            if shape and (rows is None or shape[0] == rows):
                columns[name] = Column(kind_of(each.dtype), shape[1:], self.unit(name))
        return columns

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        stored = [(self.stored[name], self.moves(name)) for name in names]
        require_room(self.name, sum(
            each.dtype.itemsize * prod(each.shape[moves:]) for each, moves in stored
            if not isinstance(each, np.ndarray)
        ))  # fmt: skip
        return {name: self.oriented(name) for name in names}

    def oriented(self, name: str) -> NDArray[Any]:
        """Return the values of the frame, (N, ...)."""
        values = self.values(name, self.frame if self.moves(name) else None)
        return np.ascontiguousarray(values.T) if self.is_turned(name) else values


def coordinates(arrays: Mapping[str, Stored]) -> str | None:
    """Return the array of coordinates by its name and shape: of three or two, or with a row for
    each axis."""
    for width in (3, 2, 0):
        fit = [name for name, each in arrays.items()
               if (each.shape[1:] == (width,) or each.shape[2:] == (width,) if width
                   else is_across(each.shape))]  # fmt: skip
        if name := naming.usual("centers", fit):
            return name
    return None


def vectors(arrays: Mapping[str, Stored]) -> list[str]:
    """Return the arrays that may be coordinates without a usual name: (N, 3), (T, N, 3), (3, N)."""
    return [name for name, each in arrays.items()
            if each.dtype.kind == "f" and not naming.is_other(name)
            and (each.shape[1:] == (3,) or are_frames(each.shape) or is_across(each.shape))
            ]  # fmt: skip


def are_frames(shape: Sequence[int]) -> bool:
    """Whether an array of coordinates has frames, (T, N, 3) or (T, N, 2)."""
    return len(shape) == 3 and shape[2] in (2, 3) and shape[0] > 0


def is_across(shape: Sequence[int], least: int = 4) -> bool:
    """Whether an array has a row for each axis, (3, N), N at least `least`."""
    return len(shape) == 2 and shape[0] == 3 and shape[1] >= least
