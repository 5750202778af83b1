"""A cloud: equal spheres, uniform in a cube, any number of them in bounded memory."""

import numpy as np

from raytracer.scene_files.generators._base import (
    GeneratedPart,
    Words,
    draw_uniforms,
    interpolate_colors,
    make_part,
)

# Fraction of the cube that the spheres would fill without overlaps.
FILL = 0.08
RAMP = (
    (0.0, "#3f5f96"), (0.25, "#4f98ad"), (0.47, "#b9d6c4"), (0.6, "#f1e4bd"), (0.78, "#eca45e"),
    (1.0, "#c2463f"),
)  # fmt: skip


def block(index: Words, count: int, seed: int) -> GeneratedPart:
    """Return spheres begin to end: centres uniform in the unit cube about the origin."""
    x, y, z = draw_uniforms(index, 0, seed)
    centers = np.stack([x, y, z], axis=1) - 0.5
    # A smooth pattern of waves about as long as the cube, so that neighbours look alike.
    wave = np.sin(6.0 * x + 2.0 * np.sin(4.5 * y)) + np.cos(6.5 * z - 4.0 * y)
    grain = draw_uniforms(index, 1, seed)[0] - 0.5
    radius = (FILL / (count * 4.0 / 3.0 * np.pi)) ** (1.0 / 3.0)
    return make_part(
        "default", centers, radius, interpolate_colors(0.5 + 0.25 * wave + 0.1 * grain, RAMP)
    )
