"""The integrator path: closed forms, an independent path tracer; direct light at a surface."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import (
    Background,
    Camera,
    DirectionalLight,
    DiskLight,
    Material,
    PointLight,
    Principled,
    RectangleLight,
    Scene,
    SphereSet,
)
from raytracer.model.lights import Ambient
from raytracer.system.layout import enum_value
from reference import View
from reference import path_scene as exact
from reference.path_tracer import agree, estimate_of, trace
from reference.radiometry import sphere_irradiance
from reference.scene import unit
from support.probe import Probe
from support.project import srgb

PATH: dict[str, Any] = {"integrator": "path"}
DIFFUSE = Material(ambient=1.0, diffuse=1.0, specular=0.0)
BLACK = Background(color="#000000")
DARK = Ambient(intensity=0.0)
Pixels = NDArray[np.float32]


def ball(center: Any, radius: float, material: Any, color: Any = (1, 1, 1)) -> SphereSet:
    return SphereSet([center], radius, [color], color_space="linear", material=material)


def scene(*spheres: SphereSet, lights: Any = (), ambient: Ambient = DARK, **parts: Any) -> Scene:
    camera = Camera(position=(0, 0, 6), look_at=(0, 0, 0), vertical_fov=26.0)
    parts = {"camera": camera, "background": BLACK} | parts
    return Scene(list(spheres), lights=lights, ambient=ambient, **parts)


def shoot(shown: Scene, width: int = 24, height: int = 24, **settings: Any) -> Pixels:
    """The linear picture, float32 (height, width, 3)."""
    size = {"width": width, "height": height}
    return np.asarray(raytracer.render(shown, **{**size, **PATH, **settings}).array[..., :3])


GLASS = Principled(roughness=0.0, transmission=1.0)
ROOM = scene(
    ball((0, -101.2, 0), 100.0, DIFFUSE, (0.8, 0.7, 0.6)),
    ball((-1.1, -0.4, 0), 0.8, Principled(roughness=0.4, metallic=1.0), (0.9, 0.7, 0.3)),
    ball((0.3, -0.6, 0.9), 0.6, GLASS, (0.9, 0.95, 1.0)),
    ball((1.1, -0.4, -0.6), 0.8, Principled(roughness=0.5, transmission=0.7, coat=0.5)),
    ball((0.1, 1.0, -0.5), 0.3, Principled(emission=3.0), (1.0, 0.8, 0.6)),
    ball((-0.2, -0.9, 1.3), 0.3, Material(mirror=0.5), (0.2, 0.8, 0.3)),
    lights=(
        RectangleLight((0, 2.5, 0), (0, -1, 0), width=1.6, height=1.2, intensity=2.0),
        DiskLight((-2.5, 1, 0), (1, -0.3, 0), radius=0.7, color="#ffd0a0"),
        PointLight((2.2, 1, 1), radius=0.4, intensity=1.5, falloff="inverse-square"),
        DirectionalLight((0.3, -1, -0.5), intensity=0.3, angle=20.0, shadow=False),
    ),
    ambient=Ambient(intensity=0.2),
    background=Background(bottom="#806040", top="#4080ff"),
)  # fmt: skip


# ---- closed forms

WHITE: dict[str, Any] = {
    "metal": Principled(roughness=0.3, metallic=1.0),
    "smooth metal": Principled(roughness=0.0, metallic=1.0),
    "dielectric": Principled(roughness=0.4),
    "phong": DIFFUSE,
    "half a mirror": Material(ambient=1.0, diffuse=1.0, specular=0.0, mirror=0.5),
    "clear glass": GLASS,
    **{f"glass {r}": Principled(roughness=r, transmission=1.0) for r in (0.1, 0.4, 0.7, 1.0)},
    "coated metal": Principled(roughness=0.3, metallic=1.0, coat=1.0),
    "coated dielectric": Principled(roughness=0.4, coat=1.0),
    "coated clear glass": replace(GLASS, coat=1.0),
    "coated glass 0.4": Principled(roughness=0.4, transmission=1.0, coat=1.0),
}


BEHIND = ((-0.5, 0, 0), 0.9), ((0.7, 0.1, -0.5), 0.7)
TOUCHING = ((-0.5, 0, 0), 0.5), ((0.5, 0, 0), 0.5), ((0.5, 0.2, 0), 0.3)


@pytest.mark.parametrize("touch", [False, True])
@pytest.mark.parametrize("name", WHITE)
def test_white_furnace(backend: str, name: str, touch: bool) -> None:
    """White balls in a white room are not seen: one partly behind the other, or touching.

    Side by side and one within the other there are no dark rings around the points of contact,
    where light bounces so often that paths are long.
    """
    shown = scene(
        *(ball(at, radius, WHITE[name]) for at, radius in (TOUCHING if touch else BEHIND)),
        background=Background(color="#ffffff"),
    )
    if touch:
        shown.camera = Camera(position=(0, 0, 6), look_at=(0, 0, 0), vertical_fov=4.0)
    found = shoot(shown, 20, 20, samples=128, max_depth=512 if touch else 64, backend=backend)
    rough = "glass " in name if touch else name == "coated glass 0.4"
    assert found.mean() == pytest.approx(1, abs=(1e-2 if touch else 5e-3) if rough else 3e-3)
    assert np.abs(found - 1).max() < (1e-4 if "phong" in name else 0.35 if touch else 0.25)


@pytest.mark.parametrize("coat", [0.0, 1.0])
@pytest.mark.parametrize(("roughness", "ior"), [(0.0, 1.5), (0.2, 2.4), (0.5, 1.5)])
def test_light_in_glass_leaves_it_at_any_depth(
    backend: str, roughness: float, ior: float, coat: float
) -> None:
    """A white ball in a white room with few bounces: paths end outside of glass."""
    glass = Principled(roughness=roughness, ior=ior, transmission=1.0, coat=coat)
    shown = scene(ball((0, 0, 0), 1.0, glass), background=Background(color="#ffffff"))
    for depth in (1, 4):
        found = shoot(shown, samples=256, max_depth=depth, backend=backend)
        assert found.mean() == pytest.approx(1, abs=5e-3), depth
    assert shoot(shown, samples=4, max_depth=0, backend=backend).min() < 0.5


def test_ambient_light_is_a_sky(backend: str) -> None:
    """It lights what paths reach, adds to the background, and the camera does not see it."""
    shown = scene(ball((0, 0, 0), 1.0, DIFFUSE, (0.5, 0.5, 0.5)), ambient=Ambient(intensity=0.6))
    found = shoot(shown, samples=4, filter="point", backend=backend)
    assert found[12, 12] == pytest.approx(0.3, rel=1e-5)
    assert (found[0, 0] == 0).all()
    shown.background = Background(color=srgb((0.4, 0.4, 0.4)))
    found = shoot(shown, samples=4, filter="point", backend=backend)
    assert found[12, 12] == pytest.approx(0.5, rel=1e-5)
    assert found[0, 0] == pytest.approx(0.4, rel=1e-5)


LAMP = np.array([1.6, 1.2, 1.5])


@pytest.mark.parametrize("integrator", ["path", "direct", "ao"])
@pytest.mark.parametrize("kind", ["sphere", "point"])
def test_light_of_a_lamp(backend: str, kind: str, integrator: str) -> None:
    """A sphere that emits, and a point light with a radius: the form factor of a sphere."""
    radius, half = 0.6, ball((0, 0, 0), 1.0, DIFFUSE, (0.5, 0.5, 0.5))
    shown = scene(half, ball(LAMP, radius, Principled(emission=2.0)))
    if kind == "point":
        intensity = 2.0 * radius**2
        light = PointLight(
            tuple(LAMP), radius=radius, intensity=intensity, falloff="inverse-square"
        )
        shown = scene(half, lights=(light,))
    found = on_a_ball(shown, backend=backend, integrator=integrator, max_depth=1)
    point, on = points_of_the_ball()
    on &= np.linalg.norm(LAMP[:2] - point[..., :2], axis=-1) > radius  # the lamp hides others
    light = light_of_spheres(point.reshape(-1, 3), LAMP[None], np.array([radius]))
    wanted = 2.0 * 0.5 / np.pi * light.reshape(on.shape)
    error = (found[..., 0] - wanted)[on]
    assert (np.abs(error) < 0.1 * wanted[on] + 4e-3).all()
    assert abs(error.mean()) < 1e-3
    assert wanted[on].max() > 0.15
    if kind == "sphere":
        assert found[~on].max() == pytest.approx(2, rel=0.02)  # with what the ball reflects on it


@pytest.mark.parametrize("count", [1, 64, 65, 3000, 100_000])
def test_light_of_many_lamps(backend: str, count: int) -> None:
    """Each by its power, whichever colour, size and place."""
    rng = np.random.default_rng(count)
    places = rng.normal(size=(count, 3)) * [1, 1, 0.3] + [0, 0, 9.0]
    radii, colors = rng.uniform(0.05, 0.5, count), rng.uniform(0.1, 1.0, (count, 3))
    lamps = SphereSet(
        places, radii, colors, color_space="linear", material=Principled(emission=2.0)
    )
    shown = scene(ball((0, 0, 0), 1.0, DIFFUSE, (0.5, 0.5, 0.5)), lamps)
    every = 5 if count > 10_000 else 1  # pixels of which the light of all lamps is added up
    found = on_a_ball(
        shown, backend=backend, shadows=False, max_depth=0, samples=128 * every
    )[::every, ::every]  # fmt: skip
    point, on = (each[::every, ::every] for each in points_of_the_ball())
    wanted = np.zeros((on.sum(), 3))
    for part in np.array_split(np.arange(count), -(-count // 1000)):
        light = light_of_spheres(point[on], places[part], radii[part])
        wanted += light.T @ (2.0 * 0.5 / np.pi * colors[part])
    assert found[on].mean(axis=0) == pytest.approx(wanted.mean(axis=0), rel=0.02)
    assert np.abs(found[on] / wanted - 1).max() < 0.6


def on_a_ball(shown: Scene, **settings: Any) -> Pixels:
    """The unit ball, seen from +z without perspective, 24 x 24 pixels of a tenth."""
    shown.camera = Camera(type="orthographic", position=(0, 0, 6), look_at=(0, 0, 0), height=2.4)
    return shoot(shown, **{"samples": 128, "filter": "point", **settings})


def points_of_the_ball() -> tuple[Any, Any]:
    """What the centres of these pixels show, (24, 24, 3), and where it is the ball."""
    line = (np.arange(24) + 0.5) / 10 - 1.2
    x, y = np.meshgrid(line, -line)
    on = x**2 + y**2 < 0.9
    return np.stack([x, y, np.sqrt(np.where(on, 1 - x**2 - y**2, 0))], axis=-1), on


def light_of_spheres(point: Any, centers: Any, radii: Any) -> Any:
    """Irradiance by spheres of radiance 1 on points of the unit ball, (n, p)."""
    away = centers[:, None] - point
    distance = np.linalg.norm(away, axis=-1)
    cosine = np.einsum("npk,pk->np", away, point) / distance
    return sphere_irradiance(cosine, distance, radii[:, None])


def test_penumbra_of_a_disk(backend: str) -> None:
    """In `direct`, a ball above a plane: the disk's visible part makes light and half-shadow."""
    shown = scene(
        ball((0, -1e4, 0), 1e4, DIFFUSE),
        ball((0, 2.0, 0), 0.5, DIFFUSE),
        lights=(DiskLight((0, 4.0, 0), (0, -1, 0), radius=0.25),),
        camera=Camera(type="orthographic", position=(0, 1.0, 0.001), look_at=(0, 0, 0), height=3.0,
                      up=(0, 0, -1)),
    )  # fmt: skip
    found = shoot(shown, 60, 1, samples=256, integrator="direct", filter="point", backend=backend)
    place = np.abs((np.arange(60) + 0.5) / 60 - 0.5) * 180  # 60 times as wide as high
    assert (found[0, place < 0.6, 0] == 0).all()
    lit = found[0, place > 1.4, 0]
    distance2 = 16 + place[place > 1.4] ** 2
    wanted = 0.25**2 * 16 / distance2**2
    np.testing.assert_allclose(lit, wanted, rtol=0.05, atol=1e-6)
    half = shoot(shown, 30, 30, samples=64, integrator="direct", filter="point", backend=backend)
    row = half[15, :, 0] / half[15].max()
    assert ((row > 0.05) & (row < 0.9)).sum() >= 6


