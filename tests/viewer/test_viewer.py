"""A viewer: its actions and requests, the answers of the render thread, and changed scenes."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Camera
from raytracer.config.errors import UserError
from raytracer.packing.pack import pack
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.choices import submit_prompt
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Frame, LoadReport
from raytracer.viewer.save_view import format_camera
from raytracer.viewer.session import Session
from raytracer.viewer.view_actions import APERTURE, pan
from support.previews import (
    assert_same_view,
    balls,
    first_camera,
    hit_id,
    loaded_scene_of,
    perform,
    picked,
    pixels_of,
    requests,
    viewer_of,
)

ASPECT = 4.0 / 3.0


@pytest.fixture
def viewer() -> Session:
    return viewer_of(loaded_scene_of(balls()), say=lambda _: None)


# The camera


def test_a_camera_that_cannot_be_packed_is_refused_and_the_view_stays(viewer: Session) -> None:
    viewer.do("orbit", 0.3, 0.1)
    before = requests(viewer)[-1]
    view = viewer.view
    pan(viewer, 1e60, 0.0)
    assert "too far" in viewer.notice
    assert requests(viewer)[-1] is before
    assert viewer.view is view
    viewer.do("next-tone")
    assert requests(viewer)[-1].job.view is before.job.view
    viewer.do("orbit", 0.1, 0.0)
    assert requests(viewer)[-1].job.view is not before.job.view


def test_the_lens_focuses_on_the_picked_sphere(viewer: Session) -> None:
    picked(viewer, 5)
    viewer.do("focus-picked")
    assert viewer.notice == "in focus: sphere 5"
    shown = requests(viewer)[-1].job.view.camera[0]
    center, radius = viewer.loaded_scene.find_sphere(5)
    depth = (np.asarray(center) - viewer.view.pose.eye) @ viewer.view.pose.axes.forward
    assert abs(shown["focus_distance"] - depth) <= radius
    assert shown["lens_radius"] == np.float32(0.5 * APERTURE * viewer.view.pose.focus_distance)
    again = moves.make_initial_view(viewer.camera, viewer.loaded_scene.buffers, ASPECT)
    focus = viewer.view.pose.focus
    assert focus is not None
    assert again.pose.focus is not None
    np.testing.assert_allclose(again.pose.focus, focus, atol=1e-6)
    assert "aperture = 0.03\nfocus = [" in format_camera(viewer)
    viewer.do("toggle-projection")
    with pytest.raises(UserError, match="a perspective camera has a lens"):
        viewer.do("focus-picked")
    viewer.do("toggle-projection")
    viewer.do("cancel")
    viewer.do("focus-picked")
    assert requests(viewer)[-1].job.view.camera[0]["lens_radius"] == 0


def test_reset_brings_everything_back(viewer: Session) -> None:
    first = requests(viewer)[0]
    for action in ("next_background", "next_tone", "toggle_turntable"):
        viewer.do(action)
    viewer.do("turn-light", 0.5, 0.2)
    viewer.do("orbit", 1.0, 0.2)
    viewer.do("toggle-projection")
    viewer.do("expose", 2.0)
    viewer.do("reset")
    assert_same_view(requests(viewer)[-1].job.view, first.job.view)
    assert requests(viewer)[-1].tone == first.tone
    assert viewer.view.fits_all
    assert not viewer.turning


# Light, background, gloss, tone


def test_brighter_and_darker_begin_with_what_was_metered(viewer: Session) -> None:
    viewer.do("toggle-automatic")
    with pytest.raises(UserError, match="the exposure is not metered yet"):
        viewer.do("expose", -1 / 3)
    viewer.present(Frame(requests(viewer)[-1], None, viewer.size, 8, stops=1.75))
    viewer.do("expose", -1 / 3)
    assert viewer.notice == "exposure +1.42"
    viewer.do("expose", -1 / 3)
    assert viewer.tone.exposure == pytest.approx(1.0)


# Picking


def test_a_click_beside_a_sphere_picks_it_and_a_miss_is_said(viewer: Session) -> None:
    seen = requests(viewer)[0].job.view
    hits = np.array(
        [[hit_id(viewer.loaded_scene, seen, x, y) or -1 for x in range(64)] for y in range(48)]
    )
    x = int(np.flatnonzero(hits[24] >= 0)[0])

    def click(x: int, y: int) -> None:
        viewer.do("pick", x, y)
        perform(viewer)

    click(x - 3, 24)
    assert viewer.picked is not None
    number = viewer.picked.number
    assert viewer.notice == ""
    click(0, 0)
    assert viewer.picked is None
    assert viewer.notice == f"there is no sphere here; sphere {number} is no longer picked"
    click(0, 0)
    assert viewer.notice == "there is no sphere here"


@pytest.mark.parametrize(("reach", "hits"), [(0, False), (5, False), (9, True), (15, True)])
def test_a_click_may_miss_by_its_reach(viewer: Session, reach: int, hits: bool) -> None:
    """Fingers on a page need a larger one than mice. The place is seven pixels beside a sphere."""
    seen = requests(viewer)[0].job.view
    ids = np.array(
        [[hit_id(viewer.loaded_scene, seen, x, y) for x in range(64)] for y in range(48)], float
    )  # nan without a sphere
    rows, columns = np.nonzero(np.isfinite(ids))
    across, down = np.meshgrid(np.arange(64), np.arange(48))
    apart = np.maximum(abs(across[..., None] - columns), abs(down[..., None] - rows)).min(axis=2)
    y, x = np.argwhere(apart == 7)[0].tolist()
    viewer.do("pick", x, y, reach=reach)
    perform(viewer)
    assert (viewer.picked is not None) == hits
    if viewer.picked is not None:
        around = ids[max(y - reach, 0) : y + reach + 1, max(x - reach, 0) : x + reach + 1]
        assert viewer.picked.number in around


# Keeping


def test_a_png_of_the_size_that_is_typed(
    viewer: Session, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is saved frames all spheres at its own shape."""
    monkeypatch.chdir(tmp_path)
    worker: Any = viewer.worker
    for name in ("scene-view-1.png", "scene-view-2.png"):
        viewer.do("ask", "size")
        assert viewer.prompt is not None
        viewer.prompt.typed = "130x20 5"
        submit_prompt(viewer)
        job = worker.save.call_args.args[0]
        job.run(lambda: None)
        size: Any = {"width": 130, "height": 20, "samples": 5}
        scene = viewer.loaded_scene.scene
        camera = first_camera(scene, (130, 20))
        again = raytracer.render(scene, camera=camera, backend="cpu", **size).to_uint8()
        np.testing.assert_array_equal(pixels_of(name), again)


