"""A changed scene in a window that has been used: what stays and what follows the file."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from raytracer import Background, Camera, DirectionalLight, Scene
from raytracer.scene.pack import pack
from raytracer.viewer import view as moves
from raytracer.viewer.edits import Edits
from raytracer.viewer.orders import Broken, Loaded
from raytracer.viewer.stage import Stage
from raytracer.viewer.viewer import Viewer
from support.previews import assert_same_buffers, balls, stage_of, viewer_of

HERE = Camera(position=(60.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))
THERE = Camera(position=(40.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))
LIGHT = DirectionalLight((1.0, -2.0, -0.5))


def reload(viewer: Viewer, **scene: Any) -> Stage:
    """Have a viewer hear of another scene."""
    stage = stage_of(balls(**scene))
    viewer.hear(Loaded(stage))
    return stage


def last(viewer: Viewer) -> Any:
    worker: Any = viewer.worker
    return worker.orders[-1]


def test_it_shows_the_new_scene_and_says_so() -> None:
    viewer = viewer_of(stage_of(balls()))
    viewer.hear(Broken("scene.toml: is broken"))
    stage = reload(viewer, count=50, seed=9)
    assert viewer.stage is stage
    assert last(viewer).stage is stage
    assert last(viewer).look.count == 50
    assert viewer.trouble == ""
    assert viewer.notice == "scene was reloaded"
    assert_same_buffers(last(viewer).look, pack(stage.scene))


def test_a_framed_view_goes_on_framing() -> None:
    viewer = viewer_of(stage_of(balls()))
    axes = viewer.view.stand.axes
    stage = reload(viewer, seed=9)
    expected = moves.to_all(viewer.view, stage.buffers, viewer.aspect)
    np.testing.assert_array_equal(viewer.view.stand.eye, expected.stand.eye)
    assert viewer.view.stand.axes is axes


@pytest.mark.parametrize("camera", [None, HERE])
@pytest.mark.parametrize("flat", [False, True])
def test_a_camera_that_was_moved_stays_where_it_is_in_the_scene(camera: Any, flat: bool) -> None:
    """Though the spheres, and with them render space, are others."""
    viewer = viewer_of(stage_of(balls(camera=camera)))
    viewer.orbit(0.5, 0.2)
    if flat:
        viewer.toggle_projection()
    before, buffers = viewer.camera, viewer.stage.buffers
    stage = reload(viewer, camera=camera, count=3, seed=2)
    assert stage.buffers.center.tolist() != buffers.center.tolist()
    after = viewer.camera
    for name in ("position", "look_at", "up"):
        np.testing.assert_allclose(getattr(after, name), getattr(before, name), atol=1e-9)
    assert after.type == before.type
    assert after.height == (None if before.height is None else pytest.approx(before.height))


@pytest.mark.parametrize(("old", "new"), [(None, HERE), (HERE, THERE), (HERE, None)])
def test_another_camera_in_the_file_is_taken(old: Any, new: Any) -> None:
    viewer = viewer_of(stage_of(balls(camera=old)))
    viewer.orbit(0.5, 0.2)
    stage = reload(viewer, camera=new)
    assert_same_buffers(last(viewer).look, pack(stage.scene))
    assert viewer.view.framed == (new is None)


def test_lights_that_were_turned_stay_unless_the_file_has_others() -> None:
    viewer = viewer_of(stage_of(balls(lights=(LIGHT,))))
    viewer.turn_light(0.5, 0.5)
    viewer.next_background()
    kept = viewer.edits.lights
    reload(viewer, lights=(LIGHT,), seed=5)
    assert viewer.edits.lights == kept
    reload(viewer, lights=(DirectionalLight((0.0, -1.0, 0.0)),))
    assert viewer.edits == Edits(background=1)
    assert last(viewer).look.lights["vector"].tolist() == [[0.0, 1.0, 0.0]]


def test_a_background_that_was_chosen_stays_unless_the_file_has_another() -> None:
    viewer = viewer_of(stage_of(balls()))
    viewer.next_background()
    reload(viewer, seed=5)
    assert viewer.edits == Edits(background=1)
    stage = reload(viewer, background=Background("red"))
    assert viewer.edits == Edits()
    assert_same_buffers(last(viewer).look, pack(stage.scene))


def test_a_view_that_the_new_scene_cannot_hold_gives_way_to_the_files() -> None:
    """Render space is so much smaller there that the old place is beyond float32."""
    viewer = viewer_of(stage_of(balls()))
    viewer.pan(1e25, 0.0)
    viewer.light_from_viewer()
    assert not viewer.view.framed
    tiny = Scene.from_arrays(np.array([[0.0, 0.0, 0.0], [1e-15, 0.0, 0.0]]), 1e-15)
    stage = stage_of(tiny, width=64, height=48)
    viewer.hear(Loaded(stage))
    assert viewer.view.framed
    assert last(viewer).stage is stage
    assert last(viewer).look.count == 2


def test_the_picked_sphere_is_described_again() -> None:
    """The next step of a simulation has the same particles at other places."""
    viewer = viewer_of(stage_of(balls()))
    worker: Any = viewer.worker
    viewer.picked = viewer.stage.scene.describe(7)
    before = viewer.view
    stage = reload(viewer, seed=6)
    assert viewer.picked is None, "until the new file was read"
    viewer.hear(worker.tasks.pop()())
    assert viewer.picked == stage.scene.describe(7)
    assert viewer.view.stand.axes is before.stand.axes, "the camera does not go there"
    viewer.picked = stage.scene.describe(39)
    reload(viewer, count=39)
    assert worker.tasks == []
    assert viewer.picked is None


def test_what_belongs_to_the_old_materials_goes() -> None:
    """The gloss, by the number of a material."""
    viewer = viewer_of(stage_of(balls()))
    viewer.polish(2.0)
    reload(viewer)
    assert viewer.picked is None
    assert viewer.edits.shininess == {}
    viewer.fit_picked()
    assert viewer.notice == "click a sphere first"


def test_an_orthographic_view_of_a_larger_scene_has_all_of_it() -> None:
    viewer = viewer_of(stage_of(balls()))
    viewer.toggle_projection()
    viewer.orbit(0.1, 0.0)
    wide = balls(200)
    moved = np.asarray(wide.spheres[0].centers) * 20.0 - (950.0, -380.0, 133.0)
    viewer.hear(Loaded(stage_of(type(wide).from_arrays(moved, 1.0))))
    b, stand = viewer.stage.buffers, viewer.view.stand
    centers = np.stack([b.x, b.y, b.z], axis=1).astype(np.float64)
    assert ((centers - stand.eye) @ stand.axes.forward > b.radius).all()
