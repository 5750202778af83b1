"""Formats that the library ASE reads (.traj, .cfg, .xsf, .cube, OUTCAR, ...): the first image.

ASE runs in a process of its own, as its readers of outputs are not made for damaged files.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.memory import require_room
from raytracer.scene.particles.isolated import parsed
from raytracer.scene.particles.loaded import LoadedSource, library
from raytracer.scene.particles.source import Box, Particles

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY = 16
"""Bytes of memory for each byte of the file while it is parsed."""


class Source(LoadedSource):
    """A file of one of the formats; `variant` is its name in ASE."""

    @property
    def frames(self) -> int | None:
        return int(self._answer["frames"])

    @property
    def box(self) -> Box | None:
        from raytracer.scene.particles.cell import cell_box

        return cell_box(self._answer["cell"])

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if (self.frames or 1) > 1:
            result.notes.append(("", (
                f"{self.name}: holds {self.frames:,} frames; the first is shown"
            )))  # fmt: skip
        return result

    def read(self) -> dict[str, NDArray[Any]]:
        from raytracer.scene.particles.objects.ase import symbols_of

        columns = {name.removeprefix("column "): each for name, each in self._answer.items()
                   if name.startswith("column ")}  # fmt: skip
        return {"element": symbols_of(columns.pop("numbers"))} | columns

    @cached_property
    def _answer(self) -> dict[str, NDArray[Any]]:
        """The arrays of the other process."""
        library("ase", self.name, "ase")
        require_room(self.name, MEMORY * self.file.size)
        return parsed(self.file, "ase", self.variant, f"ASE {self.variant}")


def parse(path: str, variant: str) -> dict[str, NDArray[Any]]:
    """Return the first image of a file as arrays; for `isolated`."""
    import numpy as np
    from ase.io import iread

    images = iread(path, ":", format=variant)
    first = next(iter(images), None)
    if first is None:
        raise ValueError("there are no atoms")
    found = {"frames": np.array(1 + sum(1 for _ in images)), "cell": np.array(first.cell)}
    results = first.calc.results if first.calc is not None else {}
    for name, values in {**results, **first.arrays}.items():
        array = np.asarray(values)
        if array.shape[:1] == (len(first),) and array.dtype.kind in "iufb":
            found[f"column {name}"] = array
    return found
