"""Every action of the preview: its changes, its render requests, and what it does not change."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import (
    Camera,
    DirectionalLight,
    Ground,
    Material,
    Principled,
    RenderSettings,
    Scene,
    SphereSet,
)
from raytracer.errors import SceneError
from raytracer.film.tone_settings import CURVES, MAX_STOPS, ToneSettings
from raytracer.scene.packing.pack import pack
from raytracer.viewer import view as moves
from raytracer.viewer.controls import CONTROLS
from raytracer.viewer.edits import (
    BACKGROUND_NAMES,
    BACKGROUNDS,
    PRIORITY,
    Edits,
    from_viewer,
    turned,
)
from raytracer.viewer.messages import Metered, Refused
from raytracer.viewer.view import View
from raytracer.viewer.viewer import APERTURE, TURNTABLE_SPEED, Viewer
from support.data_keys import DATA_EFFECTS
from support.previews import balls, loaded_scene_of, picked, requests, viewer_of

ASPECT = 4.0 / 3.0
Step = tuple[str, tuple[Any, ...]]

CAMERA: dict[str, tuple[Step, Callable[[View], View]]] = {
    "orbit": (("orbit", (0.3, 0.1)), lambda v: moves.orbit(v, 0.3, 0.1)),
    "pan": (("pan", (0.3, 0.1)), lambda v: moves.pan(v, 0.3, 0.1)),
    "fly": (("fly", (0.2,)), lambda v: moves.fly(v, 0.2)),
    "dolly": (("dolly", (-0.5,)), lambda v: moves.dolly(v, float(np.exp(-0.5)))),
    "zoom": (("zoom", (0.5,)), lambda v: moves.zoom(v, float(np.exp(0.5)))),
    "along": (("along", (0, 0, -1)), lambda v: moves.along(v, (0.0, 0.0, -1.0))),
}
TONES: dict[str, tuple[Step, dict[str, Any]]] = {
    "brighter": (("expose", (1 / 3,)), {"exposure": 1 / 3}),
    "darker": (("expose", (-1 / 3,)), {"exposure": -1 / 3}),
    "automatic": (("toggle_automatic", ()), {"exposure": "auto"}),
    "curve": (("next_curve", ()), {"tone": CURVES[1]}),
}
ELSEWHERE = {
    "turn_light", "toggle_projection", "fit_all", "fit_giants", "fit_picked", "reset",
    "focus_picked", "change_aperture", "toggle_turntable", "light_from_viewer", "next_look",
    "next_integrator", "toggle_denoise", "next_placement", "next_background",
    "scale_shininess", "change_priority", "toggle_shadow_catcher", "print_camera", "ask_size",
    "toggle_overlay", "toggle_help", "cancel", "close",
}  # fmt: skip


@pytest.fixture
def viewer() -> Viewer:
    return viewer_of(loaded_scene_of(balls()), say=lambda _: None)


def test_every_key_is_tested_here() -> None:
    tested = {step[0] for step, _ in (*CAMERA.values(), *TONES.values())} | ELSEWHERE
    of_data = {control.action for control in CONTROLS if control.keys[0] in DATA_EFFECTS}
    assert tested | of_data == {control.action for control in CONTROLS}


def test_it_begins_with_the_picture_of_the_scene() -> None:
    camera = Camera(position=(60.0, -10.0, 30.0), look_at=(50.0, -20.0, 7.0))
    viewer = viewer_of(loaded_scene_of(balls(camera=camera)))
    (request,) = requests(viewer)
    assert request.loaded_scene is viewer.loaded_scene
    assert request.buffers.digest() == viewer.loaded_scene.job.digest
    assert request.size == (64, 48)
    assert (request.samples, request.tone) == (8, ToneSettings())
    other = viewer_of(viewer.loaded_scene, (100, 50), tone=ToneSettings(tone="agx"))
    (request,) = requests(other)
    assert (request.size, request.samples, request.tone.tone) == ((100, 50), 8, "agx")


# The camera


@pytest.mark.parametrize("name", CAMERA)
@pytest.mark.parametrize("orthographic", [False, True])
def test_the_camera_moves_and_is_rendered(viewer: Viewer, name: str, orthographic: bool) -> None:
    if orthographic:
        viewer.toggle_projection()
    (action, amount), move = CAMERA[name]
    extent = moves.bounding_radius(viewer.loaded_scene.buffers)
    expected = moves.unclipped(move(viewer.view), extent).pose
    count = len(requests(viewer))
    getattr(viewer, action)(*amount)
    assert len(requests(viewer)) == count + 1
    before, request = requests(viewer)[-2:]
    np.testing.assert_array_equal(viewer.view.pose.eye, expected.eye)
    assert request.buffers.camera == expected.pack(ASPECT)
    assert request.buffers.camera != before.buffers.camera
    assert request.buffers is not before.buffers
    assert request.stamp > before.stamp
    assert request.tone is before.tone
    assert viewer.edits == Edits()


def test_projection_changes_and_back(viewer: Viewer) -> None:
    before = viewer.view
    viewer.toggle_projection()
    assert viewer.view.orthographic
    assert viewer.camera.type == "orthographic"
    viewer.toggle_projection()
    np.testing.assert_allclose(viewer.view.pose.eye, before.pose.eye, atol=1e-9)


def test_a_new_perspective_has_the_field_of_view_of_the_last_one(viewer: Viewer) -> None:
    viewer.zoom(-0.7)
    before = viewer.view
    for _ in range(2):
        viewer.toggle_projection()
        viewer.toggle_projection()
    assert viewer.view.pose.half == pytest.approx(before.pose.half)
    np.testing.assert_allclose(viewer.view.pose.eye, before.pose.eye, atol=1e-9)
    assert viewer.camera.vertical_fov != pytest.approx(Camera.vertical_fov)
    viewer.toggle_projection()
    viewer.reset()
    viewer.toggle_projection()
    viewer.toggle_projection()
    assert viewer.camera.vertical_fov == pytest.approx(Camera.vertical_fov)


def test_a_perspective_of_an_orthographic_scene(viewer: Viewer) -> None:
    orthographic = viewer_of(loaded_scene_of(balls(camera=Camera(type="orthographic"))))
    orthographic.toggle_projection()
    assert orthographic.camera.vertical_fov == pytest.approx(Camera.vertical_fov)


def test_a_camera_that_cannot_be_packed_is_refused_and_the_view_stays(viewer: Viewer) -> None:
    viewer.orbit(0.3, 0.1)
    before = requests(viewer)[-1]
    view = viewer.view
    viewer.pan(1e60, 0.0)
    assert "too far" in viewer.notice
    assert requests(viewer)[-1] is before
    assert viewer.view is view
    viewer.next_curve()
    assert requests(viewer)[-1].buffers is before.buffers
    viewer.orbit(0.1, 0.0)
    assert requests(viewer)[-1].buffers is not before.buffers


def test_a_scene_that_cannot_be_packed_ends_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(*_: Any) -> None:
        raise SceneError("camera.position: too far")

    loaded_scene = loaded_scene_of(balls())
    monkeypatch.setattr(loaded_scene, "buffers_for", refused)
    with pytest.raises(SceneError, match="too far"):
        viewer_of(loaded_scene)


def test_fit_all_and_a_window_of_another_shape_show_every_sphere(viewer: Viewer) -> None:
    viewer.pan(3.0, 0.0)
    viewer.resize(100, 50)
    assert not viewer.view.fits_all
    away = viewer.view
    viewer.fit_all()
    assert viewer.view.fits_all
    assert viewer.view.pose.axes is away.pose.axes
    viewer.resize(40, 100)
    expected = moves.to_all(away, viewer.loaded_scene.buffers, 0.4)
    np.testing.assert_allclose(viewer.view.pose.eye, expected.pose.eye, atol=1e-12)
    assert requests(viewer)[-1].size == (40, 100)
    count = len(requests(viewer))
    viewer.resize(40, 100)
    viewer.resize(0, 100)
    assert len(requests(viewer)) == count
    assert viewer.aspect == 0.4


def test_go_to_the_picked_sphere(viewer: Viewer) -> None:
    count = len(requests(viewer))
    viewer.fit_picked()
    assert viewer.notice == "click a sphere first"
    assert len(requests(viewer)) == count
    picked(viewer, 5)
    viewer.fit_picked()
    center, _ = viewer.loaded_scene.sphere(5)
    np.testing.assert_array_equal(viewer.view.pivot, center)
    x, y = viewer.size[0] // 2, viewer.size[1] // 2
    assert viewer.loaded_scene.hit(requests(viewer)[-1].buffers, x, y) is not None


def test_the_lens_focuses_on_the_picked_sphere(viewer: Viewer) -> None:
    viewer.focus_picked()
    assert viewer.notice == "click a sphere first"
    viewer.change_aperture(1.25)
    assert viewer.notice.startswith("there is no lens")
    picked(viewer, 5)
    viewer.focus_picked()
    assert viewer.notice == "in focus: sphere 5"
    shown = requests(viewer)[-1].buffers.camera[0]
    center, radius = viewer.loaded_scene.sphere(5)
    depth = (np.asarray(center) - viewer.view.pose.eye) @ viewer.view.pose.axes.forward
    assert abs(shown["focus_distance"] - depth) <= radius
    assert shown["lens_radius"] == np.float32(0.5 * APERTURE * viewer.view.pose.focus_distance)
    viewer.change_aperture(2.0)
    assert viewer.notice == "aperture 0.06"
    camera = viewer.camera
    again = moves.initial_view(camera, viewer.loaded_scene.buffers, ASPECT)
    focus = viewer.view.pose.focus
    assert focus is not None
    assert again.pose.focus is not None
    np.testing.assert_allclose(again.pose.focus, focus, atol=1e-6)
    assert "aperture = 0.06\nfocus = [" in viewer.camera_toml()
    viewer.toggle_projection()
    viewer.focus_picked()
    assert viewer.notice.startswith("a perspective camera has a lens")
    viewer.toggle_projection()
    viewer.focus_picked()
    assert viewer.notice == "all is in focus"
    assert requests(viewer)[-1].buffers.camera[0]["lens_radius"] == 0


def test_turntable_turns_as_long_as_it_is_on(viewer: Viewer) -> None:
    viewer.tick(1.0)
    assert len(requests(viewer)) == 1
    viewer.toggle_turntable()
    start = viewer.view
    for _ in range(4):
        viewer.tick(0.5)
    expected = moves.orbit(start, 2.0 * TURNTABLE_SPEED, 0.0).pose.eye
    np.testing.assert_allclose(viewer.view.pose.eye, expected, atol=1e-9)
    viewer.toggle_turntable()
    viewer.tick(1.0)
    assert len(requests(viewer)) == 5


def test_reset_brings_everything_back(viewer: Viewer) -> None:
    first = requests(viewer)[0]
    for action in ("light_from_viewer", "next_background", "next_curve", "toggle_turntable"):
        getattr(viewer, action)()
    viewer.orbit(1.0, 0.2)
    viewer.toggle_projection()
    viewer.scale_shininess(2.0)
    viewer.expose(2.0)
    viewer.reset()
    assert requests(viewer)[-1].buffers.digest() == first.buffers.digest()
    assert requests(viewer)[-1].tone == first.tone
    assert viewer.view.fits_all
    assert not viewer.turning


# Light, background, gloss, tone


def test_the_first_light_is_turned_about_the_pivot() -> None:
    other = DirectionalLight((0.0, -1.0, 0.0), "red", 0.2)
    first = DirectionalLight((1.0, -2.0, -0.5))
    viewer = viewer_of(loaded_scene_of(balls(lights=(first, other))))
    viewer.turn_light(0.3, 0.2)
    axes = viewer.view.pose.axes
    assert viewer.edits.lights == (turned(first, axes, 0.3, 0.2, np.zeros(3)), other)
    assert len(requests(viewer)[-1].buffers.lights) == 2
    lamp = raytracer.PointLight((60.0, 0.0, 20.0))
    near = viewer_of(loaded_scene_of(balls(lights=(lamp,))))
    near.turn_light(0.3, 0.2)
    pivot = near.view.pivot * near.loaded_scene.buffers.scale + near.loaded_scene.buffers.center
    assert near.edits.lights == (turned(lamp, near.view.pose.axes, 0.3, 0.2, pivot),)


def test_light_without_lights(viewer: Viewer) -> None:
    """The key light stays with the viewer until it is turned; in darkness there is nothing."""
    viewer.orbit(0.5, 0.0)
    moving = requests(viewer)[-1].buffers.lights
    assert moving != requests(viewer)[0].buffers.lights
    viewer.turn_light(0.0, 0.0)
    assert requests(viewer)[-1].buffers.lights == moving
    viewer.orbit(0.5, 0.0)
    assert requests(viewer)[-1].buffers.lights == moving, "it stays in the scene now"
    dark = viewer_of(loaded_scene_of(balls(lights=())))
    dark.turn_light(0.3, 0.2)
    assert dark.notice == "the scene has no light to turn"
    assert len(requests(dark)) == 1
    dark.light_from_viewer()
    assert dark.edits.lights == (from_viewer(dark.loaded_scene.scene, dark.view.pose.axes),)
    assert len(requests(dark)[-1].buffers.lights) == 1


def test_backgrounds_go_round(viewer: Viewer) -> None:
    seen = [requests(viewer)[0].buffers.digest()]
    for _ in BACKGROUNDS:
        viewer.next_background()
        seen.append(requests(viewer)[-1].buffers.digest())
    assert seen[-1] == seen[0]
    assert len(set(seen)) >= len(BACKGROUNDS) - 1  # the scene's own is white too


def glossy() -> Viewer:
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
    viewer.scale_shininess(2.0)
    assert shown() == [40.0, 180.0]
    assert viewer.notice == "shininess 40"
    picked(viewer, 1)
    viewer.scale_shininess(0.5)
    assert shown() == [40.0, 90.0]
    assert viewer.notice == "shininess of its material 90"
    picked(viewer, 2)
    viewer.scale_shininess(2.0)
    assert shown() == [80.0, 90.0]
    alone = viewer_of(loaded_scene_of(balls()))
    picked(alone, 3)
    alone.scale_shininess(2.0)
    assert requests(alone)[-1].buffers.materials["phong"]["shininess"].tolist() == [80.0]


def glassy() -> Viewer:
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
    viewer.change_priority(1.0)
    assert (viewer.notice, viewer.priority) == ("click a sphere of glass first", None)
    picked(viewer, 2)
    viewer.change_priority(1.0)
    assert viewer.notice == "click a sphere of glass first"
    assert len(requests(viewer)) == 1
    picked(viewer, 0)
    assert viewer.priority == 0.0
    for _ in range(3):
        viewer.do("change-priority", 1.0)
    assert (viewer.notice, viewer.priority) == ("priority of glass 3", 3.0)
    shown = requests(viewer)[-1].buffers
    scene = viewer.loaded_scene.scene
    glass = scene.materials["glass"]
    assert isinstance(glass, Principled)
    raised = {**scene.materials, "glass": replace(glass, priority=3.0)}
    stated = replace(scene, materials=raised, camera=viewer.camera)
    assert shown.digest() == pack(stated).digest(), "as if the scene said so"
    viewer.do("undo")
    assert viewer.priority == 0.0
    for step in (1e6, 1e6, -1e6, -1e6, -1e6):
        viewer.change_priority(step)
    assert viewer.priority == PRIORITY[0]
    viewer.next_integrator()
    viewer.change_priority(1.0)
    assert viewer.notice.endswith("; paths show it: Shift N")
    viewer.reset()
    assert requests(viewer)[-1].buffers.digest() == requests(viewer)[0].buffers.digest()


def test_the_ground_becomes_a_shadow_catcher_and_a_ground_again(viewer: Viewer) -> None:
    viewer.toggle_shadow_catcher()
    assert viewer.notice.startswith("there is no ground")
    assert (viewer.shadow_catcher, len(requests(viewer))) == (None, 1)
    standing = glassy()
    assert standing.shadow_catcher is False
    standing.toggle_shadow_catcher()
    assert (standing.notice, standing.shadow_catcher) == ("ground: its shadows alone", True)
    scene = standing.loaded_scene.scene
    caught = replace(scene, ground=Ground(shadow_catcher=True), camera=standing.camera)
    assert requests(standing)[-1].buffers.digest() == pack(caught).digest()
    standing.toggle_shadow_catcher()
    assert standing.notice == "ground: whole"
    assert requests(standing)[-1].buffers.digest() == requests(standing)[0].buffers.digest()
    again = viewer_of(loaded_scene_of(caught))
    assert again.shadow_catcher is True
    again.toggle_shadow_catcher()
    assert requests(again)[-1].buffers.digest() == requests(standing)[0].buffers.digest()


@pytest.mark.parametrize("name", TONES)
def test_tones_are_of_the_same_look(viewer: Viewer, name: str) -> None:
    (action, amount), expected = TONES[name]
    getattr(viewer, action)(*amount)
    before, request = requests(viewer)
    assert request.buffers is before.buffers, "so that its samples are kept"
    assert request.tone == ToneSettings(**expected)
    if viewer.tone.automatic:
        viewer.receive(Metered(1.25))
    assert viewer.notice


def test_exposure_goes_in_thirds_to_its_ends(viewer: Viewer) -> None:
    for _ in range(6):
        viewer.expose(1 / 3)
    assert viewer.tone.exposure == 2.0
    assert viewer.notice == "exposure +2.00"
    viewer.toggle_automatic()
    viewer.receive(Metered(1.234))
    assert (viewer.tone.automatic, viewer.notice) == (True, "automatic exposure, +1.23 stops now")
    viewer.toggle_automatic()
    assert (viewer.tone.exposure, viewer.notice) == (0.0, "exposure as rendered")
    for stops in (1000.0, -1000.0):
        viewer.expose(stops)
        assert viewer.tone.exposure == np.copysign(MAX_STOPS, stops)


def test_brighter_and_darker_begin_with_what_was_metered(viewer: Viewer) -> None:
    worker: Any = viewer.worker
    viewer.toggle_automatic()
    viewer.receive(Metered(1.5))
    viewer.expose(-1 / 3)
    viewer.expose(-1 / 3)
    assert viewer.tone.automatic, "until it is known what the automatic exposure is"
    assert worker.meters == 2
    viewer.receive(Metered(1.75))
    assert viewer.tone.exposure == 1.08
    assert viewer.notice == "exposure +1.08"
    viewer.receive(Metered(9.0))  # too late: nobody asks any more
    assert viewer.tone.exposure == 1.08
    viewer.toggle_automatic()
    viewer.receive(Refused("there is no picture yet"))
    viewer.expose(1 / 3)
    assert worker.meters == 4, "asked again"


def test_actions_that_show_little_say_what_they_did(
    viewer: Viewer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raytracer.film.denoise.require_denoiser", lambda: None)  # an extra
    for action, amount, said in (
        ("next_background", (), "background: white"),
        ("next_look", (), "look: soft"),
        ("next_integrator", (), "integrator: path"),
        ("next_integrator", (), "integrator: direct"),
        ("toggle_denoise", (), "noise: removed at rest"),
        ("toggle_denoise", (), "noise: as rendered"),
        ("next_placement", (), "lights relative to the world"),
        ("next_placement", (), "lights relative to the camera"),
        ("toggle_projection", (), "orthographic"),
        ("toggle_projection", (), "perspective"),
        ("zoom", (0.2,), "field of view 47.9°"),
        ("light_from_viewer", (), "light from the viewer"),
        ("reset", (), "as in the scene"),
    ):
        getattr(viewer, action)(*amount)
        assert viewer.notice.startswith(said)
    assert len(BACKGROUND_NAMES) == len(BACKGROUNDS)


def test_a_scene_without_spheres_says_so() -> None:
    empty = viewer_of(loaded_scene_of(Scene(), width=64, height=48))
    assert empty.notice == "scene has no spheres"


def test_warnings_of_loading_are_shown(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text("2\n\n1 0 0 0\n2 1 0 0\n")
    viewer = viewer_of(loaded_scene_of(path, width=64, height=48))
    assert viewer.notice.startswith(f"{path}: the labels 1, 2 are taken as types")


def test_a_ground_ball_is_left_out_where_the_rest_is_to_be_seen() -> None:
    """As if it were not there; with Shift it is shown too."""
    rng = np.random.default_rng(8)
    centers = rng.normal(size=(50, 3))
    ground = np.array([[0.0, -1003.0, 0.0]])
    radii = np.full(50, 0.2)
    both = Scene.from_arrays(np.vstack([centers, ground]), np.append(radii, 1000.0))
    viewer = viewer_of(loaded_scene_of(both, width=64, height=48))
    viewer.fit_all()
    assert not viewer.view.fits_all
    buffers = viewer.loaded_scene.buffers
    points = np.stack([buffers.x, buffers.y, buffers.z], axis=1).astype(np.float64)[:50]
    shown, ahead = moves.project(viewer.view, points, ASPECT)
    assert ahead.all()
    assert 0.5 < np.abs(shown).max() < 1.0
    viewer.fit_giants()
    assert viewer.view.fits_all
    far, _ = moves.project(viewer.view, points, ASPECT)
    assert np.ptp(far, axis=0).max() < 0.02
    alone = viewer_of(loaded_scene_of(Scene.from_arrays(ground, 1000.0), width=64, height=48))
    alone.fit_all()
    assert alone.view.fits_all


def test_curves_go_round(viewer: Viewer) -> None:
    seen = []
    for _ in CURVES:
        viewer.next_curve()
        seen.append(viewer.tone.tone)
    assert seen == [*CURVES[1:], CURVES[0]]


def test_the_reflected_background_does_not_turn_with_the_camera() -> None:
    viewer = viewer_of(loaded_scene_of(balls()))
    up = viewer._buffers.frame["environment"]["background_up"].copy()
    for action, amount in (("orbit", (0.7, -0.9)), ("along", (0, -1, 0)), ("next_background", ())):
        getattr(viewer, action)(*amount)
        np.testing.assert_array_equal(viewer._buffers.frame["environment"]["background_up"], up)
