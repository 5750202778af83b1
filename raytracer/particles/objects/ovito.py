"""Data collections of OVITO, and pipelines, whose current frame is computed."""

from functools import partial
from typing import Any

import numpy as np

from raytracer.model.particle_source import Box, parse_time
from raytracer.particles.array_source import Bonds, FrameContent, ObjectSource

TYPE = "Particle Type"


class Source(ObjectSource):
    noun = "property"

    @property
    def frames(self) -> int | None:
        return int(getattr(self.value, "num_frames", 1))

    def read(self) -> FrameContent:
        data = self.value
        if hasattr(data, "compute"):
            data = data.compute(self.frame) if self.is_chosen else data.compute()
        if (particles := data.particles) is None:
            raise self.error("has no particles")
        columns: dict[str, Any] = {name: np.asarray(particles[name])
                                   for name in particles.keys()}  # noqa: SIM118 # fmt: skip
        if (types := columns.pop(TYPE, None)) is not None:
            names = {each.id: each.name for each in particles[TYPE].types}
            if all(names.get(number) for number in np.unique(types)):
                columns["species"] = [names[number] for number in types]
            else:
                columns["type"] = types
        stated = getattr(data, "attributes", {})
        time = parse_time(stated.get("Time")) or parse_time(stated.get("Timestep"), "steps")
        bonds = partial(_bonds_of, particles)
        return FrameContent(columns, _box_of(data.cell), time, bonds, int(particles.count))


def _box_of(cell: Any) -> Box | None:
    if cell is None:
        return None
    matrix = np.asarray(cell, np.float64)  # (3, 4): edges and origin as columns
    a, b, c, origin = (tuple(column) for column in matrix.T.tolist())
    x, y, z = map(bool, getattr(cell, "pbc", (True, True, True)))
    return Box(origin, (a, b, c), (x, y, z))


def _bonds_of(particles: Any) -> Bonds:
    pairs = getattr(particles.bonds, "topology", None)
    return None if pairs is None else np.asarray(pairs, np.int64).reshape(-1, 2), {}
