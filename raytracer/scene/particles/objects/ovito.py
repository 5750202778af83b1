"""Data collections of OVITO, and pipelines, whose current frame is computed."""

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.objects.source import ObjectSource, texts_of
from raytracer.scene.particles.source import Box, Moment, moment_of

TYPE = "Particle Type"


class Source(ObjectSource):
    noun = "property"

    @cached_property
    def _data(self) -> Any:
        if not hasattr(self.value, "compute"):
            return self.value
        return self.value.compute(self.frame) if self.is_chosen else self.value.compute()

    @property
    def frames(self) -> int | None:
        return int(getattr(self.value, "num_frames", 1))

    @cached_property
    def _particles(self) -> Any:
        particles = self._data.particles
        if particles is None:
            raise self.error("has no particles")
        return particles

    @property
    def count(self) -> int | None:
        return int(self._particles.count)

    @property
    def box(self) -> Box | None:
        if self._data.cell is None:
            return None
        matrix = np.asarray(self._data.cell, np.float64)  # (3, 4): edges and origin as columns
        a, b, c, origin = (tuple(column) for column in matrix.T.tolist())
        x, y, z = map(bool, getattr(self._data.cell, "pbc", (True, True, True)))
        return Box(origin, (a, b, c), (x, y, z))

    @property
    def time(self) -> Moment | None:
        attributes = getattr(self._data, "attributes", {})
        if "Time" in attributes:
            return moment_of(attributes["Time"])
        return moment_of(attributes.get("Timestep"), "steps")

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        bonds = self._particles.bonds
        if bonds is None or bonds.topology is None:
            return None
        return np.asarray(bonds.topology, np.int64).reshape(-1, 2)

    def entries(self) -> Mapping[str, Any]:
        entries: dict[str, Any] = {name: np.asarray(self._particles[name])
                                   for name in self._particles.keys()}  # noqa: SIM118 # fmt: skip
        types = entries.pop(TYPE, None)
        if types is not None:
            names = {each.id: each.name for each in self._particles[TYPE].types}
            if all(names.get(number) for number in np.unique(types)):
                entries["species"] = texts_of([names[number] for number in types])
            else:
                entries["type"] = types
        return entries
