"""Files that another package reads; in a worker of `isolated`."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from raytracer.config.errors import quote_value
from raytracer.config.field_types import import_name
from raytracer.files.access import OpenFile
from raytracer.model.particle_source import Particles, parse_time
from raytracer.particles import array_source
from raytracer.particles.array_source import (
    Bonds,
    FrameContent,
    LibraryFile,
    ObjectSource,
    has_frames,
)
from raytracer.particles.cell import box_from_cell
from raytracer.particles.objects import arrays
from raytracer.particles.plugins import ParticleFormat, ParticleFrame


class FileSource(LibraryFile, arrays.Source):
    """A frame that the function `read` of a `ParticleFormat` returns; `variant` is its entry point,
    "package.module:NAME"."""

    noun = "column"
    lacks_atoms = False

    def __init__(self, file: OpenFile, variant: str) -> None:
        self._format: ParticleFormat = import_name(variant)
        array_source.confine()
        super().__init__(file, variant)

    def open_frame(self, frame: int) -> tuple[ParticleFrame, int]:
        self.file.file.seek(0)
        with open(self.file.name, "rb") as stream:  # noqa: PTH123
            frame_read = self._format.read(stream, frame)
        if isinstance(frame_read, Mapping):
            frame_read = ParticleFrame(frame_read)
        if not isinstance(frame_read, ParticleFrame) or not isinstance(frame_read.columns, Mapping):
            raise self.error(f"its reader returned {quote_value(frame_read)}, not a ParticleFrame")
        return frame_read, int(frame_read.frames)

    def read(self) -> FrameContent:
        frame: ParticleFrame = self.value
        columns = self.of_dictionary(frame.columns)
        box = None
        if frame.box is not None:
            edges = np.asarray(frame.box, np.float64)
            box = box_from_cell(np.diag(edges) if edges.shape == (3,) else edges, frame.periodic)
            x, y, z = map(float, frame.origin)
            box = box and box._replace(origin=(x, y, z))
        return FrameContent(columns, box, parse_time(frame.time, frame.time_unit), self._read_bonds)

    def _read_bonds(self) -> Bonds:
        bonds: Any = self.value.bonds
        return None if bonds is None else np.asarray(bonds, np.int64).reshape(-1, 2), {}

    def particles(self, names: Mapping[str, str]) -> Particles:
        if has_frames(self._shape):
            raise self.error(
                f"its reader returned positions of shape {self._shape}, not (N, 3) of one frame"
            )
        return ObjectSource.particles(self, names)  # the file states the number of frames
