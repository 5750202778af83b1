"""Text restart files of AMBER (.inpcrd, .rst7): coordinates, velocities and box, in angstrom.

MDAnalysis would leave out velocities and box.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.files.access import OpenFile
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box, moment_of

WIDTH = 12  # width of a number in characters


class Source(LoadedSource):
    lacks_atoms = True
    memory = 16

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        _, head, *rows = [*self.content().splitlines(), b"", b""]
        words = head.split()
        cells = [row[at : at + WIDTH] for row in rows
                 for at in range(0, len(row.rstrip()), WIDTH)]  # fmt: skip
        try:
            self._count, self._numbers = int(words[0]), np.array(cells, np.float64)
        except (ValueError, IndexError):
            raise self.error("is damaged, or not a restart file of AMBER") from None
        self._clock = moment_of(words[1], "ps") if len(words) > 1 else None
        if not 0 <= 3 * self._count <= len(self._numbers):
            raise self.error(
                f"line 2 states {self._count} atoms, but there are coordinates for "
                f"{len(self._numbers) // 3}: the file is incomplete"
            )

    count = property(lambda self: self._count)
    time = property(lambda self: self._clock)

    @property
    def box(self) -> Box | None:
        """The box at the end: three lengths and three angles."""
        has_box = len(self._numbers) - 3 * self._count in (6, 6 + 3 * self._count)
        return cell_of(self._numbers[-6:].tolist()) if has_box else None

    def read(self) -> dict[str, NDArray[Any]]:
        count, numbers = self._count, self._numbers
        columns = {"position": numbers[: 3 * count].reshape(-1, 3)}
        if count and len(numbers) - 6 * count in (0, 6):
            columns["velocity"] = numbers[3 * count : 6 * count].reshape(-1, 3)
        return columns
