"""Configurations of HOOMD-blue before GSD (.xml): positions, types, diameters, bonds, box."""

from xml.etree import ElementTree

import numpy as np

from raytracer.errors import shown
from raytracer.scene.particles.array_source import ArraySource, Frame, texts
from raytracer.scene.particles.cell import hoomd_box
from raytracer.scene.particles.source import moment_of

SHAPES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("position", "velocity", "acceleration", "image"), (3,)), "orientation": (4,),
    **dict.fromkeys(("diameter", "mass", "charge", "body"), ()),
}  # fmt: skip
"""Shapes of the values of a particle, by the name of the element."""


class Source(ArraySource):
    noun = "element"
    memory = 12

    def read(self) -> Frame:
        configuration = ElementTree.fromstring(self.content()).find("configuration")
        if configuration is None:
            raise self.error("there is no element 'configuration'")
        nodes = {node.tag: node for node in configuration}
        words = {name: text for name, node in nodes.items() if (text := (node.text or "").split())}
        columns = {name: np.array(words[name], np.float64).reshape(-1, *shape)
                   for name, shape in SHAPES.items() if name in words}  # fmt: skip
        if "type" in words:
            columns["type"] = texts(words["type"])
        counts = {name: len(values) for name, values in columns.items()}
        if len(set(counts.values())) > 1:
            raise self.error(f"elements differ in length: {shown(str(counts))}")
        sizes = (
            {name.lower(): value for name, value in nodes["box"].items()} if "box" in nodes else {}
        )
        box = hoomd_box(float(sizes.get(name, 0)) for name in ("lx", "ly", "lz", "xy", "xz", "yz"))
        bonds = words.get("bond", [])
        pairs = [bonds[place : place + 2] for place in range(1, len(bonds) - 1, 3)]
        ends = np.array(pairs, np.int64) if pairs else None
        time = moment_of(configuration.get("time_step"), "steps")
        return Frame(columns, box, time, lambda: (ends, {}))