# ---- against the path tracer of the tests

VIEW = View((0, 2.4, 4.5), (0, -0.6, 0), vertical_fov=30.0)
FLOOR = ((0, -101.2, 0), 100.0, (0.8, 0.7, 0.6))
METAL = ((-0.9, -0.5, 0), 0.7, (0.9, 0.7, 0.3))
CLEAR = ((0.6, -0.6, 0.5), 0.6, (1.0, 1.0, 1.0))
PURE: dict[str, Any] = {"specular": 0.0, "roughness": 1.0}
CASES: dict[str, tuple[tuple[Any, ...], tuple[Any, ...]]] = {
    "rectangle and disk": (
        (
            RectangleLight((0, 2.0, 0), (0, -1, 0), width=1.6, height=1.2, intensity=2.0),
            DiskLight((-2.5, 1, 0), (1, -0.3, 0), radius=0.7),
        ),
        (
            exact.RectangleLight((0, 2.0, 0), (0.8, 0, 0), (0, 0, 0.6), (2, 2, 2)),
            exact.DiskLight((-2.5, 1, 0), (1, -0.3, 0), 0.7),
        ),
    ),
    "point with a radius and sun": (
        (
            PointLight((1.6, 1.6, 1), radius=0.8, intensity=4.0, falloff="inverse-square"),
            DirectionalLight((0.3, -1, -0.5), intensity=0.6, angle=60.0),
        ),
        (
            exact.SphereLight((1.6, 1.6, 1), 0.8, (6.25, 6.25, 6.25)),
            exact.DirectionalLight((0.3, -1, -0.5), (0.6 * np.pi,) * 3, angle=60.0),
        ),
    ),
    "sky": ((), ()),
}


