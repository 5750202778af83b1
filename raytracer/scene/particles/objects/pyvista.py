"""Data sets of PyVista: their points with point data."""

from collections.abc import Mapping
from typing import Any

import numpy as np

from raytracer.scene.particles.objects.source import ObjectSource


class Source(ObjectSource):
    """A `DataSet`, or a `MultiBlock` of them."""

    noun = "array"

    def __init__(self, value: Any, name: str) -> None:
        # Several blocks are combined, with the arrays that all of them have.
        super().__init__(value.combine() if hasattr(value, "combine") else value, name)

    @property
    def count(self) -> int | None:
        return int(self.value.n_points)

    def entries(self) -> Mapping[str, Any]:
        data = self.value.point_data
        arrays = {name: np.asarray(data[name]) for name in data.keys()}  # noqa: SIM118
        arrays.pop("position", None)
        points = np.asarray(self.value.points)
        return {"position": points, **arrays}
