"""Atoms for simulations of electron microscopes (Kirkland, Prismatic), also in `.xyz`.

A comment, the lengths of the cell, then a line for each atom: atomic number, x, y, z, occupancy and
thermal displacement. The line -1 ends them.
"""

from itertools import islice
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box
from raytracer.scene.particles.text_table import number_in

NAMES = ("atomic_number", "x", "y", "z", "occupancy", "thermal_displacement")
END = -1


class Source(LoadedSource):
    memory = 16

    def read(self) -> dict[str, NDArray[Any]]:
        self.require_memory()
        rows = []
        for number, (line, _) in enumerate(islice(self.file.text_lines(), 2, None), 3):
            cells = [number_in(word) for word in line.split()]
            if cells[:1] == [END]:
                break
            if cells and (len(cells) != len(NAMES) or any(isinstance(n, str) for n in cells)):
                raise self.error(
                    f"line {number}: is not {len(NAMES)} numbers: Z, x, y, z, occupancy and "
                    "displacement"
                )
            rows += [cells] if cells else []
        columns = dict(zip(NAMES, np.array(rows, float).reshape(-1, len(NAMES)).T, strict=True))
        return columns | {NAMES[0]: columns[NAMES[0]].astype(int)}

    @property
    def box(self) -> Box | None:
        return cell_box(np.diag([float(word) for word in self.file.lines(2)[1].split()]))
