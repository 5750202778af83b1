"""Whole pictures against the float64 reference: hits, normals, shadows, shading, mirrors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from reference import Light, RefScene, View, render_bounds
from support.pictures import Bench
from support.project import shoot
from support.scenes import GLOW, KEY, LAMP, random_scene

SIZE = (66, 44)


def compare(scene: RefScene, backend: str, bench: Bench, **settings: int | bool) -> None:
    """Render both ways; every pixel must lie within what the reference sees around its centre."""
    bounds = render_bounds(scene, *SIZE, **settings)  # type: ignore[arg-type]
    bench.within(bounds, shoot(scene, *SIZE, backend=backend, **settings))  # type: ignore[arg-type]


@pytest.mark.parametrize("ortho", [False, True], ids=["perspective", "orthographic"])
@pytest.mark.parametrize("count", [0, 1, 2, 3, 9, 60, 250])
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
