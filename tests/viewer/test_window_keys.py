"""Every key of `controls`, pressed on a real keyboard's events, has its effect."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.settings import KEY_LIGHTS
from raytracer.viewer.controls import CONTROLS, Control
from raytracer.viewer.viewer import APERTURE
from support.data_keys import DATA_EFFECTS
from support.display import Display
from support.host import State
from support.remote import Remote

Open = Callable[..., Remote]
Check = Callable[[State, State, Remote], object]
CLOSING = "Q"  # see test_window_end.py

X_NAMES = {
    "PLUS": "plus", "EQUAL": "equal", "NUM_ADD": "KP_Add", "MINUS": "minus",
    "NUM_SUBTRACT": "KP_Subtract", "PAGEUP": "Prior", "PAGEDOWN": "Next", "SPACE": "space",
    "F1": "F1", "LEFT": "Left", "RIGHT": "Right", "UP": "Up", "DOWN": "Down", "HOME": "Home",
    "ESCAPE": "Escape",
}  # fmt: skip


def x_name(key: str) -> str:
    """A key of `controls` as X calls it."""
    *modifiers, letter = key.split("+")
    return "+".join([*(m.lower() for m in modifiers), X_NAMES.get(letter, letter.lower())])


def axes(state: State) -> tuple[NDArray[np.float64], ...]:
    """Unit vectors to the right, up and forward."""
    camera = state.camera
    forward = np.array(camera.look_at) - state.eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, camera.upward)
    right /= np.linalg.norm(right)
    return right, np.cross(right, forward), forward


def moved(before: State, after: State) -> NDArray[np.float64]:
    """How the eye moved: to the right, up, forward, as seen before."""
    step = after.eye - before.eye
    return np.array([step @ axis for axis in axes(before)])


def distance(state: State) -> float:
    """From the eye to the pivot."""
    return float(np.linalg.norm(state.eye - state.pivot))


def same_pivot(before: State, after: State) -> bool:
    return np.allclose(before.pivot, after.pivot, atol=1e-6)


def orbits(axis: int, sign: float) -> Check:
    """The eye goes that way (0 right, 1 up) on a sphere about the pivot."""

    def check(before: State, after: State, _: Remote) -> bool:
        near = distance(after) == pytest.approx(distance(before), rel=1e-6)
        return same_pivot(before, after) and near and moved(before, after)[axis] * sign > 0

    return check


def slides(axis: int, sign: float) -> Check:
    """Eye and pivot go that way (0 right, 1 up, 2 forward) and look the same way."""

    def check(before: State, after: State, _: Remote) -> bool:
        step = moved(before, after)
        others = np.delete(step, axis)
        same = np.allclose(axes(before), axes(after), atol=1e-6)
        return same and step[axis] * sign > 0 and np.allclose(others, 0, atol=1e-6)

    return check


def nears(sign: float) -> Check:
    """The eye comes nearer to the pivot (-1) or goes away."""

    def check(before: State, after: State, _: Remote) -> bool:
        farther = (distance(after) - distance(before)) * sign > 1e-6
        return farther and same_pivot(before, after) and np.allclose(axes(before), axes(after))

    return check


def lights(axis: int, sign: float) -> Check:
    """The light comes from farther right (0) or up (1), and nothing else changes."""

    def check(before: State, after: State, _: Remote) -> bool:
        if not after.edits.lights:
            return False
        right, up, forward = axes(before)
        x, y, z = KEY_LIGHTS["upper-left"]
        old = x * right + y * up - z * forward
        new = -np.array(after.edits.lights[0].direction)  # type: ignore[union-attr]
        turn = (new - old / np.linalg.norm(old)) @ (right, up)[axis]
        return bool(turn * sign > 0) and before.camera == after.camera

    return check


def zooms(sign: float) -> Check:
    def check(before: State, after: State, _: Remote) -> bool:
        wider = (after.camera.vertical_fov - before.camera.vertical_fov) * sign > 1e-3
        return wider and np.allclose(before.eye, after.eye, atol=1e-9)

    return check


def looks(*axis: float) -> Check:
    return lambda _, after, __: np.allclose(axes(after)[2], axis, atol=1e-6)


def exposes(stops: float) -> Check:
    return lambda _, after, __: after.tone.exposure == pytest.approx(stops)


def polishes(factor: float) -> Check:
    return lambda _, after, __: (
        len(after.edits.shininess) == 2
        and all(one == pytest.approx(factor) for one in after.edits.shininess.values())
    )


def says(text: str) -> Check:
    return lambda _, after, __: after.notice.startswith(text)


def as_at_first(before: State, after: State, _: Remote) -> bool:
    keep: tuple[str, ...] = ("edits", "tone", "turning", "picked")
    return np.allclose(before.eye, after.eye, atol=1e-9) and all(
        getattr(before, name) == getattr(after, name) for name in keep
    )


def turns(before: State, after: State, window: Remote) -> bool:
    window.until(lambda s: s.camera != after.camera, "the turntable")
    return after.turning and bool(orbits(0, 1)(before, window.state, window))


def from_viewer(before: State, after: State, _: Remote) -> bool:
    right, up, forward = axes(before)
    x, y, z = KEY_LIGHTS["upper-left"]
    assert after.edits.lights is not None
    assert len(after.edits.lights) == 1
    found = after.edits.lights[0].direction  # type: ignore[union-attr]
    return np.allclose(found, -(x * right + y * up - z * forward), atol=1e-6)


def printed(_: State, after: State, window: Remote) -> bool:
    if not window.printed.rstrip().endswith("]") and "vertical_fov" not in window.printed:
        return False
    last = window.printed[window.printed.rindex("[camera]") :]
    table = tomllib.loads(last)["camera"]
    places = [table[name] for name in ("position", "look_at", "up")]
    copied = str(window.ask("clipboard")).strip() == last.strip()
    camera = after.camera
    shown: list[Any] = [camera.position, camera.look_at, camera.up]
    return copied and np.allclose(places, shown, rtol=1e-8, atol=1e-8)


EFFECTS: dict[str, Check] = {
    "LEFT": orbits(0, -1), "RIGHT": orbits(0, 1), "UP": orbits(1, 1), "DOWN": orbits(1, -1),
    "SHIFT+LEFT": slides(0, -1), "SHIFT+RIGHT": slides(0, 1),
    "SHIFT+UP": slides(1, 1), "SHIFT+DOWN": slides(1, -1),
    "CTRL+LEFT": lights(0, -1), "CTRL+RIGHT": lights(0, 1),
    "CTRL+UP": lights(1, 1), "CTRL+DOWN": lights(1, -1),
    "PLUS": nears(-1), "MINUS": nears(1), "PAGEUP": slides(2, 1), "PAGEDOWN": slides(2, -1),
    "V": zooms(1), "SHIFT+V": zooms(-1),
    "O": lambda _, after, __: after.camera.type == "orthographic",
    "SHIFT+O": lambda _, after, __: after.camera.aperture > 0.0,
    "CTRL+PAGEUP": lambda _, after, __: after.camera.aperture > 1.2 * APERTURE,
    "CTRL+PAGEDOWN": lambda _, after, __: 0.0 < after.camera.aperture < 0.9 * APERTURE,
    "X": looks(1, 0, 0), "Y": looks(0, 1, 0), "Z": looks(0, 0, 1),
    "SHIFT+X": looks(-1, 0, 0), "SHIFT+Y": looks(0, -1, 0), "SHIFT+Z": looks(0, 0, -1),
    "F": as_at_first, "SHIFT+F": as_at_first, "R": as_at_first,
    "G": lambda _, after, __: after.picked is not None
    and np.allclose(after.pivot, after.picked.position, atol=1e-5),
    "SPACE": turns, "L": from_viewer,
    "E": exposes(1 / 3), "SHIFT+E": exposes(-1 / 3),
    "A": lambda _, after, __: after.tone.automatic,
    "T": lambda _, after, __: after.tone.tone == "reinhard",
    "N": lambda _, after, __: after.edits.look == "soft",
    "SHIFT+N": lambda _, after, __: after.edits.integrator is not None,
    "CTRL+N": lambda _, after, __: after.edits.denoise is True or "denois" in after.notice,
    "SHIFT+L": lambda _, after, __: after.edits.placement == "world",
    "B": lambda _, after, __: after.edits.background == 1,
    "K": polishes(2**0.5), "SHIFT+K": polishes(0.5**0.5),
    # in a window of glass on a ground below
    "CTRL+K": says("click a sphere of glass first"),
    "CTRL+SHIFT+K": says("click a sphere of glass first"),
    "SHIFT+B": says("there is no ground"),
    "C": printed,
    "S": lambda _, after, __: after.prompt == "",
    "I": lambda _, after, __: after.overlay == 2,
    "H": lambda _, after, __: after.help,
    "ESCAPE": lambda _, after, __: after.picked is None,
}  # fmt: skip

MIDDLE = (120, 80)
# What is done before a key that would otherwise change nothing.
FIRST: dict[str, tuple[tuple[object, ...], ...]] = {
    "F": (("dolly", 1.0),),
    "SHIFT+F": (("dolly", 1.0),),
    "R": (("orbit", 1.0, 0.2), ("next_background",), ("expose", 1.0), ("light_from_viewer",),
          ("scale_shininess", 2.0), ("next_curve",), ("toggle_turntable",)),
    "G": (("pick", *MIDDLE),),
    "ESCAPE": (("pick", *MIDDLE),),
    "SHIFT+O": (("pick", *MIDDLE),),
    "CTRL+PAGEUP": (("pick", *MIDDLE), ("focus_picked",)),
    "CTRL+PAGEDOWN": (("pick", *MIDDLE), ("focus_picked",)),
}  # fmt: skip
KEYS = [
    pytest.param(control, key, id=key)
    for control in CONTROLS
    for key in control.keys
    if control.keys[0] in EFFECTS
]


def test_each_control_has_its_effect_here_or_in_the_tests_of_data() -> None:
    from_here = {control.keys[0] for control in CONTROLS} - {*EFFECTS, CLOSING}
    assert from_here == {*DATA_EFFECTS}


def prepare(window: Remote, name: str) -> State:
    """Do what a key needs to have an effect; gives the state that it is compared with."""
    before = window.state
    for action, *arguments in FIRST.get(name, ()):
        window.ask("act", action, *arguments)
        if action == "pick":
            before = window.until(lambda s: s.picked is not None, "the picked sphere")
    return before


@pytest.mark.parametrize(("control", "key"), KEYS)
def test_a_key(control: Control, key: str, window: Remote, display: Display) -> None:
    check = EFFECTS[control.keys[0]]
    before = prepare(window, control.keys[0])
    focus = ("windowfocus", window.state.xid)

    def done(state: State) -> bool:
        return bool(check(before, state, window))

    if not control.held:
        display.xdotool(*focus, "key", x_name(key))
        window.until(done, f"the effect of {key}")
        return
    display.xdotool(*focus, "keydown", x_name(key))
    try:
        first = window.until(done, f"the effect of {key}")
        later = window.until(lambda s: seen(s) != seen(first), f"the effect of {key} held down")
    finally:
        display.xdotool("keyup", x_name(key))
    assert done(later)
    stops(window)


def seen(state: State) -> object:
    """What a held key changes."""
    return state.camera, state.edits


def stops(window: Remote) -> State:
    """Wait until nothing changes any more, and the picture is finished."""
    window.until(lambda s: seen(s) == seen(window.state), "the end of the movement")
    return window.rest()


def test_keys_do_nothing_else_while_a_size_is_typed(window: Remote) -> None:
    before = window.state
    window.press("S")
    for key in ("B", "T", "X", "SPACE"):
        window.press(key)
    after = window.state
    assert after.prompt == ""
    np.testing.assert_array_equal(after.pivot, before.pivot)
    shown, rest = before.shown, before.rest
    assert replace(after, pivot=before.pivot, prompt=None, rest=rest, shown=shown) == before
    assert after.shown == {**shown, "question": "size of the PNG, and samples"}


def test_a_key_is_forgotten_when_another_window_gets_the_keyboard(window: Remote) -> None:
    before = window.state
    window.ask("key", "press", "LEFT")
    window.until(lambda s: s.camera != before.camera, "a held key")
    window.ask("event", "on_deactivate")
    stops(window)


def test_turntable_stops(window: Remote) -> None:
    window.press("SPACE")
    before = window.state
    window.until(lambda s: s.camera != before.camera, "the turntable")
    window.press("SPACE")
    assert not stops(window).turning


GLASS = """
[render]
width = 240
height = 160
samples = 2
integrator = "path"

