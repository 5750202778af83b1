"""Formats that the library chemfiles reads (.xtc, .tng, .mol2, .sdf, ...): the first frame."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any

from raytracer.memory import require_room
from raytracer.scene.particles.loaded import LoadedSource, library
from raytracer.scene.particles.source import Box, Moment, Particles, moment_of, no_atoms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

TIMED = ("XTC", "TNG")
"""Formats whose frames have a time in picoseconds."""

COORDINATES_ALONE = ("XTC",)
"""Formats that do not list their atoms."""

TEXTS = ("element", "name", "residue")
NUMBERS = ("residue_id", "charge", "mass", "velocity")
"""Columns besides coordinates, where a file has something else there than blanks and zeros."""

MEMORY = 8
"""Bytes of memory for each byte of the file while it is parsed."""


class Source(LoadedSource):
    """A file of one of the formats; `variant` is its name in chemfiles."""

    @property
    def has_pieces(self) -> bool:  # type: ignore[override]
        """Whether frames are pieces of the file: those of XTC are."""
        return self.variant == "XTC"

    @property
    def frames(self) -> int | None:
        return int(self._answer["frames"])

    def frame_starts(self) -> Sequence[int]:
        from raytracer.scene.particles.xtc import frame_starts

        return frame_starts(self.file)

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.__dict__.pop("_answer", None)

    @property
    def box(self) -> Box | None:
        edges = self._answer["cell"]
        if not edges.any():
            return None
        a, b, c = (tuple(row) for row in edges.tolist())
        return Box((0.0, 0.0, 0.0), (a, b, c))

    @property
    def time(self) -> Moment | None:
        time = float(self._answer["time"])
        return None if isnan(time) else moment_of(time, "ps")

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        import numpy as np

        pairs: NDArray[np.int64] = self._answer["bonds"].astype(np.int64).reshape(-1, 2)
        return pairs if len(pairs) else None

    @property
    def bond_columns(self) -> dict[str, NDArray[Any]]:
        orders = self._answer["orders"]
        return {"order": orders} if (orders > 0).any() else {}

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if result.labels is None:
            result.notes.append(no_atoms(self.name))
        return result

    def read(self) -> dict[str, NDArray[Any]]:
        columns = {"position": self._answer["position"]}
        for name in TEXTS:
            if name in self._answer and (self._answer[name] != b"").any():
                columns[name] = self._answer[name]
        for name in NUMBERS:
            if name in self._answer and self._answer[name].any():
                columns[name] = self._answer[name]
        return columns

    @property
    def _frame_bytes(self) -> int:
        """Bytes of the frame, where that is known; otherwise of the file."""
        if not self.has_pieces:
            return self.file.size
        from raytracer.scene.particles.xtc import end_of

        return end_of(self.file, 0) or self.file.size

    @cached_property
    def _answer(self) -> dict[str, NDArray[Any]]:
        """The arrays of the frame."""
        library("chemfiles", self.name, "md")
        require_room(self.name, MEMORY * self._frame_bytes)
        return parse(self.file.name, self.variant, self.frame)


def parse(path: str, name: str, number: int) -> dict[str, NDArray[Any]]:
    """Return a frame of a file as arrays.

    Args:
        path: of the file.
        name: of the format in chemfiles.
        number: of the frame.
    """
    import chemfiles
    import numpy as np

    chemfiles.set_warnings_callback(lambda _: None)
    with chemfiles.Trajectory(path, "r", name) as trajectory:
        frames = trajectory.nsteps
        frame = trajectory.read_step(number) if number else trajectory.read()
    cell = frame.cell
    edges = np.array(cell.matrix).T if min(cell.lengths) > 0.0 else np.zeros((3, 3))
    found = {
        "frames": np.array(frames),
        "position": np.array(frame.positions),
        "bonds": np.array(frame.topology.bonds, np.int64).reshape(-1, 2),
        "orders": np.array([_order(each) for each in frame.topology.bonds_orders], np.float64),
        "cell": edges,
        "time": np.array(_time(frame, name), np.float64),
    }
    if frame.has_velocities():
        found["velocity"] = np.array(frame.velocities)
    return found if name in COORDINATES_ALONE else found | _atoms(frame)


def _atoms(frame: Any) -> dict[str, NDArray[Any]]:
    """Return what a frame says of its atoms; a call for each takes time."""
    import numpy as np

    atoms: Any = frame.atoms
    return _residues(frame, len(atoms)) | {
        "element": np.array([atom.type.encode() for atom in atoms], "S8"),
        "name": np.array([atom.name.encode() for atom in atoms], "S16"),
        "charge": np.array([atom.charge for atom in atoms], np.float64),
        "mass": np.array([atom.mass for atom in atoms], np.float64),
    }


def _residues(frame: Any, count: int) -> dict[str, NDArray[Any]]:
    """Return the names and the numbers of the residues of `count` atoms; "" and 0 of those without.

    The numbers are left out where a residue has none.
    """
    import numpy as np

    names, numbers = np.zeros(count, "S8"), np.zeros(count, np.int64)
    found = {"residue": names, "residue_id": numbers}
    for residue in frame.topology.residues:
        rows = np.array(residue.atoms, np.int64)
        names[rows] = residue.name.encode()
        if residue.id is None:
            found.pop("residue_id", None)
        else:
            numbers[rows] = residue.id
    return found


def _time(frame: Any, name: str) -> float:
    """Return the time of a frame in picoseconds; NaN where the format has none."""
    properties = frame.list_properties()
    found = next((each for each in ("time", "xtc_time") if each in properties), None)
    value = float("nan") if found is None or name not in TIMED else frame[found]
    return float(value)


def _order(order: Any) -> float:
    """Return the order of a bond as a number; 0 is not known."""
    name = order.name.lower()
    return {"single": 1.0, "double": 2.0, "triple": 3.0, "quadruple": 3.0, "quintuplet": 3.0}.get(
        name, 1.5 if name == "aromatic" else 1.0 if name in ("down", "up", "dative") else 0.0
    )
