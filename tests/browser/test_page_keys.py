"""Every key of the list in a real page, and what it changes."""

from __future__ import annotations

from collections.abc import Iterator
from time import monotonic
from typing import TYPE_CHECKING, Any

import pytest

from raytracer.viewer.controls import CONTROLS, Control
from support.chromium import Site
from support.keys import (
    EFFECTS,
    FRAMES,
    SETTINGS,
    fresh,
    name_of,
    observed,
    prepare,
    ready,
    write_run,
)

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

NOTICE = ".rt-notice"
PATIENCE = 30.0  # seconds for an effect, of which all but a few need a fraction of one

CODES = {
    "COMMA": ",", "PERIOD": ".", "SLASH": "/", "BRACKETLEFT": "[", "BRACKETRIGHT": "]",
    "PLUS": "+", "EQUAL": "=", "MINUS": "-", "SPACE": "Space", "NUM_ADD": "NumpadAdd",
    "NUM_SUBTRACT": "NumpadSubtract", "NUM_DIVIDE": "NumpadDivide", "LEFT": "ArrowLeft",
    "RIGHT": "ArrowRight", "UP": "ArrowUp", "DOWN": "ArrowDown", "HOME": "Home",
    "ESCAPE": "Escape", "TAB": "Tab", "F1": "F1", "F11": "F11",
}  # fmt: skip
"""What Playwright calls some keys; others have the letters of their names."""
SHIFTED = {"PLUS": "Equal", "EQUAL": "Equal"}  # with Shift, as on an American keyboard

OF_THE_PAGE = {
    "toggle-overlay": "raytracerView.root.classList.contains('rt-closed')",
    "toggle-full-screen": "document.fullscreenElement === raytracerView.root",
    "toggle-help": "!raytracerView.help.hidden",
    "toggle-panel": "document.activeElement !== raytracerView.stage",
}
"""What is true of the page after keys that it handles by itself."""
FIELDS = {"size": "width"}  # what is asked for, where the field has another name

KEYS = [
    (control, key)
    for control in CONTROLS
    for key in control.keys
    if not key.startswith("NUM_") or key in CODES
]


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    path = write_run(tmp_path_factory.mktemp("keys"))
    with Site(path, frame=0, backend="cpu", threads=1, samples=1, **SETTINGS) as serving:
        yield serving


@pytest.fixture
def page(chromium: Browser, site: Site) -> Iterator[Page]:
    opened = chromium.new_page(viewport={"width": 512, "height": 160})
    opened.set_default_timeout(20_000)
    opened.goto(site.address)
    opened.wait_for_function("() => window.raytracerView?.header?.finished")
    opened.wait_for_function("count => raytracerView.state.frame.count === count", arg=FRAMES)
    yield opened
    opened.close()


def code(key: str) -> str:
    """A key of `controls` as Playwright calls it."""
    *modifiers, letter = key.split("+")
    name = SHIFTED.get(letter) if "SHIFT" in modifiers else None
    name = name or CODES.get(letter) or letter.removeprefix("_").lower()
    return "+".join([*({"CTRL": "Control", "SHIFT": "Shift"}[each] for each in modifiers), name])


def observe(site: Site, reached: Any) -> tuple[bool, dict[str, Any]]:
    """Wait until something is true of what is observed; return whether, and what is observed."""
    end = monotonic() + PATIENCE
    while not (found := reached(now := site.call(observed))) and monotonic() < end:
        pass
    return bool(found), now


def expected(control: Control) -> str:
    """What is true of the page after a key that it handles by itself; "" for others."""
    if control.action == "ask":
        field = str(control.amount[0])
        return f"document.activeElement.name === '{FIELDS.get(field, field)}'"
    return OF_THE_PAGE.get(control.action, "")


def press(page: Page, site: Site, control: Control, key: str) -> str:
    """Press a key in a fresh page; return what is wrong, or ""."""
    effect = EFFECTS[name_of(control)]
    site.call(fresh)
    observe(site, lambda now: not now["busy"] and now["shown"] == 0)
    site.call(lambda session: prepare(session, effect))
    done, before = observe(site, ready(effect))
    assert done, (key, before)
    page.evaluate("""() => {
        raytracerView.help.hidden = true;
        raytracerView.root.classList.remove("rt-closed");
        raytracerView.stage.focus();
    }""")
    page.keyboard.press(code(key), delay=60 if control.held else 0)
    if own := expected(control):
        page.wait_for_function(f"() => {own}")
        if control.action == "toggle-full-screen":
            page.evaluate("document.exitFullscreen()")
        return ""

    def reached(now: dict[str, Any]) -> Any:
        # errors of an action are told to the page that asked for it alone
        return effect.holds(before, {**now, "notice": now["notice"] or page.inner_text(NOTICE)})

    done, after = observe(site, reached)
    changed = {name: after[name] for name in after if str(after[name]) != str(before[name])}
    return "" if done else f"{key}: {changed}; {page.inner_text(NOTICE)}"


def test_every_key_has_its_effect(page: Page, site: Site) -> None:
    pressed = [(control, key) for control, key in KEYS if control.action != "close"]
    wrong = [press(page, site, control, key) for control, key in pressed]
    assert [each for each in wrong if each] == []
    # a browser closes its pages itself
    before = site.call(observed)
    for key in ("q", "Control+w"):
        page.keyboard.press(key)
    page.keyboard.press("Space")
    done, _ = observe(site, lambda now: now["turning"] is not before["turning"])
    assert done
    assert not site.call(lambda session: session.closing)
