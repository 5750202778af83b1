"""Arrays: records, (N, 3), (N, 4) with radii, (T, N, 3) frames, and dictionaries of arrays."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.errors import DataFileError, counted
from raytracer.scene.arrays import Where, as_array
from raytracer.scene.particles.array_source import are_frames
from raytracer.scene.particles.loaded import Frame, ObjectSource
from raytracer.scene.particles.naming import USUAL, plain
from raytracer.scene.particles.source import Particles

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.files.npz import Header


_STYLES = {*USUAL["radius"], *USUAL["diameter"], *USUAL["color"]}
_PLACES = {name for part in ("centers", "x", "y", "z") for name in USUAL[part]}


class Source(ObjectSource):
    noun = "field"

    @cached_property
    def _array(self) -> NDArray[Any] | None:
        if isinstance(self.value, Mapping):
            return None
        return as_array(self.value, "centers", Where(self.name))

    @property
    def frames(self) -> int | None:
        return len(self._array) if self._array is not None and is_series(self._array) else 1

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if (frames := self.frames or 1) > 1 and not self.is_chosen:
            text = f"has {frames:,} frames; the first is shown: for another one give frame=NUMBER"
            result.notes.append(("", f"{self.name}: {text}"))
        return result

    def read(self) -> Frame:
        if self._array is None:
            columns = self._of_dictionary()
        elif is_series(self._array):
            columns = {"centers": self._array[self.frame]}
        else:
            columns = columns_of(self._array, self.name)
        return Frame(columns, rows=_count(columns))

    def _of_dictionary(self) -> dict[str, NDArray[Any]]:
        arrays = {str(name): as_array(value, str(name), Where(self.name))
                 for name, value in self.value.items()}  # fmt: skip
        count = _count({name: each for name, each in arrays.items() if each.ndim})
        for name in [name for name in arrays if plain(name) in _STYLES]:
            if arrays[name].ndim == 0:
                arrays[name] = np.full(count, arrays[name])
            elif len(arrays[name]) != count:
                has = f"has {counted(len(arrays[name]), 'value')}"
                raise self.error(f"array '{name}': {has} for {counted(count, 'particle')}")
        return {name: each for name, each in arrays.items() if each.ndim}


def _count(arrays: Mapping[str, NDArray[Any]]) -> int:
    """Return the number of particles: the length of the coordinates, else the commonest one."""
    lengths = [len(values) for name, values in arrays.items() if plain(name) in _PLACES]
    lengths = lengths or [len(values) for values in arrays.values()]
    return max(lengths, key=lengths.count, default=0)


def is_series(array: Header | NDArray[Any]) -> bool:
    """Whether an array has frames, (T, N, 3) or (T, N, 2)."""
    return are_frames(array.shape) and not array.dtype.names


def columns_of(array: NDArray[Any], source: str) -> dict[str, NDArray[Any]]:
    """Return the columns of records (N,), of centres (N, 3), or of centres and radii (N, 4).

    Raises:
        DataFileError: the array has another shape or type.
    """
    if array.dtype.names and array.ndim == 1:
        return {name: array[name] for name in array.dtype.names}
    if array.ndim != 2 or array.shape[1] not in (3, 4) or array.dtype.kind not in "iuf":
        raise DataFileError(
            f"{source}: has shape {array.shape} and type {array.dtype}; centres are (N, 3), (N, 4) "
            "with radii, or (T, N, 3) frames, of numbers: leave out further columns"
        )
    columns = {"centers": array[:, :3]}
    return columns if array.shape[1] == 3 else columns | {"radius": array[:, 3]}
