"""Solids of glass within and across each other: against the path tracer of the tests."""

from dataclasses import replace
from itertools import pairwise
from math import sqrt
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import (
    Background,
    Camera,
    CapsuleSet,
    Clip,
    ConeSet,
    EllipsoidSet,
    Mesh,
    PointLight,
    Principled,
    Scene,
    SphereSet,
    Transform,
)
from raytracer.model.colors import linear_to_srgb
from raytracer.model.lights import Ambient
from raytracer.packing.pack import pack
from reference import View
from reference import path_scene as exact
from reference.path_tracer import agree, estimate_of, trace

Pixels = NDArray[np.float32]
SKY = (0.3, 0.5, 0.8)
FLOOR = exact.Ball((0, -101.2, 0), 100.0, (0.8, 0.7, 0.6), specular=0.0)
ROOM = (
    FLOOR,
    exact.Ball((-1.6, 0.2, -1.5), 0.9, (0.9, 0.2, 0.1), specular=0.0),
    exact.Ball((1.8, 0.1, 1.2), 0.8, (0.2, 0.8, 0.2), specular=0.0),
)
"""What is seen through the glass."""
VIEW = View((0, 0.8, 5.0), (0, -0.1, 0), vertical_fov=30.0)
DISTANCE = 1.3
"""Length after which glass has its colour."""


def glass(
    center: Any,
    radius: float,
    ior: float,
    priority: int = 0,
    color: Any = (1, 1, 1),
    rough: float = 0,
) -> exact.Ball:
    absorption = -np.log(np.array(color)) / DISTANCE
    return exact.Ball(
        center, radius, roughness=rough, ior=ior, transmission=1.0, priority=priority,
        absorption=tuple(absorption.tolist()),
    )  # fmt: skip


WATER_IN_GLASS = (glass((0, 0, 0), 1.0, 1.5), glass((0, -0.1, 0), 0.85, 1.33, 1, (0.6, 0.8, 1.0)))
CASES: dict[str, tuple[tuple[exact.Ball, ...], View]] = {
    "water in glass": (WATER_IN_GLASS, VIEW),
    "hidden": ((glass((0, 0, 0), 1.0, 1.6, 2), glass((0.2, 0, 0), 0.6, 1.1, -1)), VIEW),
    "overlap, the first fills": (
        (glass((-0.5, 0, 0), 0.8, 1.7, 1, (1, 0.5, 0.5)), glass((0.5, 0, 0), 0.8, 1.3)), VIEW,
    ),
    "overlap of equals": (
        (glass((-0.5, 0, 0), 0.8, 1.7), glass((0.5, 0, 0), 0.8, 1.3, 0, (0.5, 1, 0.6))), VIEW,
    ),
    "same glass": ((glass((-0.5, 0, 0), 0.8, 1.5), glass((0.4, 0.1, 0.2), 0.7, 1.5)), VIEW),
    "rough, three deep": (
        (
            glass((0, 0, 0), 1.0, 1.5, 0, (0.9, 0.95, 1.0), 0.3),
            glass((0.1, 0, 0), 0.8, 1.33, 1, (1, 1, 1), 0.5),
            glass((0.1, 0, 0.1), 0.5, 2.0, 2, (0.9, 0.5, 0.5), 0.2),
        ),
        VIEW,
    ),
    "an opaque ball in water in glass": (
        (*WATER_IN_GLASS, exact.Ball((0.2, 0, 0), 0.4, (0.9, 0.3, 0.2), specular=0.0)), VIEW,
    ),
    "camera in water in glass": (
        WATER_IN_GLASS, View((0.1, 0.1, 0.2), (1, 0, -0.4), vertical_fov=60.0),
    ),
    "camera in the overlap": (
        (glass((-0.5, 0, 0), 0.8, 1.7, 1, (1, 0.5, 0.5)), glass((0.5, 0, 0), 0.8, 1.3)),
        View((0, 0.1, 0.1), (1, 0.1, -0.5), vertical_fov=70.0),
    ),
}  # fmt: skip


def sphere(ball: exact.Ball) -> SphereSet:
    clear = ball.transmission > 0
    color = np.exp(-np.array(ball.absorption) * DISTANCE) if clear else np.array(ball.base_color)
    material = Principled(
        roughness=ball.roughness, ior=ball.ior, transmission=ball.transmission,
        specular=ball.specular, priority=ball.priority,
        attenuation_distance=DISTANCE if clear else 0.0,
    )  # fmt: skip
    return SphereSet([ball.center], ball.radius, [color], color_space="linear", material=material)


