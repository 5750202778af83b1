"""Point clouds of PCL (.pcd): text, binary, and compressed binary. Read by pypcd4."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.loaded import LoadedSource, library


class Source(LoadedSource):
    noun = "field"
    memory = 8

    def read(self) -> dict[str, NDArray[Any]]:
        clouds = library("pypcd4", self.name, "pcd").PointCloud
        cloud = clouds.from_fileobj(self.stream())
        if len(cloud.pc_data) < cloud.points:
            raise self.error(
                f"is incomplete: it states {cloud.points:,} points, but has {len(cloud.pc_data):,}"
            )
        names = [name for name in cloud.fields if not name.startswith("_")]
        columns = {name: np.ascontiguousarray(cloud.pc_data[name]) for name in names}
        if (packed := columns.get("rgb", columns.get("rgba"))) is not None and packed.ndim == 1:
            columns = {name: each for name, each in columns.items() if name not in ("rgb", "rgba")}
            words = packed.view(np.uint32) if packed.dtype.itemsize == 4 else packed.astype("u4")
            columns["rgb"] = np.stack([words >> 16, words >> 8, words], axis=1).astype(np.uint8)
        finite = np.isfinite([columns[axis] for axis in "xyz" if axis in columns]).all(axis=0)
        if not np.all(finite):  # an organised cloud has NaN where nothing was measured
            columns = {name: each[finite] for name, each in columns.items()}
        return columns
