"""Elements of XML with the names of coordinates: spots of TrackMate, markers of Chimera, others."""

from collections import defaultdict
from contextlib import suppress
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles import naming
from raytracer.scene.particles.array_source import ArraySource, texts


class Source(ArraySource):
    """The commonest element whose attributes, or inner elements, are coordinates."""

    noun = "attribute"
    memory = 24

    def read(self) -> dict[str, NDArray[Any]]:
        found: dict[str, list[dict[str, str]]] = defaultdict(list)
        with suppress(ElementTree.ParseError):
            for element in ElementTree.fromstring(self.content()).iter():
                values = element.attrib | {each.tag: each.text or "" for each in element}
                if naming.has_axes(values):
                    found[element.tag].append(values)
        if not found:
            raise self.error("this kind of XML is not known: save its positions as .xyz or .csv")
        rows = max(found.values(), key=len)
        return {name: _column([row.get(name, "") for row in rows]) for name in rows[0]}


def _column(words: list[str]) -> NDArray[Any]:
    """Return values as numbers if all are, or missing."""
    try:
        return np.array([float(word or "nan") for word in words])
    except ValueError:
        return texts(words)
