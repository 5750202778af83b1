"""Three balls side by side: the first scene."""

from __future__ import annotations

import numpy as np

from raytracer.scene.generators._base import Generator, Part, part, rgb

CENTERS = ((-2.15, 1.0, 0.35), (0.0, 1.0, -0.5), (2.15, 1.0, 0.35))
COLORS = ("#c8452e", "#e9e4d8", "#2f6f8f")


def build(count: int, seed: int) -> list[Part]:
    """Return the first `count` of the three balls; the seed has no effect."""
    n = min(count, len(CENTERS))
    centers = np.array(CENTERS[:n], np.float64)
    return [part("default", centers, 1.0, [rgb(c) for c in COLORS[:n]])]


GENERATOR = Generator("three balls of radius 1 in a row on the ground", count=3, build=build)
