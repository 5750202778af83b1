"""Point clouds of laser scanners (.las, .laz): positions and colours. Read by laspy."""

import struct
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles.loaded import LoadedSource, library

POINT_MEMORY = 120  # bytes of memory per point while the file is read
HEAD = 247  # bytes of the header up to the number of extended records, which LAS 1.4 has
COLORS = ("red", "green", "blue")
LEFT_OUT = frozenset(("X", "Y", "Z", *COLORS))  # parts of the position or of the colour


class Source(LoadedSource):
    def read(self) -> dict[str, NDArray[Any]]:
        laspy = library("laspy", self.name, "las")
        self._require_records()
        self.file.file.seek(0)
        with laspy.open(self.file.file, closefd=False) as reader:
            header, count = reader.header, int(reader.header.point_count)
        if not header.are_points_compressed and count * header.point_format.size > self.file.size:
            raise self.error("is incomplete")
        require_room(self.name, POINT_MEMORY * count)
        points = laspy.read(self.file.name)
        if len(points.points) != count:
            raise self.error("is incomplete")
        columns = {"position": np.stack([np.asarray(points[axis]) for axis in "xyz"], axis=1)}
        names = list(points.point_format.dimension_names)
        if all(name in names for name in COLORS):
            color = np.stack([np.asarray(points[name]) for name in COLORS], axis=1)
            # Some programs write 8 bits into the 16 of the format.
            is_wide = len(color) and color.max() > 255
            columns["color"] = (color >> 8 if is_wide else color).astype(np.uint8)
        return columns | {name: np.array(points[name]) for name in names if name not in LEFT_OUT}

    def _require_records(self) -> None:
        """Refuse a file that states more records than it has: laspy would allocate all of them."""
        self.file.file.seek(0)
        head = self.file.file.read(HEAD).ljust(HEAD, b"\0")
        (few,) = struct.unpack_from("<I", head, 100)
        many = struct.unpack_from("<I", head, 243)[0] if head[24:26] >= b"\1\4" else 0
        if 54 * few + 60 * many > self.file.size:
            raise self.error(
                f"is damaged: its header states {few + many:,} records, too many for its "
                f"{self.file.size:,} bytes"
            )
