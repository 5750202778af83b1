"""The ground: a plane, compared with a float64 ray caster of a plane and spheres."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.scene.packing.pack import pack
from reference import View, camera_rays, closest_hit
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


@pytest.mark.parametrize("settings", [{}, {"integrator": "ao"}, {"integrator": "path"}], ids=str)
@pytest.mark.parametrize("options", [{}, {"shadow_catcher": True}, {"fade": 4.0}], ids=str)
@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_a_camera_below_it_sees_the_scene_without_it(
    backend: str, kind: str, options: dict[str, Any], settings: dict[str, Any]
) -> None:
    """Also where the place of a camera without perspective is above: it looks upwards."""
    scene = scene_of(np.eye(3), np.zeros(3), -6.0 if kind == "orthographic" else -0.4, **options)
    scene = replace(scene, camera=replace(FROM_BELOW, type=kind, height=5.0))
    with pytest.warns(raytracer.RaytracerWarning, match="the camera is below the ground"):
        below = render(scene, backend=backend, **settings)
    without = render(replace(scene, ground=None), backend=backend, **settings)
    np.testing.assert_array_equal(below.to_uint8(), without.to_uint8())
    np.testing.assert_array_equal(below.film.aovs["depth"], without.film.aovs["depth"])
    assert (without.film.aovs["id"] != NO_ID).any()


def test_from_below_a_large_sphere_beside_it_stays(backend: str) -> None:
    """Large spheres are listed with the ground, which alone is left out."""
    sun = raytracer.SphereSet([[0.0, 3e6 + 10.0, -20.0]], 3e6, "gold")
    scene = scene_of(np.eye(3), np.zeros(3), -0.4)
    scene = replace(scene, spheres=(*scene.spheres, sun))
    assert len(pack(scene).large) == 2
    scene = replace(scene, camera=FROM_BELOW)
    with pytest.warns(raytracer.RaytracerWarning, match="the camera is below the ground"):
        below = render(scene, backend=backend)
    without = render(replace(scene, ground=None), backend=backend)
    np.testing.assert_array_equal(below.to_uint8(), without.to_uint8())
    assert (below.film.aovs["id"] == 3).any()


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
    from raytracer.cli import main

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
