"""What the window of the preview does, a page does: each action, by mouse, key or panel."""

from __future__ import annotations

import ast
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

import raytracer
from raytracer.browser.client import make_script, read_part
from raytracer.browser.host import make_hello
from raytracer.browser.messages import parse
from raytracer.config.errors import UserError
from raytracer.viewer import panel
from raytracer.viewer.actions import ACTIONS
from raytracer.viewer.choices import CHOICES
from raytracer.viewer.content import Slice
from raytracer.viewer.controls import CONTROLS, Control
from raytracer.viewer.panel import describe_state
from support.previews import opened

if TYPE_CHECKING:
    from playwright.sync_api import Browser

OF_THE_PAGE = {
    "toggle-help": "the help is a text of the page",
    "toggle-overlay": "the key shows the panel",
    "toggle-full-screen": "the page fills the screen itself",
    "ask": "fields of the panel ask",
}
"""Actions of the window that a page performs without the server."""

OF_THE_WINDOW = {
    "close": "a browser closes its pages",
    "toggle-panel": "Tab goes from field to field",
}
"""Actions of the window that pages lack, with the reason."""

KEYS = {"COMMA": ",", "PERIOD": ".", "SLASH": "/", "BRACKETLEFT": "[", "BRACKETRIGHT": "]",
        "PLUS": "+", "MINUS": "-", "SPACE": " ", "LEFT": "ArrowLeft", "RIGHT": "ArrowRight",
        "UP": "ArrowUp", "DOWN": "ArrowDown", "PAGEUP": "PageUp", "PAGEDOWN": "PageDown",
        "ESCAPE": "Escape", "TAB": "Tab"}  # fmt: skip
"""What a browser calls some keys; others have the letters of their names."""

PAGE = """<style>body, #view {{ margin: 0; height: 100%; }} {style}</style><div id="view"></div>
<script type="module">
{script}
const sent = window.sent = [];
const view = window.view = new View(document.getElementById("view"), {{
  send: (message) => sent.push(message),
}});
window.take = async () => {{ // movements are sent once per picture of the screen
  for (let i = 0; i < 2; i += 1) await new Promise(requestAnimationFrame);
  const found = sent.filter(({{ type }}) => type === "act" || type === "save");
  sent.length = 0;
  return found;
}};
</script>"""


def actions_of_the_window() -> set[str]:
    """Names of the actions that keys, mouse, bars and panel of the window call."""
    found = {control.action for control in CONTROLS}
    folder = Path(raytracer.__file__).parent / "viewer"  # importing the window needs a display
    for name in ("window.py", "panel.py"):
        for node in ast.walk(ast.parse((folder / name).read_text())):
            if isinstance(node, ast.Constant) and node.value in ACTIONS:
                found.add(str(node.value))
    return found


def pressed(control: Control) -> list[Any]:
    """The first key of a control as a browser names it, and whether Ctrl and Shift are held."""
    *modifiers, key = control.keys[0].split("+")
    text = KEYS.get(key, key.removeprefix("_"))
    if len(text) == 1 and "SHIFT" not in modifiers:
        text = text.lower()
    return [text, "CTRL" in modifiers, "SHIFT" in modifiers]


def state() -> dict[str, Any]:
    """A state in which every part of the panel can be used."""
    scene = raytracer.Scene.from_arrays([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0]], 0.5)
    with opened(scene) as session:
        for name, *values in (("slice", "x"), ("keep-view", "1"), ("keyframe",), ("undo",)):
            session.do(name, *values)
        session.history.before.append(session.snapshot())
        session.content = replace(
            session.content, slice=Slice("x"), settings={"color_by": "x", "arrows": "v"}
        )
        found = describe_state(session) | {"rings": []}
        rows = {f"panel {title}": rows for title, rows in panel.describe_panel(session).items()}
    return found | rows | {"frame": found["frame"] | {"count": 5}}


PRESS = """async (keys) => {
  const found = [];
  for (const [key, ctrlKey, shiftKey] of keys) {
    const event = { key, ctrlKey, shiftKey, code: key };
    view.stage.dispatchEvent(new KeyboardEvent("keydown", event));
    found.push(await take());
    view.stage.dispatchEvent(new KeyboardEvent("keyup", event));
    view.help.hidden = true;
    document.activeElement.blur();
  }
  view.root.classList.remove("rt-closed");
  return found;
}"""
PANEL = """() => {
  for (const field of document.querySelectorAll(".rt-view select, .rt-view input")) {
    if (field.type === "checkbox") { field.click(); continue; }
    if (field.tagName === "SELECT") field.selectedIndex = field.options.length - 1;
    else field.value = field.type === "range" ? 1 : "2";
    field.dispatchEvent(new Event("input", { bubbles: true }));
    field.dispatchEvent(new Event("change", { bubbles: true }));
  }
  for (const each of document.querySelectorAll(".rt-view button")) if (!each.disabled) each.click();
}"""


