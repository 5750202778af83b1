"""Rings around picked spheres, as corners of polygons for a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raytracer.viewer.outline import outline, widened

if TYPE_CHECKING:
    from raytracer.viewer.viewer import Viewer

MIN_RING = 7.0
"""Pixels: radius of the ring around smaller spheres."""

DIGITS = 5
"""Decimal places of a corner, a fraction of the picture."""


def rings(viewer: Viewer) -> list[list[tuple[float, float]]]:
    """Return the outlines of the picked spheres; of a giant, around the point that was hit.

    A corner is x to the right and y down, as fractions of the picture.
    """
    width, height = viewer.size
    found = []
    for number in viewer.data.picks:
        prim_id = viewer.loaded_scene.id_of(number)
        if prim_id is None:
            continue
        center, radius = viewer.loaded_scene.sphere(prim_id)
        if viewer.picked is not None and viewer.picked.id == prim_id and viewer.giant_picked:
            center, radius = viewer.hit_place(), 0.0
        corners = widened(outline(viewer.view, center, radius, viewer.size), MIN_RING)
        if len(corners) > 2:
            found.append(
                [(round(x / width, DIGITS), round(1.0 - y / height, DIGITS)) for x, y in corners]
            )
    return found
