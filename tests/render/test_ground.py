"""The ground: a plane against a float64 ray caster; one of which shadows alone are seen."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

import raytracer
from raytracer import Background, Camera, DirectionalLight, Ground, Material, Scene, SphereSet
from raytracer.model.colors import parse_color, srgb_to_linear
from raytracer.model.environment import Environment
from raytracer.model.lights import Ambient
from raytracer.packing.pack import pack
from reference import View, camera_rays, closest_hit
from reference.radiometry import sphere_irradiance
from reference.scene import unit

WIDTH, HEIGHT = 120, 90
VIEW = View((1.5, 2.4, 7.0), (0.0, 0.3, 0.0), vertical_fov=50.0)
SUN = unit((0.7, -1.0, -0.3))
CENTERS = np.array([[0.0, 0.5, 0.0], [1.3, 0.1, 0.6], [-1.4, 0.9, -0.5]])
RADII = np.array([0.8, 0.5, 0.6])
NO_ID = 2**32 - 1
Array = NDArray[np.float64]


def turned(up: Array) -> Array:
    """A rotation that takes y to another axis."""
    side = unit(np.cross(up, (0.3, 0.1, 1.0)))
    return np.stack([np.cross(up, side), up, side], axis=1)


def scene_of(rotation: Array, shift: Array, height: float | str, **options: Any) -> raytracer.Scene:
    def moved(point: Any) -> tuple[float, ...]:
        return tuple((rotation @ np.asarray(point) + shift).tolist())

    return raytracer.Scene(
        spheres=[raytracer.SphereSet([moved(c) for c in CENTERS], RADII, "white")],
        camera=raytracer.Camera(
            position=moved(VIEW.position), look_at=moved(VIEW.look_at), vertical_fov=50.0,
            up=tuple(rotation[:, 1].tolist()),
        ),
        lights=[raytracer.DirectionalLight(tuple((rotation @ SUN).tolist()), intensity=1.0)],
        ambient=raytracer.Ambient(intensity=0.2),
        materials={
            "default": raytracer.Material(diffuse=0.8, specular=0.0),
            "mirror": raytracer.Material(mirror=1.0, specular=0.0),
        },
        ground=raytracer.Ground(height, options.pop("color", "white"), **options),
    )  # fmt: skip


def expected(height: float) -> tuple[Array, Array, NDArray[np.bool_]]:
    """Depth and radiance of the ground where rays through pixel centres meet it first.

    Also which pixels show it well away from the edges of spheres and of shadows.
    """
    origin, direction = camera_rays(VIEW, WIDTH, HEIGHT)
    origin, direction = (
        np.broadcast_to(a, (*direction.shape,)).reshape(-1, 3) for a in (origin, direction)
    )
    with np.errstate(divide="ignore"):
        t = (height - origin[:, 1]) / direction[:, 1]
    seen = (t > 0.0) & (t < closest_hit(CENTERS, RADII, origin, direction)[0])
    point = origin + np.where(seen, t, 0.0)[:, None] * direction
    towards = np.broadcast_to(-SUN, point.shape)
    lit = np.isinf(closest_hit(CENTERS, RADII, point, towards)[0])
    radiance = 0.2 + np.where(lit, 0.8 * -SUN[1], 0.0)
    shape = HEIGHT, WIDTH
    sure = seen.reshape(shape).copy()
    for mask in (seen.reshape(shape), lit.reshape(shape)):
        for axis in (0, 1):
            edge = np.diff(mask, axis=axis)
            low, high = [slice(None)] * 2, [slice(None)] * 2
            low[axis], high[axis] = slice(None, -1), slice(1, None)
            sure[tuple(low)] &= ~edge
            sure[tuple(high)] &= ~edge
    return t.reshape(shape), radiance.reshape(shape), sure


def render(scene: raytracer.Scene, **settings: Any) -> raytracer.Image:
    options: dict[str, Any] = {"width": WIDTH, "height": HEIGHT, "samples": 1, "filter": "point"}
    return raytracer.render(scene, aovs=("id", "depth", "normal", "position"), **options | settings)


@pytest.mark.parametrize("up", [(0.0, 1.0, 0.0), (0.0, 0.0, 1.0), (0.36, -0.48, 0.8)])
@pytest.mark.parametrize("height", [-0.4, -3.0, "below"])
def test_it_is_a_plane(backend: str, up: tuple[float, float, float], height: float | str) -> None:
    rotation, shift = turned(np.array(up)), np.array([40.0, -20.0, 7.0])
    own = height if isinstance(height, str) else height + float(shift @ up)
    film = render(scene_of(rotation, shift, own), backend=backend).film
    place = -0.4 if isinstance(height, str) else height  # the second sphere reaches lowest
    depth, radiance, sure = expected(place)
    assert 2000 < np.count_nonzero(sure) < np.count_nonzero(film.aovs["id"] == NO_ID)
    assert (film.aovs["id"][sure] == NO_ID).all()
    assert set(film.aovs["id"][film.aovs["id"] != NO_ID]) == {0, 1, 2}
    near = sure & (depth < 100.0)
    np.testing.assert_allclose(film.aovs["depth"][near], depth[near], rtol=2e-5)
    np.testing.assert_allclose(film.aovs["normal"][sure] @ up, 1.0, atol=1e-6)
    heights = (film.aovs["position"].astype(np.float64) - shift) @ up
    np.testing.assert_allclose(heights[near], place, atol=5e-5)
    np.testing.assert_allclose(film.sums[sure][:, 1], radiance[sure], rtol=2e-4)
    assert (film.coverage[sure] == 1.0).all()


FROM_BELOW = raytracer.Camera((1.5, -3.0, 7.0), (0.0, 0.3, 0.0), vertical_fov=50.0)


def seen_without_ground(scene: raytracer.Scene, **settings: Any) -> Any:
    """Assert that a picture is the one without the ground; numbers of what is seen."""
    with pytest.warns(raytracer.RaytracerWarning, match="the camera is below the ground"):
        below = render(scene, **settings)
    without = render(replace(scene, ground=None), **settings)
    np.testing.assert_array_equal(below.to_uint8(), without.to_uint8())
    np.testing.assert_array_equal(below.film.aovs["depth"], without.film.aovs["depth"])
    return below.film.aovs["id"]


@pytest.mark.parametrize("settings", [{}, {"integrator": "ao"}, {"integrator": "path"}], ids=str)
@pytest.mark.parametrize("options", [{}, {"shadow_catcher": True}, {"fade": 4.0}], ids=str)
@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_a_camera_below_it_sees_the_scene_without_it(
    backend: str, kind: str, options: dict[str, Any], settings: dict[str, Any]
) -> None:
    """Also where the place of a camera without perspective is above: it looks upwards."""
    scene = scene_of(np.eye(3), np.zeros(3), -6.0 if kind == "orthographic" else -0.4, **options)
    scene = replace(scene, camera=replace(FROM_BELOW, type=kind, height=5.0))
    assert (seen_without_ground(scene, backend=backend, **settings) != NO_ID).any()


def test_from_below_a_large_sphere_beside_it_stays(backend: str) -> None:
    """Large spheres are listed with the ground, which alone is left out."""
    sun = raytracer.SphereSet([[0.0, 3e6 + 10.0, -20.0]], 3e6, "gold")
    scene = scene_of(np.eye(3), np.zeros(3), -0.4)
    scene = replace(scene, spheres=(*scene.spheres, sun))
    assert len(pack(scene).large) == 2
    scene = replace(scene, camera=FROM_BELOW)
    assert (seen_without_ground(scene, backend=backend) == 3).any()


def test_a_mirror_shows_the_spheres_upside_down() -> None:
    scene = scene_of(np.eye(3), np.zeros(3), -0.4, material="mirror")
    scene.background = raytracer.Background("black")
    film = render(scene, max_depth=1).film
    below = scene_of(np.eye(3), np.zeros(3), -0.4)
    flipped = CENTERS * (1.0, -1.0, 1.0) - (0.0, 0.8, 0.0)
    below.spheres = [raytracer.SphereSet(flipped, RADII, "white")]
    below.lights = [raytracer.DirectionalLight(tuple((SUN * (1.0, -1.0, 1.0)).tolist()))]
    below.ground, below.background = None, scene.background
    ground = film.aovs["id"] == NO_ID
    seen = np.where(ground, film.sums[..., 1], 0.0)
    wanted = np.where(ground, render(below).film.sums[..., 1], 0.0)
    assert np.count_nonzero(wanted) > 300
    assert np.mean(np.abs(seen - wanted) > 0.02) < 0.02  # shadow edges, which differ by roundings


def test_the_file_the_option_and_python_show_the_same(tmp_path: Any) -> None:
    from raytracer.commands.cli import main

    text = 'spheres = [{ centers = [[0, 1, 0]], radius = 1, color = "red" }]\n'
    (tmp_path / "with.toml").write_text(text + '[ground]\nheight = -0.25\ncolor = "#d9d9d9"\n')
    (tmp_path / "without.toml").write_text(text)
    size: dict[str, Any] = {"width": 40, "height": 30, "samples": 2, "backend": "cpu"}
    own = raytracer.render(tmp_path / "with.toml", **size)
    asked = raytracer.render(tmp_path / "without.toml", ground=-0.25, **size)
    given = raytracer.render(tmp_path / "without.toml", ground=raytracer.Ground(-0.25), **size)
    for other in (asked, given):
        np.testing.assert_array_equal(own.film.sums, other.film.sums)
    bare = raytracer.render(tmp_path / "without.toml", **size)
    without = raytracer.render(tmp_path / "with.toml", ground=False, **size)
    np.testing.assert_array_equal(bare.film.sums, without.film.sums)
    assert own.metadata["spheres"] == 1
    assert own.metadata["scene"]["digest"] not in ("", bare.metadata["scene"]["digest"])
    options = ["--width", "40", "--height", "30", "--samples", "2", "--backend", "cpu", "-q"]
    picture, film = tmp_path / "a.png", tmp_path / "a.npz"
    command = ["render", str(tmp_path / "without.toml"), "--ground", "-0.25", *options]
    assert main([*command, "-o", str(picture), "--film", str(film)]) == 0
    np.testing.assert_array_equal(raytracer.Film.load(film).sums, own.film.sums)


def test_beside_large_spheres_there_are_as_many_as_kernels_take() -> None:
    sets = [raytracer.SphereSet([[0.0, 0.0, 0.0]], 1.0)]
    sets += [raytracer.SphereSet([[0.0, -1e7 - 3 - i, 0.0]], 1e7) for i in range(16)]
    with pytest.warns(raytracer.RaytracerWarning, match="at most 16 large ones"):
        buffers = pack(raytracer.Scene(sets, ground=raytracer.Ground(0.0)))
    assert len(buffers.large) == 16
    assert buffers.has_ground
    assert buffers.large["prim"].tolist() == list(range(2, 18))


@pytest.mark.parametrize(
    "material", [raytracer.Principled(emission=1.0), raytracer.Principled(transmission=1.0)]
)
def test_it_is_neither_a_lamp_nor_of_glass(material: raytracer.Principled) -> None:
    with pytest.raises(raytracer.UserError, match=r"ground\.material: emits or transmits light"):
        raytracer.Scene(materials={"m": material}, ground=raytracer.Ground(material="m"))


MATT = Material(ambient=1.0, diffuse=1.0, specular=0.0)
SIDE = 16
MIDDLE = 1.6
"""Of the middle of the ball above the ground."""

Pixels = NDArray[np.float32]


def scene(**parts: Any) -> Scene:
    """A unit ball above the ground, from straight above, 8 units wide."""
    ball = SphereSet([(0, MIDDLE, 0)], 1.0, ["#808080"], material=MATT)
    camera = Camera(
        type="orthographic", position=(0, 9, 0), look_at=(0, 0, 0), up=(0, 0, -1), height=8.0
    )
    ground = Ground(height=0.0, color="#c04020", material="matt", shadow_catcher=True)
    return Scene(
        [ball],
        **{"camera": camera, "ground": ground, "materials": {"matt": MATT}, "lights": (),
           "ambient": Ambient(intensity=0.25),
           "background": Background(transparent=True, up=(0, 1, 0)), **parts},
    )  # fmt: skip


def shoot(shown: Scene, **settings: Any) -> Pixels:
    """Linear radiance and alpha, float32 (SIDE, SIDE, 4)."""
    options: dict[str, Any] = {"width": SIDE, "height": SIDE, "filter": "point"} | settings
    return np.asarray(raytracer.render(shown, **options).array)


def places() -> tuple[Any, Any]:
    """Where pixel centres are on the ground, (SIDE, SIDE)."""
    line = (np.arange(SIDE) + 0.5) / SIDE * 8 - 4
    x, z = np.meshgrid(line, line)
    return x, z


@pytest.mark.parametrize("integrator", ["direct", "path"])
def test_shadow_of_the_sun(backend: str, integrator: str) -> None:
    """The share of the sun's light where it does not come, 0 where it does, 1 on the ball."""
    slope = np.array([1.0, -1.0, 0.0])
    sun = DirectionalLight(tuple(slope), intensity=0.75 * np.sqrt(2))
    if integrator == "direct":
        shown, share = scene(lights=(sun,)), 0.75
    else:  # without a sky all light is missing
        shown, share = scene(lights=(sun,), ambient=Ambient(intensity=0.0)), 1.0
    found = shoot(shown, samples=4, integrator=integrator, backend=backend)
    x, z = places()
    on_ball = np.hypot(x, z) < 1
    across = np.hypot((x - MIDDLE) / np.sqrt(2), z)  # of the sun's ray through the place
    clear = (np.abs(across - 1) > 0.05) & (np.abs(np.hypot(x, z) - 1) > 0.05)
    wanted = np.where(on_ball, 1.0, np.where(across < 1, share, 0.0))
    assert np.abs(found[..., 3] - wanted)[clear].max() < 1e-4
    assert (found[..., :3][~on_ball & clear] == 0).all()
    assert (wanted[~on_ball] > 0).any()


