"""The share of the sky that surfaces of each sphere see, in the form in which a page shades.

A surface with normal n sees a + b . n of an even sky. From each of many directions, even on the
sphere, one point of each sphere is drawn, by the points and rays of `raytracer.measure`.

Whether it is visible from there to an orthographic camera gives b: the visible share by direction,
projected to spherical harmonics of degree 1, of which the cosine of a surface keeps 2/3
(R. Ramamoorthi, P. Hanrahan, "An Efficient Representation for Irradiance Environment Maps",
SIGGRAPH 2001). So a ball is brighter on the side that is turned to the light than between its
neighbours.

From which of the visible points the sky is open, along a ray with the density of a cosine, gives a:
that the mean over them is the measured one. The mean over the whole sphere would be too dark, since
most points of a dense packing are between spheres, where nobody sees them.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import DeviceScene
from raytracer.packing.view import View
from raytracer.system.layout import enum_value, struct_dtype

POINTS = 1.5e8  # of all spheres together; each is the origin of three rays

MIN_POINTS, MAX_POINTS = 64, 256  # of a sphere
GOLDEN_ANGLE = np.pi * (3.0 - np.sqrt(5.0))
TOWARDS = 0.6
"""Mean cosine between a visible point's normal and the direction from which it is visible: 1/2 of
points that are even on a hemisphere, 2/3 of those that are even in a picture."""

CONTRAST = 1.25
"""Of b, because the share changes faster with the normal than degree 1 alone: between what
is nearest to pictures of a molecule (1) and of a dense liquid (1.5)."""

PRIOR = 2.0  # points with the mean of all spheres that are added to those of each
LEAST = 1.0 / 30.0  # share of a sphere that is visible at all


def measure_sky_visibility(scene: DeviceScene, view: View, count: int) -> NDArray[np.float32]:
    """Return a and b of each sphere, float32 (N, 4): a surface with normal n sees a + b . n.

    They are 0 for spheres that were visible from no direction. If the integrator of the view has no
    occlusion, all see the whole sky.
    """
    reach = view.occlusion_distance
    if reach == 0.0 or not count:
        found = np.zeros((count, 4), np.float32)
        found[:, 0] = 1.0
        return found
    points = int(np.clip(POINTS / count, MIN_POINTS, MAX_POINTS))
    visible_sum, open_sum = np.zeros(count, np.float32), np.zeros(count, np.float32)
    along = np.zeros((count, 3), np.float32)
    for number, direction in enumerate(make_even_directions(points)):
        camera = np.zeros(1, struct_dtype("Camera"))
        camera["kind"] = enum_value("CameraKind", "orthographic")
        camera["forward"] = -direction
        seen = view.but(sample_begin=0, sample_count=1, seed=number, ao_distance=reach)
        counts = scene.count_visible_points(replace(seen, camera=camera), count)
        visible = counts["visible"].astype(np.float32)
        visible_sum += visible
        open_sum += visible * counts["open"]
        for axis in range(3):
            along[:, axis] += visible * np.float32(direction[axis])
    return _fit_visibility(visible_sum, open_sum, along, points)


def _fit_visibility(
    visible: NDArray[np.float32], is_open: NDArray[np.float32], along: NDArray[np.float32],
    points: int,
) -> NDArray[np.float32]:  # fmt: skip
    """Return a and b of each sphere, (N, 4).

    visible, is_open: how many of its `points` are visible, and from how many of these the sky is
    open, (N,). along: sum of the directions from which they are visible, (N, 3).
    """
    mean = is_open.sum(dtype=np.float64) / max(visible.sum(dtype=np.float64), 1.0)
    found = np.empty((len(visible), 4), np.float32)
    # 2, since half of the points face a direction; 3 for the projection, 2/3 for the cosine
    found[:, 1:] = along * np.float32(4.0 * CONTRAST / points)
    normals = along * (TOWARDS / np.maximum(visible, 1.0))[:, None]
    # of few points near that of all
    share = (is_open + np.float32(PRIOR * mean)) / (visible + np.float32(PRIOR))
    found[:, 0] = share - np.einsum("ij,ij->i", found[:, 1:], normals)
    found[:, 0] = np.maximum(found[:, 0], LEAST)
    found[visible == 0.0] = 0.0
    return found


def make_even_directions(count: int) -> NDArray[np.float64]:
    """Return unit vectors of a Fibonacci lattice on the sphere, (N, 3)."""
    k = np.arange(count) + 0.5
    z = 1.0 - 2.0 * k / count
    radius, angle = np.sqrt(1.0 - z * z), GOLDEN_ANGLE * k
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), z], axis=1)
