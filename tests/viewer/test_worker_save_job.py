"""Pictures to be kept, rendered by the render thread beside what the window shows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from PIL import Image as Pictures

import raytracer
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Refused, Saved
from raytracer.viewer.save_job import SaveJob
from support.previews import PATIENCE, balls, first_camera, loaded_scene_of, wait_for
from support.workers import Window, assert_rendered, gated, request_of


@pytest.fixture
def window() -> Iterator[Window]:
    made = Window()
    yield made
    made.worker.stop(PATIENCE)
    assert made.worker_failed(), "the thread ends"


def saving_of(loaded_scene: LoadedScene, path: Path, samples: int = 6) -> SaveJob:
    return SaveJob(request_of(loaded_scene, samples=samples, size=(90, 50)), path)


def assert_saved(path: Path, scene: raytracer.Scene, samples: int = 6) -> None:
    camera = first_camera(scene, (90, 50))
    image = raytracer.render(
        scene, camera=camera, backend="cpu", width=90, height=50, samples=samples
    )
    np.testing.assert_array_equal(np.array(Pictures.open(path)), image.to_uint8())


def test_a_picture_is_saved_while_the_camera_moves(window: Window, tmp_path: Path) -> None:
    """It is not what moves meanwhile, and the window's picture is right in the end."""
    loaded_scene = loaded_scene_of(balls())
    window.worker.show(request_of(loaded_scene))
    save_job = saving_of(loaded_scene, tmp_path / "kept.png")
    window.worker.save(save_job)
    assert window.worker.save_job in (save_job, None)
    for step in range(30):
        window.worker.show(request_of(loaded_scene, 0.1 * step))
        wait_for(window.look, "a frame")
    last = request_of(loaded_scene)
    window.worker.show(last)
    assert window.receive(Saved) == Saved(tmp_path / "kept.png")
    assert window.worker.save_job is None
    assert_saved(tmp_path / "kept.png", loaded_scene.scene)
    if not any(shown.finished and shown.request is last for shown in window.shown):
        window.finish(last)
    assert_rendered(window.shown[-1])


@pytest.mark.parametrize("of_the_new", [False, True])
def test_another_scene_gives_up_pictures_of_the_one_before(
    window: Window, tmp_path: Path, of_the_new: bool
) -> None:
    """But not a picture of the new scene that was asked for before it was shown."""
    (a, gate), (b, _) = gated(balls()), gated(balls(seed=1))
    gate.open.clear()
    window.worker.show(request_of(a))
    assert gate.entered.wait(PATIENCE)
    path = tmp_path / "kept.png"
    request = request_of(b)
    window.worker.show(request)
    window.worker.save(saving_of(b if of_the_new else a, path))
    gate.open.set()
    if of_the_new:
        window.receive(Saved)
        assert_saved(path, b.scene)
    else:
        assert "the scene was reloaded" in window.receive(Refused).sentence
        assert not path.exists()
    if not any(shown.finished for shown in window.shown):
        window.finish(request)
    assert (a.closed, b.closed) == (True, False)
    assert_rendered(window.shown[-1])
