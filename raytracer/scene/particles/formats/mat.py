"""Variables of MATLAB (.mat), and of NetCDF without conventions. Read by scipy.

MATLAB 7.3 writes HDF5.
"""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.nested import NestedSource

MEMORY = 4  # bytes of memory per byte of the file while it is read


class Source(NestedSource):
    noun = "variable"

    def read(self) -> dict[str, NDArray[Any]]:
        scipy = library("scipy.io", self.name, "mat")
        require_room(self.name, MEMORY * self.file.size)
        self.file.file.seek(0)
        if self.variant == ".nc":
            with scipy.netcdf_file(self.file.file, mmap=False) as stored:
                variables = {name: each[...] for name, each in stored.variables.items()}
        else:
            variables = scipy.loadmat(self.file.file, simplify_cells=True)
        return self.found({k: v for k, v in variables.items() if k[:2] != "__"})
