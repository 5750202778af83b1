"""Particles as ellipsoids, by columns of axes and orientations."""

from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.appearance.glyphs.settings import Shape
from raytracer.appearance.glyphs.shared import GlyphSet, pick_colors, require_capsules
from raytracer.appearance.glyphs.vectors import (
    are_superellipsoids,
    has_semi_axes,
    read_orientations,
    read_semi_axes,
)
from raytracer.config.errors import SceneError, quote
from raytracer.config.warning import warn
from raytracer.model.solids import EllipsoidSet
from raytracer.model.sphere_set import SphereSet

if TYPE_CHECKING:
    from raytracer.model.scene import Scene


def choose_default_shape(spheres: SphereSet) -> Shape | None:
    """Return the default shape of particles with axes and orientations in columns with usual names;
    None if some have neither, such as points and spheres beside ellipsoids in LAMMPS files."""
    columns = spheres.columns
    try:
        axes = read_semi_axes(columns, None, None) if has_semi_axes(columns, None) else None
        turns = read_orientations(columns, None)
    except SceneError:  # other columns with such names
        return None
    if axes is None:
        return None
    lengths = np.zeros(len(axes)) if turns is None else np.square(turns).sum(axis=1)
    have_axes = (np.isfinite(axes) & (axes > 0.0)).all(axis=1)
    if (have_axes & np.isfinite(lengths) & (lengths > 0.0)).all():
        return Shape()
    if have_axes.any():
        warn(
            f"{spheres.source}: particles are drawn as spheres, not as ellipsoids, since some have "
            "no axes or no orientation: give --shape ellipsoid, and --select those with axes"
        )
    return None


def make_shape(scene: "Scene", shape: Shape) -> GlyphSet:
    """Return the particles of the sets that have axes, as ellipsoids."""
    solids: list[Any] = []
    for spheres in scene.spheres:
        columns = spheres.columns
        if spheres.count and has_semi_axes(columns, shape.axes):
            require_capsules(spheres.count, "shape")
            axes = read_semi_axes(columns, shape.axes, shape.scale)
            if are_superellipsoids(columns):
                warn(f"{spheres.source}: superellipsoids (block1, block2) are drawn as ellipsoids")
            solids.append(EllipsoidSet(
                spheres.centers, axes, read_orientations(columns, shape.orientation),
                opacity=spheres.opacity, material=spheres.material,
                transform=spheres.transform, **pick_colors(spheres),
            ))  # fmt: skip
    if not solids:
        wanted = f"'{quote(str(shape.axes))}'" if shape.axes else "shapex, c_shape[1], shape"
        raise SceneError(
            f"shape.axes: no particles have the columns of ellipsoids ({wanted}): name them, "
            'such as axes = ["a", "b", "c"]'
        )
    return GlyphSet(solids)
