"""What a viewer asks of the render thread beside frames, and what it does with the answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pictures

import raytracer
from raytracer.errors import UserError
from raytracer.viewer import viewer as module
from raytracer.viewer.messages import Broken, Failed, Picked, Refused, Saved
from raytracer.viewer.viewer import Viewer
from support.previews import (
    balls,
    first_camera,
    hit_id,
    loaded_scene_of,
    picked,
    requests,
    viewer_of,
)


@pytest.fixture
def viewer() -> Viewer:
    return viewer_of(loaded_scene_of(balls()), say=lambda _: None)


# Picking


def test_a_pick_is_asked_and_heard(viewer: Viewer) -> None:
    worker: Any = viewer.worker
    seen_buffers = requests(viewer)[0].buffers
    for y in range(0, 48, 4):
        for x in range(0, 64, 4):
            viewer.pick(x, y, reach=0)
            message = worker.tasks.pop()()
            viewer.receive(message)
            prim_id = hit_id(viewer.loaded_scene, seen_buffers, x, y)
            assert (viewer.picked and viewer.picked.id) == prim_id
    for x, y in ((-1, 0), (0, -1), (64, 0), (0, 48)):
        viewer.pick(x, y)
    assert worker.tasks == []


def test_a_double_click_goes_there(viewer: Viewer) -> None:
    worker: Any = viewer.worker
    before = viewer.view
    viewer.pick(32, 24, go=True)
    viewer.receive(worker.tasks.pop()())
    assert viewer.picked is not None
    np.testing.assert_array_equal(
        viewer.view.pivot, viewer.loaded_scene.sphere(viewer.picked.id)[0]
    )
    viewer.pick(0, 0, go=True)
    there = viewer.view
    viewer.receive(worker.tasks.pop()())
    assert viewer.picked is None
    assert viewer.view is there is not before


def test_a_click_beside_a_sphere_picks_it_and_a_miss_is_said(viewer: Viewer) -> None:
    worker: Any = viewer.worker
    seen_buffers = requests(viewer)[0].buffers
    hits = np.array(
        [
            [hit_id(viewer.loaded_scene, seen_buffers, x, y) or -1 for x in range(64)]
            for y in range(48)
        ]
    )
    x = int(np.flatnonzero(hits[24] >= 0)[0])

    def click(x: int, y: int) -> None:
        viewer.pick(x, y)
        viewer.receive(worker.tasks.pop()())

    click(x - 3, 24)
    assert viewer.picked is not None
    number = viewer.picked.id
    assert viewer.notice == ""
    click(0, 0)
    assert viewer.picked is None
    assert viewer.notice == f"there is no sphere here; sphere {number} is no longer picked"
    click(0, 0)
    assert viewer.notice == "there is no sphere here"


def test_an_answer_of_an_older_scene_is_dropped(viewer: Viewer) -> None:
    other = loaded_scene_of(balls(seed=1))
    viewer.receive(Picked(other, other.scene.describe(0)))
    assert viewer.picked is None


# Keeping


def test_print_camera_prints_what_pastes() -> None:
    said: list[str] = []
    viewer = viewer_of(loaded_scene_of(balls()), say=said.append)
    assert viewer.print_camera() == viewer.camera_toml() == said[0]
    assert said[0].startswith("[camera]\n")
    assert "printed" in viewer.notice


def test_a_png_of_the_size_that_is_typed(
    viewer: Viewer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prompt takes digits, and what is saved frames all spheres at its own shape."""
    monkeypatch.chdir(tmp_path)
    worker: Any = viewer.worker
    viewer.type("99")
    viewer.erase()
    assert viewer.prompt is None
    viewer.ask_size()
    for text in ("1", "3", "0q", "x", "2", "0", " ", "55"):
        viewer.type(text)
    viewer.erase()
    assert viewer.prompt == "130x20 5"
    viewer.enter()
    assert viewer.prompt is None
    while worker.save_job.step(0.0) is None:
        pass
    path = Path("scene-view-1.png")
    scene = viewer.loaded_scene.scene
    camera = first_camera(scene, (130, 20))
    again = raytracer.render(scene, camera=camera, backend="cpu", width=130, height=20, samples=5)
    np.testing.assert_array_equal(np.array(Pictures.open(path)), again.to_uint8())
    worker.save_job = None  # as the render thread does when it is done
    viewer.ask_size()
    viewer.enter()
    assert worker.save_job.path == Path("scene-view-2.png")
    assert worker.save_job._request.size == (64, 48)
    assert worker.save_job._request.samples == 8


def test_a_size_that_makes_no_sense_is_said(viewer: Viewer) -> None:
    viewer.toggle_help()
    viewer.ask_size()
    assert viewer.help == 0  # which would hide the sentence
    viewer.type("12")
    viewer.enter()
    assert "'12' is not a size" in viewer.notice
    assert viewer.prompt is None
    assert viewer.worker.save_job is None


