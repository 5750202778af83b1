"""Topologies of CHARMM, NAMD and X-PLOR (.psf): atoms and bonds without coordinates."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.files.access import LINE_BYTES, OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Particles
from raytracer.scene.particles.text_table import read_columns

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_LINES = 100_000
"""Most lines before the atoms."""

TEXT_BYTES = 8
"""Longest name of an atom or a residue."""

_SECTION = re.compile(rb"\s*(\d{1,15})\s+!N(ATOM|BOND)\b")


class Source(LoadedSource):
    """A .psf file."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._sections: dict[bytes, tuple[int, int]] = {}  # rows, and the line of the first
        stream = file.file
        stream.seek(0)
        for place in range(MOST_LINES):
            line = stream.readline(LINE_BYTES)
            if place == 0 and not line.startswith(b"PSF"):
                raise DataFileError(f"{self.name}: is no PSF file")
            if found := _SECTION.match(line):
                self._sections[found[2]] = (int(found[1]), place + 1)
            if not line or b"ATOM" in self._sections:
                break
        if b"ATOM" not in self._sections:
            raise DataFileError(f"{self.name}: there is no section !NATOM")

    @property
    def count(self) -> int | None:
        return self._sections[b"ATOM"][0]

    @cached_property
    def bonds(self) -> NDArray[np.int64] | None:
        """Pairs of atoms; they stand four in a line after the atoms."""
        import numpy as np

        require_room(self.name, 4 * self.file.size)
        _, _, rest = self.file.read(self.file.size).partition(b"!NBOND")
        words = rest.partition(b"!N")[0].split(b"\n", 1)[-1].split()
        if words and b"!N" in rest:
            words = words[:-1]  # the count of the next section
        pairs: NDArray[np.int64] = np.array(words, np.int64)[: len(words) // 2 * 2] - 1
        return pairs.reshape(-1, 2) if len(pairs) else None

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        count, line = self._sections[b"ATOM"]
        places = {"residue": 3, "name": 4}
        numbers = {"charge": 6, "mass": 7}
        most = min(count, self.file.size // 16 + 1)
        require_room(self.name, most * 64)
        if count:
            table, words = read_columns(
                self.file, numbers, places, TEXT_BYTES, skiprows=line, max_rows=most
            )
        else:
            table, words = np.zeros((0, 2)), [np.zeros(0, "S8"), np.zeros(0, "S8")]
        if len(table) != count:
            raise DataFileError(
                f"{self.name}: line {line} says {count} atoms, but there are {len(table)}"
            )
        residue, name = words
        return {
            "residue": residue,
            "name": name,
            "element": elements_of(name, residue),
            "charge": table[:, 0],
            "mass": table[:, 1],
        }

    def particles(self, names: Mapping[str, str]) -> Particles:
        raise DataFileError(
            f"{self.name}: holds atoms without coordinates: render a trajectory of them, with "
            f"--topology {shown(self.name)}"
        )
