"""The tests of rays with capsules, cones and ellipsoids as functions, against float64."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache, cached_property, partial
from typing import Any

import numpy as np
import pytest

from reference import capsule, solids
from reference.scene import Array, unit
from support.probe import Floats, Probe

HALF_ULP = 2.0**-24
COUNT = 2_000


FUNCTIONS: dict[str, tuple[Any, Any, Any]] = {
    "capsule": (capsule.distance, capsule.normal, capsule.interval),
    "cone": (solids.cone_distance, solids.cone_normal, solids.cone_interval),
    "ellipsoid": (solids.ellipsoid_distance, solids.ellipsoid_normal, solids.ellipsoid_interval),
}


@dataclass(frozen=True)
class Solids:
    """Solids and rays from the origin at them: float32, all else is computed in float64.

    kind: of the probe functions. columns: their inputs without the direction. direction (N, 3).
    size (N,): the largest length in the test of each.
    """

    kind: str
    columns: tuple[Floats, ...]
    direction: Floats
    size: Array

    @property
    def numbers(self) -> tuple[Array, ...]:
        """Arguments of the functions of the reference."""
        numbers = [column.astype(np.float64) for column in self.columns]
        if self.kind == "cone":
            center, first, axis, last = numbers
            return center, axis, first, last
        return (*numbers[:2], unit(numbers[2])) if self.kind == "ellipsoid" else tuple(numbers)

    @property
    def along(self) -> Array:
        return unit(self.direction.astype(np.float64))

    @property
    def distance(self) -> Callable[[Array], Array]:
        """Signed distances of points from the surfaces."""
        return partial(FUNCTIONS[self.kind][0], *self.numbers)

    @property
    def normal(self) -> Callable[[Array], Array]:
        return partial(FUNCTIONS[self.kind][1], *self.numbers)

    @cached_property
    def interval(self) -> tuple[Array, Array]:
        """Where the line of each ray enters and leaves, (N,) each."""
        first, last = FUNCTIONS[self.kind][2](*self.numbers, np.zeros(3), self.along)
        return first, last

    @cached_property
    def deepest(self) -> Array:
        """Least signed distance along each line, found by ternary search: it is convex there."""
        d, middle = self.along, (self.numbers[0] * self.along).sum(axis=1)
        low, high = middle - 2 * self.size, middle + 2 * self.size
        for _ in range(90):
            a, b = low + (high - low) / 3, high - (high - low) / 3
            left = self.distance(a[:, None] * d) < self.distance(b[:, None] * d)
            low, high = np.where(left, low, a), np.where(left, b, high)
        return self.distance((0.5 * (low + high))[:, None] * d)


def aimed(rng: np.random.Generator, center: Array, spread: Array, axis: Array) -> Floats:
    """Directions from the origin to points in solids or near them."""
    aim = center + rng.uniform(-1.1, 1.1, (COUNT, 1)) * axis
    aim += (1.3 * spread * rng.uniform(0, 1, COUNT))[:, None] * unit(rng.normal(size=(COUNT, 3)))
    return unit(aim).astype(np.float32)


@cache
def cones(thin: float, pointed: float, scale: float, aligned: float = 0.0, seed: int = 5) -> Solids:
    """Cones of half length 1/8 to 8 and largest radius `thin` times that, up to `scale` away.

    pointed: the smaller radius in the larger one. aligned: angle to the ray at which half of them
    lie, in radians; 0 is any.
    """
    rng = np.random.default_rng(seed)
    length = np.exp2(rng.uniform(-3, 3, COUNT))
    axis = length[:, None] * unit(rng.normal(size=(COUNT, 3)))
    center = unit(rng.normal(size=(COUNT, 3))) * (scale * rng.uniform(0.05, 1, COUNT))[:, None]
    if aligned:
        tilt = aligned * length[:, None] * unit(rng.normal(size=(COUNT, 3)))
        axis[::2] = (length[:, None] * unit(center) * rng.choice([-1, 1], (COUNT, 1)) + tilt)[::2]
    wide = thin * length
    radii = np.stack([wide, pointed * wide])
    radii[:, 1::2] = radii[::-1, 1::2]
    size = np.abs(center).max(axis=1) + np.abs(axis).max(axis=1) + wide
    columns = tuple(part.astype(np.float32) for part in (center, radii[0], axis, radii[1]))
    return Solids("cone", columns, aimed(rng, center, wide, axis), size)


@cache
def rods(thin: float, scale: float, aligned: float = 0.0, seed: int = 5) -> Solids:
    """Capsules as cylinders of `cones` are."""
    s = cones(thin, 1.0, scale, aligned, seed)
    center, radius, axis, _ = s.columns
    return Solids("capsule", (center, radius, axis), s.direction, s.size)


@cache
def ellipsoids(thin: float, scale: float, seed: int = 5) -> Solids:
    """Ellipsoids of largest semi-axis 1/8 to 8 and others down to `thin` times that."""
    rng = np.random.default_rng(seed)
    length = np.exp2(rng.uniform(-3, 3, COUNT))
    semi = length[:, None] * np.exp(rng.uniform(np.log(thin), 0, (COUNT, 3)))
    semi[np.arange(COUNT), rng.integers(0, 3, COUNT)] = length
    turn = unit(rng.normal(size=(COUNT, 4)))
    center = unit(rng.normal(size=(COUNT, 3))) * (scale * rng.uniform(0.05, 1, COUNT))[:, None]
    within = unit(rng.normal(size=(COUNT, 3))) * rng.uniform(0, 1.3, (COUNT, 1)) * semi
    aim = center + np.einsum("nij,nj->ni", solids.matrix(turn), within)
    columns = tuple(part.astype(np.float32) for part in (center, semi, turn))
    size = np.abs(center).max(axis=1) + length
    return Solids("ellipsoid", columns, unit(aim).astype(np.float32), size)


CASES = [
    pytest.param(partial(cones, 1.0, 1.0, 30.0), id="cylinder"),
    pytest.param(partial(cones, 1.0, 0.0, 30.0), id="pointed"),
    pytest.param(partial(cones, 0.1, 0.5, 30.0), id="blunt"),
    pytest.param(partial(cones, 1e-2, 0.0, 30.0, 1e-2), id="needle, aligned"),
    pytest.param(partial(cones, 1e-3, 1.0, 30.0), id="thin cylinder"),
    pytest.param(partial(cones, 1e-3, 1.0, 30.0, 1e-3), id="thin cylinder, aligned"),
    pytest.param(partial(cones, 30.0, 0.5, 30.0), id="disc"),
    pytest.param(partial(cones, 30.0, 0.0, 30.0), id="flat, pointed"),
    pytest.param(partial(cones, 0.3, 0.2, 1e3), id="far"),
    pytest.param(partial(cones, 0.5, 0.1, 1.0), id="inside"),
    pytest.param(partial(ellipsoids, 0.3, 30.0), id="ellipsoid"),
    pytest.param(partial(ellipsoids, 1e-3, 30.0), id="needles and plates"),
    pytest.param(partial(ellipsoids, 0.1, 1e3), id="far ellipsoid"),
    pytest.param(partial(ellipsoids, 0.3, 1.0), id="inside an ellipsoid"),
]


@pytest.mark.parametrize("made", CASES)
def test_interval(probe: Probe, made: Callable[[], Solids]) -> None:
    s = made()
    near, far = probe(f"{s.kind}_interval", *s.columns, s.direction).astype(np.float64).T
    error = 24 * HALF_ULP * s.size
    hits = near <= far
    assert np.isfinite(near).all()
    assert np.isfinite(far).all()
    assert hits[s.deepest < -error].all()
    assert not hits[s.deepest > error].any()
    met = s.deepest < -error
    assert met.sum() > COUNT / 4
    d = s.along
    for t, expected in zip((near, far), s.interval, strict=True):
        # on the surface, and between that point and the expected one too
        for share in (0.0, 0.5):
            at = np.where(met, (1 - share) * t + share * np.where(met, expected, 0), 0)
            assert (np.abs(s.distance(at[:, None] * d)) <= error)[met].all()


@pytest.mark.parametrize("made", CASES)
@pytest.mark.parametrize("inside", [False, True])
def test_point(probe: Probe, made: Callable[[], Solids], inside: bool) -> None:
    s = made()
    given = np.full(COUNT, float(inside), np.float32)
    found = probe(f"{s.kind}_point", *s.columns, s.direction, given).astype(np.float64)
    offset, normal = found[:, :3], found[:, 3:]
    error = 24 * HALF_ULP * s.size
    met = s.deepest < -8 * error
    assert met.sum() > COUNT / 4
    point = s.numbers[0] + offset
    assert np.abs(np.linalg.norm(normal, axis=1) - 1)[met].max() < 1e-5
    own = s.size - np.abs(s.numbers[0]).max(axis=1)  # of the solid itself
    assert (np.abs(s.distance(point)) <= 24 * HALF_ULP * own + 1e-6 * own)[met].all()
    at = np.where(met, s.interval[1 if inside else 0], 0)[:, None] * s.along
    # Near an edge the face may be the other one: the normal is compared away from edges.
    expected, moved = s.normal(at), s.normal(point)
    least = np.min([np.abs(part).reshape(COUNT, -1).min(axis=1) for part in s.columns[1:2]], axis=0)
    blur = 64 * error / np.maximum(least, 0.05 * own) + 1e-3
    smooth = met & (np.linalg.norm(expected - moved, axis=1) < 1e-2)
    assert smooth.sum() > COUNT / 8
    assert np.mean(np.linalg.norm(normal - moved, axis=1)[smooth] <= blur[smooth]) > 0.995


def test_a_cylinder_and_a_ball_are_what_others_compute(probe: Probe) -> None:
    s = cones(0.3, 1.0, 8.0, seed=7)
    center, radius, axis, _ = s.columns
    near = probe("cone_interval", *s.columns, s.direction)[:, 0]
    round_ = probe("capsule_nearest", center, radius, axis, s.direction)[:, 0]
    at = near[:, None] * s.along
    height = ((at - center) * axis).sum(axis=1) / (axis.astype(np.float64) ** 2).sum(axis=1)
    on_side = (near > 0) & (s.deepest < 0) & (np.abs(height) < 0.99)
    assert on_side.sum() > COUNT / 8
    assert (np.abs(near - round_) <= 64 * HALF_ULP * s.size / 0.01)[on_side].all()
    ball = np.repeat(radius[:, None], 3, axis=1)
    turn = np.tile(np.array([0.5, -0.5, 0.5, 0.5], np.float32), (COUNT, 1))
    found = probe("ellipsoid_interval", center, ball, turn, s.direction)
    mid, half2 = probe("sphere_chord", center, radius, s.direction).T
    hit = half2 > 1e-3 * radius**2
    assert hit.sum() > COUNT / 16
    assert np.abs(found[:, 0] - (mid - np.sqrt(np.maximum(half2, 0))))[hit].max() < 1e-4


@pytest.mark.parametrize("made", CASES)
def test_no_ray_from_inside_is_lost(probe: Probe, made: Callable[[], Solids]) -> None:
    """Solids are tight: a line through a point inside crosses them on both sides of it."""
    s = made()
    rng = np.random.default_rng(11)
    center, *rest = s.columns
    if s.kind == "cone":
        first, axis, last = rest
        share = rng.uniform(-0.98, 0.98, COUNT)
        radius = 0.5 * (first + last) + 0.5 * share * (last - first)
        across = unit(np.cross(axis, rng.normal(size=(COUNT, 3))))
        point = share[:, None] * axis + (rng.uniform(0, 0.95, COUNT) * radius)[:, None] * across
    else:
        semi, turn = (part.astype(np.float64) for part in rest)
        ball = rng.uniform(0, 0.95, (COUNT, 1)) * unit(rng.normal(size=(COUNT, 3)))
        point = np.einsum("nij,nj->ni", solids.matrix(unit(turn)), semi * ball)
    moved = Solids(s.kind, ((-point).astype(np.float32), *rest), s.direction, s.size)
    sure = moved.distance(np.zeros((COUNT, 3))) < -24 * HALF_ULP * (s.size - np.abs(center).max(1))
    near, far = probe(f"{s.kind}_interval", *moved.columns, s.direction).T
    assert sure.sum() > COUNT / 2
    assert (near < 0)[sure].all()
    assert (far > 0)[sure].all()


# ---- capsules

RODS = [
    pytest.param(partial(rods, 1.0, 30.0), id="thick"),
    pytest.param(partial(rods, 0.1, 30.0), id="bond"),
    pytest.param(partial(rods, 1e-2, 30.0, 1e-2), id="aligned"),
    pytest.param(partial(rods, 1e-3, 30.0), id="thin"),
    pytest.param(partial(rods, 1e-4, 8.0), id="very thin"),
    pytest.param(partial(rods, 1e-4, 8.0, 1e-4), id="very thin, aligned"),
    pytest.param(partial(rods, 0.1, 1e3), id="far"),
    pytest.param(partial(rods, 0.3, 1.0), id="inside"),
]


@pytest.mark.parametrize("made", RODS)
def test_nearest(probe: Probe, made: Callable[[], Solids]) -> None:
    s = made()
    t = probe("capsule_nearest", *s.columns, s.direction)[:, 0].astype(np.float64)
    error = 16 * HALF_ULP * s.size
    first, last = s.interval
    outside = s.distance(np.zeros((COUNT, 3)))
    sure = (np.abs(s.deepest) > error) & (np.abs(outside) > error)
    hits = (s.deepest < 0) & (last > 0)
    assert sure.mean() > 0.6
    assert ((t > 0) == hits)[sure].all()
    met = sure & hits
    assert met.sum() > COUNT / 4
    # on the surface, and where the ray meets it first: between both points it is on the surface too
    expected = np.where(met, np.where(outside < 0, last, first), 0)
    for at in (t, 0.5 * (t + expected)):
        assert (np.abs(s.distance(at[:, None] * s.along)) <= error)[met].all()


@pytest.mark.parametrize("made", RODS)
def test_surface(probe: Probe, made: Callable[[], Solids]) -> None:
    s, origin = made(), np.zeros((COUNT, 3), np.float32)
    found = probe("capsule_surface", *s.columns, origin, s.direction).astype(np.float64)
    position, normal, inside = found[:, :3], found[:, 3:6], found[:, 6] == 1
    error = 16 * HALF_ULP * s.size
    met = (s.deepest < -error) & (s.interval[1] > error)
    assert met.sum() > COUNT / 4
    assert (inside == (s.distance(origin.astype(np.float64)) < 0))[met].mean() > 0.999
    # on the side of the viewer, off the surface by no more than the error
    height = s.distance(position) * np.where(inside, -1, 1)
    assert (height[met] > 0).all()
    assert (height <= 2 * error)[met].all()
    expected = s.normal(position) * np.where(inside, -1, 1)[:, None]
    blur = 32 * HALF_ULP * s.size / s.columns[1] + 1e-5
    assert (np.linalg.norm(normal - expected, axis=1) <= blur)[met].all()


def test_without_length_it_is_a_sphere_to_the_bit(probe: Probe) -> None:
    s = rods(0.5, 4.0, seed=7)
    center, radius, axis = s.columns
    origin, nothing = np.zeros_like(center), np.zeros_like(axis)
    sphere = probe("sphere_nearest", center, radius, s.direction)
    found = probe("capsule_nearest", center, radius, nothing, s.direction)
    assert found.tobytes() == sphere.tobytes()
    point = probe("sphere_surface", center, radius, origin, s.direction)
    found = probe("capsule_surface", center, radius, nothing, origin, s.direction)
    hit = sphere[:, 0] > 0
    assert hit.sum() > COUNT / 10
    assert found[hit].tobytes() == point[hit].tobytes()


@pytest.mark.parametrize("thin", [1.0, 0.1, 1e-3])
def test_exit(probe: Probe, thin: float) -> None:
    s = rods(thin, 4.0, seed=8)
    center, radius, axis = s.columns
    rng = np.random.default_rng(9)
    across = 0.9 * radius[:, None] * unit(rng.normal(size=(COUNT, 3)))
    start = (center + rng.uniform(-1, 1, (COUNT, 1)) * axis + across).astype(np.float32)
    sure = s.distance(start.astype(np.float64)) < -0.05 * radius
    t = probe("capsule_exit", *s.columns, start, s.direction)[:, 0].astype(np.float64)
    error = 16 * HALF_ULP * (s.size + np.abs(t))
    assert (t >= 0).all()
    assert (np.abs(s.distance(start + t[:, None] * s.along)) <= error)[sure].all()