@pytest.mark.parametrize("sky", ["ambient", "environment"])
@pytest.mark.parametrize("integrator", ["ao", "path"])
def test_shadow_of_the_sky(backend: str, integrator: str, sky: str) -> None:
    """What a ball covers of a uniform sky, by its form factor."""
    parts: dict[str, Any] = {"ambient": Ambient(intensity=0.5)}
    if sky == "environment" and integrator == "path":
        parts = {"ambient": Ambient(intensity=0.0),
                 "environment": Environment(color="white", visible=False)}  # fmt: skip
    found = shoot(scene(**parts), samples=512, integrator=integrator, backend=backend)
    x, z = places()
    beside = np.hypot(x, z)
    distance = np.hypot(beside, MIDDLE)
    covered = sphere_irradiance(MIDDLE / distance, distance, 1.0) / np.pi
    ground = beside > 1.05
    error = (found[..., 3] - covered)[ground]
    assert np.abs(error).max() < 0.09
    assert abs(error.mean()) < 2e-3
    assert covered[ground].max() > 0.15


def covered_share(bottom: str, top: str) -> tuple[Any, Any]:
    """What the ball covers of a sky's light on the ground: mean and variance over one ray.

    bottom, top: colours of the nadir and the zenith. The ray has the density of a cosine.
    Returns (SIDE, SIDE) each, by quadrature over the directions.
    """
    u, v = np.meshgrid((np.arange(64) + 0.5) / 64, (np.arange(128) + 0.5) / 128)
    root, angle = np.sqrt(u), 2 * np.pi * v
    wi = np.stack([root * np.cos(angle), np.sqrt(1 - u), root * np.sin(angle)], axis=-1)
    low, high = (sum(srgb_to_linear(parse_color(color))) for color in (bottom, top))
    sky = low + (0.5 + 0.5 * wi[..., 1]) * (high - low)
    x, z = places()
    to = np.stack([-x, np.full_like(x, MIDDLE), -z], axis=-1)
    along = np.einsum("yxi,abi->yxab", to, wi)
    blocked = (along > 0) & ((to**2).sum(axis=-1)[..., None, None] - along**2 < 1)
    share = blocked * (sky / sky.mean())
    return share.mean(axis=(2, 3)), share.var(axis=(2, 3))


