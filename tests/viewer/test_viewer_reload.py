"""A changed scene in a window that has been used: what stays and what follows the file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raytracer import Camera, DirectionalLight, Scene
from raytracer.scene.packing.pack import pack
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Loaded
from raytracer.viewer.receive import receive
from raytracer.viewer.state import ViewerState
from support.previews import assert_same_buffers, balls, loaded_scene_of, viewer_of

HERE = Camera(position=(60.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))
THERE = Camera(position=(40.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))
LIGHT = DirectionalLight((1.0, -2.0, -0.5))


def reload(viewer: ViewerState, **scene: Any) -> LoadedScene:
    """Have a viewer hear of another scene."""
    loaded_scene = loaded_scene_of(balls(**scene))
    receive(viewer, Loaded(loaded_scene))
    return loaded_scene


def last(viewer: ViewerState) -> Any:
    worker: Any = viewer.worker
    return worker.requests[-1]


def seen_by(viewer: ViewerState) -> Scene:
    """The scene with the camera of a viewer, which fits a ball where the scene fits spheres."""
    return replace(viewer.loaded_scene.scene, camera=viewer.camera)


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
    assert loaded_scene.buffers.center.tolist() != buffers.center.tolist()
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
    assert_same_buffers(last(viewer).buffers, pack(seen_by(viewer)))
    assert viewer.view.fits_all == (new is None)


def test_the_picked_sphere_is_described_again() -> None:
    """The next step of a simulation has the same particles at other places."""
    viewer = viewer_of(loaded_scene_of(balls()))
    worker: Any = viewer.worker
    viewer.picked = viewer.loaded_scene.scene.describe(7)
    before = viewer.view
    loaded_scene = reload(viewer, seed=6)
    assert viewer.picked is None, "until the new file was read"
    receive(viewer, worker.tasks.pop()())
    assert viewer.picked == loaded_scene.scene.describe(7)
    assert viewer.view.pose.axes is before.pose.axes, "the camera does not go there"
    viewer.picked = loaded_scene.scene.describe(39)
    reload(viewer, count=39)
    assert worker.tasks == []
    assert viewer.picked is None


def test_a_look_ends_when_the_file_states_another_or_lights() -> None:
    viewer = viewer_of(loaded_scene_of(balls()))
    viewer.do("next-look")
    viewer.do("next-look")
    assert viewer.edits.render["look"] == "cloudy"
    reload(viewer, count=50, seed=9)
    assert viewer.edits.render["look"] == "cloudy", "the file says nothing else of it"
    reload(viewer, lights=(LIGHT,))
    assert "look" not in viewer.edits.render
    viewer.do("next-look")
    assert viewer.edits.render["look"] == "soft"
