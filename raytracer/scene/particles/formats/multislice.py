"""Atoms for simulations of electron microscopes (Kirkland, Prismatic), also in `.xyz`.

A comment, the lengths of the cell, then a line for each atom: atomic number, x, y, z, occupancy and
thermal displacement. The line -1 ends them.
"""

import numpy as np

from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.source import Box
from raytracer.scene.particles.text_table import Cell, Kind, Layout, TextSource

NAMES = ("atomic_number", "x", "y", "z", "occupancy", "thermal_displacement")


class Source(TextSource):
    first_line = 3
    integers = frozenset(NAMES[:1])
    layout = Layout({name: Cell(Kind.NUMBER, place) for place, name in enumerate(NAMES)},
                    skip=2, stop="-1")  # fmt: skip

    @property
    def box(self) -> Box | None:
        return cell_box(np.diag([float(word) for word in self.file.lines(2)[1].split()]))
