"""Points of Tecplot in text (.tec, .plt): ordered or finite-element zones, as POINT or BLOCK.

Zones of the same SOLUTIONTIME, or without one, are one frame. What follows the values of the nodes,
such as the corners of elements, is not read.
"""

import re
from functools import cached_property
from itertools import groupby
from math import prod
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.model.particle_source import parse_time
from raytracer.particles.array_source import ArraySource, FrameContent

_ZONE = rb"(?im)^[ \t]*zone\b"
_VARIABLES = r"(?is)\bvariables\s*=((?:\s*,?\s*(?:\"[^\"]*\"|[^\s\",=]+(?![^\n]*=)))+)"
_ROW = rb"(?m)^[ \t]*[-+]?\.?\d"  # the start of a line of values
_PAIR = r'(\w+)\s*=\s*(?:"([^"]*)"|([^\s,]+))'  # key="value" or key=value
_REPEAT = rb"(\d+)\*(\S+)"  # 3*0.5: three values


class Zone(NamedTuple):
    """A zone: how many nodes it has, how their values are stored, and where these are."""

    nodes: int
    is_block: bool
    time: str
    values: bytes


class Source(ArraySource):
    noun = "variable"
    memory = 4

    @cached_property
    def _zones(self) -> list[list[Zone]]:
        head, *rest = re.split(_ZONE, self.content())
        text = head.decode("utf-8", "replace")
        found = re.search(_VARIABLES, text)
        self._names = re.findall(r'"([^"]*)"|([^\s",]+)', found[1]) if found else []
        if not self._names or not rest:
            raise self.error("is damaged, or not a text of Tecplot with variables and zones")
        zones = (self._zone(number, each) for number, each in enumerate(rest, 1))
        return [list(each) for _, each in groupby(zones, lambda zone: zone.time)]

    def _zone(self, number: int, text: bytes) -> Zone:
        start = re.search(_ROW, text)
        if start is None:
            raise self.error(f"zone {number} has no values")
        head = text[: start.start()].decode("utf-8", "replace")
        pairs = re.findall(_PAIR, head)
        keys = {key.upper(): quoted or value for key, quoted, value in pairs}
        sizes = [keys.get("N") or keys.get("NODES", "")]
        if not sizes[0]:
            sizes = [keys[name] for name in "IJK" if name in keys]
        if not sizes or not all(map(str.isdecimal, sizes)):
            raise self.error(f"zone {number} does not state its number of points, as in I=100")
        packing = keys.get("DATAPACKING") or keys.get("F", "POINT")
        if "CELLCENTERED" in head.upper():
            raise self.error(
                f"zone {number} has values of cells, which are not read: write them at the nodes"
            )
        is_block = packing.upper().endswith("BLOCK")
        return Zone(prod(map(int, sizes)), is_block, keys.get("SOLUTIONTIME", ""),
                    text[start.start() :])  # fmt: skip

    def read(self) -> FrameContent:
        zones = self._zones[self.frame]
        rows = np.concatenate([self._values(zone) for zone in zones])
        columns = {quoted or plain: rows[:, place]
                   for place, (quoted, plain) in enumerate(self._names)}  # fmt: skip
        return FrameContent(columns, time=parse_time(zones[0].time), frames=len(self._zones))

    def _values(self, zone: Zone) -> NDArray[np.float64]:
        """Return the values of a zone, (nodes, variables)."""
        text = re.sub(_REPEAT, lambda found: (found[2] + b" ") * int(found[1]), zone.values)
        width = len(self._names)
        values = np.array(text.split()[: zone.nodes * width], "S32").astype(np.float64)
        if len(values) < zone.nodes * width:
            raise self.error(
                f"is incomplete: a zone of {zone.nodes:,} points and {width} variables has "
                f"{len(values):,} values"
            )
        return values.reshape(width, -1).T if zone.is_block else values.reshape(-1, width)