def scene(balls: tuple[exact.Ball, ...], view: View, **parts: Any) -> Scene:
    camera = Camera(
        position=view.position, look_at=view.look_at, vertical_fov=view.vertical_fov or 30.0
    )
    around = Background(color=linear_to_srgb(np.array(SKY)).tolist())
    return Scene(
        [sphere(ball) for ball in balls],
        **{"lights": (), "camera": camera, "background": around,
           "ambient": Ambient(intensity=0.0), **parts},
    )  # fmt: skip


def shoot(shown: Scene, side: int = 8, **settings: Any) -> Pixels:
    size = {"width": side, "height": side, "integrator": "path"}
    return np.asarray(raytracer.render(shown, **{**size, **settings}).array[..., :3])


SLOW = (
    "hidden", "same glass", "overlap of equals", "camera in the overlap", "rough, three deep",
)  # fmt: skip


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in CASES]
)
def test_against_another_path_tracer(backend: str, name: str) -> None:
    balls, view = CASES[name]
    balls = (*ROOM, *balls)
    pictures = [
        shoot(
            scene(balls, view), samples=32, max_depth=12, filter="box", seed=seed, backend=backend
        )
        for seed in range(8)
    ]
    sky = exact.Sky(SKY, SKY)
    wanted = trace(exact.PathScene(balls, sky=sky), view, 8, 8, 250, max_depth=12)
    agree(estimate_of(np.array(pictures)), wanted, name, least=2e-3)


def test_a_hidden_ball_is_not_seen(backend: str) -> None:
    """Neither by its surface nor by bounces: to the depth, paths are those without it."""
    outer = glass((0, 0, 0), 1.0, 1.5, 1, (0.5, 0.8, 0.9))
    inner = glass((0.2, 0.1, 0), 0.5, 1.9, 0, (1, 0.2, 0.2), 0.6)
    one, both = (
        shoot(scene((FLOOR, *balls), VIEW), 24, samples=4, max_depth=4, backend=backend)
        for balls in ((outer,), (outer, inner))
    )
    assert np.quantile(np.abs(one - both), 0.9) < 1e-3
    assert abs(one.mean() - both.mean()) < 2e-3
    changed = shoot(scene((FLOOR, outer, replace(inner, priority=2)), VIEW), 24, samples=4,
                    max_depth=4, backend=backend)  # fmt: skip
    assert np.quantile(np.abs(one - changed), 0.9) > 0.05


def test_a_hidden_ball_keeps_no_lamp_off(backend: str) -> None:
    """Lamp and floor within the glass that fills: light counts once, sampled or met."""
    glow = Principled(emission=6.0)
    lamp = SphereSet([(0, 0.8, 0)], 0.3, ["white"], material=glow)
    room = glass((0, 0, 0), 200.0, 1.4, 1)
    lens = glass((0, 0.3, 0.0), 0.9, 1.4, 0)
    spot = PointLight((0, 1.5, 1.0), radius=0.4, intensity=2.0, falloff="inverse-square")
    means = []
    for balls in ((room,), (room, lens)):
        shown = scene((FLOOR, *balls), VIEW, lights=(spot,))
        shown.spheres = [*shown.spheres, lamp]
        found = shoot(shown, 12, samples=256, max_depth=3, backend=backend)
        means.append(found.mean(axis=(0, 1)))
    assert means[0] == pytest.approx(means[1], rel=0.03)
    assert means[0].min() > 0.05


def stack(*indices: float) -> float:
    """Share of light that flat layers reflect, met straight on, with all bounces between them."""
    reflected = 0.0
    for one, other in reversed(list(pairwise(indices))):
        once = ((one - other) / (one + other)) ** 2
        reflected = once + (1 - once) ** 2 * reflected / (1 - once * reflected)
    return reflected


def straight(
    balls: tuple[exact.Ball, ...], clip: Clip, way: int, start: float, backend: str
) -> Any:
    """Mean radiance along the y axis, up (1) or down (-1) from y = start, with its standard error.

    The sky is white above and black below.
    """
    camera = Camera(
        position=(0, start, 0), look_at=(0, start + way, 0), up=(0, 0, 1), vertical_fov=0.01
    )
    shown = scene(
        balls, VIEW, camera=camera, clip=clip,
        background=Background(bottom="black", top="white", up=(0, 1, 0)),
    )  # fmt: skip
    found = shoot(shown, samples=256, max_depth=40, backend=backend)[..., 0]
    return found.mean(), found.std() / sqrt(found.size)


CUTS: dict[str, tuple[exact.Ball, ...]] = {
    "bubble": (glass((0, 0, 0), 1.0, 1.5), glass((0, 0, 0), 0.5, 1.0, 1)),
    "water": (glass((0, 0, 0), 1.0, 1.5), glass((0, 0, 0), 0.5, 1.33, 1)),
    "denser": (glass((0, 0, 0), 1.0, 1.33), glass((0, 0, 0), 0.5, 1.8, 1)),
    "hidden": (glass((0, 0, 0), 1.0, 1.5), glass((0, 0, 0), 0.5, 1.33, -1)),
    "three": (
        glass((0, 0, 0), 1.0, 1.5), glass((0, 0, 0), 0.8, 1.2, 1), glass((0, 0, 0), 0.5, 1.8, 2),
    ),
}  # fmt: skip
"""Balls about one centre, the largest first. Where the next is hidden, so is its index."""


