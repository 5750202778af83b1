"""The ray-capsule test as functions, against float64."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, cached_property

import numpy as np
import pytest

from reference.capsule import interval
from reference.scene import Array, unit
from support.probe import Floats, Probe

HALF_ULP = 2.0**-24
COUNT = 4_000


@dataclass(frozen=True)
class Rods:
    """Capsules and rays from the origin at them: float32, all else is computed in float64.

    center, axis, direction (N, 3), radius (N,); axis: half of the segment.
    """

    center: Floats
    radius: Floats
    axis: Floats
    direction: Floats

    @property
    def size(self) -> Array:
        """The largest length in the test of each."""
        ends = np.abs(self.center).max(axis=1) + np.abs(self.axis).max(axis=1)
        return np.asarray(ends + self.radius, np.float64)

    @property
    def columns(self) -> tuple[Floats, Floats, Floats]:
        return self.center, self.radius, self.axis

    def distance(self, points: Array) -> Array:
        """From the segment, (N,)."""
        away = points - self.center.astype(np.float64)
        axis = self.axis.astype(np.float64)
        along = (away * axis).sum(axis=1) / np.maximum((axis * axis).sum(axis=1), 1e-300)
        return np.asarray(np.linalg.norm(away - np.clip(along, -1, 1)[:, None] * axis, axis=1))

    @cached_property
    def passes(self) -> Array:
        """How far the line of each ray passes the segment, found by ternary search."""
        d = unit(self.direction.astype(np.float64))
        center, axis = self.center.astype(np.float64), self.axis.astype(np.float64)

        def gap(s: Array) -> Array:
            point = center + s[:, None] * axis
            return np.asarray(np.linalg.norm(np.cross(point, d), axis=1))

        low, high = -np.ones(len(d)), np.ones(len(d))
        for _ in range(80):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            left = gap(a) < gap(b)
            low, high = np.where(left, low, a), np.where(left, b, high)
        return gap(0.5 * (low + high))

    @cached_property
    def interval(self) -> tuple[Array, Array]:
        """Where the line of each ray enters and leaves, by the solids it is made of, (N,) each."""
        center, radius, axis = (part.astype(np.float64) for part in self.columns)
        direction = unit(self.direction.astype(np.float64))
        return interval(center, radius, axis, np.zeros(3), direction)


@cache
def rods(thin: float, scale: float, seed: int = 5, *, aligned: float = 0.0) -> Rods:
    """Capsules of half length 1/8 to 8 and radius `thin` times that, up to `scale` units away.

    aligned: angle to the ray at which half of them lie, in radians; 0 is any.
    """
    rng = np.random.default_rng(seed)
    length = np.exp2(rng.uniform(-3, 3, COUNT))
    axis = length[:, None] * unit(rng.normal(size=(COUNT, 3)))
    center = unit(rng.normal(size=(COUNT, 3))) * (scale * rng.uniform(0.05, 1, COUNT))[:, None]
    if aligned:
        tilt = aligned * length[:, None] * unit(rng.normal(size=(COUNT, 3)))
        along = length[:, None] * unit(center) + tilt
        axis[::2] = along[::2]
    radius = thin * length
    # At a point in or near them, as seen from the origin.
    aim = center + rng.uniform(-1.05, 1.05, (COUNT, 1)) * axis
    aim += (
        (1.3 * radius)[:, None] * unit(rng.normal(size=(COUNT, 3))) * rng.uniform(0, 1, (COUNT, 1))
    )
    return Rods(
        center.astype(np.float32),
        radius.astype(np.float32),
        axis.astype(np.float32),
        unit(aim).astype(np.float32),
    )


CASES = [
    pytest.param(1.0, 30.0, 0.0, id="thick"),
    pytest.param(0.1, 30.0, 0.0, id="bond"),
    pytest.param(1e-2, 30.0, 1e-2, id="aligned"),
    pytest.param(1e-3, 30.0, 0.0, id="thin"),
    pytest.param(1e-4, 8.0, 0.0, id="very thin"),
    pytest.param(1e-4, 8.0, 1e-4, id="very thin, aligned"),
    pytest.param(0.1, 1e3, 0.0, id="far"),
    pytest.param(0.3, 1.0, 0.0, id="inside"),
]


@pytest.mark.parametrize(("thin", "scale", "aligned"), CASES)
def test_nearest(probe: Probe, thin: float, scale: float, aligned: float) -> None:
    r = rods(thin, scale, aligned=aligned)
    t = probe("capsule_nearest", *r.columns, r.direction)[:, 0].astype(np.float64)
    error = 16 * HALF_ULP * r.size
    first, last = r.interval
    passes, radius = r.passes, r.radius.astype(np.float64)
    away = r.distance(np.zeros((COUNT, 3)))
    inside = away < radius
    sure = (np.abs(passes - radius) > error) & (np.abs(away - radius) > error)
    hits = (passes < radius) & (last > 0)
    assert sure.mean() > 0.6
    assert ((t > 0) == hits)[sure].all()
    met = sure & hits
    assert met.sum() > COUNT / 4
    d = unit(r.direction.astype(np.float64))
    # on the surface, and where the ray meets it first: between both points it is on the surface too
    assert (np.abs(r.distance(t[:, None] * d) - radius) <= error)[met].all()
    expected = np.where(met, np.where(inside, last, first), 0)
    middle = r.distance((0.5 * (t + expected))[:, None] * d)
    assert (np.abs(middle - radius) <= error)[met].all()


@pytest.mark.parametrize(("thin", "scale", "aligned"), CASES)
def test_surface(probe: Probe, thin: float, scale: float, aligned: float) -> None:
    r = rods(thin, scale, 6, aligned=aligned)
    origin = np.zeros((COUNT, 3), np.float32)
    found = probe("capsule_surface", *r.columns, origin, r.direction).astype(np.float64)
    position, normal, inside = found[:, :3], found[:, 3:6], found[:, 6] == 1
    error = 16 * HALF_ULP * r.size
    radius = r.radius.astype(np.float64)
    met = (r.passes < radius - error) & (r.interval[1] > error)
    assert met.sum() > COUNT / 4
    assert (inside == (r.distance(origin.astype(np.float64)) < radius))[met].mean() > 0.999
    # on the side of the viewer, off the surface by no more than the error
    height = (r.distance(position) - radius) * np.where(inside, -1, 1)
    assert (height[met] > 0).all()
    assert (height <= 2 * error)[met].all()
    axis = r.axis.astype(np.float64)
    away = position - r.center
    s = np.clip((away * axis).sum(axis=1) / (axis * axis).sum(axis=1), -1, 1)
    expected = unit(away - s[:, None] * axis) * np.where(inside, -1, 1)[:, None]
    blur = 32 * HALF_ULP * r.size / radius + 1e-5
    assert (np.linalg.norm(normal - expected, axis=1) <= blur)[met].all()


def test_without_length_it_is_a_sphere_to_the_bit(probe: Probe) -> None:
    r = rods(0.5, 4.0, 7)
    origin, nothing = np.zeros_like(r.center), np.zeros_like(r.axis)
    sphere = probe("sphere_nearest", r.center, r.radius, r.direction)
    found = probe("capsule_nearest", r.center, r.radius, nothing, r.direction)
    assert found.tobytes() == sphere.tobytes()
    point = probe("sphere_surface", r.center, r.radius, origin, r.direction)
    found = probe("capsule_surface", r.center, r.radius, nothing, origin, r.direction)
    hit = sphere[:, 0] > 0
    assert hit.sum() > COUNT / 10
    assert found[hit].tobytes() == point[hit].tobytes()


@pytest.mark.parametrize("thin", [1.0, 0.1, 1e-3])
def test_exit(probe: Probe, thin: float) -> None:
    r = rods(thin, 4.0, 8)
    rng = np.random.default_rng(9)
    within = rng.uniform(-1, 1, (COUNT, 1)) * r.axis
    start = (
        r.center + within + 0.9 * r.radius[:, None] * unit(rng.normal(size=(COUNT, 3)))
    ).astype(np.float32)
    moved = Rods(r.center, r.radius, r.axis, r.direction)
    sure = moved.distance(start.astype(np.float64)) < 0.95 * r.radius
    t = probe("capsule_exit", *r.columns, start, r.direction)[:, 0].astype(np.float64)
    end = start + t[:, None] * unit(r.direction.astype(np.float64))
    error = 16 * HALF_ULP * (r.size + np.abs(t))
    assert (t >= 0).all()
    assert (np.abs(moved.distance(end) - r.radius) <= error)[sure].all()
