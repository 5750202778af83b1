"""Formats that the library ASE reads (.traj, .cfg, .xsf, .cube, OUTCAR, ...): an image of them."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, Any

from raytracer.memory import require_room
from raytracer.scene.particles.loaded import LoadedSource, library
from raytracer.scene.particles.source import Box

if TYPE_CHECKING:
    from numpy.typing import NDArray

MEMORY = 16
"""Bytes of memory for each byte of the file while it is parsed."""


DATABASES = ("db", "json")
"""Variants that are databases, each row of which is a frame."""


class Source(LoadedSource):
    """A file of one of the formats; `variant` is its name in ASE."""

    @property
    def frames(self) -> int | None:
        return int(self._answer["frames"])

    @property
    def box(self) -> Box | None:
        from raytracer.scene.particles.cell import cell_box

        return cell_box(self._answer["cell"], self._answer["pbc"])

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.__dict__.pop("_answer", None)

    def read(self) -> dict[str, NDArray[Any]]:
        from raytracer.scene.particles.objects.ase import symbols_of

        columns = {name.removeprefix("column "): each for name, each in self._answer.items()
                   if name.startswith("column ")}  # fmt: skip
        return {"element": symbols_of(columns.pop("numbers"))} | columns

    @cached_property
    def _answer(self) -> dict[str, NDArray[Any]]:
        """The arrays of the image."""
        library("ase", self.name, "ase")
        require_room(self.name, MEMORY * self.file.size)
        return parse(self.file.name, self.variant, self.frame)


def parse(path: str, name: str, number: int) -> dict[str, NDArray[Any]]:
    """Return an image of a file as arrays.

    Args:
        path: of the file.
        name: of the format in ASE.
        number: of the image.
    """
    import numpy as np
    from ase.io import iread

    chosen, frames = None, 0
    for image in _rows(path, name) if name in DATABASES else iread(path, ":", format=name):
        chosen = image if frames == number else chosen
        frames += 1
    if chosen is None:
        raise ValueError("there are no atoms")
    found = {"frames": np.array(frames), "cell": np.array(chosen.cell)}
    found["pbc"] = np.array(chosen.pbc)
    if "momenta" in chosen.arrays:
        moving: Any = chosen
        found["column velocity"] = moving.get_velocities()
    results = chosen.calc.results if chosen.calc is not None else {}
    for key, values in {**results, **chosen.arrays}.items():
        array = np.asarray(values)
        if array.shape[:1] == (len(chosen),) and array.dtype.kind in "iufb":
            found[f"column {key}"] = array
    return found


def _rows(path: str, kind: str) -> Iterator[Any]:
    """Yield the atoms of a database: `iread` goes by the ending of the path, which has none.

    kind: one of `DATABASES`.

    Both open files by names alone, which an unpacked one does not have: of those it is a copy.
    """
    from pathlib import Path
    from shutil import copyfile
    from tempfile import NamedTemporaryFile

    import ase.db

    connect: Any = ase.db.connect
    with NamedTemporaryFile(suffix=f".{kind}") as copy:
        if not Path(path).stat().st_nlink:
            copyfile(path, copy.name)
            path = copy.name
        for row in connect(path, type=kind, use_lock_file=False).select():
            yield row.toatoms()
