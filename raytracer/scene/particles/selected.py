"""Some rows of another source."""

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.particles.source import Particles, ParticleSource, of


class Selected(ParticleSource):
    """Rows of a table.

    Args:
        table: the source of all rows.
    """

    columns = of("table", "columns")
    frames = of("table", "frames")
    box = of("table", "box")
    length = of("table", "length")

    def __init__(self, table: ParticleSource) -> None:
        super().__init__(table.file, table.variant)
        self.table = table
        self.format, self.notes = table.format, table.notes

    @property
    @abstractmethod
    def rows(self) -> NDArray[np.intp]:
        """The numbers of the selected rows, in their order, (M,)."""

    @property
    def count(self) -> int | None:
        return len(self.rows)

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return {name: values[self.rows] for name, values in self.table.load(names).items()}

    def whole(self, names: Mapping[str, str]) -> Particles:
        """Return the spheres of all rows."""
        self.table.also = self.also
        return self.table.particles(names)

    def particles(self, names: Mapping[str, str]) -> Particles:
        whole, rows = self.whole(names), self.rows
        count = len(whole.centers)

        def chosen(values: Any) -> Any:
            return values[rows] if np.shape(values)[:1] == (count,) else values

        labels = whole.labels
        return replace(
            whole,
            centers=chosen(whole.centers),
            radius=chosen(whole.radius),
            color=chosen(whole.color) if whole.color_id is None else whole.color,
            color_id=chosen(whole.color_id),
            labels=labels and labels._replace(ids=chosen(labels.ids)),
            extra={name: chosen(values) for name, values in whole.extra.items()},
            names=dict(whole.names),
            columns=dict(whole.columns),
            notes=list(whole.notes),
        )
