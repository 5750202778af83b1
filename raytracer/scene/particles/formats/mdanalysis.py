"""Formats that MDAnalysis reads (HISTORY of DL_POLY, .dms, .trc, .gms): a frame of them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from math import isnan
from typing import TYPE_CHECKING, Any

from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_box
from raytracer.scene.particles.loaded import LoadedSource, library
from raytracer.scene.particles.source import Box, Moment, Particles, moment_of, no_atoms

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MEMORY = 16
"""Bytes of memory for each byte of the file while it is parsed."""

COORDINATES_ALONE = ("TRC",)
"""Formats that do not list their atoms."""

TIMED = ("HISTORY", "TRC")
"""Formats that state times."""


class Source(LoadedSource):
    """A file of one of the formats; `variant` is its name in MDAnalysis."""

    @property
    def frames(self) -> int | None:
        return int(self._answer["frames"])

    @property
    def box(self) -> Box | None:
        return cell_box(self._answer["cell"]) if self._answer["cell"].any() else None

    @property
    def time(self) -> Moment | None:
        time = float(self._answer["time"])
        return None if isnan(time) else moment_of(time, "ps")

    @property
    def bonds(self) -> NDArray[np.int64] | None:
        pairs: NDArray[np.int64] = self._answer["bonds"]
        return pairs if len(pairs) else None

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.__dict__.pop("_answer", None)

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        if result.labels is None:
            result.notes.append(no_atoms(self.name))
        return result

    def read(self) -> dict[str, NDArray[Any]]:
        return {name.removeprefix("column "): each for name, each in self._answer.items()
                if name.startswith("column ")}  # fmt: skip

    @cached_property
    def _answer(self) -> dict[str, NDArray[Any]]:
        """The arrays of the frame."""
        library("MDAnalysis", self.name, "mdanalysis")
        require_room(self.name, MEMORY * self.file.size)
        return parse(self.file.name, self.variant, self.frame)


def parse(path: str, name: str, number: int) -> dict[str, NDArray[Any]]:
    """Return a frame of a file as arrays.

    Args:
        path: of the file.
        name: of the format in MDAnalysis.
        number: of the frame.
    """
    import MDAnalysis
    import numpy as np
    from MDAnalysis.core._get_readers import get_reader_for

    from raytracer.scene.particles.objects.mdanalysis import Source as UniverseSource

    made: Any = MDAnalysis.Universe
    if name in COORDINATES_ALONE:
        with get_reader_for(path, format=name)(path) as reader:
            universe = made.empty(reader.n_atoms)
        universe.load_new(path, format=name)
    else:
        universe = made(path, format=name, topology_format=name, to_guess=())
    source = UniverseSource(universe, name)
    if number:
        source.go_to(number)
    time = source.time if name in TIMED else None
    box = source.box
    pairs = source.bonds
    found = {
        "frames": np.array(source.frames),
        "cell": np.zeros((3, 3)) if box is None else np.array(box.edges),
        "time": np.array(np.nan if time is None else time.value),
        "bonds": np.zeros((0, 2), np.int64) if pairs is None else pairs,
    }
    columns = source.load(list(source.columns))
    return found | {f"column {each}": values for each, values in columns.items()}