@pytest.mark.parametrize(
    ("name", "glass"), [*zip(CASES, (0.5, 0.0, 0.5), strict=True)], ids=list(CASES)
)
def test_against_another_path_tracer(backend: str, name: str, glass: float) -> None:
    """Diffuse ground, rough metal and glass: pictures of independent samples, by z-test."""
    ours, theirs = CASES[name]
    sky = {"color": srgb((0.3, 0.5, 0.8))} if name == "sky" else {"color": "#000000"}
    shown = scene(
        ball(*FLOOR[:2], Principled(**PURE), FLOOR[2]),
        ball(*METAL[:2], Principled(roughness=0.5, metallic=1.0), METAL[2]),
        ball(*CLEAR[:2], Principled(roughness=glass, transmission=1.0), CLEAR[2]),
        lights=ours,
        background=Background(**sky),
        camera=Camera(position=VIEW.position, look_at=VIEW.look_at, vertical_fov=30.0),
    )
    size, depth = 8, 8
    pictures = [
        shoot(shown, size, size, samples=48, max_depth=depth, filter="box", seed=seed,
              backend=backend)
        for seed in range(12)
    ]  # fmt: skip
    light = (0.3, 0.5, 0.8) if name == "sky" else (0.0, 0.0, 0.0)
    other = exact.PathScene(
        (
            exact.Ball(*FLOOR, **PURE),
            exact.Ball(*METAL, roughness=0.5, metallic=1.0),
            exact.Ball(*CLEAR, roughness=glass, transmission=1.0),
        ),
        theirs,
        exact.Sky(light, light),
    )
    samples = 4000 if theirs else 1000  # a light in the scene is seldom met
    wanted = trace(other, VIEW, size, size, samples, max_depth=depth)
    agree(estimate_of(np.array(pictures)), wanted, name, least=2e-3)
    assert wanted.mean.mean() > 0.02


