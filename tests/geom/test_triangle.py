"""The ray-triangle test and surface points as functions, against float64."""

from functools import cache
from typing import Any

import numpy as np
import pytest

from raytracer.packing.solids import pack_normals
from reference import triangles
from reference.scene import Array, unit
from support.probe import Floats, Probe

HALF_ULP = 2.0**-24
COUNT = 20_000


def split(corners: Any) -> tuple[Any, Any, Any]:
    a, b, c = np.moveaxis(corners, 1, 0)
    return a, b, c


@cache
def soup(size: float, thin: float = 1.0, away: float = 1.0) -> tuple[Floats, Floats, Floats]:
    """Triangles of a size, of which one corner is `thin` times as far from the others' line, and
    rays that aim at their planes, from points about `away` times the size distant."""
    rng = np.random.default_rng(8)
    a, b = rng.normal(size=(2, COUNT, 3))
    c = a + rng.uniform(0, 1, (COUNT, 1)) * (b - a) + thin * rng.normal(size=(COUNT, 3))
    corners = (size * np.stack([a, b, c], axis=1)).astype(np.float32)
    share = rng.dirichlet((1, 1, 1), COUNT) * rng.choice([1.0, -0.5], (COUNT, 3), p=(0.85, 0.15))
    share /= share.sum(axis=1, keepdims=True)
    target = (share[:, :, None] * corners.astype(np.float64)).sum(axis=1)
    origin = target + size * away * rng.normal(size=(COUNT, 3))
    origin = origin.astype(np.float32)
    return corners, origin, unit(target - origin.astype(np.float64)).astype(np.float32)


CASES = [
    pytest.param((1.0,), id="unit"),
    pytest.param((1e-12,), id="tiny"),
    pytest.param((1e12,), id="huge"),
    pytest.param((1.0, 1e-3), id="thin"),
    pytest.param((1.0, 1e-4), id="slivers"),
    pytest.param((1.0, 1.0, 100.0), id="from afar"),
]


@pytest.mark.parametrize("case", CASES)
def test_hits_are_those_of_float64(probe: Probe, case: tuple[float, ...]) -> None:
    corners, origin, direction = soup(*case)
    found = probe("triangle_hit", *split(corners), origin, direction).astype(np.float64)
    a, b, c, o, d = (x.astype(np.float64) for x in (*split(corners), origin, direction))
    t, share = triangles.weights(a, b, c, o, d / np.linalg.norm(d, axis=1, keepdims=True))
    reach = np.abs(np.stack([a - o, b - o, c - o])).max(axis=(0, 2))
    # Rays pass edges at a distance: by the heights of the triangle as the ray sees it.
    seen = [x - o - ((x - o) * d).sum(axis=1, keepdims=True) * d for x in (a, b, c)]
    area = np.linalg.norm(np.cross(seen[1] - seen[0], seen[2] - seen[0]), axis=1)
    longest = np.max([np.linalg.norm(seen[i] - seen[i - 1], axis=1) for i in range(3)], axis=0)
    height = area / np.maximum(longest, 1e-300)
    clearance = share.min(axis=1) * height
    error = 16 * HALF_ULP * reach
    sure, out = clearance > error, clearance < -error
    misses = found[:, 4] > 0
    assert np.isfinite(found[~misses]).all()
    assert sure.sum() > COUNT / 8
    assert not misses[sure].any()
    assert misses[out].all()
    # what is off along the ray is off by a part of the triangle's height times its slope
    slope = reach / np.maximum(height, 1e-300)
    assert (np.abs(found[:, 0] - t) <= error * np.maximum(slope, 1.0))[sure].all()
    assert np.abs(found[sure, 1:4].sum(axis=1) - 1).max(initial=0) < 1e-6


def test_no_ray_passes_between_triangles(probe: Probe) -> None:
    """Rays at points of edges and at vertices hit one of the triangles there."""
    vertices, faces = triangles.sphere(2)
    rng = np.random.default_rng(3)
    corners = (vertices * [1.0, 0.7, 1.3] + [0.3, -2.1, 0.9]).astype(np.float32)[faces]
    origin = np.array([0.31, -2.05, 0.85], np.float32)
    share = rng.uniform(0, 1, (len(faces), 3, 8, 1))
    share[..., :2, 0] = [0.0, 1.0]
    ends = np.roll(corners, -1, axis=1)
    target = (1 - share) * corners[:, :, None] + share * ends[:, :, None]
    direction = unit(target.reshape(-1, 3) - origin.astype(np.float64)).astype(np.float32)
    hits = np.zeros(len(direction), int)
    for triangle in corners:
        columns = (np.broadcast_to(x, direction.shape) for x in (*triangle, origin))
        found = probe("triangle_hit", *columns, direction)
        hits += (found[:, 4] == 0) & (found[:, 0] > 0)
    assert hits.min() >= 1


