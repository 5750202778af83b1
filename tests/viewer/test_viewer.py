"""Every action of the preview: its changes, its render requests, and what it does not change."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from raytracer import (
    Ground,
    Material,
    Principled,
    RenderSettings,
    Scene,
    SphereSet,
)
from raytracer.film.tone_settings import MAX_STOPS
from raytracer.scene.packing.pack import pack
from raytracer.viewer import view as moves
from raytracer.viewer.camera_actions import APERTURE, pan
from raytracer.viewer.edits import (
    PRIORITY,
)
from raytracer.viewer.keep import camera_toml
from raytracer.viewer.light_actions import priority
from raytracer.viewer.messages import Metered, Refused
from raytracer.viewer.receive import receive
from raytracer.viewer.state import ViewerState
from support.previews import balls, loaded_scene_of, picked, requests, viewer_of

ASPECT = 4.0 / 3.0


@pytest.fixture
def viewer() -> ViewerState:
    return viewer_of(loaded_scene_of(balls()), say=lambda _: None)


# The camera


def test_a_camera_that_cannot_be_packed_is_refused_and_the_view_stays(viewer: ViewerState) -> None:
    viewer.do("orbit", 0.3, 0.1)
    before = requests(viewer)[-1]
    view = viewer.view
    pan(viewer, 1e60, 0.0)
    assert "too far" in viewer.notice
    assert requests(viewer)[-1] is before
    assert viewer.view is view
    viewer.do("next-curve")
    assert requests(viewer)[-1].buffers is before.buffers
    viewer.do("orbit", 0.1, 0.0)
    assert requests(viewer)[-1].buffers is not before.buffers


def test_the_lens_focuses_on_the_picked_sphere(viewer: ViewerState) -> None:
    viewer.do("focus-picked")
    assert viewer.notice == "click a sphere first"
    viewer.do("change-aperture", 1.25)
    assert viewer.notice.startswith("there is no lens")
    picked(viewer, 5)
    viewer.do("focus-picked")
    assert viewer.notice == "in focus: sphere 5"
    shown = requests(viewer)[-1].buffers.camera[0]
    center, radius = viewer.loaded_scene.sphere(5)
    depth = (np.asarray(center) - viewer.view.pose.eye) @ viewer.view.pose.axes.forward
    assert abs(shown["focus_distance"] - depth) <= radius
    assert shown["lens_radius"] == np.float32(0.5 * APERTURE * viewer.view.pose.focus_distance)
    viewer.do("change-aperture", 2.0)
    assert viewer.notice == "aperture 0.06"
    camera = viewer.camera
    again = moves.initial_view(camera, viewer.loaded_scene.buffers, ASPECT)
    focus = viewer.view.pose.focus
    assert focus is not None
    assert again.pose.focus is not None
    np.testing.assert_allclose(again.pose.focus, focus, atol=1e-6)
    assert "aperture = 0.06\nfocus = [" in camera_toml(viewer)
    viewer.do("toggle-projection")
    viewer.do("focus-picked")
    assert viewer.notice.startswith("a perspective camera has a lens")
    viewer.do("toggle-projection")
    viewer.do("focus-picked")
    assert viewer.notice == "all is in focus"
    assert requests(viewer)[-1].buffers.camera[0]["lens_radius"] == 0


def test_reset_brings_everything_back(viewer: ViewerState) -> None:
    first = requests(viewer)[0]
    for action in ("light_from_viewer", "next_background", "next_curve", "toggle_turntable"):
        viewer.do(action)
    viewer.do("orbit", 1.0, 0.2)
    viewer.do("toggle-projection")
    viewer.do("scale-shininess", 2.0)
    viewer.do("expose", 2.0)
    viewer.do("reset")
    assert requests(viewer)[-1].buffers.digest() == first.buffers.digest()
    assert requests(viewer)[-1].tone == first.tone
    assert viewer.view.fits_all
    assert not viewer.turning


# Light, background, gloss, tone


def glossy() -> ViewerState:
    centers = np.array([[0.0, 0, 0], [2, 0, 0], [4, 0, 0]])
    sets = [
        SphereSet(centers[:1], 0.5, material="a"),
        SphereSet(centers[1:2], 0.5, material=Material(shininess=90.0)),
        SphereSet(centers[2:], 0.5, material="a"),
    ]
    return viewer_of(loaded_scene_of(Scene(sets, materials={"a": Material(shininess=20.0)})))


def test_polish_is_of_the_picked_spheres_material_or_of_all() -> None:
    viewer = glossy()

    def shown() -> list[float]:
        return [float(s) for s in requests(viewer)[-1].buffers.materials["phong"]["shininess"]]

    assert shown() == [20.0, 90.0]
    viewer.do("scale-shininess", 2.0)
    assert shown() == [40.0, 180.0]
    assert viewer.notice == "shininess 40"
    picked(viewer, 1)
    viewer.do("scale-shininess", 0.5)
    assert shown() == [40.0, 90.0]
    assert viewer.notice == "shininess of its material 90"
    picked(viewer, 2)
    viewer.do("scale-shininess", 2.0)
    assert shown() == [80.0, 90.0]
    alone = viewer_of(loaded_scene_of(balls()))
    picked(alone, 3)
    alone.do("scale-shininess", 2.0)
    assert requests(alone)[-1].buffers.materials["phong"]["shininess"].tolist() == [80.0]


def glassy() -> ViewerState:
    """Two balls of glass that overlap, and one of plaster, on a ground; paths show priorities."""
    glass = {name: Principled(transmission=1.0, roughness=0.0, ior=ior, priority=priority)
             for name, ior, priority in (("glass", 1.5, 0.0), ("water", 1.33, 2.0))}  # fmt: skip
    sets = [
        SphereSet([[0.0, 0.0, 0.0]], 1.0, material="glass"),
        SphereSet([[1.2, 0.0, 0.0]], 1.0, material="water"),
        SphereSet([[0.0, 0.0, 3.0]], 1.0),
    ]
    render = RenderSettings(width=64, height=48, samples=4, integrator="path")
    scene = Scene(sets, materials=glass, ground=Ground(), render=render)
    return viewer_of(loaded_scene_of(scene))


def test_the_priority_is_of_the_picked_glass() -> None:
    viewer = glassy()
    viewer.do("change-priority", 1.0)
    assert (viewer.notice, priority(viewer)) == ("click a sphere of glass first", None)
    picked(viewer, 2)
    viewer.do("change-priority", 1.0)
    assert viewer.notice == "click a sphere of glass first"
    assert len(requests(viewer)) == 1
    picked(viewer, 0)
    assert priority(viewer) == 0.0
    for _ in range(3):
        viewer.do("change-priority", 1.0)
    assert (viewer.notice, priority(viewer)) == ("priority of glass 3", 3.0)
    shown = requests(viewer)[-1].buffers
    scene = viewer.loaded_scene.scene
    glass = scene.materials["glass"]
    assert isinstance(glass, Principled)
    raised = {**scene.materials, "glass": replace(glass, priority=3.0)}
    stated = replace(scene, materials=raised, camera=viewer.camera)
    assert shown.digest() == pack(stated).digest(), "as if the scene said so"
    viewer.do("undo")
    assert priority(viewer) == 0.0
    for step in (1e6, 1e6, -1e6, -1e6, -1e6):
        viewer.do("change-priority", step)
    assert priority(viewer) == PRIORITY[0]
    viewer.do("next-integrator")
    viewer.do("change-priority", 1.0)
    assert viewer.notice.endswith("; paths show it: Shift N")
    viewer.do("reset")
    assert requests(viewer)[-1].buffers.digest() == requests(viewer)[0].buffers.digest()


def test_exposure_goes_in_thirds_to_its_ends(viewer: ViewerState) -> None:
    for _ in range(6):
        viewer.do("expose", 1 / 3)
    assert viewer.tone.exposure == 2.0
    assert viewer.notice == "exposure +2.00"
    viewer.do("toggle-automatic")
    receive(viewer, Metered(1.234))
    assert (viewer.tone.automatic, viewer.notice) == (True, "automatic exposure, +1.23 stops now")
    viewer.do("toggle-automatic")
    assert (viewer.tone.exposure, viewer.notice) == (0.0, "exposure as rendered")
    for stops in (1000.0, -1000.0):
        viewer.do("expose", stops)
        assert viewer.tone.exposure == np.copysign(MAX_STOPS, stops)


def test_brighter_and_darker_begin_with_what_was_metered(viewer: ViewerState) -> None:
    worker: Any = viewer.worker
    viewer.do("toggle-automatic")
    receive(viewer, Metered(1.5))
    viewer.do("expose", -1 / 3)
    viewer.do("expose", -1 / 3)
    assert viewer.tone.automatic, "until it is known what the automatic exposure is"
    assert worker.meters == 2
    receive(viewer, Metered(1.75))
    assert viewer.tone.exposure == 1.08
    assert viewer.notice == "exposure +1.08"
    receive(viewer, Metered(9.0))  # too late: nobody asks any more
    assert viewer.tone.exposure == 1.08
    viewer.do("toggle-automatic")
    receive(viewer, Refused("there is no picture yet"))
    viewer.do("expose", 1 / 3)
    assert worker.meters == 4, "asked again"


def test_a_ground_ball_is_left_out_where_the_rest_is_to_be_seen() -> None:
    """As if it were not there; with Shift it is shown too."""
    rng = np.random.default_rng(8)
    centers = rng.normal(size=(50, 3))
    ground = np.array([[0.0, -1003.0, 0.0]])
    radii = np.full(50, 0.2)
    both = Scene.from_arrays(np.vstack([centers, ground]), np.append(radii, 1000.0))
    viewer = viewer_of(loaded_scene_of(both, width=64, height=48))
    viewer.do("fit-all")
    assert not viewer.view.fits_all
    buffers = viewer.loaded_scene.buffers
    points = np.stack([buffers.x, buffers.y, buffers.z], axis=1).astype(np.float64)[:50]
    shown, ahead = moves.project(viewer.view, points, ASPECT)
    assert ahead.all()
    assert 0.5 < np.abs(shown).max() < 1.0
    viewer.do("fit-giants")
    assert viewer.view.fits_all
    far, _ = moves.project(viewer.view, points, ASPECT)
    assert np.ptp(far, axis=0).max() < 0.02
    alone = viewer_of(loaded_scene_of(Scene.from_arrays(ground, 1000.0), width=64, height=48))
    alone.do("fit-all")
    assert alone.view.fits_all
