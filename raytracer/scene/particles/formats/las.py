"""Point clouds of laser scanners (.las, .laz): positions and colours. Read by laspy."""

import struct
from functools import cached_property
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
    @cached_property
    def _header(self) -> Any:
        module = library("laspy", self.name, "las")
        self._require_records()
        self.file.file.seek(0)
        with module.open(self.file.file, closefd=False) as reader:
            return reader.header

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

    @property
    def count(self) -> int | None:
        return int(self._header.point_count)

    def read(self) -> dict[str, NDArray[Any]]:
        header, count = self._header, int(self._header.point_count)
        if not header.are_points_compressed and count * header.point_format.size > self.file.size:
            raise self.error("is incomplete")
        require_room(self.name, POINT_MEMORY * count)
        return parse(self.file.name)


def parse(path: str) -> dict[str, NDArray[Any]]:
    import laspy

    points = laspy.read(path)
    if len(points.points) != points.header.point_count:
        raise ValueError("it is incomplete")
    position = np.stack([np.asarray(points[axis]) for axis in "xyz"], axis=1)
    columns: dict[str, NDArray[Any]] = {"position": position}
    names = list(points.point_format.dimension_names)
    if all(name in names for name in COLORS):
        columns["color"] = _eight_bits(np.stack([np.asarray(points[c]) for c in COLORS], 1))
    return columns | {name: np.array(points[name]) for name in names if name not in LEFT_OUT}


def _eight_bits(color: NDArray[Any]) -> NDArray[Any]:
    """Convert colours to uint8; some programs write 8 bits into the 16 of the format."""
    if len(color) and color.max() > 255:
        color = color >> 8
    return color.astype(np.uint8)