def test_degenerate_triangles_are_missed(probe: Probe) -> None:
    rng = np.random.default_rng(1)
    a, b = rng.normal(size=(2, 300, 3)).astype(np.float32)
    origin = rng.normal(size=(300, 3)).astype(np.float32)
    for corners in ((a, a, a), (a, b, a), (a, b, b)):
        for target in (a, b, 0.5 * (a + b)):
            direction = unit(target.astype(np.float64) - origin).astype(np.float32)
            found = probe("triangle_hit", *corners, origin, direction)
            assert np.isfinite(found).all()
            assert (found[:, 4] > 0).all()


@pytest.mark.parametrize("case", [*CASES[:4]])
def test_normal(probe: Probe, case: tuple[float, ...]) -> None:
    corners, _, _ = soup(*case)
    found = probe("triangle_normal", *split(corners)).astype(np.float64)
    expected = triangles.normal(corners.astype(np.float64))
    sharp = corners.astype(np.float64)
    edges = np.linalg.norm(np.roll(sharp, -1, axis=1) - sharp, axis=2)
    across = np.cross(sharp[:, 1] - sharp[:, 0], sharp[:, 2] - sharp[:, 0])
    aspect = edges.max(axis=1) ** 2 / np.linalg.norm(across, axis=1)
    assert np.abs(np.linalg.norm(found, axis=1) - 1).max() < 1e-6
    assert (np.linalg.norm(found - expected, axis=1) < 16 * HALF_ULP * aspect).all()


def test_corner_weights_are_those_of_the_point(probe: Probe) -> None:
    corners, _, _ = soup(1.0)
    share = np.random.default_rng(2).dirichlet((1, 1, 1), COUNT)
    point = (share[:, :, None] * corners).sum(axis=1).astype(np.float32)
    found = probe("corner_weights", *split(corners), point)
    again = (found[:, :, None] * corners.astype(np.float64)).sum(axis=1)
    assert np.abs(again - point).max() < 1e-5
    beside = probe("corner_weights", *split(corners), (point + 9.0).astype(np.float32))
    assert beside.min() >= 0
    assert np.abs(beside.sum(axis=1) - 1).max() < 1e-6


def test_packed_normals(probe: Probe) -> None:
    axes = np.concatenate([np.eye(3), -np.eye(3)])
    normals = np.concatenate([axes, unit(np.random.default_rng(5).normal(size=(COUNT, 3)))])
    found = probe("unpack_normal", pack_normals(normals)).astype(np.float64)
    assert np.array_equal(found[:6], axes)
    assert np.linalg.norm(found - normals, axis=1).max() < 7e-5


def on_sphere() -> tuple[Array, Array, Array]:
    """Triangles on the unit sphere, weights of points, and directions of rays that arrive there."""
    vertices, faces = triangles.sphere(2)
    rng = np.random.default_rng(4)
    corners = vertices[faces][rng.integers(0, len(faces), COUNT)]
    share = rng.dirichlet((1, 1, 1), COUNT)
    return corners, share, unit(rng.normal(size=(COUNT, 3)))


def test_smooth_points_are_those_of_the_surface_they_stand_for(probe: Probe) -> None:
    corners, share, ray = on_sphere()
    flat = (share[:, :, None] * corners).sum(axis=1)
    plane = triangles.normal(corners)
    plane *= -np.sign((plane * ray).sum(axis=1, keepdims=True))  # faces the viewer
    given = (
        x.astype(np.float32) for x in (*split(corners), *split(corners), share, flat, plane, ray)
    )
    found = probe("smooth_point", *given).astype(np.float64)
    position, normal = found[:, :3], found[:, 3:]
    outside = (plane * flat).sum(axis=1) > 0

    # between the tangent planes at the corners and the sphere
    rise = (np.linalg.norm(position, axis=1) - 1)[outside]
    assert rise.min() > -1e-6
    assert rise.max() < 1.05 * (1 - np.linalg.norm(flat, axis=1)).max()
    assert np.linalg.norm((position - flat)[~outside], axis=1).max() < 1e-6
    side = np.where(outside, 1.0, -1.0)[:, None]
    seen = -(ray * plane).sum(axis=1)
    steep = seen > 0.4  # there nothing is bent
    assert np.linalg.norm(normal - side * unit(flat), axis=1)[steep].max() < 1e-3
    # a mirror shows what is before the surface, to the last grazing ray
    mirrored = ray - 2 * (ray * normal).sum(axis=1, keepdims=True) * normal
    assert (mirrored * plane).sum(axis=1).min() > -1e-6
    assert (-(ray * normal).sum(axis=1)).min() > -1e-6
