"""A sphereflake: each ball carries nine balls of a third of its radius.

After Eric Haines' Standard Procedural Databases ("A Proposal for Standard Graphics Environments",
IEEE Computer Graphics and Applications 7(11), 1987). The directions are nine of the twelve
neighbours in a close packing: six around the waist, three above, each 60 degrees from the next.
"""

import numpy as np
from numpy.typing import NDArray

from raytracer.scene_files.generators._base import GeneratedPart, join_parts, make_part, parse_rgb

CHILDREN = 9
SHRINK = 1.0 / 3.0
# From the root outwards; the last colour is for all deeper levels.
COLORS = ("#33455e", "#4a7f90", "#d8c79c", "#e3a45c", "#d9714a", "#b8433c")


def child_frames() -> NDArray[np.float64]:
    """Return nine rotations (9, 3, 3) with columns right, axis (to the child), forward."""
    waist = np.deg2rad(60.0 * np.arange(6))
    above = np.deg2rad(30.0 + 120.0 * np.arange(3))
    azimuth = np.concatenate([waist, above])
    # cos(latitude) = 1 / sqrt(3) makes all neighbours 60 degrees apart.
    level = np.concatenate([np.ones(6), np.full(3, np.sqrt(1.0 / 3.0))])
    up = np.concatenate([np.zeros(6), np.full(3, np.sqrt(2.0 / 3.0))])
    c, s, zero = np.cos(azimuth), np.sin(azimuth), np.zeros(CHILDREN)
    axis = np.stack([level * c, up, level * s], axis=1)
    right = np.stack([-s, zero, c], axis=1)
    return np.stack([right, axis, np.cross(right, axis)], axis=2)


def build(count: int, seed: int) -> list[GeneratedPart]:
    """Return whole levels of a flake around a root ball of radius 1 at the origin."""
    frames_of_children = child_frames()
    centers, frames, radius = np.zeros((1, 3)), np.eye(3)[None], 1.0
    levels: list[GeneratedPart] = []
    while True:
        color = parse_rgb(COLORS[min(len(levels), len(COLORS) - 1)])
        levels.append(make_part("default", centers, radius, color))
        count -= len(centers)
        if count < CHILDREN * len(centers):
            return [join_parts(levels)]
        # Not by `@`: linear algebra ends the process if it cannot allocate its buffers.
        frames = np.einsum("nij,mjk->nmik", frames, frames_of_children).reshape(-1, 3, 3)
        # A child touches its parent: the distance of centres is r + r / 3.
        centers = np.repeat(centers, CHILDREN, axis=0)
        centers = centers + radius * (1.0 + SHRINK) * frames[:, :, 1]
        radius *= SHRINK