# ---- settings


def test_more_bounces_add_light(backend: str) -> None:
    """And the first is direct light, that of `direct` where nothing else is."""
    direct, one, two = (
        shoot(ROOM, samples=32, max_depth=depth, backend=backend).mean() for depth in (0, 1, 2)
    )
    assert direct < 0.95 * one < 0.95 * two
    lights = [replace(light, shadow=True) for light in ROOM.lights or ()]
    lamps = scene(ball((0, 0, 0), 1.0, DIFFUSE), lights=lights)
    for depth in (0, 3):
        found = shoot(lamps, samples=64, max_depth=depth, filter="point", backend=backend)
        plain = shoot(lamps, samples=64, integrator="direct", filter="point", backend=backend)
        assert np.abs(found - plain).mean() < 0.01
        assert found.mean() == pytest.approx(plain.mean(), rel=2e-3)


LAMPS_OF_ALL_KINDS: dict[str, Any] = {
    "rectangle": lambda **k: RectangleLight((0, 4, 2), (0, -2, -1), width=3, height=3, **k),
    "disk": lambda **k: DiskLight((0, 4, 2), (0, -2, -1), radius=1.7, **k),
    "lamp": lambda **k: PointLight((0, 4, 2), radius=1.5, intensity=0.4, **k),
    "point": lambda **k: PointLight((0, 4, 2), intensity=0.4, **k),
    "sun": lambda **k: DirectionalLight((0, -2, -1), angle=40.0, intensity=0.4, **k),
    "directional": lambda **k: DirectionalLight((0, -2, -1), intensity=0.4, **k),
}


