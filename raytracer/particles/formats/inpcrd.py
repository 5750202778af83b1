"""Text restart files of AMBER (.inpcrd, .rst7): coordinates, velocities and box, in angstrom.

MDAnalysis would leave out velocities and box.
"""

import numpy as np

from raytracer.model.particle_source import parse_time
from raytracer.particles.array_source import ArraySource, FrameContent
from raytracer.particles.cell import cell_from_sizes

WIDTH = 12  # width of a number in characters


class Source(ArraySource):
    lacks_atoms = True
    memory = 16

    def read(self) -> FrameContent:
        _, head, *rows = [*self.content().splitlines(), b"", b""]
        words = head.split()
        cells = [row[at : at + WIDTH] for row in rows
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
        columns = {"position": numbers[: 3 * count].reshape(-1, 3)}
        rest = len(numbers) - 3 * count  # velocities, and three lengths and angles of the box
        if count and rest in (3 * count, 3 * count + 6):
            columns["velocity"] = numbers[3 * count : 6 * count].reshape(-1, 3)
        box = cell_from_sizes(numbers[-6:].tolist()) if rest in (6, 3 * count + 6) else None
        return FrameContent(columns, box, parse_time(words[1], "ps") if len(words) > 1 else None)
