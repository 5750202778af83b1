"""Text restart files of AMBER (.inpcrd, .rst7): coordinates, velocities and box, in angstrom.

MDAnalysis would leave out velocities and box.
"""

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box, Moment, moment_of

WIDTH = 12  # width of a number in characters


class Source(LoadedSource):
    lacks_atoms = True
    memory = 16

    @cached_property
    def _parts(self) -> tuple[int, Moment | None, NDArray[Any]]:
        """Number of atoms, time, and all numbers: coordinates, velocities, box."""
        lines = self.content().splitlines()
        words = lines[1].split() if len(lines) > 1 else []
        cells = [row[at : at + WIDTH] for row in lines[2:]
                 for at in range(0, len(row.rstrip()), WIDTH)]  # fmt: skip
        try:
            count, numbers = int(words[0]), np.array(cells, np.float64)
        except (ValueError, IndexError):
            raise self.error("is damaged, or not a restart file of AMBER") from None
        if not 0 <= 3 * count <= len(numbers):
            raise self.error(
                f"line 2 states {count} atoms, but there are coordinates for {len(numbers) // 3}: "
                "the file is incomplete"
            )
        return count, moment_of(words[1], "ps") if len(words) > 1 else None, numbers

    @property
    def count(self) -> int | None:
        return self._parts[0]

    @property
    def time(self) -> Moment | None:
        return self._parts[1]

    @property
    def box(self) -> Box | None:
        """The box at the end: three lengths and three angles."""
        count, _, numbers = self._parts
        if len(numbers) - 3 * count not in (6, 6 + 3 * count):
            return None
        return cell_of(numbers[-6:].tolist())

    def read(self) -> dict[str, NDArray[Any]]:
        count, _, numbers = self._parts
        columns = {"position": numbers[: 3 * count].reshape(-1, 3)}
        if count and len(numbers) - 6 * count in (0, 6):
            columns["velocity"] = numbers[3 * count : 6 * count].reshape(-1, 3)
        return columns