@pytest.mark.parametrize(
    ("turned", "clip"), [(False, Clip(keep="y < 0.1")), (True, Clip(remove="y > 0.1"))]
)
@pytest.mark.parametrize("name", CUTS)
def test_a_face_in_which_a_plane_cuts_solids_of_glass(
    backend: str, name: str, turned: bool, clip: Clip
) -> None:
    """Nothing but what fills the place is there, from in front, from behind and from inside."""
    balls = CUTS[name]
    layers = [ball.ior for ball in balls]  # from below up to the face
    if name == "hidden":
        layers = layers[:1]
    inner = layers[-1]
    shown = balls[::-1] if turned else balls
    below = stack(*reversed(layers), 1.0)
    face = stack(inner, 1.0)
    wanted = {
        (-1, 5.0): stack(1.0, *reversed(layers), 1.0),
        (1, -5.0): 1 - stack(1.0, *layers, 1.0),
        (1, -0.2): inner**2 * (1 - face) / (1 - face * below),
    }
    for (way, start), value in wanted.items():
        found, error = straight(shown, clip, way, start, backend)
        assert abs(found - value) < 5 * error + 1e-3, (way, start)


TURN = Transform(translate=(0.3, -0.2, 0.1), rotate=(10, 20, 30))


def solid(form: str, material: Principled) -> Any:
    """A solid about the origin, larger than 0.9 and smaller than 3."""
    common: dict[str, Any] = {"material": material, "transform": TURN, "color": ["white"]}
    ends: dict[str, Any] = {"starts": [(-1, -1, 0)], "ends": [(1.2, 1, 0.4)]}
    if form == "ellipsoid":
        return EllipsoidSet([(0, 0, 0)], (1.4, 1.8, 2.2), [(0.5, 0.1, -0.7, 0.3)], **common)
    if form == "cone":
        return ConeSet(**ends, radius=2.2, end_radius=1.5, **common)
    return CapsuleSet(**ends, radius=1.6, caps=form, **common)


@pytest.mark.parametrize("cut", [None, "x < 1.2"])
@pytest.mark.parametrize("form", ["round", "flat", "cone", "ellipsoid"])
def test_a_camera_within_other_solids(backend: str, form: str, cut: str | None) -> None:
    """A ball of glass of the same index is not seen in it."""
    clear = {"transmission": 1.0, "roughness": 0.0, "ior": 1.5}
    ball = SphereSet(
        [(0.3, -0.2, -0.5)], 0.3, ["white"], material=Principled(**clear, priority=1.0)
    )
    view = View((0.3, -0.2, 0.1), (0.3, -0.2, -1), vertical_fov=40.0)
    clip = None if cut is None else Clip(keep=cut)
    estimates = []
    for balls in ([], [ball]):
        shown = scene(ROOM, view, clip=clip, background=Background(bottom="red", top="blue"))
        shown.spheres = [*shown.spheres, *balls]
        kind = {"ellipsoid": "ellipsoids", "cone": "cones"}.get(form, "capsules")
        setattr(shown, kind, [solid(form, Principled(**clear))])
        pictures = [shoot(shown, samples=16, max_depth=16, filter="box", seed=seed, backend=backend)
                    for seed in range(8)]  # fmt: skip
        estimates.append(estimate_of(np.array(pictures)))
    agree(estimates[0], estimates[1], form, least=2e-3)


@pytest.mark.parametrize("form", ["round", "flat", "cone", "ellipsoid"])
def test_meshes_elsewhere_do_not_change_what_a_camera_is_in(form: str) -> None:
    view = View((0.3, -0.2, 0.1), (0.3, -0.2, -1), vertical_fov=40.0)
    tetrahedron = Mesh(np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]) + 50.0,
                       [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])  # fmt: skip
    found = []
    for meshes in ([], [tetrahedron], 5 * [tetrahedron]):
        shown = scene(ROOM, view)
        shown.meshes = meshes
        kind = {"ellipsoid": "ellipsoids", "cone": "cones"}.get(form, "capsules")
        setattr(shown, kind, [solid(form, Principled(transmission=1.0))])
        media = pack(shown, raytracer.RenderSettings(integrator="path")).view.frame["media"]
        found.append((int(media["camera_count"].item()), int(media["camera_solid"].ravel()[0])))
    assert found == found[:1] * 3
    assert found[0][0] == 1
