"""Sphere sets of particle files."""

from __future__ import annotations

from typing import Any

from raytracer.scene.particles.source import Particles
from raytracer.scene.scene import SphereSet
from raytracer.warning import warn


def sphere_set(
    data: Particles,
    radius: float | None = None,
    color: Any = None,
    **options: Any,
) -> SphereSet:
    """Return the sphere set of a particle file.

    Args:
        data: from `read`.
        radius: one for all, before the file's radii.
        color: one for all, before the file's colours.
        **options: for `SphereSet`.

    Raises:
        DataFileError: the arrays make no spheres.
    """
    size: Any = data.radius if radius is None else radius
    own_color = color is not None
    # What the scene file says instead leaves the file's own values to be looked up.
    replaced = {"radius": radius is not None, "color": own_color}
    if len(data.centers) == 0:
        warn(f"{data.source}: holds no particles")
    for parts, note in data.notes:
        if not parts or not all(replaced.get(part) for part in parts.split("+")):
            warn(note)
    used = [n for part, names in data.columns.items() if not replaced.get(part) for n in names]
    return SphereSet(
        data.centers,
        size,
        color if own_color else data.color,
        color_id=None if own_color else data.color_id,
        source=data.source,
        names=data.names,
        file=data.file and data.file.using(used),
        **options,
    )
