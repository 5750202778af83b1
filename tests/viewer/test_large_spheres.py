"""The camera stays out of giants, and framing shows the spheres, whatever was done before."""

import random
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Camera, Scene
from raytracer.config.errors import UserError
from raytracer.model.extent import GIANT_RADIUS
from raytracer.rendering.pipeline import NO_SPHERE
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import LoadReport
from raytracer.viewer.session import Session
from raytracer.viewer.view_actions import tick
from support.previews import loaded_scene_of, perform, viewer_of

SCENES = Path(__file__).resolve().parents[2] / "raytracer/benchmark/scenes"  # grounds are balls
NAMES = ("three_balls", "weekend", "molecule", "pile")
SIZE = (64, 36)
AXES = [(1, 0, 0), (0, 1, 0), (0, 0, 1), (-1, 0, 0), (0, -1, 0), (0, 0, -1)]


@cache
def loaded(name: str) -> LoadedScene:
    return loaded_scene_of(SCENES / f"{name}.toml", width=SIZE[0], height=SIZE[1])


def new_viewer(name: str) -> Session:
    return viewer_of(loaded(name), SIZE, say=lambda _: None)


def click(viewer: Session, x: int, y: int, go: bool) -> None:
    viewer.do("pick", x, y, go=go)
    perform(viewer)


def act(viewer: Session, chance: random.Random) -> str:
    """Something that moves the camera; gives what."""
    amount, other = chance.gauss(0.0, 1.0), chance.gauss(0.0, 1.0)
    arguments: dict[str, tuple[Any, ...]] = {
        **dict.fromkeys(("orbit", "pan"), (amount, other)),
        **dict.fromkeys(("dolly", "zoom"), (amount,)), "along": chance.choice(AXES),
    }  # fmt: skip
    choice = chance.choice(
        ["orbit"] * 6 + ["pan", "dolly", "zoom"] * 3
        + ["along"] * 2 + ["toggle-projection", "fit-all", "fit-giants", "click", "go"]
        + ["fit-picked", "turntable", "reset", "resize", "reload"]
    )  # fmt: skip
    width, height = viewer.size
    if choice in ("click", "go"):
        click(viewer, chance.randrange(width), chance.randrange(height), choice == "go")
    elif choice == "turntable":
        viewer.turning = True
        for _ in range(20):
            tick(viewer, 0.2)
        viewer.turning = False
    elif choice == "resize":
        viewer.resize(*chance.choice([SIZE, (36, 64), (50, 50)]))
    elif choice == "reload":
        viewer.handle_message(LoadReport(viewer.loaded_scene))
    else:
        with suppress(UserError):  # a large sphere in the way, say
            viewer.do(choice, *arguments.get(choice, ()))
    return choice


def giant_gap(viewer: Session) -> float:
    """Height of the eye above the nearest giant, by its definition."""
    buffers, eye = viewer.loaded_scene.buffers, viewer.view.pose.eye
    large = buffers.radius > GIANT_RADIUS
    assert large.any()
    centers = buffers.centers[large].astype(np.float64)
    return float((np.linalg.norm(centers - eye, axis=1) - buffers.radius[large]).min())


def first_seen(viewer: Session) -> Any:
    """The spheres that the rays through a picture's pixels meet first."""
    seen = viewer.loaded_scene.pack_view(viewer.view, viewer.size, viewer.edits)
    return viewer.loaded_scene.job.scene.trace_first_hits(seen)["id"]


def assert_shows_the_subject(viewer: Session) -> None:
    """Every sphere but giants is within the picture, and some are not hidden by a giant."""
    buffers = viewer.loaded_scene.buffers
    small = buffers.radius <= GIANT_RADIUS
    centers = buffers.centers[small].astype(np.float64)
    shown, ahead = moves.project_points(viewer.view, centers, viewer.size[0] / viewer.size[1])
    assert ahead.all()
    assert np.abs(shown).max() < 1.0
    seen = first_seen(viewer)
    seen = seen[seen != NO_SPHERE]
    assert np.count_nonzero(buffers.radius[seen] <= GIANT_RADIUS) > 1


