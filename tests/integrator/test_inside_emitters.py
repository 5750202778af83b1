"""Inside of solids that emit light: closed forms, in every integrator."""

from collections.abc import Callable
from dataclasses import replace
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
    Principled,
    Scene,
    SphereSet,
)
from raytracer.config.warning import collect_warnings
from raytracer.model.lights import Ambient
from raytracer.packing.lighting import limit_emitter_radius

MATT = Principled(roughness=1.0, specular=0.0)
HARDLY = 1e-3
"""The share of light that a dome reflects: it would add as much to all that is inside."""


def emitting(radiance: float, reflects: float = HARDLY, **more: Any) -> dict[str, Any]:
    """Colour and material of a surface."""
    material = replace(MATT, emission=radiance / reflects, **more)
    return {"color": [(reflects,) * 3], "color_space": "linear", "material": material}


def sphere(**look: Any) -> SphereSet:
    return SphereSet([(0.5, -0.2, 0.3)], 4.0, **look)


def box(turned: int = 0, **look: Any) -> Mesh:
    """A box of twelve triangles, the first ones turned round."""
    corners = np.array([(x, y, z) for x in (-4, 3) for y in (-3, 4) for z in (-5, 4)], float)
    sides = [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)]
    faces = np.array([(a, b, c) for a, b, c, _ in sides] + [(a, c, d) for a, _, c, d in sides])
    faces[:turned] = faces[:turned, ::-1]
    (color,) = look.pop("color")
    return Mesh(corners, faces, color=color, smooth=False, **look)


ENDS: dict[str, Any] = {"starts": [(-2, -1, 0.5)], "ends": [(2.5, 1, -0.3)]}
DOMES: dict[str, Callable[..., Any]] = {
    "sphere": sphere,
    "capsule": lambda **k: CapsuleSet(**ENDS, radius=3.0, **k),
    "cylinder": lambda **k: CapsuleSet(**ENDS, radius=4.0, caps="flat", **k),
    "cone": lambda **k: ConeSet(**ENDS, radius=4.0, end_radius=3.0, **k),
    "ellipsoid": lambda **k: EllipsoidSet([(0, 0, 0)], (3.5, 4.0, 5.0), [(0.5, 0.1, -0.7, 0.3)],
                                          **k),
    "mesh": box,
    "mesh without an inside": lambda **k: box(turned=1, **k),
}  # fmt: skip


BALL = SphereSet([(0.4, 0.3, -1.0)], 0.6, "white", material=MATT)
CAMERA = Camera(position=(-0.2, 0.1, 1.5), look_at=(0.3, 0.2, -1.0), vertical_fov=45.0)


KINDS: dict[type, str] = {SphereSet: "spheres", CapsuleSet: "capsules", ConeSet: "cones",
                          EllipsoidSet: "ellipsoids", Mesh: "meshes"}  # fmt: skip


def shown(*surfaces: Any, camera: Camera = CAMERA, **more: Any) -> Scene:
    kinds: dict[str, Any] = {
        "capsules": [],
        "cones": [],
        "ellipsoids": [],
        "meshes": [],
        "spheres": [],
    }
    for each in surfaces:
        kinds[KINDS[type(each)]].append(each)
    return Scene(
        camera=camera, background=Background(color="black"), lights=[],
        ambient=Ambient(intensity=0.0), **kinds, **more,
    )  # fmt: skip


def shoot(scene: Scene, integrator: str, depth: int, **more: Any) -> NDArray[np.float64]:
    """The linear picture, (16, 16, 3)."""
    settings = {"width": 16, "height": 16, "samples": 256} | more
    image = raytracer.render(scene, integrator=integrator, max_depth=depth, **settings).array
    return np.asarray(image[..., :3], np.float64)


WAYS = [("direct", 0), ("direct", 3), ("ao", 0), ("path", 0), ("path", 1), ("path", 4)]


@pytest.mark.parametrize(("integrator", "depth"), WAYS)
@pytest.mark.parametrize("clip", [None, Clip(keep="z < 2 and x + y > -2"),
                                  Clip(remove="x > 2 and y < 1.5")])  # fmt: skip
def test_furnace_in_a_sphere(backend: str, integrator: str, depth: int, clip: Clip | None) -> None:
    """A white ball inside of a dome of radiance 1 is not seen, nor are cut faces of the dome."""
    scene = shown(sphere(**emitting(1.0)), BALL, clip=clip)
    found = shoot(scene, integrator, depth, backend=backend)
    assert found.mean() == pytest.approx(1.0, abs=3e-3)
    assert np.abs(found - 1).max() < 0.12


