"""Points of laser scanners in E57: all scans of a file, each moved by its pose. Read by pye57."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles.loaded import LoadedSource, library

POINT_MEMORY = 120  # bytes of memory per point while the file is read
COLORS = ("colorRed", "colorGreen", "colorBlue")


class Source(LoadedSource):
    def read(self) -> dict[str, NDArray[Any]]:
        scans = library("pye57", self.name, "e57").E57(self.file.name)
        try:
            return self._columns_of(scans)
        finally:
            scans.close()

    def _columns_of(self, scans: Any) -> dict[str, NDArray[Any]]:
        counts = [scans.get_header(each).point_count for each in range(scans.scan_count)]
        if not counts:
            raise self.error("has no scans")
        require_room(self.name, POINT_MEMORY * sum(counts))
        parts = [
            scans.read_scan(each, intensity=True, colors=True, ignore_missing_fields=True)
            for each in range(len(counts))
        ]
        common = [name for name in parts[0] if all(name in part for part in parts)]
        arrays = {name: np.concatenate([part[name] for part in parts]) for name in common}
        axes = [arrays.pop(f"cartesian{axis}") for axis in "XYZ"]
        columns = {"position": np.stack(axes, axis=1)}
        if set(COLORS) <= set(arrays):
            columns["color"] = np.stack([arrays.pop(name) for name in COLORS], axis=1)
        if len(counts) > 1:
            columns["scan"] = np.repeat(np.arange(len(counts)), [len(part["cartesianX"])
                                                                 for part in parts])  # fmt: skip
        return columns | arrays
