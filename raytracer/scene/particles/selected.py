"""Some rows of another source."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Container, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.source import Box, Column, Particles, ParticleSource, Value


class Selected(ParticleSource):
    """Rows of a table.

    Args:
        table: the source of all rows.
    """

    def __init__(self, table: ParticleSource) -> None:
        super().__init__(table.file, table.variant)
        self.table = table
        self.format, self.notes = table.format, table.notes

    @cached_property
    @abstractmethod
    def mask(self) -> NDArray[np.bool_]:
        """Which rows of the table are selected, (N,)."""

    @property
    def rows(self) -> NDArray[np.intp]:
        """The numbers of the selected rows, in their order, (M,)."""
        return np.flatnonzero(self.mask)

    @property
    def columns(self) -> Mapping[str, Column]:
        return self.table.columns

    @property
    def count(self) -> int | None:
        return int(np.count_nonzero(self.mask))

    @property
    def frames(self) -> int | None:
        return self.table.frames

    @property
    def box(self) -> Box | None:
        return self.table.box

    @property
    def length(self) -> float:
        return self.table.length

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return {name: values[self.mask] for name, values in self.table.load(names).items()}

    def particles(self, names: Mapping[str, str]) -> Particles:
        self.table.also = self.also
        result = self.table.particles(names)
        count = len(result.centers)

        def chosen(values: Any) -> Any:
            return values[self.mask] if np.shape(values)[:1] == (count,) else values

        result.centers, result.radius = chosen(result.centers), chosen(result.radius)
        if result.color_id is None:
            result.color = chosen(result.color)
        result.color_id = chosen(result.color_id)
        if result.labels is not None:
            result.labels = result.labels._replace(ids=chosen(result.labels.ids))
        result.extra = {name: chosen(values) for name, values in result.extra.items()}
        return result

    def row(self, index: int, count: int, used: Container[str]) -> Iterator[tuple[str, Value]]:
        yield from self.table.row(int(self.rows[index]), len(self.mask), used)
