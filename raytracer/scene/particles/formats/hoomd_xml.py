"""Configurations of HOOMD-blue before GSD (.xml): positions, types, diameters, bonds, box."""

from functools import cached_property
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown
from raytracer.scene.particles.cell import hoomd_box
from raytracer.scene.particles.loaded import LoadedSource, texts
from raytracer.scene.particles.source import Box, Moment, moment_of

WIDTHS = {"position": 3, "velocity": 3, "acceleration": 3, "image": 3, "orientation": 4,
          "diameter": 1, "mass": 1, "charge": 1, "body": 1}  # fmt: skip
"""Numbers of a particle, by the name of the element."""


class Source(LoadedSource):
    noun = "element"
    memory = 12

    @cached_property
    def _nodes(self) -> dict[str, ElementTree.Element]:
        configuration = ElementTree.fromstring(self.content()).find("configuration")
        if configuration is None:
            raise self.error("there is no element 'configuration'")
        return {"configuration": configuration} | {node.tag: node for node in configuration}

    def _words(self, name: str) -> list[str]:
        return (self._nodes[name].text or "").split() if name in self._nodes else []

    def read(self) -> dict[str, NDArray[Any]]:
        columns: dict[str, NDArray[Any]] = {}
        for name, width in WIDTHS.items():
            if words := self._words(name):
                values = np.array(words, np.float64)
                columns[name] = values.reshape(-1, width) if width > 1 else values
        if words := self._words("type"):
            columns["type"] = texts(words)
        counts = {name: len(values) for name, values in columns.items()}
        if len(set(counts.values())) > 1:
            raise self.error(f"elements differ in length: {shown(str(counts))}")
        return columns

    @property
    def box(self) -> Box | None:
        sizes = self._nodes["box"].attrib if "box" in self._nodes else {}
        names = ("lx", "ly", "lz", "xy", "xz", "yz")
        lower = {name.lower(): value for name, value in sizes.items()}
        return hoomd_box(float(lower.get(name, 0.0)) for name in names)

    @property
    def time(self) -> Moment | None:
        return moment_of(self._nodes["configuration"].get("time_step"), "steps")

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        words = self._words("bond")
        pairs = [words[place + 1 : place + 3] for place in range(0, len(words) - 2, 3)]
        return np.array(pairs, np.int64).reshape(-1, 2) if pairs else None
