"""Several sets of particles of one file as one, with the column `type` of their names."""

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown
from raytracer.files.access import OpenFile
from raytracer.scene.particles.labels import Labels
from raytracer.scene.particles.loaded import texts
from raytracer.scene.particles.source import Column, Particles, ParticleSource, Value, of

TYPE = "type"  # the column with the name of the set of each particle


class Together(ParticleSource):
    """The particles of several sets in sequence, with the columns that all of them have.

    Args:
        file: the file.
        sets: returns the sources of a frame by the names of the sets, of which none is empty.
    """

    box = of("_first", "box")
    time = of("_first", "time")
    length = of("_first", "length")
    of_frame = ("sets", "columns")

    def __init__(self, file: OpenFile, sets: Callable[[int], Mapping[str, ParticleSource]]) -> None:
        super().__init__(file)
        self._sets = sets

    @cached_property
    def sets(self) -> Mapping[str, ParticleSource]:
        return self._sets(self.frame)

    @property
    def _first(self) -> ParticleSource:
        """The first set that has frames, or the first one."""
        sets = list(self.sets.values())
        return next((each for each in sets if (each.frames or 1) > 1), sets[0])

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        common = dict(self._first.columns)
        for each in self.sets.values():  # units may differ
            alike = {name: column[:2] for name, column in each.columns.items()}
            common = {name: column for name, column in common.items()
                      if alike.get(name) == column[:2]}  # fmt: skip
        return {**common, TYPE: Column("text")}

    @property
    def _counts(self) -> list[int]:
        return [int(each.count or 0) for each in self.sets.values()]

    @property
    def count(self) -> int | None:
        return sum(self._counts)

    @property
    def frames(self) -> int | None:
        return max(each.frames or 1 for each in self.sets.values())

    @property
    def further_files(self) -> Sequence[Path]:
        files = (path for each in self.sets.values() for path in each.further_files)
        return list(dict.fromkeys(files))

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        stored = [name for name in names if name != TYPE]
        parts = [each.load(stored) for each in self.sets.values()]
        columns = {name: np.concatenate([part[name] for part in parts]) for name in stored}
        if TYPE in names:
            columns[TYPE] = np.repeat(texts(list(self.sets)), self._counts)
        return {name: columns[name] for name in names}

    def particles(self, names: Mapping[str, str]) -> Particles:
        parts = []
        for each in self.sets.values():
            each.also = [name for name in self.also if name != TYPE]
            parts.append(each.particles(names))
            self.notes += each.notes
        counts = [len(part.centers) for part in parts]
        result = parts[0]
        result.notes = list(dict.fromkeys(note for part in parts for note in part.notes))
        result.centers = np.concatenate([part.centers for part in parts])
        radii = [part.radius for part in parts]
        lacking = sum(each is None for each in radii)
        result.radius = None if lacking else np.concatenate(
            [np.broadcast_to(each, n) for each, n in zip(radii, counts, strict=True)]  # type: ignore[arg-type]
        )  # fmt: skip
        if any(part.color is not None for part in parts):
            result.notes.append(("color", f"{self.name}: the colours of its sets are not used"))
        if 0 < lacking < len(parts):
            result.notes.append(("radius", (
                f"{self.name}: radii are not used, since {lacking} of its sets of particles have "
                "none"
            )))  # fmt: skip
        result.color = result.color_id = None
        ids = np.repeat(np.arange(len(parts), dtype=np.int32), counts)
        result.labels = Labels(list(self.sets), ids, "types")
        result.extra = {name: np.concatenate([part.extra[name] for part in parts])
                        for name in self.also if name != TYPE}  # fmt: skip
        if TYPE in self.also:
            result.extra |= self.load([TYPE])
        if len(counts) > 1:
            held = ", ".join(f"{shown(name)} ({count:,})"
                             for name, count in zip(self.sets, counts, strict=True))  # fmt: skip
            alone = f"{shown(self.file.path.name)}:{shown(next(iter(self.sets)))}"
            result.notes.append(("", (
                f"{self.name}: its sets of particles are drawn together: {held}; for one alone, "
                f"append it after a colon, as in '{alone}'"
            )))  # fmt: skip
        return result

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        """Yield also the columns that only this set has."""
        for (name, each), length in zip(self.sets.items(), self._counts, strict=True):
            if index < length:
                yield from [] if TYPE in used else [(TYPE, name)]
                yield from each.row(index, length, used)
                return
            index -= length