@pytest.mark.parametrize("name", NAMES)
def test_whatever_one_does_the_camera_is_outside_and_f_shows_all(name: str) -> None:
    viewer, chance = new_viewer(name), random.Random(name)
    done = []
    for step in range(150):
        done.append(act(viewer, chance))
        assert giant_gap(viewer) > 0.0, (step, done[-5:])
        assert np.isfinite(viewer.view.pose.eye).all()
        if step % 10 == 9:
            viewer.do("fit-all")
            assert giant_gap(viewer) > 0.0
            assert_shows_the_subject(viewer)


@pytest.mark.parametrize("name", NAMES)
def test_a_double_click_on_the_ground_goes_to_the_place_that_was_hit(name: str) -> None:
    viewer = new_viewer(name)
    seen = first_seen(viewer)
    buffers = viewer.loaded_scene.buffers
    large = buffers.radius > GIANT_RADIUS
    known = np.append(large, False)  # the last one is that of rays without a hit
    rows, columns = np.nonzero(known[np.minimum(seen, len(large))])
    x, y = int(columns[-1]), int(rows[-1])
    hit = viewer.loaded_scene.find_hit(viewer.requested, x, y)
    assert hit is not None
    before = viewer.view
    click(viewer, x, y, go=True)
    scale = buffers.space.scale
    point = (np.array(hit.point) - buffers.space.center) / scale
    np.testing.assert_allclose(viewer.view.pivot, point, atol=2e-3)
    assert viewer.view.distance < float(np.linalg.norm(point - before.pose.eye))
    assert viewer.view.half_height <= moves.WHOLE
    assert giant_gap(viewer) > 0.0
    found = viewer.loaded_scene.find_hit(viewer.requested, SIZE[0] // 2, SIZE[1] // 2)
    assert found is not None
    if large[found.id]:  # no small sphere stands before it
        near = 0.5 * viewer.view.half_height * scale
        np.testing.assert_allclose(found.point, hit.point, atol=near)
    viewer.do("fit-picked")
    assert giant_gap(viewer) > 0.0


@pytest.mark.parametrize("fov", [0.5, 40.0, 150.0])
@pytest.mark.parametrize("lone", [False, True], ids=["", "with a sphere far away"])
def test_f_shows_all_between_giants(fov: float, lone: bool) -> None:
    """A floor and two walls: most directions, and most distances, are in one of them."""
    rng = np.random.default_rng(4)
    walls = np.array([[0.0, -1003.0, 0.0], [-804.0, 0.0, 0.0], [0.0, 0.0, -804.0]])
    far = np.array([[0.0, 30000.0, 0.0]])[: int(lone)]
    centers = np.vstack([rng.normal(size=(60, 3)), walls, far])
    radii = np.concatenate([np.full(60, 0.2), [1000.0, 800.0, 800.0], [0.2][: int(lone)]])
    loaded_scene = loaded_scene_of(Scene.from_arrays(centers, radii), width=64, height=36)
    chance = random.Random(3)
    for turn in range(12):
        viewer = viewer_of(loaded_scene, SIZE)
        viewer.do("fit-all")
        viewer.do("orbit", chance.uniform(-3.0, 3.0), chance.uniform(-1.5, 1.5))
        viewer.view = moves.zoom(viewer.view, fov / 40.0)
        viewer.do("fit-all")
        assert giant_gap(viewer) > 0.0
        seen = first_seen(viewer)
        shown = np.count_nonzero(seen < 60)
        assert shown > 20, turn


def test_the_scenes_own_camera_is_never_moved() -> None:
    """Not even one that is inside a giant, or nearer to it than one can get by hand."""
    for height in (-3.0, 1e-3):
        scene = raytracer.Scene(
            [raytracer.SphereSet([[0.0, 0.5, 0.0], [2.0, 0.5, 0.0]], 0.5),
             raytracer.SphereSet([[0.0, -1000.0, 0.0]], 1000.0)],
            camera=Camera(position=(0, height, 9), look_at=(0, height, 0)),
        )  # fmt: skip
        loaded_scene = loaded_scene_of(scene, width=64, height=36)
        viewer = viewer_of(loaded_scene, SIZE)
        assert viewer.camera.position == pytest.approx((0, height, 9))
        viewer.do("orbit", 0.1, 0.1)
        viewer.do("reset")
        assert viewer.camera.position == pytest.approx((0, height, 9))
