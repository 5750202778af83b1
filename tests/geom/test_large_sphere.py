"""Spheres described by their surface near the origin, against float64 centres and radii."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from reference.scene import Array, unit
from support.probe import Probe

HALF_ULP = 2.0**-24
COUNT = 20_000
CURVATURES = [1e-2, 1e-4, 1e-7]


@dataclass(frozen=True)
class Ball:
    """A large sphere, as the kernels have it and by its centre and radius, float64."""

    fields: dict[str, Any]
    center: Array
    radius: float

    def height(self, point: Array) -> Array:
        """(|p - c|^2 - r^2) / (2 |c|), float64 (N,)."""
        away = np.linalg.norm(point - self.center, axis=1)
        far = np.linalg.norm(self.center)
        return np.asarray((away - self.radius) * (away + self.radius) / (2 * far))


def ball(curvature: float, height: float = 0.25) -> Ball:
    """Its surface passes the origin at `height`."""
    normal = unit((0.36, 0.8, -0.48)).astype(np.float32)
    k, h = float(np.float32(curvature)), float(np.float32(height))
    center = unit(normal.astype(np.float64)) / k
    fields = {"normal": normal, "curvature": k, "height": h, "prim": 7}
    return Ball(fields, center, float(np.sqrt(1 / k**2 - 2 * h / k)))


def points(seed: int) -> Array:
    """Near the origin, where the other spheres are."""
    rng = np.random.default_rng(seed)
    return rng.uniform(-2, 2, (COUNT, 3)).astype(np.float32).astype(np.float64)


def directions(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    return unit(rng.normal(size=(COUNT, 3))).astype(np.float32).astype(np.float64)


@pytest.mark.parametrize("curvature", CURVATURES)
def test_height(probe: Probe, curvature: float) -> None:
    b, p = ball(curvature), points(1)
    found = probe("large_height", p, large=b.fields)[:, 0]
    assert (np.abs(found - b.height(p)) < 8 * HALF_ULP * np.linalg.norm(p, axis=1) + 2e-9).all()


@pytest.mark.parametrize("curvature", CURVATURES)
def test_nearest_is_on_the_surface(probe: Probe, curvature: float) -> None:
    b, origin, direction = ball(curvature), points(2), directions(3)
    t, inside = probe("large_nearest", origin, direction, large=b.fields).T.astype(np.float64)
    height = b.height(origin)
    size = np.abs(origin).max(axis=1)
    clear = np.abs(height) > 16 * HALF_ULP * size
    assert ((inside == 1) == (height < 0))[clear].all()
    d = unit(direction)
    slope = ((origin - b.center) * d).sum(axis=1) / np.linalg.norm(b.center)
    root = slope**2 - 2 * curvature * height
    hits = (height < 0) | ((slope < 0) & (root > 0))
    # Where the ray is tangent a hit and a miss are the same.
    sure = clear & (np.abs(root) > 1e-5 * curvature + 32 * HALF_ULP * np.abs(slope))
    assert sure.mean() > 0.9
    assert ((t > 0) == hits)[sure].all()
    met = sure & hits
    assert met.sum() > COUNT / 3
    missed = b.height(origin + t[:, None] * d)
    assert (np.abs(missed) <= 16 * HALF_ULP * (size + t) + 2e-9)[met].all()
    ahead = b.height(origin + 0.5 * t[:, None] * d)
    assert ((ahead < 0) == (height < 0))[met].all(), "another root is nearer"


@pytest.mark.parametrize("curvature", CURVATURES)
def test_surface(probe: Probe, curvature: float) -> None:
    """The point is moved towards the viewer by its rounding error; the normal faces them."""
    b, origin, direction = ball(curvature), points(4), directions(5)
    t = probe("large_nearest", origin, direction, large=b.fields)[:, 0]
    found = probe("large_surface", origin, direction, large=b.fields).astype(np.float64)
    near = (t > 0.01) & (t < 50)
    assert near.sum() > COUNT / 10
    position, normal, inside = found[near, :3], found[near, 3:6], found[near, 6] == 1
    side = np.where(inside, -1.0, 1.0)
    size = np.abs(position).max(axis=1)
    off = b.height(position) * side
    assert (off > -2e-9).all()
    assert (off <= 20 * HALF_ULP * size + 2e-9).all()
    exact = side[:, None] * unit(position - b.center)
    assert np.abs(normal - exact).max() < 8 * HALF_ULP
