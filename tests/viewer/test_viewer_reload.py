"""A changed scene in a window that has been used: what stays and what follows the file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raytracer import Background, Camera, DirectionalLight, Scene
from raytracer.scene.packing.pack import pack
from raytracer.viewer import view as moves
from raytracer.viewer.edits import Edits
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.messages import Broken, Loaded
from raytracer.viewer.viewer import Viewer
from support.previews import assert_same_buffers, balls, loaded_scene_of, viewer_of

HERE = Camera(position=(60.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))
THERE = Camera(position=(40.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))
LIGHT = DirectionalLight((1.0, -2.0, -0.5))


def reload(viewer: Viewer, **scene: Any) -> LoadedScene:
    """Have a viewer hear of another scene."""
    loaded_scene = loaded_scene_of(balls(**scene))
    viewer.receive(Loaded(loaded_scene))
    return loaded_scene


def last(viewer: Viewer) -> Any:
    worker: Any = viewer.worker
    return worker.requests[-1]


def seen_by(viewer: Viewer) -> Scene:
    """The scene with the camera of a viewer, which fits a ball where the scene fits spheres."""
    return replace(viewer.loaded_scene.scene, camera=viewer.camera)


def test_it_shows_the_new_scene_and_says_so() -> None:
    viewer = viewer_of(loaded_scene_of(balls()))
    viewer.receive(Broken("scene.toml: is broken"))
    loaded_scene = reload(viewer, count=50, seed=9)
    assert viewer.loaded_scene is loaded_scene
    assert last(viewer).loaded_scene is loaded_scene
    assert last(viewer).buffers.count == 50
    assert viewer.reload_error == ""
    assert viewer.notice == "scene was reloaded"
    assert_same_buffers(last(viewer).buffers, pack(seen_by(viewer)))


def test_a_framed_view_goes_on_framing() -> None:
    viewer = viewer_of(loaded_scene_of(balls()))
    axes = viewer.view.pose.axes
    loaded_scene = reload(viewer, seed=9)
    expected = moves.to_all(viewer.view, loaded_scene.buffers, viewer.aspect)
    np.testing.assert_array_equal(viewer.view.pose.eye, expected.pose.eye)
    assert viewer.view.pose.axes is axes


@pytest.mark.parametrize("camera", [None, HERE])
@pytest.mark.parametrize("orthographic", [False, True])
def test_a_camera_that_was_moved_stays_where_it_is_in_the_scene(
    camera: Any, orthographic: bool
) -> None:
    """Though the spheres, and with them render space, are others."""
    viewer = viewer_of(loaded_scene_of(balls(camera=camera)))
    viewer.orbit(0.5, 0.2)
    viewer.dolly(0.1)
    if orthographic:
        viewer.toggle_projection()
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
    viewer.orbit(0.5, 0.2)
    reload(viewer, camera=new)
    assert_same_buffers(last(viewer).buffers, pack(seen_by(viewer)))
    assert viewer.view.fits_all == (new is None)


def test_lights_that_were_turned_stay_unless_the_file_has_others() -> None:
    viewer = viewer_of(loaded_scene_of(balls(lights=(LIGHT,))))
    viewer.turn_light(0.5, 0.5)
    viewer.next_background()
    kept = viewer.edits.lights
    reload(viewer, lights=(LIGHT,), seed=5)
    assert viewer.edits.lights == kept
    reload(viewer, lights=(DirectionalLight((0.0, -1.0, 0.0)),))
    assert viewer.edits == Edits(background=1)
    assert last(viewer).buffers.lights["vector"].tolist() == [[0.0, 1.0, 0.0]]


def test_a_background_that_was_chosen_stays_unless_the_file_has_another() -> None:
    viewer = viewer_of(loaded_scene_of(balls()))
    viewer.next_background()
    reload(viewer, seed=5)
    assert viewer.edits == Edits(background=1)
    reload(viewer, background=Background("red"))
    assert viewer.edits == Edits()
    assert_same_buffers(last(viewer).buffers, pack(seen_by(viewer)))


def test_a_view_that_the_new_scene_cannot_hold_gives_way_to_the_files() -> None:
    """Render space is so much smaller there that the old place is beyond float32."""
    viewer = viewer_of(loaded_scene_of(balls()))
    viewer.pan(1e25, 0.0)
    viewer.light_from_viewer()
    assert not viewer.view.fits_all
    tiny = Scene.from_arrays(np.array([[0.0, 0.0, 0.0], [1e-15, 0.0, 0.0]]), 1e-15)
    loaded_scene = loaded_scene_of(tiny, width=64, height=48)
    viewer.receive(Loaded(loaded_scene))
    assert viewer.view.fits_all
    assert last(viewer).loaded_scene is loaded_scene
    assert last(viewer).buffers.count == 2


def test_the_picked_sphere_is_described_again() -> None:
    """The next step of a simulation has the same particles at other places."""
    viewer = viewer_of(loaded_scene_of(balls()))
    worker: Any = viewer.worker
    viewer.picked = viewer.loaded_scene.scene.describe(7)
    before = viewer.view
    loaded_scene = reload(viewer, seed=6)
    assert viewer.picked is None, "until the new file was read"
    viewer.receive(worker.tasks.pop()())
    assert viewer.picked == loaded_scene.scene.describe(7)
    assert viewer.view.pose.axes is before.pose.axes, "the camera does not go there"
    viewer.picked = loaded_scene.scene.describe(39)
    reload(viewer, count=39)
    assert worker.tasks == []
    assert viewer.picked is None


def test_what_belongs_to_the_old_materials_goes() -> None:
    """The gloss, by the number of a material."""
    viewer = viewer_of(loaded_scene_of(balls()))
    viewer.scale_shininess(2.0)
    reload(viewer)
    assert viewer.picked is None
    assert viewer.edits.shininess == {}
    viewer.fit_picked()
    assert viewer.notice == "click a sphere first"


def test_an_orthographic_view_of_a_larger_scene_has_all_of_it() -> None:
    viewer = viewer_of(loaded_scene_of(balls()))
    viewer.toggle_projection()
    viewer.orbit(0.1, 0.0)
    wide = balls(200)
    moved = np.asarray(wide.spheres[0].centers) * 20.0 - (950.0, -380.0, 133.0)
    viewer.receive(Loaded(loaded_scene_of(type(wide).from_arrays(moved, 1.0))))
    b, pose = viewer.loaded_scene.buffers, viewer.view.pose
    centers = np.stack([b.x, b.y, b.z], axis=1).astype(np.float64)
    assert ((centers - pose.eye) @ pose.axes.forward > b.radius).all()


def test_a_look_ends_when_the_file_states_another_or_lights() -> None:
    viewer = viewer_of(loaded_scene_of(balls()))
    viewer.next_look()
    viewer.next_look()
    assert viewer.edits.look == "cloudy"
    reload(viewer, count=50, seed=9)
    assert viewer.edits.look == "cloudy", "the file says nothing else of it"
    reload(viewer, lights=(LIGHT,))
    assert viewer.edits.look is None
    viewer.next_look()
    assert viewer.edits.look == "soft"
