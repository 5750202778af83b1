"""Light, background and gloss changed in the window, and the actions that change them."""

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import raytracer
from raytracer import Ambient, DirectionalLight, PointLight, Scene
from raytracer.exporting.page import ACTIONS as OF_PAGES
from raytracer.model.lights import Light
from raytracer.model.settings import LOOKS
from raytracer.packing.pack import pack, repack_view
from raytracer.packing.pose import fit_camera
from raytracer.viewer import (
    content as edits,
)
from raytracer.viewer import (
    panel,  # noqa: F401 - it imports all actions
)
from raytracer.viewer.actions import find_action
from raytracer.viewer.content import Edits
from raytracer.viewer.controls import (
    CONTROLS,
    GROUPS,
    MIN_MEANING,
    make_help_groups,
    make_help_pages,
)
from support.previews import assert_same_view, balls, view_of
from support.views import BUFFERS

LIGHTS: list[Any] = [
    None,
    (),
    (DirectionalLight((1.0, -2.0, -0.5), intensity=0.7),),
    (PointLight((60.0, 0.0, 20.0), "teal", 40.0, "inverse-square"), DirectionalLight((0, -1, 0))),
]
AMBIENTS = [None, Ambient("teal", 0.4)]
AXES = view_of(BUFFERS).pose.axes


def taken(scene: Scene, changes: Edits) -> Any:
    """The scene as it is packed when these changes were made."""
    buffers = pack(scene)
    aspect = scene.render.width / scene.render.height
    pose = fit_camera(scene.camera or raytracer.Camera(), buffers.balls, buffers.space, aspect)[0]
    edited = changes.apply_to(scene)
    return repack_view(buffers, edited, edited.render, pose)


@pytest.mark.parametrize("lights", LIGHTS)
@pytest.mark.parametrize("ambient", AMBIENTS)
def test_lights_made_explicit_are_the_same_lights(lights: Any, ambient: Any) -> None:
    """Also the key light of a scene without lights, and the ambient light that comes with it."""
    scene = balls(lights=lights, ambient=ambient)
    assert Edits().apply_to(scene) is scene
    assert_same_view(taken(scene, Edits()), pack(scene).view)
    explicit = edits.find_lights(scene, Edits(), AXES)
    assert len(explicit) == (1 if lights is None else len(lights))
    assert_same_view(taken(scene, Edits(lights=explicit)), pack(scene).view)
    assert edits.find_lights(scene, Edits(lights=explicit), AXES) is explicit
    assert scene.lights is lights, "the scene itself is not changed"


# Turning


def towards(light: Light, pivot: Any) -> Any:
    """Unit vector from the pivot to the light."""
    if isinstance(light, PointLight):
        way = np.asarray(light.position, np.float64) - pivot
    else:
        way = -np.asarray(light.direction, np.float64)
    return way / np.linalg.norm(way)


@given(
    seed=st.integers(0, 10_000),
    right=st.floats(-1.0, 1.0),
    up=st.floats(-1.0, 1.0),
    point=st.booleans(),
)
def test_a_turned_light_keeps_its_distance_and_turns_back(
    seed: int, right: float, up: float, point: bool
) -> None:
    rng = np.random.default_rng(seed)
    pivot, place = rng.normal(size=3), rng.normal(size=3)
    light: Light = DirectionalLight(place.tolist(), "red", 0.3)
    if point:
        light = PointLight(place.tolist(), "red", 0.3, "inverse-square")
    turned = edits.rotate_light(light, AXES, right, up, pivot)
    assert type(turned) is type(light)
    assert (turned.color, turned.intensity) == (light.color, light.intensity)
    if isinstance(turned, PointLight):
        away = np.linalg.norm(np.asarray(turned.position, np.float64) - pivot)
        assert away == pytest.approx(np.linalg.norm(place - pivot))
        assert turned.falloff == "inverse-square"
    else:
        assert np.linalg.norm(np.asarray(turned.direction)) == pytest.approx(1.0)
    cosine = float(np.clip(towards(light, pivot) @ towards(turned, pivot), -1.0, 1.0))
    assert np.arccos(cosine) <= np.hypot(right, up) + 1e-6
    back = edits.rotate_light(turned, AXES, -right, -up, pivot)
    np.testing.assert_allclose(towards(back, pivot), towards(light, pivot), atol=1e-9)


def test_looks() -> None:
    """Of a scene with lights of its own, a look leaves only the integrator."""
    scene = balls(lights=None)
    for name in LOOKS:
        settings = replace(scene.render, look=name)
        assert_same_view(
            taken(scene, Edits().with_render_settings(look=name)), pack(scene, settings).view
        )
    lit = balls(lights=LIGHTS[3])
    soft = replace(lit.render, integrator="ao")
    assert_same_view(taken(lit, Edits().with_render_settings(look="soft")), pack(lit, soft).view)


def test_every_action_is_a_method_that_takes_these_arguments() -> None:
    for control in CONTROLS:
        action = find_action(control.action)
        action.bind_arguments(control.amount, {})
        assert action.function.__doc__, control
        assert control.amount or not control.held, "a held key needs an amount a second"
    words = {each.action for each in CONTROLS}
    assert {each.action for each in CONTROLS if each.help} == words
    assert set(OF_PAGES) <= words, "an exported page has keys of the window"


def test_no_key_has_two_meanings() -> None:
    keys = [key for control in CONTROLS for key in control.keys]
    assert [key for key, count in Counter(keys).items() if count > 1] == []


@given(columns=st.integers(20, 250), rows=st.integers(4, 100))
def test_help_has_everything_under_its_heading_on_pages_that_fit(columns: int, rows: int) -> None:
    pages = make_help_pages(columns, rows)
    for page in pages:
        assert len(page) <= rows
        assert max(map(len, page)) <= max(columns, len("  Right drag, Shift drag  ") + MIN_MEANING)
    words = " ".join(" ".join(line for line in page) for page in pages).split()
    for heading in GROUPS:
        assert heading.split()[-1] in words
    for keys, meaning in (row for _, each in make_help_groups() for row in each):
        assert set(keys.split()) <= set(words)
        assert set(meaning.split()) <= set(words)
