"""Trajectories of IBIsCO and YASP (.trz): coordinates and velocities, nanometres as angstrom.

Records of Fortran, little endian: the length before and after the content. A title and a number
that says whether there are forces; then frames of the same size.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box, Moment, Particles, moment_of, no_atoms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NANOMETRE = 10.0
"""Angstrom."""

HEADER = 100
"""Bytes of the title, of the kind, and of the lengths around them."""

KINDS = {10: ("r", "v"), 20: ("r", "v", "f")}
"""Vectors of each atom, by the number in the header: coordinates, velocities, forces."""

FIRST = 20
"""Bytes of the first record of a frame: three integers and the time."""


class Source(LoadedSource):
    """A .trz file."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        head = self._bytes(0, HEADER)
        title, kind, end = (int.from_bytes(head[at : at + 4], "little") for at in (0, 92, 96))
        if title != 80 or kind not in KINDS or end != 4:
            raise DataFileError(f"{self.name}: is damaged, or no .trz trajectory")
        self._vectors = KINDS[kind]
        start = self._bytes(HEADER, 16)
        size, self._atoms = (int.from_bytes(start[at : at + 4], "little") for at in (0, 12))
        if size != FIRST or self._atoms >= 1 << 31:
            raise DataFileError(f"{self.name}: is damaged: its first frame has no number of atoms")
        if 12 * self._atoms > file.size:
            raise DataFileError(f"{self.name}: is cut short: its first frame is not all there")

    @property
    def count(self) -> int | None:
        return self._atoms

    @cached_property
    def _layout(self) -> np.dtype[Any]:
        """A frame; `gap` is the end of a record and the start of the next."""
        import numpy as np

        axes = [f"{vector}{axis}" for vector in self._vectors for axis in "xyz"]
        rows = [
            part
            for name in axes  # behind the last one the end of its record alone
            for part in (
                (name, "<f4", (self._atoms,)),
                (f"gap_{name}", "<i4", 1 + (name != axes[-1])),
            )
        ]
        return np.dtype([
            ("start", "<4i4"), ("time", "<f8"), ("gap_box", "<2i4"), ("box", "<9f8"),
            ("gap_pressure", "<2i4"), ("pressure", "<7f8"), ("gap_energy", "<3i4"),
            ("energy", "<4f8"), ("gap_rows", "<6i4"), *rows,
        ])  # fmt: skip

    @cached_property
    def frames(self) -> int | None:
        """Number of whole frames."""
        return int((self.file.size - HEADER) // self._layout.itemsize)

    @property
    def box(self) -> Box | None:
        return cell_box(self._frame["box"].reshape(3, 3) * NANOMETRE)

    @property
    def time(self) -> Moment | None:
        return moment_of(self._frame["time"], "ps")

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        require_room(self.name, 40 * self._atoms)
        names = {"r": "position", "v": "velocity", "f": "force"}
        scales = {"r": NANOMETRE, "v": NANOMETRE, "f": 1.0}
        frame = self._frame
        return {
            names[each]: np.stack([frame[f"{each}{axis}"] for axis in "xyz"], axis=1)
            * np.float32(scales[each])
            for each in self._vectors
        }

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        result.notes.append(no_atoms(self.name))
        return result

    @property
    def _frame(self) -> Any:
        """The frame, a record of NumPy."""
        import numpy as np

        place = HEADER + self.frame * self._layout.itemsize
        frame = np.frombuffer(self._bytes(place, self._layout.itemsize), self._layout)[0]
        if int(frame["start"][3]) != self._atoms:
            raise DataFileError(
                f"{self.name}: is damaged: frame {self.frame} has {int(frame['start'][3]):,} "
                f"atoms, the first one {self._atoms:,}"
            )
        return frame

    def _bytes(self, place: int, size: int) -> bytes:
        self.file.file.seek(place)
        data = self.file.file.read(size)
        if len(data) < size:
            raise DataFileError(f"{self.name}: is cut short")
        return data
