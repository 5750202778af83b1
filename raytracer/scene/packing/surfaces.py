"""Opacity of surfaces, and the planes that clip them, as the kernels take them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from raytracer.errors import SceneError
from raytracer.scene.clip import MOST_PLANES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.clip import Clip
    from raytracer.scene.materials import AnyMaterial
    from raytracer.scene.packing.render_space import Space
    from raytracer.scene.scene import SphereSet

OPAQUE = 65535
"""Opacity 1, the kernels' `kOpaque`."""


def pack_opacity(
    surfaces: Sequence[SphereSet], materials: Sequence[AnyMaterial]
) -> NDArray[np.uint16]:
    """Return the opacity of each surface times that of its material, uint16 (N,).

    Args:
        surfaces: sets of spheres, and the ground.
        materials: of each of the sets.

    Returns:
        65535 is opacity 1; (0,) where all surfaces are opaque.
    """
    import numpy as np

    packed = np.empty(sum(s.count for s in surfaces), np.uint16)
    start = 0
    for surface, material in zip(surfaces, materials, strict=True):
        own: Any = 1.0 if surface.opacity is None else surface.opacity
        packed[start : start + surface.count] = np.rint(own * (material.opacity * OPAQUE))
        start += surface.count
    return packed if bool((packed < OPAQUE).any()) else np.zeros(0, np.uint16)


def pack_clip(clip: Clip, space: Space) -> dict[str, Any]:
    """Return clipping planes in render space as fields of `Frame`.

    Raises:
        SceneError: a plane is too far away for float32.
    """
    import numpy as np

    cuts = clip.planes()
    planes = np.zeros((MOST_PLANES, 4), np.float64)
    for row, (normal, offset) in zip(planes, cuts, strict=False):
        row[:3] = normal
        row[3] = (offset - float(np.dot(normal, space.center))) / space.scale
        if not abs(row[3]) < np.finfo(np.float32).max:
            raise SceneError("clip: a plane is too far from the spheres for 32-bit numbers")
    return {
        "clip_planes": planes.ravel(),
        "clip_count": len(cuts),
        "clip_removes": int(clip.remove is not None),
    }
