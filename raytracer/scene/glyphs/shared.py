"""What arrows, trails and contacts share: places in scene units, conditions, colours."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from raytracer.errors import SceneError, shown
from raytracer.memory import require_room
from raytracer.scene.coloring.style import SetStyle, StyleSettings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raytracer.scene.coloring.scale import ColorScale
    from raytracer.scene.columns import Columns
    from raytracer.scene.scene import CapsuleSet, SphereSet

ROW = 320
"""Bytes of a capsule while it is made, at most."""


class Made(NamedTuple):
    """Glyphs of one kind.

    Args:
        capsules: in scene units.
        scales: what their colours mean.
    """

    capsules: list[CapsuleSet]
    scales: list[ColorScale]


def product(vectors: NDArray[Any], matrix: NDArray[Any]) -> NDArray[np.float64]:
    """Return `matrix @ vector` for each of some vectors, float64 (N, 3).

    Term by term: a matrix product of a library rounds differently from machine to machine.
    """
    values = np.asarray(vectors, np.float64)
    x, y, z = values[:, 0], values[:, 1], values[:, 2]
    turned = np.empty((len(values), 3), np.float64)
    for axis, row in enumerate(matrix.tolist()):
        turned[:, axis] = x * row[0] + y * row[1] + z * row[2]
    return turned


def placed(spheres: SphereSet) -> NDArray[np.float64]:
    """Return the centres of a set in scene units, float64 (N, 3)."""
    transform = spheres.transform
    move = np.array(transform.translate, np.float64)
    places: NDArray[np.float64] = product(spheres.centers, transform.linear()) + move
    return places


def radii_of(spheres: SphereSet) -> NDArray[np.float64]:
    """Return the radii of a set in scene units, float64 (N,)."""
    radii = np.asarray(spheres.radius, np.float64) * spheres.transform.scale
    return np.broadcast_to(radii, (spheres.count,))


def chosen(
    columns: Columns, select: str | None, every: int, count: int, place: str
) -> NDArray[np.int64]:
    """Return the rows that a condition chooses, of these every n-th, int64 (M,).

    Args:
        columns: what the condition is about.
        select: the condition; None is all rows.
        every: of the chosen ones.
        count: number of rows.
        place: what messages call the table: "arrows".

    Raises:
        SceneError: it is no condition, or chooses nothing.
    """
    rows = np.arange(count)
    if select is not None:
        from raytracer.scene.coloring.expression import evaluate

        holds = evaluate(select, columns, f"{place}.select")
        if holds.dtype != bool:
            raise SceneError(
                f"{place}.select: '{shown(select)}' is no condition; compare it, for example "
                f"'{shown(select)} > 0'"
            )
        rows = np.flatnonzero(holds)
        if not len(rows):
            raise SceneError(f"{place}.select: nothing fulfils '{shown(select)}'")
    return rows[::every]


def require_capsules(count: int, place: str) -> None:
    """Refuse more capsules than fit into memory."""
    require_room(place, count * ROW, f"for {count:,} capsules")


def by_values(
    sets: Sequence[SphereSet], rule: StyleSettings, place: str
) -> tuple[list[SphereSet], ColorScale]:
    """Return sets in the colours of a rule, and the scale.

    Args:
        sets: their columns are what the rule may name.
        rule: the table `color`.
        place: what messages call the table in which it is: "arrows".
    """
    from raytracer.scene.coloring.by_scale import by_scale

    return by_scale(list(sets), SetStyle(rule, place=place))


def follows(color: Any) -> bool:
    """Whether a colour follows a value."""
    return isinstance(color, StyleSettings)


def colors_of(spheres: SphereSet, rows: NDArray[Any] | slice = slice(None)) -> dict[str, Any]:
    """Return the colours of some rows of a set, as arguments of `CapsuleSet`."""
    space = {"color_space": spheres.color_space}
    if spheres.color_id is not None:
        return {"color": spheres.color, "color_id": spheres.color_id[rows], **space}
    if len(spheres.color) == 1:
        return {"color": spheres.color[0], **space}
    return {"color": spheres.color[rows], **space}


def with_column(spheres: SphereSet, name: str, values: NDArray[Any]) -> SphereSet:
    """Return a set with a further column.

    Args:
        spheres: the set.
        name: before a column of the file.
        values: of its spheres, (N,).
    """
    from copy import copy

    from raytracer.scene.particles.source import Column

    data = spheres._data
    every = values
    if spheres.rows is not None:
        every = np.zeros(data.total, values.dtype)
        every[spheres.rows] = values
    about = {**spheres.columns.about, name: Column("number")}
    wider = copy(spheres)
    wider._data = data._replace(arrays={**data.arrays, name: every}, about=about)
    return wider
