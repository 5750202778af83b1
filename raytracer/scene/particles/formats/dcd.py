"""Trajectories of CHARMM, NAMD and LAMMPS (.dcd): coordinates of the first frame, angstrom.

Records of Fortran: the length before and after the content. A header, a title, the number of
atoms; then for each frame the cell, if there is one, and x, y and z.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box, Moment, Particles, moment_of, no_atoms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

AKMA = 0.0488882129
"""Picoseconds in a unit of time of CHARMM."""

HEADER = 84
"""Bytes of the first record: "CORD" and twenty integers."""


class Source(LoadedSource):
    """A .dcd file."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._order = "<"
        self._place = 0
        start = self._bytes(4)
        if start == HEADER.to_bytes(4, "big"):
            self._order = ">"
        elif start != HEADER.to_bytes(4, "little"):
            raise self._damaged()
        self._place = 0
        header = self._record()
        if header[:4] not in (b"CORD", b"VELD") or len(header) != HEADER:
            raise self._damaged()
        numbers = self._as(header[4:], "i4")
        self._has_cell, self._has_fourth = bool(numbers[10]), bool(numbers[11])
        self._fixed = int(numbers[8])  # atoms that only the first frame lists; it alone is read
        delta = float(self._as(header[40:44], "f4")[0])
        self._clock = int(numbers[1]), int(numbers[2]), delta
        self._record()
        (self._atoms,) = self._as(self._record(4), "i4").tolist()
        if self._atoms < 0:
            raise self._damaged()
        self._first = self._place

    @property
    def count(self) -> int | None:
        return int(self._atoms)

    @cached_property
    def frames(self) -> int | None:
        """Number of whole frames: the header may say fewer, while the file is being written."""
        whole = (self.file.size - self._first) // self._frame_bytes
        return max(whole if not self._fixed else min(whole, 1), 1)

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self._first += frame * self._frame_bytes

    @property
    def _frame_bytes(self) -> int:
        """Bytes of a frame: the cell, three coordinates, a fourth one where there are any."""
        axes = (4 if self._has_fourth else 3) * (4 * int(self._atoms) + 8)
        return (56 if self._has_cell else 0) + axes

    @property
    def box(self) -> Box | None:
        if not self._has_cell:
            return None
        self._place = self._first
        a, gamma, b, beta, alpha, c = self._as(self._record(48), "f8").tolist()
        if max(abs(alpha), abs(beta), abs(gamma)) <= 1.0:  # NAMD and CHARMM write cosines
            from math import acos, degrees

            alpha, beta, gamma = (degrees(acos(cosine)) for cosine in (alpha, beta, gamma))
        return cell_of((a, b, c), (alpha, beta, gamma))

    @property
    def time(self) -> Moment | None:
        """The time by the header, which says the first step, their distance and its duration."""
        first, distance, delta = self._clock
        if not delta > 0.0:
            return None
        return moment_of((first + self.frame * distance) * delta * AKMA, "ps")

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        size = 4 * int(self._atoms)
        if 3 * size > self.file.size:
            raise self._damaged()
        require_room(self.name, 6 * size)
        self._place = self._first
        if self._has_cell:
            self._record()
        position = np.empty((int(self._atoms), 3), np.float32)
        for axis in range(3):
            position[:, axis] = self._as(self._record(size), "f4")
        return {"position": position}

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        result.notes.append(no_atoms(self.name))
        return result

    def _record(self, size: int | None = None) -> bytes:
        """Return the content of the record that follows, of a size if it is given."""
        length = int(self._as(self._bytes(4), "i4")[0])
        if length < 0 or length > self.file.size or (size is not None and length != size):
            raise self._damaged()
        content = self._bytes(length)
        if int(self._as(self._bytes(4), "i4")[0]) != length:
            raise self._damaged()
        return content

    def _bytes(self, size: int) -> bytes:
        """Return the bytes that follow."""
        self.file.file.seek(self._place)
        data = self.file.file.read(size)
        self._place += size
        if len(data) < size:
            raise DataFileError(f"{self.name}: is cut short")
        return data

    def _as(self, data: bytes, kind: str) -> NDArray[np.generic]:
        """Return bytes as numbers in the order of the file."""
        import numpy as np

        return np.frombuffer(data, self._order + kind)

    def _damaged(self) -> DataFileError:
        return DataFileError(f"{self.name}: is damaged, or no trajectory of CHARMM or NAMD")
