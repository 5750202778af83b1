"""Whole pictures against the float64 reference, and the reference against closed forms."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.system.resources import scenes_folder
from reference import (
    Light,
    Material,
    RefScene,
    View,
    camera_rays,
    check_hits,
    check_lit,
    closest_hit,
    render,
    render_bounds,
)
from support.pictures import Bench
from support.project import shoot
from support.scenes import GLOW, KEY, LAMP, random_scene

SIZE = (66, 44)
INSIDE = View((0.0, 0.0, 0.0), (1.0, 0.3, 0.2), vertical_fov=100.0)
BEHIND = View((2.5, 1.75, 3.5), (5.0, 3.5, 7.0), vertical_fov=42.0)


def turned(scene: RefScene) -> RefScene:
    return scene.but(view=replace(scene.view, up=(0.7, 0.4, -0.6)))


def doubled(scene: RefScene) -> RefScene:
    names = ("centers", "radii", "colors", "material_id")
    return scene.but(**{name: np.concatenate([getattr(scene, name)] * 2) for name in names})


def balls(seed: int, count: int, **changes: Any) -> Callable[[], RefScene]:
    """What makes a random scene, where mirrors and ortho are arguments of `random_scene`."""
    kinds = {name: changes.pop(name) for name in ("mirror", "ortho") if name in changes}
    return lambda: random_scene(seed, count, **kinds).but(**changes)


MIDDLE = Light("point", (0.0, 0.0, 0.0), intensity=0.5, inverse_square=True)
PLAIN = {"bottom": (0.3, 0.4, 0.5), "top": (0.3, 0.4, 0.5)}
CASES: dict[str, tuple[Callable[[], RefScene], dict[str, Any]]] = {
    **{f"{n} balls": (balls(n, n), {}) for n in (0, 1, 2, 9, 250)},
    **{f"{n} balls, orthographic": (balls(n, n, ortho=True), {}) for n in (0, 1, 2, 9, 250)},
    "directional light": (balls(11, 80, lights=(KEY,)), {}),
    "point light": (balls(11, 80, lights=(LAMP,)), {}),
    "inverse-square light": (balls(11, 80, lights=(GLOW,)), {}),
    "ambient light alone": (balls(12, 80, lights=()), {}),
    "without shadows": (balls(13, 200), {"shadows": False}),
    **{f"mirrors to depth {n}": (balls(14, 12, mirror=True), {"max_depth": n})
       for n in (0, 1, 2, 5)},
    "mirrors, orthographic": (balls(15, 12, mirror=True, ortho=True), {"max_depth": 3}),
    "a plain colour in mirrors": (balls(16, 12, mirror=True, **PLAIN), {"max_depth": 2}),
    "transparent": (balls(17, 30, mirror=True, transparent=True), {"max_depth": 2}),
    "a rolled camera": (lambda: turned(random_scene(18, 60, mirror=True)), {}),
    "a sky with an up of its own": (balls(18, 60, mirror=True, world_up=(0.7, -0.4, 0.2)), {}),
    "a camera within": (balls(19, 150, view=INSIDE), {}),
    "a light within": (balls(20, 300, lights=(MIDDLE,)), {}),
    "all behind the camera": (balls(22, 50, view=BEHIND), {}),
    "a heap of overlapping balls": (balls(21, 120, radii=4 * random_scene(21, 120).radii), {}),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_every_pixel_is_within_what_is_seen_around_its_centre(
    backend: str, pictures: Bench, name: str
) -> None:
    made, settings = CASES[name]
    scene = made()
    pictures.within(
        render_bounds(scene, *SIZE, **settings), shoot(scene, *SIZE, backend=backend, **settings)
    )


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
    bounds = render_bounds(scene, *SIZE, max_depth=3)
    pictures.within(bounds, shoot(doubled(scene), *SIZE, backend=backend, max_depth=3))


def test_the_judges_accept_the_reference_and_reject_faults() -> None:
    scene = random_scene(5, 60).but(lights=(KEY,))
    origin, direction = camera_rays(scene.view, 48, 32)
    _, hit = closest_hit(scene.centers, scene.radii, origin, direction)
    assert check_hits(scene.centers, scene.radii, origin, direction, hit).wrong.size == 0
    broken = np.where(hit == hit.max(), -1, hit)
    assert check_hits(scene.centers, scene.radii, origin, direction, broken).wrong.size > 0

    white = scene.but(colors=np.ones((1, 3)), materials=(Material(ambient=0.0),), material_id=0)
    black = white.but(bottom=(0, 0, 0), top=(0, 0, 0))
    lit = render(black, 48, 32)[..., 0].ravel() > 0
    args = (scene.centers, scene.radii, origin, direction, hit)
    fine = check_lit(*args, lit, KEY)
    assert fine.wrongly_dark.size == fine.wrongly_lit.size == 0
    assert fine.decided > 0.95 * (hit >= 0).sum()
    assert check_lit(*args, ~lit, KEY).wrongly_dark.size > 0
    assert check_lit(*args, ~lit, KEY).wrongly_lit.size > 0


SCENES = sorted(Path(str(scenes_folder())).glob("*.toml"))


@pytest.mark.gpu
@pytest.mark.parametrize("path", SCENES, ids=lambda path: path.stem)
def test_cuda_agrees_with_the_cpu(cuda: str, pictures: Bench, path: Path) -> None:
    scene = raytracer.load(path)
    cpu, gpu = (
        raytracer.render(scene, backend=backend, width=320, height=180, samples=4)
        for backend in ("cpu", cuda)
    )
    pictures.agree(
        cpu.array, gpu.array, tolerance=2 / 255, share=1e-3, mean=1e-4, srgb=True, what=path.stem
    )
