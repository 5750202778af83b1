"""Arrays of NumPy (.npy): (N, 3) centres, (N, 4) with radii, (T, N, 3) frames, or records (N,)."""

from __future__ import annotations

from collections.abc import Container, Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError
from raytracer.files.npz import Header, read_header, read_npy
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Particles, Value, more_frames

MIN_SPHERES, SAMPLE = 10, 1000  # for a guess about a column; and rows that are tested


class Source(LoadedSource):
    noun = "field"

    @cached_property
    def _header(self) -> Header:
        self.file.file.seek(0)
        return read_header(self.file.file, self.name)

    @property
    def count(self) -> int | None:
        shape = self._header.shape
        return shape[1] if self._is_series else shape[0] if shape else None

    @property
    def frames(self) -> int | None:
        return self._header.shape[0] if self._is_series else 1

    def read(self) -> dict[str, NDArray[Any]]:
        array = self._array()
        if array.dtype.names:
            return {name: array[name] for name in array.dtype.names}
        if self._is_series:
            return {"centers": array}
        columns = {"centers": array[:, :3]}
        return columns if array.shape[1] == 3 else columns | {"radius": array[:, 3]}

    def particles(self, names: Mapping[str, str]) -> Particles:
        if self._is_records:
            return super().particles(names)
        if names:
            raise DataFileError(f"{self.name}: an .npy file has no names; leave out arrays")
        array = self._array()
        if self._is_series:
            result = Particles(self.name, array)
            if self._header.shape[0] > 1 and not self.is_chosen:
                result.notes.append(("", more_frames(self.name, self._header.shape[0])))
            return result
        radius = array[:, 3] if array.shape[1] == 4 else None
        columns = {"centers": "columns 0 to 2", "radius": "column 3"}
        result = Particles(self.name, array[:, :3], radius, names=columns)
        if _is_no_radius(array):
            result.notes.append(("radius", (
                f"{self.name}: column 3 is taken as the radius, but each sphere is then larger "
                "than the region of all centres: if it is another quantity, save only columns 0 "
                "to 2, or set radius in a scene file"
            )))  # fmt: skip
        return result

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield the other fields of a record; a plain array has none."""
        return super().row(index, count, used) if self._is_records else iter(())

    @property
    def _is_records(self) -> bool:
        return self._header.dtype.names is not None and len(self._header.shape) == 1

    @property
    def _is_series(self) -> bool:
        shape = self._header.shape
        return len(shape) == 3 and shape[2] == 3 and shape[0] > 0 and not self._header.dtype.names

    def _array(self) -> NDArray[Any]:
        """Return the array: (N, 3) of the frame, (N, 4), or records (N,)."""
        if self._is_series:
            return read_npy(self.file, self.frame)
        array = read_npy(self.file)
        if not self._is_records and (array.ndim != 2 or array.shape[1] not in (3, 4)):
            raise DataFileError(
                f"{self.name}: has shape {array.shape}; it must be (N, 3), or (N, 4) with radii: "
                "save only these columns, one row per sphere"
            )
        return array


def _is_no_radius(array: NDArray[Any]) -> bool:
    """Whether the fourth column is probably not a radius: each sphere would contain all centres.

    Args:
        array: (N, 3) or (N, 4), of which a few rows are tested.
    """
    if array.shape[1] != 4 or len(array) < MIN_SPHERES or array.dtype.kind not in "iuf":
        return False
    rows = np.asarray(array[:: max(len(array) // SAMPLE, 1)], np.float64)
    sides = np.ptp(rows[:, :3], axis=0)
    return bool(rows[:, 3].min() > float(np.hypot.reduce(sides)) > 0.0)
