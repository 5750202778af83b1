"""Dumps of LAMMPS in YAML (.yaml), and other tables in it, one a document. Read by PyYAML."""

import os
import re
from collections.abc import Sequence
from functools import cached_property
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.model.particle_source import Box, FrameTime, parse_time
from raytracer.particles.array_source import import_library
from raytracer.particles.cell import box_from_cell, box_from_lammps
from raytracer.particles.lines import find_starting_lines
from raytracer.particles.nested import NestedSource
from raytracer.system.memory import require_room

MEMORY = 200  # bytes of memory per byte of a document while it is parsed
START, END = b"---", rb"(?m)^\.\.\.\s*$"  # lines before and after a document
TAIL = 64  # bytes that contain the last line


def _count_values(node: Any, most: int, known: dict[int, int]) -> int:
    """Return the number of values of a node of PyYAML, each as often as aliases repeat it, or one
    above `most`; `known` has those of other nodes."""
    if id(node) not in known:
        known[id(node)] = most + 1  # of one that contains itself
        parts = node.value if isinstance(node.value, list) else ()
        inner = chain.from_iterable(part if isinstance(part, tuple) else (part,) for part in parts)
        total = 1
        for each in inner:
            total += _count_values(each, most, known)
            if total > most:
                break
        known[id(node)] = total
    return known[id(node)]


class Source(NestedSource):
    """A document; each begins with a line "---", and is a frame."""

    has_pieces = True

    def frame_starts(self) -> Sequence[int]:
        """Return the start of each document; a last one that lacks its end is left out."""
        starts = [0, *list(find_starting_lines(self.file, START))[1:], self.file.size]
        if len(starts) > 2 and self._is_ended(*starts[:2]) > self._is_ended(*starts[-2:]):
            starts.pop()
        return starts

    def _is_ended(self, start: int, end: int) -> bool:
        """Whether a document has the line "..." of its end."""
        tail = os.pread(self.file.file.fileno(), min(TAIL, end - start), max(start, end - TAIL))
        return bool(re.search(END, tail))

    @property
    def frames(self) -> int | None:
        return len(self.frame_starts()) - 1

    @cached_property
    def _document(self) -> Any:
        yaml = import_library("yaml", self.name, "yaml")
        start, end, *_ = self.frame_starts()
        require_room(self.name, MEMORY * (end - start))
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        text = os.pread(self.file.file.fileno(), end - start, start)
        reader = loader(text)
        try:
            while reader.check_node():
                node = reader.get_node()
                if _count_values(node, end - start, {}) > end - start:
                    raise self.error(
                        "its aliases stand for more values than the file has letters, so no "
                        "columns x, y and z are looked for: write the values out"
                    )
                if (document := reader.construct_document(node)) is not None:
                    return document
        finally:
            reader.dispose()
        return None

    def read(self) -> dict[str, NDArray[Any]]:
        return self.find_columns(self._document)

    @property
    def box(self) -> Box | None:
        """The box of a dump of LAMMPS, periodic where its boundaries are."""
        document = self._document if isinstance(self._document, dict) else {}
        rows, ends = document.get("box"), document.get("boundary")
        try:
            numbers = np.array(rows, np.float64)
        except (TypeError, ValueError):
            return None
        if numbers.shape not in ((3, 2), (3, 3)):
            return None
        kinds = ends if isinstance(ends, list) and len(ends) == 6 else ["p"] * 6
        x, y, z = (kinds[place : place + 2] == ["p", "p"] for place in (0, 2, 4))
        box = box_from_lammps(numbers.tolist(), (x, y, z))
        return box_from_cell(box.edges, box.periodic) and box

    @cached_property
    def units(self) -> str:  # type: ignore[override]
        """The style of units of a dump of LAMMPS."""
        document = self._document if isinstance(self._document, dict) else {}
        stated = document.get("units") if "keywords" in document else None
        return "" if stated is None else str(stated)

    @property
    def time(self) -> FrameTime | None:
        steps = self._document.get("timestep") if isinstance(self._document, dict) else None
        return parse_time(steps, "steps")
