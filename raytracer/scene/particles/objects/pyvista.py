"""Data sets of PyVista: their points with point data."""

import numpy as np

from raytracer.scene.particles.objects.source import Frame, ObjectSource


class Source(ObjectSource):
    """A `DataSet`, or a `MultiBlock`, of which the arrays are shown that all blocks have."""

    noun = "array"

    def take(self) -> Frame:
        points = self.value.combine() if hasattr(self.value, "combine") else self.value
        data = points.point_data
        arrays = {name: np.asarray(data[name]) for name in data.keys()}  # noqa: SIM118
        return Frame(int(points.n_points), {**arrays, "position": np.asarray(points.points)})
