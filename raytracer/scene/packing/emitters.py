"""Emissive spheres, and the alias table to sample them by weight."""

import numpy as np
from numpy.typing import NDArray

from raytracer.buffers import DeviceColors, Spheres
from raytracer.layout import code, dtype, none_of


def pack_emitters(
    spheres: Spheres,
    colors: NDArray[np.float32] | DeviceColors,
    color_id: NDArray[np.int32],
    materials: NDArray[np.void],
    material_id: NDArray[np.int32],
    opacity: NDArray[np.uint16],
) -> tuple[NDArray[np.void], float]:
    """Return the table of emitters, structured (E,), and the inverse of the sum of their weights.

    The weight is the largest channel of radiance, times the radius squared. Arguments are as in
    `SceneBuffers`.
    """
    is_principled = materials["kind"] == code("MaterialKind", "principled")
    emission = np.where(is_principled, materials["principled"]["emission"], np.float32(0.0))
    if not emission.any() or not spheres.size:
        return none_of("Emitter"), 0.0
    color = colors.on_host if isinstance(colors, DeviceColors) else colors
    strength = emission[material_id] if len(material_id) else emission.repeat(spheres.size)
    number = np.flatnonzero(strength > 0)
    row = 0 if len(color) == 1 else color_id[number] if len(color_id) else number
    radiance, radius = color[row] * strength[number, None], spheres[3][number]
    weight = radiance.max(axis=1).astype(np.float64) * radius.astype(np.float64) ** 2
    lit = weight > 0
    if not lit.any():
        return none_of("Emitter"), 0.0
    number, radiance, radius, weight = number[lit], radiance[lit], radius[lit], weight[lit]
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


def alias_table(share: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return threshold and alias of each entry, for sampling by weight: of a uniformly drawn entry,
    values above its threshold select its alias.

    A. J. Walker, "An Efficient Method for Generating Discrete Random Variables", ACM TOMS 3(3),
    1977. Light entries are filled by the heavy ones in order, so that prefix sums give both: L.
    Huebschle-Schneider, P. Sanders, "Parallel Weighted Random Sampling", ACM TOMS 48(3), 2022.

    Args:
        share: probabilities, float64 (E,), with sum 1.
    """
    part = share * (len(share) / share.sum())
    light, heavy = np.flatnonzero(part < 1.0), np.flatnonzero(part >= 1.0)
    threshold, alias = np.ones(len(share)), np.arange(len(share))
    if not len(light) or not len(heavy):
        return threshold, alias
    threshold[light] = part[light]
    before, spare = 1.0 - part[light], np.cumsum(part[heavy] - 1.0)
    lacking = np.cumsum(before)
    # A light entry is filled by the first heavy entry with weight left.
    np.subtract(lacking, before, out=before)
    giver = np.searchsorted(spare, before, side="right")
    alias[light] = heavy[np.minimum(giver, len(heavy) - 1)]
    # A heavy entry that becomes light is filled by the next heavy one.
    last = np.searchsorted(before, spare, side="left") - 1  # light entry that used it first
    given = np.where(last >= 0, lacking[np.maximum(last, 0)], 0.0)
    owed = np.clip(given - spare, 0.0, 1.0)[:-1]
    threshold[heavy[:-1]] = 1.0 - owed
    alias[heavy[:-1]] = heavy[1:]
    return threshold, alias
