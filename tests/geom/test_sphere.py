"""The ray-sphere test, also of large spheres by their surface, against float64."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reference.scene import Array, unit
from support.probe import Floats, Probe

HALF_ULP = 2.0**-24
Truths = NDArray[np.bool_]
COUNT = 20_000


@dataclass(frozen=True)
class Rays:
    """Rays from the origin at spheres: three quarters are aimed at theirs.

    center (N, 3), radius (N,), direction (N, 3): float32. The rest is exact, float64: the
    distance to the centre, how far the ray passes it, and where along the ray.
    """

    center: Floats
    radius: Floats
    direction: Floats
    away: Array
    passes: Array
    mid: Array

    @property
    def safe(self) -> Truths:
        """Whether float32 can tell a hit from a miss."""
        return np.asarray(
            np.abs(self.passes - self.radius) > 11 * HALF_ULP * (self.away + self.radius)
        )

    @property
    def inside(self) -> Truths:
        return np.asarray(self.away < self.radius)

    @property
    def hits(self) -> Truths:
        return np.asarray((self.passes < self.radius) & ((self.mid > 0) | self.inside))


def rays(scale: float) -> Rays:
    """Spheres of 1/64 to 8 units, up to `scale` units away."""
    rng = np.random.default_rng(5)
    center = rng.uniform(-scale, scale, (COUNT, 3)).astype(np.float32)
    radius = np.exp2(rng.uniform(-6, 3, COUNT)).astype(np.float32)
    aim = center + radius[:, None] * rng.uniform(-0.8, 0.8, (COUNT, 3))
    aim[::4] = rng.normal(size=(len(aim[::4]), 3))
    direction = unit(aim).astype(np.float32)
    c, d = center.astype(np.float64), unit(direction.astype(np.float64))
    mid = (c * d).sum(axis=1)
    passes = np.linalg.norm(c - mid[:, None] * d, axis=1)
    return Rays(center, radius, direction, np.linalg.norm(c, axis=1), passes, mid)


@pytest.mark.parametrize("scale", [3.0, 30.0, 1e4])
def test_chord(probe: Probe, scale: float) -> None:
    """The offset from the ray is wrong by 6 half-ulps of the distance in each component."""
    r = rays(scale)
    mid, half2 = probe("sphere_chord", r.center, r.radius, r.direction).T.astype(np.float64)
    assert (np.abs(mid - r.mid) < 4 * HALF_ULP * r.away).all()
    offset = 11 * HALF_ULP * r.away
    squares = r.radius.astype(np.float64) ** 2 + r.passes**2
    exact = r.radius.astype(np.float64) ** 2 - r.passes**2
    bound = 4 * HALF_ULP * squares + (2 * r.passes + offset) * offset
    assert (np.abs(half2 - exact) <= bound).all()


@pytest.mark.parametrize("scale", [3.0, 30.0, 1e4])
def test_nearest(probe: Probe, scale: float) -> None:
    r = rays(scale)
    t = probe("sphere_nearest", r.center, r.radius, r.direction)[:, 0].astype(np.float64)
    assert ((t > 0) == r.hits)[r.safe].all()
    assert (t[t <= 0] == -1).all()
    met = r.safe & r.hits
    assert met.sum() > COUNT / 4
    off = t[:, None] * unit(r.direction.astype(np.float64)) - r.center
    distance = np.abs(np.linalg.norm(off, axis=1) - r.radius)
    # Where the ray grazes, t may be wrong by more: the point stays at the surface.
    assert (distance <= 8 * HALF_ULP * (r.away + r.radius))[met].all()
    outward = (off * r.direction).sum(axis=1)
    clear = met & (np.abs(outward) > 1e-3 * r.radius + 32 * HALF_ULP * r.away)
    assert ((outward > 0) == r.inside)[clear].all()


def test_blocks_up_to_a_distance(probe: Probe) -> None:
    r = rays(30.0)
    t = probe("sphere_nearest", r.center, r.radius, r.direction)[:, 0]
    for factor, blocked in ((0.5, False), (1.0, False), (2.0, True)):
        limit = np.where(t > 0, t * np.float32(factor), np.float32(1e9))
        found = probe("sphere_occludes", r.center, r.radius, r.direction, limit)[:, 0]
        np.testing.assert_array_equal(found == 1, (t > 0) & blocked)


def test_a_ray_that_leaves_its_surface_does_not_meet_it(probe: Probe) -> None:
    """From points of a surface, moved off it as `sphere_surface` does."""
    r = rays(30.0)
    origin = np.zeros((1, 3))
    found = probe("sphere_surface", r.center, r.radius, origin, r.direction)
    position, normal = found[:, :3], found[:, 3:6]
    rng = np.random.default_rng(6)
    away = unit(rng.normal(size=(COUNT, 3)))
    away *= np.sign((away * normal).sum(axis=1))[:, None]
    outside = r.hits & r.safe & (found[:, 6] == 0) & ((away * normal).sum(axis=1) > 1e-3)
    t = probe("sphere_nearest", r.center - position, r.radius, away.astype(np.float32))[:, 0]
    assert outside.sum() > COUNT / 5
    assert (t[outside] < 0).all()


@pytest.mark.parametrize("scale", [3.0, 30.0, 1e4])
def test_surface(probe: Probe, scale: float) -> None:
    """The point is on the sphere, moved to the viewer's side; the normal faces the viewer."""
    r = rays(scale)
    found = probe("sphere_surface", r.center, r.radius, np.zeros((1, 3)), r.direction)
    position, normal, inside = found[:, :3].astype(float), found[:, 3:6].astype(float), found[:, 6]
    met = r.hits & r.safe
    c, d = r.center.astype(np.float64), unit(r.direction.astype(np.float64))
    size = np.maximum(np.abs(c).max(axis=1), r.radius)
    off = np.linalg.norm(position - c, axis=1) - r.radius
    side = np.where(inside == 1, -1.0, 1.0)
    assert ((off * side)[met] > 0).all()
    assert (np.abs(off)[met] <= (16 * HALF_ULP * size)[met]).all()
    np.testing.assert_allclose(np.linalg.norm(normal[met], axis=1), 1, atol=6 * HALF_ULP)
    half = np.sqrt(np.maximum(r.radius.astype(np.float64) ** 2 - r.passes**2, 0))
    t = np.where(r.inside, r.mid + half, r.mid - half)
    exact = side[:, None] * unit(t[:, None] * d - c)
    cosine = np.abs((exact * d).sum(axis=1))
    # Sideways where the surface is grazed is a long way along it.
    clear = met & (cosine > 0.05)
    place = 11 * HALF_ULP * (1 + r.away / r.radius)
    assert clear.sum() > COUNT / 4
    assert (inside == r.inside)[clear].all()
    assert (np.linalg.norm(normal - exact, axis=1) * cosine <= place)[clear].all()


def test_a_point_does_not_know_how_far_its_ray_came(probe: Probe) -> None:
    """It is put back on the sphere: its error is an ulp of centre and radius."""
    rng = np.random.default_rng(7)
    center = rng.uniform(-2, 2, (COUNT, 3)).astype(np.float32)
    radius = np.exp2(rng.uniform(-3, 1, COUNT)).astype(np.float32)
    origin = (1e4 * unit(rng.normal(size=(COUNT, 3)))).astype(np.float32)
    direction = unit(center.astype(np.float64) - origin).astype(np.float32)
    found = probe("sphere_surface", center, radius, origin, direction).astype(np.float64)
    off = np.linalg.norm(found[:, :3] - center, axis=1) - radius
    assert (off > 0).all()
    assert (off <= 16 * HALF_ULP * np.maximum(np.abs(center).max(axis=1), radius)).all()
    assert ((found[:, 3:6] * direction).sum(axis=1) < -0.9).all()


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
def test_surface_of_a_large_sphere(probe: Probe, curvature: float) -> None:
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