def test_one_picture_is_saved_at_a_time(viewer: Viewer, tmp_path: Path) -> None:
    """A second one would take the place and the name of the first."""
    viewer.save((8, 8), 1, tmp_path / "kept.png")
    save_job = viewer.worker.save_job
    viewer.ask_size()
    assert viewer.prompt is None
    assert "kept.png is still being saved; Esc cancels it" in viewer.notice
    with pytest.raises(UserError, match=r"kept\.png is not finished"):
        viewer.save((9, 9), 1, tmp_path / "other.png")
    assert viewer.worker.save_job is save_job


def test_a_camera_that_was_moved_is_saved_as_it_is(viewer: Viewer, tmp_path: Path) -> None:
    viewer.orbit(0.3, 0.1)
    viewer.dolly(0.1)
    viewer.save((200, 50), 2, tmp_path / "kept.png")
    save_job: Any = viewer.worker.save_job
    assert save_job._request.buffers.camera == viewer.view.pose.pack(4.0)
    assert save_job._request.tone is viewer.tone


# The rest


def test_cancel_leaves_one_thing_after_the_other(viewer: Viewer, tmp_path: Path) -> None:
    picked(viewer, 1)
    viewer.ask_size()
    viewer.toggle_help()
    viewer.save((8, 8), 1, tmp_path / "kept.png")
    left: list[Callable[[], bool]] = [
        lambda: viewer.prompt is None,
        lambda: not viewer.help,
        lambda: viewer.worker.save_job is None,
        lambda: viewer.picked is None,
    ]
    for count in range(5):
        assert [each() for each in left] == [n < count for n in range(4)]
        viewer.cancel()
    assert viewer.notice == "not saved"


def test_panels_and_closing(viewer: Viewer) -> None:
    assert (viewer.overlay, viewer.help, viewer.closing) == (1, 0, False)
    viewer.toggle_overlay()
    viewer.toggle_help()
    assert (viewer.overlay, viewer.help) == (2, 1)
    viewer.toggle_overlay()
    viewer.toggle_help()
    assert (viewer.overlay, viewer.help) == (0, 0)
    viewer.help_pages = 2
    for page in (1, 2, 0):
        viewer.toggle_help()
        assert viewer.help == page
    viewer.close()
    assert viewer.closing
    assert viewer.failure is None


def test_closing_waits_for_a_picture_that_is_saved(viewer: Viewer, tmp_path: Path) -> None:
    worker: Any = viewer.worker
    path = tmp_path / "kept.png"
    viewer.save((8, 8), 1, path)
    viewer.close()
    assert (viewer.closes_after_save, viewer.closing) == (True, False)
    viewer.cancel()
    assert (viewer.closes_after_save, viewer.worker.save_job is not None) == (False, True), (
        "the window stays"
    )
    viewer.receive(Saved(path))
    assert not viewer.closing
    viewer.close()
    viewer.receive(Saved(path))
    assert viewer.closing
    again = viewer_of(viewer.loaded_scene)
    again.save((8, 8), 1, path)
    again.close()
    again.close()
    assert again.closing, "the second time at once"
    other = viewer_of(viewer.loaded_scene)
    other.save((8, 8), 1, path)
    other.close()
    worker = other.worker
    worker.save_job = None
    other.receive(Refused("kept.png: no space left"))
    assert (other.closes_after_save, other.closing) == (False, False), (
        "so that the sentence can be read"
    )


def test_messages_are_shown_for_a_while(viewer: Viewer, monkeypatch: pytest.MonkeyPatch) -> None:
    now = [100.0]
    monkeypatch.setattr(module, "perf_counter", lambda: now[0])
    viewer.receive(Refused("cannot be done"))
    assert viewer.notice == "cannot be done"
    now[0] += module.NOTICE_SECONDS - 0.1
    assert viewer.notice == "cannot be done"
    now[0] += 0.2
    assert viewer.notice == ""
    assert viewer.notice_left == 0.0
    viewer.notify("more")
    now[0] += 1.0
    assert viewer.notice_left == pytest.approx(module.NOTICE_SECONDS - 1.0)


def test_what_the_render_thread_says() -> None:
    said: list[str] = []
    viewer = viewer_of(loaded_scene_of(balls()), say=said.append)
    viewer.receive(Saved(Path("a.png")))
    assert said == [str(Path("a.png"))]
    assert "saved" in viewer.notice
    viewer.receive(Broken("scene.toml: is broken"))
    assert viewer.reload_error == "scene.toml: is broken"
    assert not viewer.closing
    error = RuntimeError("the GPU is lost")
    viewer.receive(Failed(error))
    assert viewer.failure is error
    assert viewer.closing
    assert viewer.camera_toml(), "the view is not lost"
