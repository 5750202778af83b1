"""Particles of MercuryDPM (.data) in three dimensions: frames of 14 numbers in each row."""

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from raytracer.files.access import OpenFile
from raytracer.model.particle_source import Box, FrameTime, parse_time
from raytracer.particles.cell import box_from_cell
from raytracer.particles.lines import find_counted_frames
from raytracer.particles.text_table import Cell, CellType, Layout, TextSource

ROW = "x y z vx vy vz radius ax ay az wx wy wz info"
"""Columns: position, velocity, radius, angles, angular velocity, and a quantity of the user."""


class Source(TextSource):
    has_pieces = True
    announced = "line 1 states"
    next_frame = r"\d+ "
    first_line = 2

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self.atoms = int(self._head[0])
        cells = {
            name: Cell(CellType.NUMBER if place < 7 else CellType.OPTIONAL, place)
            for place, name in enumerate(ROW.split())
        }
        self.layout = Layout(cells, skip=1)

    @cached_property
    def _head(self) -> list[float]:
        """The number of particles, the time, and the corners of the domain."""
        return [float(word) for word in self.file.lines(1)[0].split()]

    def frame_starts(self) -> Sequence[int]:
        return find_counted_frames(self.file, 0, 1, words=7)

    @property
    def time(self) -> FrameTime | None:
        return parse_time(self._head[1])

    @property
    def box(self) -> Box | None:
        x, y, z, *high = self._head[2:8]
        box = box_from_cell(np.diag(np.subtract(high, (x, y, z))), (False,) * 3)
        return box and box._replace(origin=(x, y, z))