[camera]
position = [0.0, 1.0, 6.0]
look_at = [0.0, 0.0, 0.0]

[ground]

[[spheres]]
centers = [[0.0, 0.0, 0.0]]
radius = 1.0
material = "glass"

[[spheres]]
centers = [[1.0, 0.0, -0.5]]
radius = 1.0
material = "water"
"""


def test_priority_and_shadow_catcher(open_window: Open, tmp_path: Path) -> None:
    path = tmp_path / "glass.toml"
    path.write_text(GLASS)
    window = open_window(scene=path)
    window.rest()
    window.press("SHIFT+B")
    state = window.state
    assert (state.edits.shadow_catcher, state.notice) == (True, "ground: its shadows alone")
    window.ask("act", "pick", *MIDDLE)
    window.until(lambda s: s.picked is not None, "the picked sphere")
    window.press("CTRL+K")
    window.press("CTRL+K")
    window.press("CTRL+SHIFT+K")
    assert list(window.state.edits.priority.values()) == [1.0]
    assert window.state.notice == "priority 1"
    printed = tomllib.loads(str(window.ask("toml")))
    assert printed["ground"]["shadow_catcher"] is True
    assert printed["materials"]["glass"]["type"] == "principled"
    assert printed["materials"]["glass"]["priority"] == 1.0
    window.press("SHIFT+B")
    assert window.state.edits.shadow_catcher is False


def test_polishing_a_picked_sphere_changes_its_material_alone(window: Remote) -> None:
    window.ask("act", "pick", *MIDDLE)
    state = window.until(lambda s: s.picked is not None, "the picked sphere")
    assert state.picked is not None
    assert state.picked.material_name == "gloss"
    window.press("K")
    after = window.state
    assert list(after.edits.shininess.values()) == [pytest.approx(2**0.5)]
    assert after.notice == f"shininess of gloss {20 * 2**0.5:.3g}"
    printed = tomllib.loads(str(window.ask("toml")))["materials"]
    assert list(printed) == ["gloss"]
    assert printed["gloss"]["shininess"] == pytest.approx(20 * 2**0.5)