@pytest.mark.parametrize(
    ("kind", "integrator", "depth"),
    [*itertools.product(LAMPS_OF_ALL_KINDS, ("direct", "ao", "path"), (0,)),
     ("rectangle", "path", 1)],
)  # fmt: skip
def test_no_light_but_those_with_shadow_is_kept_off(
    backend: str, kind: str, integrator: str, depth: int
) -> None:
    """A black ball before a white one, or one of metal, keeps nothing off it."""
    white = Material(ambient=0, diffuse=1.0, specular=0.0)
    lit = ball((0, 0, 0), 1.0, Principled(roughness=0.4, metallic=1.0) if depth else white)
    screen = ball((0, 1.9, 0.9), 0.9, Material(ambient=0, diffuse=0.0, specular=0.0))
    settings: dict[str, Any] = {"samples": 256 if depth else 32, "filter": "point"}
    found = {}
    for shadow, others in itertools.product((True, False), ((screen,), ())):
        shown = scene(lit, *others, lights=(LAMPS_OF_ALL_KINDS[kind](shadow=shadow),))
        image = shoot(shown, max_depth=depth, integrator=integrator, backend=backend, **settings)
        found[shadow, len(others)] = image[5:12].mean()
    assert found[True, 1] < (0.5 if depth else 0.9) * found[True, 0]
    assert found[False, 1] == pytest.approx(found[False, 0], rel=1e-3)
    assert found[False, 0] == pytest.approx(found[True, 0], rel=0.03 if depth else 2e-3)


def test_clamping_takes_light_away(backend: str) -> None:
    plain = shoot(ROOM, samples=16, backend=backend)
    clamped = shoot(ROOM, samples=16, clamp_indirect=0.2, backend=backend)
    assert (clamped <= plain + 1e-6).all()
    assert clamped.mean() < 0.98 * plain.mean()
    direct: dict[str, Any] = {"samples": 16, "max_depth": 0, "backend": backend}
    np.testing.assert_array_equal(shoot(ROOM, **direct), shoot(ROOM, clamp_indirect=0.2, **direct))


def test_extents_of_zero_are_lights_without_extent(backend: str) -> None:
    """The same bytes in `direct`, whichever of its kernels renders them."""
    spheres = ball((0, 0, 0), 1.0, Material()), ball((0.5, 0.8, 0.9), 0.3, Material(mirror=0.3))
    lights = PointLight((3, 4, 5), intensity=0.5), DirectionalLight((0, -1, -1), intensity=0.4)
    plain = shoot(scene(*spheres, lights=lights), integrator="direct", samples=2, backend=backend)
    other = ball((9, 9, -9), 0.1, Principled())  # out of sight; it asks for the other kernel
    found = shoot(
        scene(*spheres, other, lights=lights), integrator="direct", samples=2, backend=backend
    )
    np.testing.assert_allclose(found, plain, rtol=2e-5, atol=1e-6)


@pytest.mark.parametrize("integrator", ["direct", "path"])
def test_colour_of_a_mirror(backend: str, integrator: str) -> None:
    """A mirror shows what is around it in its own colour, whatever the colour of the ball."""
    color = (0.9, 0.5, 0.2)
    mirror = Material(ambient=0.0, diffuse=0.0, specular=0.0, mirror=0.8, mirror_color=srgb(color))
    shown = scene(
        ball((0, 0, 0), 5.0, mirror, (0.1, 1.0, 0.1)), background=Background(color="#ffffff")
    )
    found = shoot(shown, 6, 6, samples=4, integrator=integrator, backend=backend)
    assert found == pytest.approx(np.broadcast_to(0.8 * np.array(color), found.shape), rel=1e-5)


COUNT = 5_000


@pytest.mark.parametrize("color", [1.0, np.inf])
@pytest.mark.parametrize("kind", ["point", "directional"])
def test_light_arrives_where_a_surface_faces_it(probe: Probe, kind: str, color: float) -> None:
    """Its radiance is never NaN there, and it arrives nowhere else, however bright it is."""
    rng = np.random.default_rng(4)
    inside = np.arange(COUNT) % 2 == 0
    direction = unit(rng.normal(size=(COUNT, 3)))
    origin = np.where(inside[:, None], 0.3, -3.0) * direction
    vector = np.array([0.0, 0.0, 5.0 if kind == "point" else 1.0])
    light = {"kind": enum_value("LightKind", kind), "vector": vector, "color": (color,) * 3}
    shadows = {"shadows": 1}
    found = probe(
        "light_arrival", np.zeros((1, 3)), 1.0, origin, direction, light=light, frame=shadows
    )
    arrives = found[:, 0] == 1
    towards = vector + direction if kind == "point" else np.broadcast_to(vector, direction.shape)
    # Rays from outside meet the sphere at -direction. From inside, the sphere itself is in the way.
    cosine = (unit(towards) * -direction).sum(axis=1)
    clear = np.abs(cosine) > 1e-3
    assert (arrives == (~inside & (cosine > 0)))[clear].all()
    assert not np.isnan(found[arrives]).any()
    expected = cosine[arrives, None] if color == 1 else np.inf
    np.testing.assert_allclose(
        found[arrives, 1:], np.broadcast_to(expected, (arrives.sum(), 3)), rtol=1e-2, atol=1e-3
    )
