"""Trajectories of GROMACS with full precision (.trr): the first frame that has positions.

Numbers are big-endian (XDR). Lengths are nanometres in the file and angstrom here.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box, Moment, Particles, moment_of, no_atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray

NANOMETRE = 10.0
"""Angstrom."""

_START = struct.Struct(">iii12s")
_SIZES = struct.Struct(">13i")
_MAGIC = 1993


class Frame(NamedTuple):
    """A frame: start and sizes of its blocks, number of atoms, bytes of a real number, time."""

    start: int
    box: int
    before: int
    position: int
    velocity: int
    force: int
    atoms: int
    real: int
    time: float

    @property
    def end(self) -> int:
        """Where the next frame begins."""
        return self.start + self.box + self.before + self.position + self.velocity + self.force


class Source(LoadedSource):
    """A .trr file."""

    has_pieces = True

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        place = 0
        while (frame := self._frame(place)).position == 0:
            place = frame.end
        self._first = frame

    @property
    def count(self) -> int | None:
        return self._first.atoms

    @property
    def frames(self) -> int | None:
        """Number of frames that have positions."""
        return len(self.frame_starts()) - 1

    def frame_starts(self) -> Sequence[int]:
        starts, place = [], 0
        while place < self.file.size:
            frame = self._frame(place)
            if frame.position:
                starts.append(place)
            place = frame.end
        return [*starts, place]

    @property
    def box(self) -> Box | None:
        frame = self._first
        if not frame.box:
            return None
        rows = self._reals(frame.start, 9).reshape(3, 3) * NANOMETRE
        a, b, c = (tuple(row) for row in rows.tolist())
        return Box((0.0, 0.0, 0.0), (a, b, c))

    @property
    def time(self) -> Moment | None:
        return moment_of(self._first.time, "ps")

    def read(self) -> dict[str, NDArray[Any]]:
        frame = self._first
        sizes = {"position": frame.position, "velocity": frame.velocity, "force": frame.force}
        require_room(self.name, 32 * frame.atoms * sum(size > 0 for size in sizes.values()))
        place, columns = frame.start + frame.box + frame.before, {}
        for name, size in sizes.items():
            if size:
                values = self._reals(place, 3 * frame.atoms).reshape(-1, 3)
                columns[name] = values if name == "force" else values * NANOMETRE
            place += size
        return columns

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        result.notes.append(no_atoms(self.name))
        return result

    def _frame(self, place: int) -> Frame:
        """Read the header of a frame."""
        head = self._bytes(place, _START.size + _SIZES.size)
        magic, _, length, name = _START.unpack_from(head)
        sizes = _SIZES.unpack_from(head, _START.size)
        if magic != _MAGIC or length != 12 or name != b"GMX_trn_file" or min(sizes[:11]) < 0:
            raise DataFileError(f"{self.name}: is damaged, or no .trr file of GROMACS")
        _, _, box, virial, pressure, _, _, position, velocity, force, atoms, _, _ = sizes
        real = box // 9 if box else max(position, velocity, force) // max(3 * atoms, 1)
        right = real in (4, 8) and all(
            size in (0, 3 * atoms * real) for size in (position, velocity, force)
        )
        if not right or box not in (0, 9 * real):
            raise DataFileError(f"{self.name}: is damaged: the sizes of a frame do not fit")
        start = place + _START.size + _SIZES.size + 2 * real
        form = ">f" if real == 4 else ">d"
        (time,) = struct.unpack(form, self._bytes(start - 2 * real, real))
        frame = Frame(start, box, virial + pressure, position, velocity, force, atoms, real, time)
        if frame.end > self.file.size:
            raise DataFileError(f"{self.name}: is cut short")
        return frame

    def _reals(self, place: int, count: int) -> NDArray[Any]:
        """Return numbers of the file as float64, (count,)."""
        import numpy as np

        real = self._first.real
        data = self._bytes(place, count * real)
        return np.frombuffer(data, f">f{real}").astype(np.float64)

    def _bytes(self, place: int, size: int) -> bytes:
        self.file.file.seek(place)
        data = self.file.file.read(size)
        if len(data) < size:
            raise DataFileError(f"{self.name}: is cut short")
        return data