@pytest.mark.parametrize("matt", [MATT, replace(MATT, specular=0.4)], ids=["dull", "glossy"])
@pytest.mark.parametrize("colors", [("white", "white"), ("#806040", "#c0d0ff")], ids=str)
def test_an_even_sky_has_the_noise_of_one_ray(
    backend: str, colors: tuple[str, str], matt: Material
) -> None:
    """Its samples lie above the ground, also where a material has highlights."""
    shown = scene(environment=Environment(bottom=colors[0], top=colors[1]))
    shown.spheres = [SphereSet([(0, MIDDLE, 0)], 1.0, ["#808080"], material=matt)]
    found = np.array([
        shoot(shown, samples=8, integrator="path", seed=seed, backend=backend)[..., 3]
        for seed in range(4)
    ])  # fmt: skip
    mean, variance = covered_share(*colors)
    ground = np.hypot(*places()) > 1.05
    error = (found - mean)[:, ground]
    assert abs(error.mean()) < 4 * np.sqrt(variance[ground].mean() / error.size / 8) + 5e-4
    assert (error**2).mean() < 1.1 * variance[ground].mean() / 8
    assert mean[ground].max() > 0.15


def test_a_sky_with_a_sun_is_sampled_by_its_brightness(backend: str, tmp_path: Path) -> None:
    """Most of its light comes from a few texels, which one ray in a thousand would meet."""
    rows = np.full((64, 128, 3), 2, np.uint8)
    rows[8:10, 40:42] = 255
    Pillow.fromarray(rows).save(tmp_path / "sun.png")
    around = Environment(image=str(tmp_path / "sun.png"), intensity=100.0)
    shown = scene(environment=around)
    found = [shoot(shown, samples=16, integrator="path", seed=seed, backend=backend)[..., 3]
             for seed in range(2)]  # fmt: skip
    ground = np.hypot(*places()) > 1.05
    assert np.sqrt(((found[0] - found[1])[ground] ** 2).mean()) < 0.12
    assert found[0][ground].max() > 0.5


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
@pytest.mark.parametrize(
    "ground",
    [
        raytracer.Principled(roughness=0.1, metallic=1.0),
        raytracer.Principled(roughness=0.6, coat=1.0),
    ],
    ids=["metal", "coat"],
)
def test_a_ground_of_any_material_catches_as_white_paper(
    backend: str, ground: raytracer.Principled, integrator: str
) -> None:
    """Highlights are no part of a shadow."""
    sun = DirectionalLight((1, -1, 0), intensity=1.0, angle=10.0)
    parts = {"lights": (sun,), "environment": Environment(bottom="#806040", top="#c0d0ff")}
    options: dict[str, Any] = {"samples": 4, "integrator": integrator, "backend": backend}
    matt = shoot(scene(**parts), **options)
    found = shoot(scene(**parts, materials={"matt": ground}), **options)
    beside = np.hypot(*places()) > 1.1
    assert np.abs(found - matt)[beside].max() < 1e-6
    assert matt[beside][:, 3].max() > 0.5


