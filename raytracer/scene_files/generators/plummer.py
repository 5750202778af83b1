"""A star cluster: Plummer's density, Salpeter's masses, colours by temperature."""

import numpy as np
from numpy.typing import NDArray

from raytracer.scene_files.generators._base import (
    GeneratedPart,
    Words,
    draw_uniforms,
    interpolate_colors,
    make_part,
)

# Plummer (1911): the mass inside radius r is r^3 / (r^2 + a^2)^(3/2), with a = 1 here. The law
# has no edge, so the outermost mass is left out.
MASS_KEPT = 0.985
# Salpeter (1955): dN/dm ~ m^-2.35 between two masses, in solar masses.
SLOPE, MIN_MASS, MAX_MASS = 2.35, 0.12, 40.0
# Main sequence: T ~ m^0.55, 5800 K at one solar mass.
SUN_KELVIN, KELVIN_POWER = 5800.0, 0.55
# Radii in the picture: the scale follows the mean distance between stars, the spread brightness.
BALL, BALL_POWER, MAX_BALL = 0.15, 0.5, 7.0


# Black-body colours by temperature in kelvin: the usual chromaticities of stars, with both ends
# desaturated. Interpolation is linear in log temperature.
STARS = (
    (2600.0, "#ffab73"), (3600.0, "#ffc596"), (4800.0, "#ffdcbc"), (5900.0, "#fff3e6"),
    (7300.0, "#f4f3ff"), (10000.0, "#cfdcff"), (20000.0, "#a4c0ff"), (40000.0, "#8fb2ff"),
)  # fmt: skip


def masses(u: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return Salpeter masses (N,) in solar masses from uniform numbers (N,)."""
    k = 1.0 - SLOPE
    low, high = MIN_MASS**k, MAX_MASS**k
    return np.asarray((low + u * (high - low)) ** (1.0 / k))


def block(index: Words, count: int, seed: int) -> GeneratedPart:
    """Return stars begin to end; scale radius 1 about the origin."""
    share, u, v = draw_uniforms(index, 0, seed)
    radius = 1.0 / np.sqrt((share * MASS_KEPT) ** (-2.0 / 3.0) - 1.0)
    up, angle = 2.0 * u - 1.0, 2.0 * np.pi * v
    level = np.sqrt(1.0 - up * up)
    directions = np.stack([level * np.cos(angle), up, level * np.sin(angle)], axis=1)
    mass = masses(draw_uniforms(index, 1, seed)[0])
    colors = interpolate_colors(
        np.log(SUN_KELVIN * mass**KELVIN_POWER), [(float(np.log(t)), c) for t, c in STARS]
    )
    ball = BALL * count ** (-1.0 / 3.0) * np.minimum(mass**BALL_POWER * 2.0, MAX_BALL)
    return make_part("default", radius[:, None] * directions, ball, colors)