@pytest.mark.parametrize("depth", [1, 4])
@pytest.mark.parametrize("name", [name for name in DOMES if name != "sphere"])
def test_furnace_in_other_solids(backend: str, name: str, depth: int) -> None:
    """Which paths find."""
    found = shoot(shown(DOMES[name](**emitting(1.0)), BALL), "path", depth, backend=backend)
    assert found.mean() == pytest.approx(1.0, abs=3e-3)
    assert np.abs(found - 1).max() < 0.12


@pytest.mark.filterwarnings("ignore:emission")
@pytest.mark.parametrize("name", DOMES)
def test_a_grey_dome_is_brighter_with_each_bounce(backend: str, name: str) -> None:
    """Its own light, and what it reflects: a geometric series, whatever its form."""
    scene = shown(DOMES[name](**emitting(1.0, 0.5)))
    is_sampled = name == "sphere"
    for integrator, depth in WAYS:
        bounces = depth if integrator == "path" else 0
        wanted = sum(0.5**k for k in range(bounces + 1 + is_sampled))
        found = shoot(scene, integrator, depth, backend=backend)
        assert found.mean() == pytest.approx(wanted, abs=4e-3), (integrator, depth)


@pytest.mark.filterwarnings("ignore:emission")
@pytest.mark.parametrize("name", DOMES)
def test_a_camera_inside_sees_the_colour(backend: str, name: str) -> None:
    """And not its square."""
    color = np.array([0.02, 0.01, 0.002])
    look = emitting(1.0) | {"color": [color], "material": replace(MATT, emission=50.0)}
    camera = replace(CAMERA, look_at=(0.3, 0.2, -1.0), vertical_fov=30.0)
    scene = shown(DOMES[name](**look), camera=camera)
    for integrator in ("direct", "ao", "path"):
        found = shoot(scene, integrator, 0, backend=backend).mean(axis=(0, 1))
        assert (found >= 50 * color * 0.999).all(), integrator
        assert (found <= 50 * color * (1 + 1.1 * color) + 1e-6).all(), integrator


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
@pytest.mark.parametrize("name", DOMES)
def test_what_gives_no_light_is_said(name: str, integrator: str) -> None:
    """Once for each kind of solid; spheres are sampled as lights everywhere."""
    scene = shown(DOMES[name](**emitting(1.0)), DOMES[name](**emitting(1.0)))
    with collect_warnings() as told:
        shoot(scene, integrator, 0, backend="cpu", samples=1)
    dark = name != "sphere" and integrator != "path"
    assert ["that emit light illuminate others only with path tracing" in x for x in told] == (
        [True] * dark
    )


def test_half_of_the_samples_meet_a_dome_of_half_opacity(backend: str) -> None:
    dome = sphere(**emitting(1.0), opacity=0.5)
    for integrator, depth in WAYS:
        found = shoot(shown(dome, BALL), integrator, depth, backend=backend)
        assert found.mean() == pytest.approx(0.5, abs=6e-3), (integrator, depth)


def test_the_inner_of_two_domes_is_seen(backend: str) -> None:
    outer = SphereSet([(1, 0, 0)], 9.0, [(HARDLY,) * 3], color_space="linear",
                      material=replace(MATT, emission=5 / HARDLY))  # fmt: skip
    for integrator, depth in WAYS:
        scene = shown(outer, sphere(**emitting(1.0)), BALL)
        found = shoot(scene, integrator, depth, backend=backend, samples=1024)
        assert found.mean() == pytest.approx(1.0, abs=8e-3), (integrator, depth)


# ---- shadows: what a horizontal place sees of a ball above it, by its form factor

PLACES = {
    "middle": (30.0, 0.0),
    "beside the centre": (30.0, 21.0),
    "at the top": (1000.0, 997.5),
    "of a large dome": (1e7, 0.0),
    "at the top of a large dome": (1e7, 1e7 - 4.0),
}
"""Radius of the dome, and height of the place above its centre."""


@pytest.mark.parametrize(("integrator", "depth"), WAYS)
@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize("lamp", [0.0, 3.0])
def test_light_of_a_dome_is_kept_off(
    backend: str, integrator: str, depth: int, place: str, lamp: float
) -> None:
    """A ball of radius 1/2 at a distance of 1 above a white place has a form factor of 1/4: where
    it is black the place is 0.75, and where it emits light, brighter."""
    radius, height = PLACES[place]
    dome = SphereSet([(0, -height, 0)], radius, [(HARDLY,) * 3], color_space="linear",
                     material=replace(MATT, emission=1 / HARDLY))  # fmt: skip
    above = SphereSet([(0, 1, 0)], 0.5, [(HARDLY if lamp else 0.0,) * 3], color_space="linear",
                      material=replace(MATT, emission=lamp / HARDLY))  # fmt: skip
    white = SphereSet([(0, -0.25, 0)], 0.25, "white", material=MATT)
    camera = Camera(position=(0.6, 0.5, 0), look_at=(0, 0, 0), vertical_fov=0.5)
    scene = shown(dome, above, white, camera=camera)
    found = shoot(scene, integrator, depth, backend=backend, samples=512)
    assert found.mean() == pytest.approx(0.75 + 0.25 * lamp, abs=0.012)
    assert np.abs(found.mean() / (0.75 + 0.25 * lamp) - 1) < 0.012


