"""Arrays of NumPy (.npy): (N, 3) centres, (N, 4) with radii, (T, N, 3) frames, or records (N,)."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.files.npz import read_header, read_npy, require_bytes
from raytracer.particles.array_source import ArraySource, LazyColumn, has_frames
from raytracer.particles.nested import MIN_ACROSS, describe_rows, name_columns
from raytracer.particles.objects.arrays import split_columns

MAX_COLUMNS = 99  # most columns of particles; others are pictures and the like


class Source(ArraySource):
    noun = "field"

    def read(self) -> dict[str, Any]:
        self.file.file.seek(0)
        shape, _, dtype = header = read_header(self.file.file, self.name)
        require_bytes(header, self.file.size - self.file.file.tell(), self.name)
        if dtype.kind in "iuf" and (has_frames(shape) or shape[1:] == (3,)):
            return {"centers": LazyColumn(dtype, shape, partial(read_npy, self.file))}
        values = read_npy(self.file)
        if len(shape) == 2 and 3 <= shape[0] < MIN_ACROSS <= shape[1]:
            self.note(f"its shape {shape} is taken as x, y and z of {shape[1]:,} particles")
            values = np.ascontiguousarray(values.T)
        if values.ndim == 2 and values.dtype.kind in "iuf" and (
            values.shape[1] == 2 or 4 < values.shape[1] <= MAX_COLUMNS
        ):  # fmt: skip
            columns = name_columns(list(values.T))
            self.notes += describe_rows(self.name, columns)
            return columns
        return split_columns(values, self.name)

    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        return super().values(name, None) if frame is None else read_npy(self.file, frame)
