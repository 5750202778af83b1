"""Whole pictures against the float64 reference: hits, normals, shadows, shading, mirrors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reference import Light, Material, RefScene, View, render_bounds
from support.pictures import Bench
from support.project import shoot
from support.scenes import GLOW, KEY, LAMP, random_scene

SIZE = (66, 44)


def compare(scene: RefScene, backend: str, bench: Bench, **settings: int | bool) -> None:
    """Render both ways; every pixel must lie within what the reference sees around its centre."""
    bounds = render_bounds(scene, *SIZE, **settings)  # type: ignore[arg-type]
    bench.within(bounds, shoot(scene, *SIZE, backend=backend, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("ortho", [False, True], ids=["perspective", "orthographic"])
@pytest.mark.parametrize("count", [0, 1, 2, 9, 250])
def test_random_scene(backend: str, pictures: Bench, count: int, ortho: bool) -> None:
    compare(random_scene(count, count, ortho=ortho), backend, pictures)


@pytest.mark.parametrize("light", [KEY, LAMP, GLOW], ids=["directional", "point", "inverse-square"])
def test_one_light(backend: str, pictures: Bench, light: Light) -> None:
    compare(random_scene(11, 80).but(lights=(light,)), backend, pictures)


def test_without_lights_there_is_ambient_only(backend: str, pictures: Bench) -> None:
    compare(random_scene(12, 80).but(lights=()), backend, pictures)


def test_without_shadows(backend: str, pictures: Bench) -> None:
    compare(random_scene(13, 200), backend, pictures, shadows=False)


@pytest.mark.parametrize("depth", [0, 1, 2, 5])
def test_mirrors_to_a_depth(backend: str, pictures: Bench, depth: int) -> None:
    compare(random_scene(14, 12, mirror=True), backend, pictures, max_depth=depth)


def test_mirrors_in_an_orthographic_view(backend: str, pictures: Bench) -> None:
    compare(random_scene(15, 12, mirror=True, ortho=True), backend, pictures, max_depth=3)


def test_a_plain_colour_is_seen_in_mirrors_too(backend: str, pictures: Bench) -> None:
    scene = random_scene(16, 12, mirror=True).but(bottom=(0.3, 0.4, 0.5), top=(0.3, 0.4, 0.5))
    compare(scene, backend, pictures, max_depth=2)


def test_transparent_background_has_coverage_and_no_colour(backend: str, pictures: Bench) -> None:
    scene = random_scene(17, 30, mirror=True).but(transparent=True)
    compare(scene, backend, pictures, max_depth=2)


def test_a_rolled_camera(backend: str, pictures: Bench) -> None:
    scene = random_scene(18, 60, mirror=True)
    compare(scene.but(view=replace(scene.view, up=(0.7, 0.4, -0.6))), backend, pictures)


def test_the_reflected_sky_has_an_up_of_its_own(backend: str, pictures: Bench) -> None:
    scene = random_scene(18, 60, mirror=True)
    compare(scene.but(world_up=(0.7, -0.4, 0.2)), backend, pictures)


def test_a_camera_within_the_cloud(backend: str, pictures: Bench) -> None:
    view = View((0.0, 0.0, 0.0), (1.0, 0.3, 0.2), vertical_fov=100.0)
    compare(random_scene(19, 150).but(view=view), backend, pictures)


def test_a_light_within_the_cloud(backend: str, pictures: Bench) -> None:
    middle = Light("point", (0.0, 0.0, 0.0), intensity=0.5, inverse_square=True)
    compare(random_scene(20, 300).but(lights=(middle,)), backend, pictures)


def test_a_dense_heap_of_overlapping_spheres(backend: str, pictures: Bench) -> None:
    scene = random_scene(21, 120)
    compare(scene.but(radii=scene.radii * 4), backend, pictures)


def test_all_spheres_behind_the_camera(backend: str, pictures: Bench) -> None:
    scene = random_scene(22, 50)
    view = View((2.5, 1.75, 3.5), (5.0, 3.5, 7.0), vertical_fov=42.0)
    picture = shoot(scene.but(view=view), *SIZE, backend=backend)
    assert np.ptp(picture, axis=1).max() == 0, "only the gradient may be seen"
    compare(scene.but(view=view), backend, pictures)


def hall_of_mirrors(copies: int) -> RefScene:
    """A camera within a mirror ball that holds two more balls; each ball `copies` times."""
    centers = np.array([[0.0, 0, 0], [0.5, 0.25, -1.0], [-0.75, 0.5, -0.5]])
    return RefScene(
        centers=np.repeat(centers, copies, axis=0),
        radii=np.repeat([2.0, 0.25, 0.375], copies),
        colors=np.repeat([[0.9, 0.8, 0.7], [0.9, 0.1, 0.1], [0.1, 0.2, 0.9]], copies, axis=0),
        materials=(Material(ambient=0.5, diffuse=0.6, mirror=0.5),),
        lights=(Light("point", (0.25, 1.0, 0.5), intensity=0.8),),
        ambient=(0.2, 0.2, 0.2),
        view=View((0.0, 0.25, 1.0), (0.0, 0.0, -1.0), vertical_fov=60.0),
    )


@pytest.mark.parametrize("copies", [1, 3])
@pytest.mark.parametrize("depth", [0, 1, 2])
def test_within_a_mirror_ball(backend: str, pictures: Bench, depth: int, copies: int) -> None:
    bounds = render_bounds(hall_of_mirrors(1), *SIZE, max_depth=depth)
    picture = shoot(hall_of_mirrors(copies), *SIZE, backend=backend, max_depth=depth)
    pictures.within(bounds, picture)


def test_mirrors_that_are_on_top_of_each_other(backend: str, pictures: Bench) -> None:
    scene = random_scene(23, 12, mirror=True)
    twice = scene.but(
        centers=np.concatenate([scene.centers] * 2),
        radii=np.concatenate([scene.radii] * 2),
        colors=np.concatenate([scene.colors] * 2),
        material_id=np.concatenate([scene.material_id] * 2),
    )
    bounds = render_bounds(scene, *SIZE, max_depth=3)
    pictures.within(bounds, shoot(twice, *SIZE, backend=backend, max_depth=3))
