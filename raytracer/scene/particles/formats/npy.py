"""Arrays of NumPy (.npy): (N, 3) centres, (N, 4) with radii, (T, N, 3) frames, or records (N,)."""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.files.npz import Header, read_header, read_npy
from raytracer.scene.particles.array_source import ArraySource
from raytracer.scene.particles.nested import MIN_ACROSS, of_rows, told_of_rows
from raytracer.scene.particles.objects.arrays import columns_of, is_series

MAX_COLUMNS = 99  # most columns of particles; others are pictures and the like


class Source(ArraySource):
    noun = "field"

    @cached_property
    def _header(self) -> Header:
        self.file.file.seek(0)
        return read_header(self.file.file, self.name)

    @property
    def count(self) -> int | None:
        shape = self._header.shape
        is_last = is_series(self._header) or self._is_across
        return shape[1 if is_last else 0] if shape else None

    @property
    def _is_across(self) -> bool:
        """Whether there is a row for each quantity, of few, not for each particle."""
        shape = self._header.shape
        return len(shape) == 2 and 3 <= shape[0] < MIN_ACROSS <= shape[1]

    @property
    def frames(self) -> int | None:
        return self._header.shape[0] if is_series(self._header) else 1

    def read(self) -> dict[str, NDArray[Any]]:
        if is_series(self._header):
            return {"centers": read_npy(self.file, self.frame)}
        values = read_npy(self.file)
        if self._is_across:
            self.note(
                f"its shape {values.shape} is taken as x, y and z of {values.shape[1]:,} particles"
            )
            values = np.ascontiguousarray(values.T)
        if values.ndim == 2 and values.dtype.kind in "iuf" and (
            values.shape[1] == 2 or 4 < values.shape[1] <= MAX_COLUMNS
        ):  # fmt: skip
            columns = of_rows(list(values.T))
            self.notes += told_of_rows(self.name, columns)
            return columns
        return columns_of(values, self.name)
