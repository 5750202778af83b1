"""Prompts of a window, opened and filled in by real keys of several keyboards."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator

import pytest

from support import display as displays
from support.display import LIMIT, Display
from support.remote import Remote
from support.window_scene import write_scene


@pytest.fixture(scope="module", params=["de", "fr"])
def keyboard(
    request: pytest.FixtureRequest, display: Display, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Display, Remote]]:
    """A window on a display of its own with a keyboard of a country: "/" is Shift 7 on a German
    one, Shift : on a French one."""
    folder = tmp_path_factory.mktemp(request.param)
    own = displays.start(folder)
    write_scene(folder)
    command = ["setxkbmap", "-display", own.name, request.param]
    subprocess.run(command, env=own.environment, timeout=LIMIT, check=True)
    window = Remote(["preview", "balls.toml", "--backend", "cpu"], folder, own.environment)
    try:
        window.rest()
        yield own, window
    finally:
        window.stop()
        own.stop()


@pytest.fixture
def fresh(keyboard: tuple[Display, Remote]) -> tuple[Display, Remote]:
    """The window, as when it was opened."""
    keyboard[1].fresh()
    keyboard[0].xdotool("windowfocus", keyboard[1].state.xid)
    return keyboard


def test_a_condition_is_typed_whole(fresh: tuple[Display, Remote]) -> None:
    """Also its own "/", and letters that are keys of the window; then the keys act again."""
    display, window = fresh
    typed = "radius / 2 > 0.25 and x < 9"
    display.xdotool("key", "slash")
    display.xdotool("type", typed)
    window.until(lambda s: s.prompt == typed, "the condition")
    display.xdotool("key", "Return")
    state = window.until(lambda s: s.shown["selected"], "the selection")
    assert state.shown["selected"] == 2
    assert state.prompt is None
    display.xdotool("key", "slash")
    window.until(lambda s: s.prompt == "", "the prompt again")


def test_keys_that_need_others_on_a_keyboard_act(fresh: tuple[Display, Remote]) -> None:
    """Brackets are AltGr 8 and 9 on a German keyboard, digits are above on a French one."""
    display, window = fresh
    display.xdotool("key", "z")
    window.until(lambda s: s.shown["forward"] == (0.0, 0.0, 1.0), "the view")
    display.xdotool("key", "w")
    before = window.until(lambda s: s.shown["slice"] and not s.shown["busy"], "a slice")
    display.xdotool("key", "bracketright")
    at = before.shown["slice"].position
    window.until(lambda s: s.shown["slice"].position > at, "the slice moved")
    window.ask("act", "do", "keep-view", "2")
    display.xdotool("key", "x")
    window.until(lambda s: s.shown["forward"] == (1.0, 0.0, 0.0), "another view")
    display.xdotool("key", "2")
    window.until(lambda s: s.shown["forward"] == (0.0, 0.0, 1.0), "the view that was kept")
