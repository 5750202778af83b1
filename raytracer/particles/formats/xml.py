"""Particles in XML: configurations of HOOMD-blue before GSD, and elements with the names of
coordinates: spots of TrackMate, markers of Chimera, others."""

from collections import defaultdict
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import quote
from raytracer.files.references import require_no_reference
from raytracer.model import particle_names as naming
from raytracer.model.particle_source import parse_time
from raytracer.particles.array_source import ArraySource, FrameContent, encode_texts
from raytracer.particles.cell import box_from_hoomd

SHAPES: dict[str, tuple[int, ...]] = {
    **dict.fromkeys(("position", "velocity", "acceleration", "image"), (3,)), "orientation": (4,),
    **dict.fromkeys(("diameter", "mass", "charge", "body"), ()),
}  # fmt: skip
"""Shapes of the values of a particle, by the name of the element."""


class Source(ArraySource):
    noun = "attribute"
    memory = 24

    def read(self) -> FrameContent:
        require_no_reference(self.file)
        try:
            root = ElementTree.fromstring(self.content())
        except ElementTree.ParseError as problem:
            raise self.error(f"is not XML ({problem})") from None
        configuration = root.find("configuration") if root.tag.endswith("_xml") else None
        return (
            self._find_elements(root) if configuration is None else self._read_hoomd(configuration)
        )

    def _read_hoomd(self, configuration: ElementTree.Element) -> FrameContent:
        nodes = {node.tag: node for node in configuration}
        words = {name: text for name, node in nodes.items() if (text := (node.text or "").split())}
        columns = {name: np.array(words[name], np.float64).reshape(-1, *shape)
                   for name, shape in SHAPES.items() if name in words}  # fmt: skip
        if "type" in words:
            columns["type"] = encode_texts(words["type"])
        counts = {name: len(values) for name, values in columns.items()}
        if len(set(counts.values())) > 1:
            raise self.error(f"elements differ in length: {quote(str(counts))}")
        sizes = (
            {name.lower(): value for name, value in nodes["box"].items()} if "box" in nodes else {}
        )
        box = box_from_hoomd(
            float(sizes.get(name, 0)) for name in ("lx", "ly", "lz", "xy", "xz", "yz")
        )
        bonds = words.get("bond", [])
        pairs = [bonds[place : place + 2] for place in range(1, len(bonds) - 1, 3)]
        ends = np.array(pairs, np.int64) if pairs else None
        time = parse_time(configuration.get("time_step"), "steps")
        return FrameContent(columns, box, time, lambda: (ends, {}))

    def _find_elements(self, root: ElementTree.Element) -> FrameContent:
        """Return the commonest element whose attributes, or inner elements, are coordinates."""
        found: dict[str, list[dict[str, str]]] = defaultdict(list)
        for element in root.iter():
            values = element.attrib | {each.tag: each.text or "" for each in element}
            if naming.has_axes(values):
                found[element.tag].append(values)
        if not found:
            raise self.error("this kind of XML is not known: save its positions as .xyz or .csv")
        rows = max(found.values(), key=len)
        return FrameContent(
            {name: _to_column([row.get(name, "") for row in rows]) for name in rows[0]}
        )


def _to_column(words: list[str]) -> NDArray[Any]:
    """Return values as numbers if all are, or missing."""
    try:
        return np.array([float(word or "nan") for word in words])
    except ValueError:
        return encode_texts(words)
