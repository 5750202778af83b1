"""Particles as ellipsoids, by columns of axes and orientations."""

from typing import Any

import numpy as np

from raytracer.errors import SceneError, shown
from raytracer.scene.columns import Columns
from raytracer.scene.glyphs import shared
from raytracer.scene.glyphs.settings import Shape
from raytracer.scene.glyphs.shape_columns import AXES, OF_OVITO, TURNS, W_LAST
from raytracer.scene.glyphs.shared import Doubles, Glyphs, components
from raytracer.scene.scene import Scene
from raytracer.scene.solids import EllipsoidSet
from raytracer.scene.sphere_set import SphereSet


def has_axes(columns: Columns, shape: Shape) -> bool:
    if shape.axes is not None:
        return not isinstance(shape.axes, str) or str(shape.axes) in columns
    return any(all(name in columns for name in names) for names, _ in AXES)


def default_shape(spheres: SphereSet) -> Shape | None:
    """Return the default shape of particles with axes and orientations; None if some have neither,
    such as points and spheres beside ellipsoids in LAMMPS files."""
    shape = Shape()
    axes, turns = _axes(spheres.columns, shape), _turns(spheres.columns, shape)
    if turns is None or not (np.isfinite(axes) & (axes > 0.0)).all():
        return None
    lengths = np.square(turns).sum(axis=1)
    return shape if (np.isfinite(lengths) & (lengths > 0.0)).all() else None


def shape_of(scene: Scene, shape: Shape) -> Glyphs:
    """Return the particles of the sets that have axes, as ellipsoids."""
    solids: list[Any] = []
    for spheres in scene.spheres:
        columns = spheres.columns
        if spheres.count and has_axes(columns, shape):
            shared.require_capsules(spheres.count, "shape")
            solids.append(
                EllipsoidSet(
                    spheres.centers, _axes(columns, shape), _turns(columns, shape),
                    opacity=spheres.opacity, material=spheres.material,
                    transform=spheres.transform, **shared.colors_of(spheres),
                )
            )  # fmt: skip
    if not solids:
        wanted = f"'{shown(str(shape.axes))}'" if shape.axes else "shapex, c_shape[1], shape"
        raise SceneError(
            f"shape.axes: no particles have the columns of ellipsoids ({wanted}): name them, "
            'such as axes = ["a", "b", "c"]'
        )
    return Glyphs(solids)


def _axes(columns: Columns, shape: Shape) -> Doubles:
    names, factor = _names(columns, shape.axes, AXES) or ((), None)
    return (shape.scale or factor or 1.0) * components(columns, names, 3, "shape.axes")


def _turns(columns: Columns, shape: Shape) -> Doubles | None:
    """Return quaternions w, x, y, z, (N, 4), or None."""
    found = _names(columns, shape.orientation, TURNS)
    if found is None:
        return None
    turns = components(columns, found[0], 4, "shape.orientation")
    if shape.orientation is None and found[0] == ("orientation",) and OF_OVITO in columns:
        return turns[:, W_LAST]
    return turns if found[1] is None else turns[:, found[1]]


def _names(columns: Columns, stated: Any, known: Any) -> tuple[tuple[str, ...], Any] | None:
    """Return the stated columns, or the first usual ones that there are and what `known` says."""
    if stated is not None:
        return ((stated,) if isinstance(stated, str) else stated), None
    return next((each for each in known if all(name in columns for name in each[0])), None)
