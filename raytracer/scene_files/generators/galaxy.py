"""A barred spiral galaxy: a bulge, a bar and two winding arms of old, young and newborn stars."""

import numpy as np
from numpy.typing import NDArray

from raytracer.scene_files.generators._base import (
    GeneratedPart,
    Words,
    draw_normals,
    draw_uniforms,
    interpolate_colors,
    make_part,
)

# Fractions of the spheres; the rest are arms.
BULGE, DISC = 0.15, 0.36
# Scale length and height of the disc, size of the bulge; the disc ends at radius 1.
LENGTH, HEIGHT, BULGE_SIZE = 0.34, 0.012, 0.07
# Arms are logarithmic spirals: number, turns per factor e of radius, width, inner radius.
ARMS, WINDING, ARM_WIDTH, INNER = 2, 3.1, 0.05, 0.14
BALL = 0.24
OLD = ((0.0, "#ffe9c9"), (0.6, "#f5c48a"), (1.0, "#d98a52"))
YOUNG = ((0.0, "#f0f4ff"), (0.5, "#a9c6f7"), (0.9, "#6c92e0"), (0.95, "#e688a4"), (1.0, "#d4557f"))


def block(index: Words, count: int, seed: int) -> GeneratedPart:
    """Return stars begin to end, in the plane y = 0 about the origin."""
    kind, shade, size = draw_uniforms(index, 0, seed)
    bulge, arm = kind < BULGE, kind >= BULGE + DISC
    u, v, _ = draw_uniforms(index, 1, seed)
    radius, angle = _radius(u), 2.0 * np.pi * v
    height = HEIGHT * draw_normals(index, 2, seed)[0]
    centers = np.stack([radius * np.cos(angle), height, radius * np.sin(angle)], axis=1)
    a, b = draw_normals(index[bulge], 3, seed)
    c, _ = draw_normals(index[bulge], 4, seed)
    centers[bulge] = BULGE_SIZE * np.stack([1.7 * a, 0.55 * b, 0.8 * c], axis=1)  # and the bar
    centers[arm, ::2] = _arms(index[arm], seed)
    far = np.clip(np.hypot(centers[:, 0], centers[:, 2]), 0.0, 1.0)
    colors = interpolate_colors(np.clip(0.35 * shade + 0.8 * far, 0.0, 1.0), OLD)
    young = (arm & (shade < 0.4 + 0.5 * far)) | (shade > 1.1 - 0.45 * far)
    colors[young] = interpolate_colors(draw_uniforms(index[young], 5, seed)[0], YOUNG)
    ball = BALL * count ** (-1.0 / 3.0) * (0.45 + 0.9 * size**6) * np.where(young, 1.2, 0.9)
    return make_part("default", centers, ball * (0.35 + 0.4 * far), colors)


def _radius(u: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(-LENGTH * np.log1p(-u * (1.0 - np.exp(-1.0 / LENGTH))))


def _arms(index: NDArray[np.uint32], seed: int) -> NDArray[np.float64]:
    """Return x and z of stars scattered about logarithmic spirals that begin at the ends of the
    bar."""
    u, which, wide = draw_uniforms(index, 3, seed)
    a, b = draw_normals(index, 4, seed)
    radius = INNER + (1.0 - INNER) * _radius(u) ** 0.8
    start = 2.0 * np.pi / ARMS * np.floor(which * ARMS)
    angle = start + WINDING * np.log(radius / INNER)
    # Most stars are close to the arm's centre line, some far.
    width = ARM_WIDTH * (0.3 + radius) * (0.4 + 2.4 * wide**3)
    return np.stack(
        [radius * np.cos(angle) + width * a, radius * np.sin(angle) + width * b], axis=1
    )
