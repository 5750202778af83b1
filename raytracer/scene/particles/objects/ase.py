"""Atoms of ASE: positions in angstrom, the arrays of the object, its cell."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from raytracer.scene.elements import table
from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.objects.source import Entry, ObjectSource, entries_of
from raytracer.scene.particles.source import Box, Column, Moment, moment_of

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Source(ObjectSource):
    """An `ase.Atoms`."""

    noun = "array"

    @property
    def count(self) -> int | None:
        return len(self.value)

    @property
    def box(self) -> Box | None:
        return cell_box(self.value.cell, self.value.pbc)

    @property
    def time(self) -> Moment | None:
        return moment_of(self.value.info.get("time"))

    def entries(self) -> Mapping[str, Entry]:
        import numpy as np

        arrays = dict(self.value.arrays)
        numbers = np.asarray(arrays.pop("numbers"))
        results = getattr(getattr(self.value, "calc", None), "results", None)
        extra = results if isinstance(results, Mapping) else {}
        own = entries_of({**extra, **arrays}, len(numbers))
        if "momenta" in own and "velocity" not in own:
            own["velocity"] = Entry(Column("number", (3,)), self.value.get_velocities)
        types = arrays.get("type")
        # ASE takes the types of LAMMPS for atomic numbers, and keeps them beside these.
        if types is not None and np.array_equal(types, numbers):
            return own
        return {"element": Entry(Column("text"), lambda: symbols_of(numbers)), **own}


def symbols_of(numbers: NDArray[Any]) -> NDArray[Any]:
    """Return the symbols of atomic numbers, (N,); "X" of those that are no element."""
    import numpy as np

    known = np.array([b"X", *(symbol.encode() for symbol in table())], "S2")
    inside = np.where((numbers > 0) & (numbers < len(known)), numbers, 0)
    symbols: NDArray[Any] = known[inside]
    return symbols
