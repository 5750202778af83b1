"""Every key of the list in a real window, by real events, and what it changes."""

from collections.abc import Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import pytest

from raytracer.viewer.controls import CONTROLS
from support.display import LIMIT, Display
from support.keys import (
    EFFECTS,
    FRAMES,
    OF_OTHER_KEYBOARDS,
    OPTIONS,
    Effect,
    name_of,
    ready,
    write_run,
    x_name,
)
from support.remote import Remote

PATIENCE = 10.0  # seconds for an effect, of which all but a few need a fraction of one
SIZE = (240, 160)

KEYS = [
    (name_of(control), key)
    for control in CONTROLS
    for key in control.keys
    if control.action != "close" and not key.endswith(OF_OTHER_KEYBOARDS)
]


@pytest.fixture(scope="module")
def window(display: Display, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Remote]:
    """A window with a trajectory on which every key has an effect."""
    folder = tmp_path_factory.mktemp("keys")
    size = "x".join(map(str, SIZE))
    command = ["preview", write_run(folder).name, "--size", size, "--samples", "1", *OPTIONS]
    remote = Remote([*command, "--frame", "0", "--backend", "cpu"], folder, display.environment)
    try:
        remote.until(lambda s: s.shown["count"] == FRAMES, "the number of frames")
        yield remote
    finally:
        remote.stop()


def observe(window: Remote, reached: Any) -> tuple[bool, dict[str, Any]]:
    """Wait until something is true of what is observed; return whether, and what is observed."""
    end = monotonic() + PATIENCE
    while not (found := reached(now := window.ask("observed"))) and monotonic() < end:
        sleep(0.01)
    return bool(found), now


def changes(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    return {name: after[name] for name in after if str(after[name]) != str(before[name])}


def press(window: Remote, display: Display, key: str, effect: Effect, control: str) -> str:
    """Press a key in a fresh window; return what is wrong, or ""."""
    window.ask("fresh_keys")
    observe(window, lambda now: not now["busy"] and now["shown"] == 0)
    window.rest()
    window.ask("prepare", control)
    done, before = observe(window, ready(effect))
    assert done, (control, before)
    window.rest()
    display.xdotool("windowfocus", window.state.xid, "key", x_name(key))
    done, after = observe(window, lambda now: effect.holds(before, now))
    return "" if done else f"{key}: {changes(before, after)}"


def test_every_key_has_its_effect(window: Remote, display: Display) -> None:
    assert set(EFFECTS) == {name_of(each) for each in CONTROLS if each.action != "close"}
    wrong = [press(window, display, key, EFFECTS[control], control) for control, key in KEYS]
    assert [each for each in wrong if each] == []


@pytest.mark.parametrize("key", ["q", "ctrl+w"])
def test_keys_that_close(display: Display, tmp_path: Path, key: str) -> None:
    command = ["preview", write_run(tmp_path).name, "--size", "120x80", "--samples", "1"]
    remote = Remote([*command, "--backend", "cpu"], tmp_path, display.environment)
    try:
        display.xdotool("windowfocus", remote.rest().xid, "key", key)
        assert remote.process.wait(LIMIT) == 0
    finally:
        remote.stop()


@pytest.mark.parametrize(
    ("key", "wrong", "right", "reached"),
    [
        ("/", "mass >", "mass > 2", lambda now: now["selected"] == 1),
        ("/", "massive > 2", "mass > 2", lambda now: now["selected"] == 1),
        ("CTRL+M", "sqrt(", "x", lambda now: now["settings"].get("color_by") == "x"),
        ("CTRL+M", "massive + 1", "x", lambda now: now["settings"].get("color_by") == "x"),
        ("S", "100 by 100", "", lambda now: "saved" in now["notice"]),
    ],
)
def test_a_mistyped_answer_stays_to_be_corrected(
    window: Remote, key: str, wrong: str, right: str, reached: Any
) -> None:
    window.ask("fresh_keys")
    observe(window, lambda now: not now["busy"] and now["shown"] == 0)
    window.rest()
    window.press("SLASH" if key == "/" else key)
    window.ask("event", "on_text", wrong)
    window.press("RETURN")
    state = window.until(lambda s: s.notice and s.prompt == wrong, "the text again")
    assert state.notice
    for _ in wrong:
        window.press("BACKSPACE")
    if right:
        window.ask("event", "on_text", right)
    window.press("RETURN")
    done, after = observe(window, reached)
    assert done, after
    assert after["prompt"] is None


def test_the_first_screen_names_the_panel(window: Remote) -> None:
    window.ask("fresh_keys")
    window.rest()
    assert "Tab: panel" in "\n".join(window.ask("status"))