@pytest.mark.browser
def test_a_page_has_every_action_of_the_window(chromium: Browser) -> None:
    page = chromium.new_page(viewport={"width": 672, "height": 400})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.set_content(PAGE.format(style=read_part("view.css"), script=make_script()))
    page.wait_for_function("window.view && window.take")
    page.evaluate("message => view.receive(message, null)", make_hello())
    page.evaluate("state => view.receive({ type: 'state', state }, null)", state())
    page.evaluate("view.full = [400, 400]")
    found: set[str] = set()

    def names_of(messages: list[dict[str, Any]]) -> list[str]:
        """Names of the actions that a server performs of these messages."""
        for message in messages:
            parse(message)
        acts = [message for message in messages if message["type"] == "act"]
        for act in acts:
            values, action = act["values"], ACTIONS[act["name"]]
            in_order, by_name = (values, {}) if isinstance(values, list) else ([], values)
            action.bind_arguments(tuple(in_order), by_name)
        names = [str(act["name"]) for act in acts]
        found.update(names)
        return names

    sent = page.evaluate(PRESS, [pressed(control) for control in CONTROLS])
    for control, messages in zip(CONTROLS, sent, strict=True):
        name, names = control.action, names_of(messages)
        if name in OF_THE_PAGE or name in OF_THE_WINDOW:
            assert names == [], (name, names)
        else:
            assert set(names) == {name}, (control.keys, names)

    def drag(button: str, *held: str) -> list[str]:
        """Drag over the picture with some keys held; returns the actions."""
        for each in held:
            page.keyboard.down(each)
        page.mouse.move(100, 200)
        page.mouse.down(button=button)  # type: ignore[arg-type]
        page.mouse.move(160, 260)
        page.mouse.move(200, 300)
        page.mouse.up(button=button)  # type: ignore[arg-type]
        for each in held:
            page.keyboard.up(each)
        return names_of(page.evaluate("take()"))

    assert set(drag("left")) == {"orbit"}
    assert set(drag("right")) == set(drag("left", "Shift")) == {"pan"}
    assert set(drag("left", "Control")) == {"turn-light"}
    assert drag("left", "Control", "Shift") == ["select-box"]
    page.mouse.wheel(0, 100)
    assert names_of(page.evaluate("take()")) == ["dolly"]
    page.mouse.click(200, 100)
    page.keyboard.down("Shift")
    page.mouse.click(60, 300)
    page.mouse.wheel(0, 100)
    page.keyboard.up("Shift")
    clicks = page.evaluate("take()")
    assert names_of(clicks) == ["pick", "pick", "zoom"]
    first, second = (click["values"] for click in clicks[:2])
    assert (first["add"], first["x"], second["add"], second["y"]) == (False, 200, True, 300)
    page.evaluate(PANEL)
    changes = page.evaluate("take()")
    names_of(changes)
    assert [change["type"] for change in changes].count("save") == 1

    apart = set(OF_THE_PAGE) | set(OF_THE_WINDOW)
    # of which the panel of a page chooses one at once
    by_steps = {f"next-{choice.name}" for choice in CHOICES}
    rows = [row for key, rows in state().items() if key.startswith("panel ") for row in rows]
    assert {row["action"] for row in rows if "action" in row} <= found
    assert actions_of_the_window() - apart - by_steps <= found
    assert not apart & found
    assert errors == []
    page.close()


def test_no_action_takes_the_name_of_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("run.xyz").write_text("2\n\nO 0 0 0\nC 3 0 0\n")
    before = [(path.name, path.stat().st_mtime_ns) for path in tmp_path.iterdir()]
    with opened("run.xyz") as session:
        for name, action in ACTIONS.items():
            for file in ("../of-a-page", "run.xyz", str(tmp_path / "of-a-page")):
                kinds = {n: action.signature.parameters[n].annotation for n in action.parameters}
                values = {n: file if "str" in str(kind) else True for n, kind in kinds.items()}
                with suppress(UserError):
                    session.do(name, **values)
                session.picture()
    assert [(path.name, path.stat().st_mtime_ns) for path in tmp_path.iterdir()] == before
    assert not (tmp_path.parent / "of-a-page").exists()