def test_shadow_on_an_opaque_background(backend: str) -> None:
    """The background shows through by what is left of the light."""
    sun = DirectionalLight((1, -1, 0), intensity=0.75 * np.sqrt(2))
    shown = scene(lights=(sun,), background=Background(color="white", up=(0, 1, 0)))
    found = shoot(shown, samples=1, integrator="direct", backend=backend)
    x, z = places()
    shadow = np.hypot((x - MIDDLE) / np.sqrt(2), z) < 0.9
    shadow &= np.hypot(x, z) > 1.1
    lit = x < -1.5
    assert found[shadow][:, :3] == pytest.approx(0.25, abs=1e-4)
    assert found[lit][:, :3] == pytest.approx(1.0, abs=1e-5)


def test_balls_are_lit_as_by_a_visible_ground(backend: str) -> None:
    """The ground reflects light onto them, whether it is seen or not."""
    sun = DirectionalLight((1, -1, 0), intensity=1.0)
    pictures = []
    for catcher in (False, True):
        ground = Ground(height=0.0, color="white", material="matt", shadow_catcher=catcher)
        shown = scene(lights=(sun,), ground=ground)
        pictures.append(shoot(shown, samples=64, integrator="path", backend=backend))
    x, z = places()
    on_ball = np.hypot(x, z) < 0.9
    assert np.array_equal(pictures[0][on_ball], pictures[1][on_ball])


def test_an_argument_makes_the_ground_a_catcher() -> None:
    shown = scene(ground=Ground(height=0.0, color="#c04020", material="matt"))
    options: dict[str, Any] = {"samples": 1, "integrator": "ao", "backend": "cpu"}
    found = shoot(shown, shadow_catcher=True, **options)
    np.testing.assert_array_equal(found, shoot(scene(), **options))
