"""Dumps of LAMMPS in YAML (.yaml), and other tables in it: the first document. Read by PyYAML."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_box, lammps_box
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.nested import NestedSource
from raytracer.scene.particles.source import Box, Moment, moment_of

MEMORY = 200  # bytes of memory per byte of the file while it is parsed


class Source(NestedSource):
    @cached_property
    def _documents(self) -> list[Any]:
        yaml = library("yaml", self.name, "yaml")
        require_room(self.name, MEMORY * self.file.size)
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
        text = self.file.read(self.file.size)
        return [each for each in yaml.load_all(text, loader) if each is not None]

    @property
    def _document(self) -> Any:
        return self._documents[self.frame] if self._documents else None

    @property
    def frames(self) -> int | None:
        return len(self._documents)

    def read(self) -> dict[str, NDArray[Any]]:
        return self.found(self._document)

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
        box = lammps_box(numbers.tolist(), (x, y, z))
        return cell_box(box.edges, box.periodic) and box

    @property
    def time(self) -> Moment | None:
        steps = self._document.get("timestep") if isinstance(self._document, dict) else None
        return moment_of(steps, "steps")
