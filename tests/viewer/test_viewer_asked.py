"""What a viewer asks of the render thread beside frames, and what it does with the answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image as Pictures

import raytracer
from raytracer.viewer.keep import save
from raytracer.viewer.messages import Refused, Saved
from raytracer.viewer.prompt import enter, erase, type_text
from raytracer.viewer.receive import receive
from raytracer.viewer.state import ViewerState
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
def viewer() -> ViewerState:
    return viewer_of(loaded_scene_of(balls()), say=lambda _: None)


# Picking


def test_a_click_beside_a_sphere_picks_it_and_a_miss_is_said(viewer: ViewerState) -> None:
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
        viewer.do("pick", x, y)
        receive(viewer, worker.tasks.pop()())

    click(x - 3, 24)
    assert viewer.picked is not None
    number = viewer.picked.id
    assert viewer.notice == ""
    click(0, 0)
    assert viewer.picked is None
    assert viewer.notice == f"there is no sphere here; sphere {number} is no longer picked"
    click(0, 0)
    assert viewer.notice == "there is no sphere here"


# Keeping


def test_a_png_of_the_size_that_is_typed(
    viewer: ViewerState, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The prompt takes digits, and what is saved frames all spheres at its own shape."""
    monkeypatch.chdir(tmp_path)
    worker: Any = viewer.worker
    type_text(viewer, "99")
    erase(viewer)
    assert viewer.prompt is None
    viewer.do("ask-size")
    for text in ("1", "3", "0q", "x", "2", "0", " ", "55"):
        type_text(viewer, text)
    erase(viewer)
    assert viewer.prompt == "130x20 5"
    enter(viewer)
    assert viewer.prompt is None
    while worker.save_job.step(0.0) is None:
        pass
    path = Path("scene-view-1.png")
    scene = viewer.loaded_scene.scene
    camera = first_camera(scene, (130, 20))
    again = raytracer.render(scene, camera=camera, backend="cpu", width=130, height=20, samples=5)
    np.testing.assert_array_equal(np.array(Pictures.open(path)), again.to_uint8())
    worker.save_job = None  # as the render thread does when it is done
    viewer.do("ask-size")
    enter(viewer)
    assert worker.save_job.path == Path("scene-view-2.png")
    assert worker.save_job._request.size == (64, 48)
    assert worker.save_job._request.samples == 8


# The rest


def test_cancel_leaves_one_thing_after_the_other(viewer: ViewerState, tmp_path: Path) -> None:
    picked(viewer, 1)
    viewer.do("ask-size")
    viewer.do("toggle-help")
    save(viewer, (8, 8), 1, tmp_path / "kept.png")
    left: list[Callable[[], bool]] = [
        lambda: viewer.prompt is None,
        lambda: not viewer.help,
        lambda: viewer.worker.save_job is None,
        lambda: viewer.picked is None,
    ]
    for count in range(5):
        assert [each() for each in left] == [n < count for n in range(4)]
        viewer.do("cancel")
    assert viewer.notice == "not saved"


def test_closing_waits_for_a_picture_that_is_saved(viewer: ViewerState, tmp_path: Path) -> None:
    worker: Any = viewer.worker
    path = tmp_path / "kept.png"
    save(viewer, (8, 8), 1, path)
    viewer.do("close")
    assert (viewer.closes_after_save, viewer.closing) == (True, False)
    viewer.do("cancel")
    assert (viewer.closes_after_save, viewer.worker.save_job is not None) == (False, True), (
        "the window stays"
    )
    receive(viewer, Saved(path))
    assert not viewer.closing
    viewer.do("close")
    receive(viewer, Saved(path))
    assert viewer.closing
    again = viewer_of(viewer.loaded_scene)
    save(again, (8, 8), 1, path)
    again.do("close")
    again.do("close")
    assert again.closing, "the second time at once"
    other = viewer_of(viewer.loaded_scene)
    save(other, (8, 8), 1, path)
    other.do("close")
    worker = other.worker
    worker.save_job = None
    receive(other, Refused("kept.png: no space left"))
    assert (other.closes_after_save, other.closing) == (False, False), (
        "so that the sentence can be read"
    )
