"""Structures with charges and radii (.pqr), as PDB2PQR and APBS use them.

The columns of an atom are separated by spaces: record, number, name, residue, chain (which may be
missing), number of the residue, x, y, z, charge, radius.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.memory import require_room
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.loaded import LoadedSource, texts

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY = 16
"""Bytes of memory for each byte of the file while it is parsed."""

FEWEST = 10
"""Words of an atom without a chain."""


class Source(LoadedSource):
    """A .pqr file."""

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        require_room(self.name, MEMORY * self.file.size)
        self.file.require_short_lines()
        rows: list[list[str]] = []
        numbers: list[list[float]] = []
        lines = self.file.read(self.file.size).decode("utf-8", "replace").splitlines()
        for place, line in enumerate(lines, 1):
            if not line.startswith(("ATOM", "HETATM")):
                continue
            words = line.split()
            try:
                if len(words) < FEWEST:
                    raise ValueError
                numbers.append([float(word) for word in words[-5:]])
            except ValueError:
                raise DataFileError(
                    f"{self.name}: line {place}: '{shown(line.strip(), 40)}' does not end with x, "
                    "y, z, charge and radius"
                ) from None
            rows.append(words)
        if not rows:
            raise DataFileError(f"{self.name}: there are no atoms (records ATOM and HETATM)")
        values = np.array(numbers)
        name, residue = (texts([row[place] for row in rows]) for place in (2, 3))
        found = {"name": name, "residue": residue, "position": values[:, :3]}
        found |= {"charge": values[:, 3], "element": elements_of(name, residue)}
        if (values[:, 4] > 0.0).all():
            found["radius"] = values[:, 4]
        return found
