"""Dumps of LAMMPS in YAML (.yaml), and other tables in it: the first document. Read by PyYAML."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_box
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
        """The box of a dump of LAMMPS, if it has right angles."""
        rows = self._document.get("box") if isinstance(self._document, dict) else None
        if not isinstance(rows, list) or [len(row) for row in rows] != [2, 2, 2]:
            return None
        box = cell_box([[high - low if i == j else 0.0 for j in range(3)]
                        for i, (low, high) in enumerate(rows)])  # fmt: skip
        x, y, z = (float(low) for low, _ in rows)
        return box and box._replace(origin=(x, y, z))

    @property
    def time(self) -> Moment | None:
        steps = self._document.get("timestep") if isinstance(self._document, dict) else None
        return moment_of(steps, "steps")
