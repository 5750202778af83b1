"""Spheres that send out light, as the kernels choose among them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raytracer.buffers import none_of
from raytracer.layout import code, dtype

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.packing.framing import Spheres


def pack_emitters(
    spheres: Spheres,
    color: NDArray[np.float32],
    color_id: NDArray[np.int32],
    materials: NDArray[np.void],
    material_id: NDArray[np.int32],
    opacity: NDArray[np.uint16],
) -> tuple[NDArray[np.void], float]:
    """Return the table of emitters, structured (E,), and one by the sum of their weights.

    An emitter's weight is its largest radiance of a channel, times its radius squared.

    Args:
        spheres: x, y, z and radius in render space, float32 (N,) each.
        color: linear RGB, float32 (K, 3): one, one for each sphere, or a palette.
        color_id: int32 (N,) into a palette, or (0,).
        materials: structured (M,), `Material`.
        material_id: int32 (N,), or (0,) where all spheres have the first material.
        opacity: uint16 (N,), or (0,) where all spheres are opaque.
    """
    import numpy as np

    emission = np.where(
        materials["kind"] == code("MaterialKind", "principled"),
        materials["principled"]["emission"],
        np.float32(0.0),
    )
    if not emission.any() or not len(spheres[0]):
        return none_of("Emitter"), 0.0
    if len(material_id):
        number = np.flatnonzero(emission[material_id] > 0)
        strength = emission[material_id[number]]
    else:
        number = np.arange(len(spheres[0]))
        strength = np.full(len(number), emission[0])
    if len(color) == 1:
        albedo = np.broadcast_to(color, (len(number), 3))
    else:
        albedo = color[color_id[number] if len(color_id) else number]
    radiance = albedo * strength[:, None]
    radius = spheres[3][number]
    weight = radiance.max(axis=1).astype(np.float64) * radius.astype(np.float64) ** 2
    lit = weight > 0
    if not lit.any():
        return none_of("Emitter"), 0.0
    number, radiance, radius, weight = number[lit], radiance[lit], radius[lit], weight[lit]
    from raytracer.scene.packing.alias import alias_table  # late: few scenes have emitters

    total = float(weight.sum())
    emitters = np.zeros(len(number), dtype("Emitter"))
    emitters["center"] = np.stack([axis[number] for axis in spheres[:3]], axis=1)
    emitters["radius"] = radius
    emitters["radiance"] = radiance
    emitters["share"] = weight / total
    emitters["sphere"] = number
    emitters["opacity"] = opacity[number] if len(opacity) else np.iinfo(np.uint16).max
    emitters["threshold"], emitters["alias"] = alias_table(weight / total)
    return emitters, 1.0 / total