def test_no_light_comes_through_a_dome(backend: str) -> None:
    """That of an emitter outside, which is brighter."""
    lamp = SphereSet([(0, 30, 0)], 10.0, "white", material=replace(MATT, emission=5.0))
    for integrator, depth in WAYS:
        found = shoot(shown(sphere(**emitting(1.0)), BALL, lamp), integrator, depth,
                      backend=backend, samples=2048)  # fmt: skip
        assert found.mean() == pytest.approx(1.0, abs=1.5e-2), (integrator, depth)


Balls = list[tuple[tuple[float, float, float], float]]
SMALL: Balls = [((1, 0, 0), 0.5), ((-1, 0, 0), 0.5)]
"""In a box of 3 x 1 x 1."""

REACHES: dict[str, tuple[Balls, list[int], float]] = {
    "balls alone": (SMALL, [0, 1], np.inf),
    "a dome": ([*SMALL, ((1, 2, 0), 30.0)], [1, 2], 1.5),
    "a dome alone": ([*SMALL, ((1, 2, 0), 30.0)], [2], 1.5),
    "a dome that is all": ([((1, 2, 0), 30.0)], [0], np.inf),
    "two domes": ([*SMALL, ((1, 2, 0), 30.0), ((0, 0, 0), 50.0)], [0, 2, 3], 1.5),
    "a ground": ([*SMALL, ((0, -1000.5, 0), 1000.0)], [0, 2], 1.5),
    "a star far away": ([*SMALL, ((0, 500, 0), 30.0)], [0, 2], np.inf),
    "a larger ball beside them": ([*SMALL, ((3, 0, 0), 1.4)], [0, 2], np.inf),
}


@pytest.mark.parametrize("name", REACHES)
def test_a_dome_is_chosen_as_a_ball_of_the_size_of_the_scene(name: str) -> None:
    """So that lamps inside of it are chosen, too."""
    balls, emitters, wanted = REACHES[name]
    columns = [np.array([c[axis] for c, _ in balls], np.float32) for axis in range(3)]
    spheres: Any = (*columns, np.array([radius for _, radius in balls], np.float32))
    assert limit_emitter_radius(spheres, np.array(emitters)) == pytest.approx(wanted)


# ---- glass


GLOWING = {
    "clear": Principled(roughness=0.0, transmission=1.0, ior=1.3, emission=0.4),
    "rough": Principled(roughness=0.5, transmission=1.0, emission=0.4),
    "that absorbs": Principled(roughness=0.6, transmission=1.0, emission=0.4,
                               attenuation_distance=0.8),
}  # fmt: skip


@pytest.mark.parametrize("name", GLOWING)
def test_glass_that_emits_light(backend: str, name: str) -> None:
    """A sphere, which is sampled as a light, and an ellipsoid of the same form, which is not."""
    look: dict[str, Any] = {"color_space": "linear", "material": GLOWING[name]}
    camera = Camera(position=(0, 0, 6), look_at=(0, 0, 0), vertical_fov=20.0)
    color = [(0.9, 0.6, 0.3)]
    solids = (
        SphereSet([(0, 0, 0)], 1.0, color, **look),
        EllipsoidSet([(0, 0, 0)], (1.0, 1.0, 1.0), color=color, **look),
    )
    found = [shoot(shown(solid, camera=camera), "path", 40, backend=backend, samples=1024)
             for solid in solids]  # fmt: skip
    light = [picture.mean(axis=(0, 1)) for picture in found]
    np.testing.assert_allclose(light[0], light[1], rtol=0.01)
    assert light[0].min() > 0.05


def test_a_ray_through_thin_glass_meets_light_twice(backend: str) -> None:
    """Glass with the index of air bends and reflects nothing: both sides are seen."""
    glass = Principled(roughness=0.0, transmission=1.0, ior=1.0, emission=0.3, specular=0.0)
    ball = SphereSet([(0, 0, 0)], 4.0, "white", material=glass)
    camera = Camera(position=(0, 0, 6), look_at=(0, 0, 0), vertical_fov=20.0)
    found = shoot(shown(ball, camera=camera), "path", 4, backend=backend, samples=16)
    np.testing.assert_allclose(found, 0.6, rtol=1e-4)
