"""Particles as ellipsoids, by columns of their axes and orientations."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.errors import SceneError, shown
from raytracer.scene.coloring.expression import Texts, evaluate
from raytracer.scene.glyphs.settings import Shape
from raytracer.scene.glyphs.shape_columns import AXES, OF_OVITO, TURNS, W_LAST
from raytracer.scene.glyphs.shared import Made, colors_of, require_capsules
from raytracer.scene.solids import EllipsoidSet

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

    from raytracer.scene.columns import Columns
    from raytracer.scene.scene import Scene, SphereSet


def has_axes(columns: Columns, said: Shape) -> bool:
    """Whether particles have the axes of ellipsoids."""
    if said.axes is not None:
        return not isinstance(said.axes, str) or columns.has(str(said.axes))
    return any(all(columns.has(name) for name in names) for names, _ in AXES)


def shape_of(spheres: SphereSet) -> Shape | None:
    """Return what shows particles as ellipsoids that have axes and orientations; None where some
    have neither, as points and spheres beside ellipsoids in files of LAMMPS."""
    said = Shape()
    axes, turns = _axes(spheres.columns, said), _turns(spheres.columns, said)
    if turns is None or not (np.isfinite(axes) & (axes > 0.0)).all():
        return None
    lengths = np.square(turns).sum(axis=1)
    return said if (np.isfinite(lengths) & (lengths > 0.0)).all() else None


def ellipsoids_of(scene: Scene, said: Shape) -> Made:
    """Return the particles of the sets that have axes, as ellipsoids.

    Raises:
        SceneError: no set has them, or a column does not hold them.
    """
    made: list[Any] = []
    for spheres in scene.spheres:
        columns = spheres.columns
        if not spheres.count or not has_axes(columns, said):
            continue
        require_capsules(spheres.count, "shape")
        made.append(
            EllipsoidSet(
                spheres.centers,
                _axes(columns, said),
                _turns(columns, said),
                opacity=spheres.opacity,
                material=spheres.material,
                transform=spheres.transform,
                **colors_of(spheres),
            )
        )
    if not made:
        wanted = f"'{shown(str(said.axes))}'" if said.axes else "shapex, c_shape[1], shape"
        raise SceneError(
            f"shape.axes: no particles have the axes of ellipsoids ({wanted}): name their columns, "
            'axes = ["a", "b", "c"]'
        )
    return Made(made, [])


def _axes(columns: Columns, said: Shape) -> NDArray[np.float64]:
    """Return semi-axes, float64 (N, 3)."""
    if said.axes is not None:
        names: Sequence[str] = (str(said.axes),) if isinstance(said.axes, str) else said.axes
        return (said.scale or 1.0) * _stacked(columns, names, 3, "axes")
    names, factor = next(each for each in AXES if all(columns.has(name) for name in each[0]))
    return (said.scale or factor) * _stacked(columns, names, 3, "axes")


def _turns(columns: Columns, said: Shape) -> NDArray[np.float64] | None:
    """Return quaternions w, x, y, z, float64 (N, 4), or None if there are none."""
    if said.orientation is not None:
        is_one = isinstance(said.orientation, str)
        own: Sequence[str] = (str(said.orientation),) if is_one else said.orientation
        return _stacked(columns, own, 4, "orientation")
    for names, order in TURNS:
        if all(columns.has(name) for name in names):
            if names == ("orientation",) and columns.has(OF_OVITO):
                order = W_LAST
            return _stacked(columns, names, 4, "orientation")[:, list(order)]
    return None


def _stacked(columns: Columns, names: Sequence[str], width: int, field: str) -> NDArray[np.float64]:
    """Return a column of rows, or columns side by side, float64 (N, width)."""
    if len(names) == 1:
        values = columns.value(names[0])
        if isinstance(values, Texts) or values.ndim != 2 or values.shape[1] != width:
            raise SceneError(f"shape.{field}: '{shown(names[0])}' holds no {width} numbers each")
        return np.asarray(values, np.float64)
    found: list[Any] = [
        columns.value(name) if columns.has(name) else evaluate(name, columns, f"shape.{field}")
        for name in names
    ]
    if len(found) != width or any(isinstance(each, Texts) for each in found):
        raise SceneError(f"shape.{field}: needs {width} columns of numbers")
    rows = [np.broadcast_to(np.asarray(each, np.float64), (columns.count,)) for each in found]
    return np.stack(rows, axis=-1)
