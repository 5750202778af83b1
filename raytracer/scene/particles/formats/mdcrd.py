"""Trajectories of AMBER in text (.mdcrd, .crd, .trj, .crdbox): coordinates, in angstrom.

A line with a title; then for each frame the coordinates, ten in a line and eight letters each, and
perhaps a line with the lengths of the box. The number of atoms stands in the topology alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, counted, shown
from raytracer.files.access import LINE_BYTES, OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.conversion import unread, way_out
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Box, Particles, no_atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray

WIDTH = 8
"""Letters of a number."""

PER_LINE = 10
"""Numbers in a line."""

MEMORY = 8
"""Bytes of memory for each byte of a frame while it is parsed."""


class Source(LoadedSource):
    """A trajectory of AMBER in text, whose topology says the number of atoms."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        if file.atoms is None:
            raise DataFileError(f"{self.name}: {_without_atoms(file)}")
        self._atoms = file.atoms()
        title = os.pread(file.file.fileno(), LINE_BYTES, 0)
        self._head = title.find(b"\n") + 1
        self._end = 2 if title[: self._head].endswith(b"\r\n") else 1
        if not self._head or not self._atoms:
            raise DataFileError(f"{self.name}: holds no frames of a trajectory of AMBER")
        box = self._bytes(self._head + self._coordinates, PER_LINE * WIDTH)
        length = len(box.partition(b"\n")[0].rstrip())
        row = min(3 * self._atoms, PER_LINE) * WIDTH  # of the next frame, if there is no box
        self._box = length if length in (3 * WIDTH, 6 * WIDTH) and length != row else 0
        self._note_rest()

    @property
    def count(self) -> int | None:
        return self._atoms

    @property
    def _coordinates(self) -> int:
        """Bytes of the coordinates of a frame."""
        lines = -(-3 * self._atoms // PER_LINE)
        return 3 * self._atoms * WIDTH + lines * self._end

    @property
    def _frame_bytes(self) -> int:
        return self._coordinates + (self._box + self._end if self._box else 0)

    @cached_property
    def frames(self) -> int | None:
        """Number of whole frames."""
        return self._whole

    @cached_property
    def _whole(self) -> int:
        size = self.file.size - self._head
        if self._bytes(self.file.size - 1, 1) != b"\n":  # the last line lacks its end
            size += self._end
        whole = size // self._frame_bytes
        if not whole:
            raise DataFileError(
                f"{self.name}: is cut short: its first frame has fewer coordinates than the "
                f"{counted(self._atoms, 'atom')} of the topology"
            )
        return whole

    def _note_rest(self) -> None:
        """Warn of a last frame that is cut short, as that of a file that is being written."""
        if self._bytes(self._head + self._whole * self._frame_bytes, LINE_BYTES).strip():
            self.notes.append(("", (
                f"{self.name}: frame {self._whole} is cut short and left out; there are "
                f"{counted(self._whole, 'whole frame')} of {counted(self._atoms, 'atom')}"
            )))  # fmt: skip

    @property
    def box(self) -> Box | None:
        """The box at the end of the frame; without angles they are right ones."""
        if not self._box:
            return None
        place = self._head + self.frame * self._frame_bytes + self._coordinates
        numbers = self._numbers([self._bytes(place, self._box)]).tolist()
        a, b, c, *angles = numbers
        alpha, beta, gamma = angles or (90.0, 90.0, 90.0)
        return cell_of((a, b, c), (alpha, beta, gamma))

    def read(self) -> dict[str, NDArray[Any]]:
        require_room(self.name, MEMORY * self._coordinates)
        place = self._head + self.frame * self._frame_bytes
        rows = self._bytes(place, self._coordinates).splitlines()
        left = 3 * self._atoms
        for number, row in enumerate(rows):
            expected = min(left, PER_LINE)
            if len(row) != expected * WIDTH:
                line = number + 1 + self._lines_before
                raise DataFileError(
                    f"{self.name}: line {line:,}: '{shown(_text(row), 60)}' is not "
                    f"{counted(expected, 'number')} of {WIDTH} letters, as frame {self.frame} of "
                    f"{counted(self._atoms, 'atom')} has there; does the topology list the same "
                    "atoms?"
                )
            left -= expected
        return {"position": self._numbers(rows).reshape(-1, 3)}

    @property
    def _lines_before(self) -> int:
        """Lines before the frame, with that of the title."""
        lines = -(-3 * self._atoms // PER_LINE) + bool(self._box)
        return 1 + self.frame * lines

    def _numbers(self, rows: list[bytes]) -> NDArray[Any]:
        """Return the numbers of lines, float64."""
        import numpy as np

        cells = np.frombuffer(b"".join(rows), f"S{WIDTH}")
        try:
            return cells.astype(np.float64)
        except ValueError:
            bad = next(cell for cell in cells.tolist() if not _is_number(cell))
            raise DataFileError(
                f"{self.name}: frame {self.frame}: '{shown(_text(bad))}' is not a number"
            ) from None

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        result.notes.append(no_atoms(self.name))
        return result

    def _bytes(self, place: int, size: int) -> bytes:
        return os.pread(self.file.file.fileno(), size, place)


def _without_atoms(file: OpenFile) -> str:
    """Return the sentence about a trajectory without a topology."""
    way = way_out(file.path)
    return (
        f"{unread(file.path.suffix.lower())} without a topology, which says the number of atoms: "
        'name one, --topology ATOMS.prmtop, or topology = "ATOMS.prmtop" in the set of a scene '
        f"file{'; or ' if way else ''}{way}"
    )


def _is_number(cell: bytes) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace").strip()
