"""Coordinates of NAMD in binary (.coor): the number of atoms, and float64 x, y, z, angstrom."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Particles, no_atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Source(LoadedSource):
    """A .coor file."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        file.file.seek(0)
        start = file.file.read(4)
        little, big = int.from_bytes(start, "little"), int.from_bytes(start, "big")
        self._is_big = 4 + 24 * little != file.size
        self._atoms = big if self._is_big else little
        if 4 + 24 * self._atoms != file.size:
            raise DataFileError(
                f"{self.name}: is damaged, cut short, or no binary coordinates of NAMD: its size "
                "is not that of as many atoms as it says"
            )

    @property
    def count(self) -> int | None:
        return self._atoms

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        require_room(self.name, 48 * self._atoms)
        self.file.file.seek(4)
        values = np.frombuffer(
            self.file.file.read(24 * self._atoms), ">f8" if self._is_big else "<f8"
        )
        return {"position": values.astype(np.float64).reshape(-1, 3)}

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        result.notes.append(no_atoms(self.name))
        return result
