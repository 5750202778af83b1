"""Every key of `controls` and every gesture of the mouse, by real events: which action it runs."""

from collections.abc import Iterator
from time import monotonic
from typing import Any

import pytest

from raytracer.viewer.controls import CONTROLS, Control
from support.display import LIMIT, Display
from support.remote import Remote
from support.window_scene import SIZE

X_NAMES = {
    "PLUS": "plus", "EQUAL": "equal", "NUM_ADD": "KP_Add", "MINUS": "minus",
    "NUM_SUBTRACT": "KP_Subtract", "NUM_DIVIDE": "KP_Divide", "PAGEUP": "Prior",
    "PAGEDOWN": "Next", "SPACE": "space", "LEFT": "Left", "RIGHT": "Right", "UP": "Up",
    "DOWN": "Down", "HOME": "Home", "ESCAPE": "Escape", "TAB": "Tab",
    **{f"F{number}": f"F{number}" for number in (1, 10, 11)},
    **{f"_{number}": str(number) for number in range(10)},
}  # fmt: skip
OF_OTHER_KEYBOARDS = tuple(f"NUM_{n}" for n in range(10))
"""Keys that the keyboard of the test has not, or not without others."""

KEYS = [
    (control, key)
    for control in CONTROLS
    for key in control.keys
    if not key.endswith(OF_OTHER_KEYBOARDS)
]
MIDDLE = (SIZE[0] // 2, SIZE[1] // 2)
Calls = list[tuple[str, tuple[Any, ...], dict[str, Any]]]


@pytest.fixture
def recorded(window: Remote, display: Display) -> Iterator[Remote]:
    """A window that tells which actions it would run."""
    display.xdotool("windowfocus", window.state.xid, "mousemove", *MIDDLE)
    window.ask("record", True)
    yield window
    window.ask("record", False)


def x_name(key: str) -> str:
    """A key of `controls` as X calls it."""
    *modifiers, letter = key.split("+")
    return "+".join([*(m.lower() for m in modifiers), X_NAMES.get(letter, letter.lower())])


def calls(window: Remote, what: str) -> Calls:
    """The actions since the last call, as soon as there are some."""
    end = monotonic() + LIMIT
    while not (found := window.ask("recorded")):
        assert monotonic() < end, what
    return list(found)


def runs(control: Control, found: Calls) -> bool:
    """Whether calls are those of a control; while a key is held, for some time."""
    for name, values, _ in found:
        if name != control.action or len(values) != len(control.amount):
            return False
        for value, amount in zip(values, control.amount, strict=True):
            same = value == amount
            if control.held and isinstance(amount, (int, float)):
                same = (value > 0) == (amount > 0) and (value < 0) == (amount < 0)
            if not same:
                return False
    return bool(found)


def test_every_key_runs_its_action(recorded: Remote, display: Display) -> None:
    wrong = []
    for control, key in KEYS:
        display.xdotool("key", x_name(key))
        found = calls(recorded, f"nothing happened at {key}")
        if not runs(control, found):
            wrong.append((key, found))
    assert wrong == []


@pytest.mark.parametrize(
    ("button", "modifiers", "action"),
    [(1, (), "orbit"), (1, ("shift",), "pan"), (2, (), "pan"), (3, (), "pan"),
     (1, ("ctrl",), "turn-light"), (1, ("ctrl", "shift"), "select-box")],
)  # fmt: skip
def test_drags(
    recorded: Remote, display: Display, button: int, modifiers: tuple[str, ...], action: str
) -> None:
    down = [word for each in modifiers for word in ("keydown", each)]
    up = [word for each in modifiers for word in ("keyup", each)]
    x, y = MIDDLE
    display.xdotool(*down, "mousedown", button, "mousemove", x + 16, y - 8, "mousemove", x + 32,
                    y - 16, "mouseup", button, *up)  # fmt: skip
    found = calls(recorded, action)
    assert {name for name, _, _ in found} == {action}
    signs = {"orbit": (-1, -1), "pan": (-1, -1), "turn-light": (1, 1)}.get(action, (1, 1))
    assert all(value * sign >= 0 for sign, value in zip(signs, found[0][1], strict=False))


@pytest.mark.parametrize(
    ("button", "modifiers", "action", "sign"),
    [(4, (), "dolly", -1), (5, (), "dolly", 1), (4, ("shift",), "zoom", -1), (6, (), "orbit", -1),
     (7, (), "orbit", 1)],
)  # fmt: skip
def test_the_wheel(
    recorded: Remote, display: Display, button: int, modifiers: tuple[str, ...], action: str,
    sign: int,
) -> None:  # fmt: skip
    down = [word for each in modifiers for word in ("keydown", each)]
    up = [word for each in modifiers for word in ("keyup", each)]
    display.xdotool(*down, "click", button, *up)
    ((name, values, _),) = calls(recorded, action)
    assert (name, values[0] * sign > 0) == (action, True)


def test_clicks(recorded: Remote, display: Display) -> None:
    display.xdotool("click", 1)
    ((name, values, named),) = calls(recorded, "a click")
    assert (name, values, named["go"], named["add"]) == ("pick", MIDDLE, False, False)
    display.xdotool("mousemove", 20, 30, "keydown", "shift", "click", 1, "keyup", "shift")
    ((name, values, named),) = calls(recorded, "a click with Shift")
    assert (name, values, named["add"]) == ("pick", (20, 30), True)
    display.xdotool("mousemove", 60, 50, "click", "--repeat", 2, "--delay", 20, 1)
    found = calls(recorded, "a double click")
    while len(found) < 2:
        found += calls(recorded, "the second click")
    assert [named["go"] for _, _, named in found] == [False, True]


def test_a_key_is_forgotten_when_another_window_gets_the_keyboard(window: Remote) -> None:
    before = window.state
    window.ask("key", "press", "LEFT")
    window.until(lambda s: s.camera != before.camera, "a held key")
    window.ask("event", "on_deactivate")
    window.until(lambda s: s.camera == window.state.camera, "the end of the movement")
    window.rest()
