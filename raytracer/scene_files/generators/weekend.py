"""A scene like the cover of "Ray Tracing in One Weekend" (P. Shirley, 2016), with other numbers.

A grid of small balls about three big ones, on a ground ball of radius 1000 whose top is the origin
(the scene file has the ground). Parts: matte, metal, glass.
"""

import numpy as np
from numpy.typing import NDArray

from raytracer.scene_files.generators._base import (
    GeneratedPart,
    draw_uniforms,
    interpolate_colors,
    make_part,
    parse_rgb,
)

GROUND_RADIUS = 1000.0
SMALL, BIG = 0.2, 1.0
# A cell is one unit wide; the jitter leaves balls of neighbouring cells apart.
JITTER = 0.6
BIG_BALLS = (("glass", 0.0, "#f4f6f8"), ("matte", -4.0, "#8a4b2f"), ("metal", 4.0, "#b7a183"))
MATTE_SHARE, METAL_SHARE = 0.8, 0.15
HUES = (
    (0.0, "#b23a2e"), (0.18, "#d98e4a"), (0.34, "#e7cf8b"), (0.5, "#7d9a6a"), (0.66, "#3c7d8c"),
    (0.82, "#32476f"), (1.0, "#6d4063"),
)  # fmt: skip


def build(count: int, seed: int) -> list[GeneratedPart]:
    """Return about `count` balls: the big three, and a square of small ones."""
    centers = _small_centers(count, seed)
    # Numbered by cell, so that a larger square keeps the balls of a smaller one.
    cell = np.floor(centers).astype(np.int64)
    kind, hue, shade = draw_uniforms(_pair(cell[:, 0], cell[:, 2]), 1, seed)
    colors = interpolate_colors(hue, HUES)
    grey = interpolate_colors(shade, ((0.0, "#8e8b86"), (0.5, "#c9c0b0"), (1.0, "#dfe3e8")))
    matte = kind < MATTE_SHARE
    glass = kind >= MATTE_SHARE + METAL_SHARE
    metal = ~matte & ~glass
    return [
        _with_big("matte", centers[matte], colors[matte]),
        _with_big("metal", centers[metal], grey[metal]),
        _with_big("glass", centers[glass], np.full((int(glass.sum()), 3), 244, np.uint8)),
    ]


def on_ground(x: NDArray[np.float64], z: NDArray[np.float64], radius: float) -> NDArray[np.float64]:
    """Return centres (N, 3) of balls on top of the ground ball at (x, z)."""
    reach = GROUND_RADIUS + radius
    return np.stack([x, np.sqrt(reach * reach - x * x - z * z) - GROUND_RADIUS, z], axis=1)


def _small_centers(count: int, seed: int) -> NDArray[np.float64]:
    """Return the small balls that do not touch the big three."""
    side = max(1, round((max(count, 4) - len(BIG_BALLS)) ** 0.5))
    cell = np.arange(side) - side // 2
    i, k = (g.ravel() for g in np.meshgrid(cell, cell, indexing="ij"))
    u, v, _ = draw_uniforms(_pair(i, k), 0, seed)
    x, z = i + 0.5 + JITTER * (u - 0.5), k + 0.5 + JITTER * (v - 0.5)
    clear = np.ones(len(x), bool)
    for _, big_x, _ in BIG_BALLS:
        # Balls on a plane touch if the horizontal distance of their centres is 2 sqrt(r R).
        clear &= (x - big_x) ** 2 + z**2 > 4.0 * SMALL * BIG * 1.1
    return on_ground(x[clear], z[clear], SMALL)


def _pair(i: NDArray[np.int64], k: NDArray[np.int64]) -> NDArray[np.uint32]:
    return ((i & 0xFFFF) << 16 | (k & 0xFFFF)).astype(np.uint32)


def _with_big(name: str, centers: NDArray[np.float64], colors: NDArray[np.uint8]) -> GeneratedPart:
    big = [(x, parse_rgb(color)) for kind, x, color in BIG_BALLS if kind == name]
    at = np.array([x for x, _ in big])
    places = np.concatenate([on_ground(at, np.zeros(len(at)), BIG), centers])
    radii = np.repeat([BIG, SMALL], [len(big), len(centers)])
    return make_part(name, places, radii, np.concatenate([[c for _, c in big], colors]))
