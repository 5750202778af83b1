"""Topologies of AMBER (.prmtop, .parm7): atoms and bonds without coordinates.

Sections of a `%FLAG NAME`, a `%FORMAT(...)` of Fortran and values in columns of a fixed width.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError, shown
from raytracer.memory import require_room
from raytracer.scene.particles.atom_names import elements_of
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.source import Particles

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

CHARGE = 18.2223
"""Charges of the file in a charge of the electron."""

MEMORY = 8
"""Bytes of memory for each byte of the file while it is parsed."""

_FORMAT = re.compile(rb"%FORMAT\(\s*\d*\s*([aAiIeEfF])\s*(\d{1,3})")


class Source(LoadedSource):
    """A .prmtop file."""

    @cached_property
    def _sections(self) -> dict[str, tuple[str, list[bytes]]]:
        """The kind of the values of each section, a, i or e, and the values."""
        require_room(self.name, MEMORY * self.file.size)
        parts = self.file.read(self.file.size).split(b"%FLAG")[1:]
        found: dict[str, tuple[str, list[bytes]]] = {}
        for part in parts:
            head, _, body = part.partition(b"%FORMAT")
            form = _FORMAT.match(b"%FORMAT" + body[:40])
            if form is None or int(form[2]) == 0:
                continue
            width, lines = int(form[2]), body.partition(b"\n")[2].splitlines()
            name = head.strip().split(b"\n")[0].strip().decode("utf-8", "replace")
            cells = [line[at : at + width] for line in lines for at in range(0, len(line), width)]
            found[name] = (form[1].decode().lower(), cells)
        return found

    def _texts(self, name: str) -> list[bytes]:
        """Return the values of a section of texts; none if it is not there."""
        return [cell.strip() for cell in self._sections.get(name, ("a", []))[1]]

    def _numbers(self, name: str) -> NDArray[Any]:
        """Return the values of a section of numbers; none if it is not there."""
        import numpy as np

        kind, cells = self._sections.get(name, ("e", []))
        words = [cell for cell in cells if cell.strip()]
        try:
            return np.array(words, np.int64 if kind == "i" else np.float64)
        except (ValueError, OverflowError):
            raise DataFileError(
                f"{self.name}: %FLAG {shown(name, 40)}: holds a value that is no number"
            ) from None

    @cached_property
    def count(self) -> int | None:
        pointers = self._numbers("POINTERS")
        names = self._sections.get("ATOM_NAME", ("a", []))[1]
        if len(pointers) < 12 or not 0 <= pointers[0] <= len(names):
            raise DataFileError(f"{self.name}: is damaged, or no topology of AMBER")
        return int(pointers[0])

    @cached_property
    def bonds(self) -> NDArray[np.int64] | None:
        """Pairs of atoms: the file has three times their numbers, and the kind of the bond."""
        import numpy as np

        rows = []
        for name in ("BONDS_INC_HYDROGEN", "BONDS_WITHOUT_HYDROGEN"):
            values = self._numbers(name).astype(np.int64)
            rows.append(values[: len(values) // 3 * 3].reshape(-1, 3)[:, :2] // 3)
        pairs: NDArray[np.int64] = np.concatenate(rows)
        if len(pairs) and not (pairs.min() >= 0 and pairs.max() < int(self.count or 0)):
            raise DataFileError(f"{self.name}: a bond names an atom that is not there")
        return pairs if len(pairs) else None

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        count = int(self.count or 0)
        name = np.array(self._texts("ATOM_NAME")[:count], "S8")
        residue, number = self._residues(count)
        columns: dict[str, NDArray[Any]] = {"residue": residue, "residue_id": number, "name": name}
        numbers = self._numbers("ATOMIC_NUMBER")
        if len(numbers) == count:
            from raytracer.scene.particles.objects.ase import symbols_of

            columns["element"] = symbols_of(numbers)
        else:
            columns["element"] = elements_of(name, residue)
        for column, section, unit in (("charge", "CHARGE", CHARGE), ("mass", "MASS", 1.0)):
            values = self._numbers(section)
            if len(values) == count:
                columns[column] = values / unit
        return columns

    def _residues(self, count: int) -> tuple[NDArray[Any], NDArray[np.int64]]:
        """Return the residue of each atom: its name and its number from 1."""
        import numpy as np

        labels = np.array(self._texts("RESIDUE_LABEL") or [b""], "S8")
        starts = self._numbers("RESIDUE_POINTER").astype(np.int64) - 1
        place = np.searchsorted(starts, np.arange(count), side="right") - 1
        place = np.clip(place, 0, len(labels) - 1)
        return labels[place], place + 1

    def particles(self, names: Mapping[str, str]) -> Particles:
        raise DataFileError(
            f"{self.name}: holds atoms without coordinates: render a trajectory of them, with "
            f"--topology {shown(self.name)}"
        )