# The rest


HERE = Camera(position=(60.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))
THERE = Camera(position=(40.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))


def reload(viewer: Session, **scene: Any) -> LoadedScene:
    """Have a viewer hear of another scene."""
    loaded_scene = loaded_scene_of(balls(**scene))
    viewer.handle_message(LoadReport(loaded_scene))
    return loaded_scene


@pytest.mark.parametrize("camera", [None, HERE])
@pytest.mark.parametrize("orthographic", [False, True])
def test_a_camera_that_was_moved_stays_where_it_is_in_the_scene(
    camera: Any, orthographic: bool
) -> None:
    """Though the spheres, and with them render space, are others."""
    viewer = viewer_of(loaded_scene_of(balls(camera=camera)))
    viewer.do("orbit", 0.5, 0.2)
    viewer.do("dolly", 0.1)
    if orthographic:
        viewer.do("toggle-projection")
    before, buffers = viewer.camera, viewer.loaded_scene.buffers
    loaded_scene = reload(viewer, camera=camera, count=3, seed=2)
    assert loaded_scene.buffers.space.center != buffers.space.center
    after = viewer.camera
    for name in ("position", "look_at", "up"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), atol=1e-9)
    assert after.type == before.type
    assert after.height == (None if before.height is None else pytest.approx(before.height))


@pytest.mark.parametrize(("old", "new"), [(None, HERE), (HERE, THERE), (HERE, None)])
def test_another_camera_in_the_file_is_taken(old: Any, new: Any) -> None:
    viewer = viewer_of(loaded_scene_of(balls(camera=old)))
    viewer.do("orbit", 0.5, 0.2)
    reload(viewer, camera=new)
    scene = replace(viewer.loaded_scene.scene, camera=viewer.camera)
    assert_same_view(requests(viewer)[-1].job.view, pack(scene).view)
    assert viewer.view.fits_all == (new is None)


def test_the_picked_sphere_is_described_again() -> None:
    """The next step of a simulation has the same particles at other places."""
    viewer = viewer_of(loaded_scene_of(balls()))
    picked(viewer, 7)
    before = viewer.view
    loaded_scene = reload(viewer, seed=6)
    perform(viewer)
    assert viewer.picked is not None
    assert viewer.picked.lines == loaded_scene.scene.describe(7).lines()
    assert viewer.view.pose.axes is before.pose.axes, "the camera does not go there"
    picked(viewer, 39)
    reload(viewer, count=39)
    assert viewer.picked is None
