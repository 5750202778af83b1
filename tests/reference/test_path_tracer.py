"""The path tracer of the tests: closed forms, and its three estimators against each other."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from reference import View, camera_rays, closest_hit
from reference.path_bsdf import Surfaces, Tables
from reference.path_scene import (
    Ball,
    DirectionalLight,
    DiskLight,
    PathScene,
    PointLight,
    RectangleLight,
    Sky,
    SphereLight,
)
from reference.path_tracer import Estimate, Sampling, agree, trace
from reference.radiometry import (
    fresnel_dielectric,
    polygon_irradiance,
    sphere_irradiance,
)
from reference.scene import Array, unit

FRONT = View((0, 0, 6), (0, 0, 0), vertical_fov=16.0)
WHITE_SKY = Sky((1, 1, 1), (1, 1, 1))
DIFFUSE: dict[str, Any] = {"specular": 0.0}
SIDE = 8


def hits(ball: Ball, view: View = FRONT, side: int = SIDE) -> tuple[Array, Array, Array]:
    """Points, normals and directions of the rays through pixels that meet a ball, and 0 else."""
    origin, direction = camera_rays(view, side, side)
    center = np.array([ball.center])
    t, _ = closest_hit(center, np.array([ball.radius]), origin, direction)
    point = origin + np.where(np.isfinite(t), t, 0)[:, None] * direction
    return point, (point - center) / ball.radius, direction


def expected(values: Any, side: int = SIDE) -> Estimate:
    """A closed form as an estimate without variance."""
    values = np.asarray(values, np.float64).reshape(side, side, -1)
    mean = np.broadcast_to(values, (side, side, 3))
    return Estimate(mean, np.zeros_like(mean))


@pytest.mark.parametrize("roughness", [0.0, 0.3, 1.0])
@pytest.mark.parametrize(
    "kind",
    [DIFFUSE, {}, {"metallic": 1.0}, {"transmission": 1.0}],
    ids=["diffuse", "coat", "metal", "glass"],
)
def test_white_furnace(kind: dict[str, Any], roughness: float) -> None:
    """A white ball under a white sky is not seen."""
    scene = PathScene((Ball((0, 0, 0), roughness=roughness, **kind),), sky=WHITE_SKY)
    found = trace(scene, FRONT, 4, 4, 400, max_depth=32, sampling="scattering").mean.mean()
    assert found == pytest.approx(1, abs=0.02)
    if kind is DIFFUSE:
        assert found == pytest.approx(1, abs=1e-9)


ROOM = PathScene(
    (
        Ball((0, -101, 0), 100.0, (0.8, 0.7, 0.6), **DIFFUSE),
        Ball((-0.9, -0.3, 0), 0.7, (0.9, 0.3, 0.2), roughness=0.6),
        Ball((0.5, -0.4, 0.6), 0.6, (0.9, 0.8, 0.5), roughness=0.5, metallic=1.0),
        Ball((0.9, -0.4, -0.8), 0.6, roughness=0.5, transmission=1.0, absorption=(0.2, 0.6, 1.2)),
        Ball((-0.2, 0.9, -0.5), 0.25, emission=(6, 5, 4)),
    ),
    lights=(
        RectangleLight((0, 2.5, 0), (0.8, 0, 0), (0, 0, 0.8), (2, 2, 3)),
        DiskLight((-2.5, 1, 0), (1, -0.3, 0), 0.7, (3, 2, 2)),
        SphereLight((2.2, 1, 1), 0.4, (2, 4, 2)),
        DirectionalLight((0.3, -1, -0.5), (0.5, 0.5, 0.4), angle=20.0),
    ),
    sky=Sky((0.2, 0.1, 0.1), (0.3, 0.5, 0.8)),
)


KINDS: tuple[Sampling, ...] = ("both", "lights", "scattering")


def test_three_estimators_agree() -> None:
    """Light found by scattering, by sampling lights, and by both, in a scene of everything."""
    view = View((0, 0.6, 5), (0, -0.1, 0), vertical_fov=32.0)
    both, lights, scattering = (
        trace(ROOM, view, 6, 6, 300, sampling=sampling, max_depth=4, seed=seed)
        for seed, sampling in enumerate(KINDS)
    )
    agree(both, scattering, "both and scattering")
    agree(both, lights, "both and lights")
    assert both.variance.mean() < scattering.variance.mean()


@pytest.mark.parametrize("sampling", ["scattering", "lights", "both"])
def test_light_of_a_lamp_that_the_horizon_cuts(sampling: Any) -> None:
    ball = Ball((0, 0, 0), 1.0, (0.5, 0.5, 0.5), **DIFFUSE)
    lamp = SphereLight((2.0, 1.5, 1.0), 1.2, (3, 3, 3))
    point, normal, _ = hits(ball)
    away = np.array(lamp.position) - point
    distance = np.linalg.norm(away, axis=1)
    light = sphere_irradiance((away * normal).sum(axis=1) / distance, distance, lamp.radius)
    scene = PathScene((ball,), (lamp,), lights_seen=False)
    found = trace(scene, FRONT, SIDE, SIDE, 600, sampling=sampling, max_depth=1, centered=True)
    covered = np.linalg.norm(normal, axis=1) < 1.01
    agree(found, expected(light * covered * 3 * 0.5 / np.pi), "lamp", least=8e-3)
    glowing = replace(scene, balls=(ball, Ball(lamp.position, lamp.radius, emission=(3, 3, 3))))
    same = trace(
        replace(glowing, lights=()), FRONT, SIDE, SIDE, 600, sampling=sampling, max_depth=1,
        centered=True,
    )  # fmt: skip
    agree(same, found, "a ball that glows", least=8e-3)


def test_light_of_a_rectangle_and_of_points() -> None:
    ball = Ball((0, 0, 0), 1.0, **DIFFUSE)
    tilted = View((0, 5, 0), (0, 0, 0), up=(0, 0, 1), vertical_fov=4.0)  # its cap, under the lamp
    point, normal, _ = hits(ball, tilted)
    u, v = np.array([0.7, 0, 0]), np.array([0, 0, 0.4])
    center = np.array([0.3, 2.0, 0.1])
    corners = [center + u + v, center + u - v, center - u - v, center - u + v]
    light = [polygon_irradiance(p, n, corners) for p, n in zip(point, normal, strict=True)]
    lamp = RectangleLight(tuple(center), tuple(u), tuple(v))
    found = trace(PathScene((ball,), (lamp,), lights_seen=False), tilted, SIDE, SIDE, 400,
                  max_depth=1, centered=True)  # fmt: skip
    agree(found, expected(np.array(light) / np.pi), "rectangle")
    spot, sun = PointLight((1, 3, 1), (4, 4, 4)), DirectionalLight((0.2, -1, 0.1), (2, 2, 2))
    away = np.array(spot.position) - point
    distance = np.linalg.norm(away, axis=1)
    light = 4 * (away * normal).sum(axis=1) / distance**3 + 2 * normal @ -unit(sun.direction)
    scene = PathScene((ball,), (spot, sun))
    found = trace(scene, tilted, SIDE, SIDE, 400, max_depth=1, centered=True)
    agree(found, expected(light / np.pi), "points")


def test_fresnel_and_absorption_of_glass() -> None:
    """Black glass shows the outer reflection alone; glass of index 1 the chord of each ray."""
    ball = Ball((0, 0, 0), roughness=0.0, transmission=1.0, ior=1.8, absorption=(1e9,) * 3)
    _, normal, direction = hits(ball)
    covered = np.linalg.norm(normal, axis=1) < 1.01
    cosine = -(direction * normal).sum(axis=1)
    share = np.where(covered, fresnel_dielectric(np.clip(cosine, 0, 1), 1.8), 1)
    black = trace(PathScene((ball,), sky=WHITE_SKY), FRONT, SIDE, SIDE, 400, centered=True)
    agree(black, expected(share), "black glass")
    clear = replace(ball, ior=1.0, absorption=(0.7,) * 3)
    found = trace(PathScene((clear,), sky=WHITE_SKY), FRONT, SIDE, SIDE, 4, centered=True)
    np.testing.assert_allclose(
        found.mean[..., 0].ravel(), np.exp(-0.7 * 2 * cosine * covered), rtol=1e-9
    )


def test_overlapping_glass() -> None:
    """Glass of the same index within glass is not seen; the larger priority fills an overlap."""
    glass = Ball((0, 0, 0), roughness=0.0, transmission=1.0, absorption=(0.1, 0.3, 0.9))
    sky = Sky((0.1, 0.2, 0.3), (1, 1, 1))
    alone = trace(PathScene((glass,), sky=sky), FRONT, 6, 6, 300, max_depth=20, seed=1)
    inner = replace(glass, center=(0.3, 0.1, 0.2), radius=0.5)
    for priority in (-1, 1):
        scene = PathScene((glass, replace(inner, priority=priority)), sky=sky)
        agree(trace(scene, FRONT, 6, 6, 300, max_depth=20, seed=2), alone, f"within {priority}")
    air = replace(inner, ior=1.0, absorption=(0, 0, 0), priority=1)
    bubble = trace(PathScene((glass, air), sky=sky), FRONT, 6, 6, 300, max_depth=20)
    assert np.abs(bubble.z(alone)).max() > 10


def surfaces(count: int, ball: Ball, cosine: float, eta: float) -> Surfaces:
    """The same place many times, with the normal along z."""
    rows = np.ones(count)
    wo = np.array([np.sqrt(1 - cosine**2), 0, cosine])
    return Surfaces(
        n=np.broadcast_to([0.0, 0, 1], (count, 3)), wo=np.broadcast_to(wo, (count, 3)),
        color=np.broadcast_to(ball.base_color, (count, 3)).astype(np.float64),
        alpha=rows * ball.roughness**2, eta=rows * eta, ior=rows * ball.ior,
        specular=rows * ball.specular, metal=rows * ball.metallic, glass=rows * ball.transmission,
        compensated=rows, table=np.zeros(count, np.int64), tables=Tables((ball,)),
    )  # fmt: skip


MIXED = Ball((0, 0, 0), base_color=(0.9, 0.5, 0.2), roughness=0.7, metallic=0.3, transmission=0.4)


@pytest.mark.parametrize("eta", [1.5, 1 / 1.5])
def test_samples_have_their_density(eta: float) -> None:
    """Of all kinds at once: the weight times a function has the mean of its integral."""
    count = 30_000
    rng = np.random.default_rng(5)
    at = surfaces(count, MIXED, 0.6, eta)
    drawn = at.sample(rng.random((count, 4)))
    uniform = unit(rng.normal(size=(count, 3)))
    value, pdf = at.evaluate(uniform)
    for test in (lambda w: np.ones(len(w)), lambda w: w[:, 0] > 0.2, lambda w: w[:, 2] < -0.5):
        one = drawn.weight * test(drawn.wi)[:, None]
        two = value * test(uniform)[:, None] * 4 * np.pi
        sigma = np.sqrt((one.var(axis=0) + two.var(axis=0)) / count)
        assert (np.abs(one.mean(axis=0) - two.mean(axis=0)) < 4.5 * sigma).all()
        kept = (drawn.weight > 0).any(axis=1) * test(drawn.wi)
        share = pdf * test(uniform) * 4 * np.pi
        sigma = np.sqrt((kept.var() + share.var()) / count)
        assert abs(kept.mean() - share.mean()) < 4.5 * sigma


@pytest.mark.parametrize("eta", [1.5, 1 / 1.5])
def test_reciprocity(eta: float) -> None:
    """Values do not change when light turns round, but for eta^2 of transmission."""
    rng = np.random.default_rng(6)
    count = 500
    wo, wi = unit(rng.normal(size=(2, count, 3)))
    wo[:, 2] = np.abs(wo[:, 2])
    at = replace(surfaces(count, MIXED, 0.5, eta), wo=wo)
    through = wi[:, 2] < 0
    turned = np.where(through[:, None], -1.0, 1.0)
    back = replace(at, n=at.n * turned, wo=wi, eta=np.where(through, 1 / eta, eta))
    forth = at.evaluate(wi)[0] / np.abs(wi[:, 2:])
    returned = back.evaluate(wo)[0] / np.abs(wo[:, 2:])
    assert (forth[through] > 0).any()
    np.testing.assert_allclose(
        forth * np.where(through, eta**2, 1)[:, None], returned, rtol=1e-6, atol=1e-12
    )
