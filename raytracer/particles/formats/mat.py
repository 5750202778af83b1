"""Variables of MATLAB (.mat). Read by scipy.

MATLAB 7.3 writes HDF5.
"""

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model import particle_names as naming
from raytracer.particles.array_source import has_frames, import_library
from raytracer.particles.nested import NestedSource
from raytracer.system.memory import require_room


class Source(NestedSource):
    noun = "variable"
    memory = 4

    min_across = 4  # positions are columns of MATLAB

    def read(self) -> dict[str, NDArray[Any]]:
        scipy = import_library("scipy.io", self.name, "mat")
        stream = self.stream()
        stated = scipy.whosmat(stream)  # compressed variables may be far larger
        size = sum(prod(shape) * _count_bytes(kind) for _, shape, kind in stated)
        require_room(self.name, 2 * size)
        variables = _move_times_first(scipy.loadmat(self.stream(), simplify_cells=True))
        return self.find_columns({k: v for k, v in variables.items() if k[:2] != "__"})


def _move_times_first(variables: dict[str, Any]) -> dict[str, Any]:
    """Return variables with positions (N, 3, T), as MATLAB stacks frames, as (T, N, 3)."""
    name = naming.find_usual_name("centers", variables)
    shape: tuple[int, ...] = np.shape(variables[name]) if name else ()
    if name is None or len(shape) != 3 or shape[1] not in (2, 3) or has_frames(shape):
        return variables
    values = {key: each.T for key, each in variables.items() if np.shape(each) == shape[::2]}
    return variables | values | {name: np.moveaxis(variables[name], 2, 0)}


def _count_bytes(kind: str) -> int:
    """Return the bytes of a value of a MATLAB class; 0 if a shape does not state its size."""
    known = {"logical": 1, "char": 4, "cell": 8, "struct": 8}
    return known.get(kind) or (np.dtype(kind).itemsize if kind in np.sctypeDict else 0)
