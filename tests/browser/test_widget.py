"""The view in a notebook: what the kernel's side does, and that both sides are one module."""

from __future__ import annotations

from base64 import b64decode, b64encode
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic, sleep
from typing import TYPE_CHECKING, Any

import pytest
from PIL import Image

pytest.importorskip("anywidget", reason="the extra notebook is missing")

import raytracer
from support.window_scene import write_scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser

    from raytracer.browser.widget import SceneWidget

PATIENCE = 20.0
Sent = SimpleQueue[tuple[dict[str, Any], list[bytes]]]


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> Sent:
    """What a widget sends to its page."""
    from raytracer.browser.widget import SceneWidget

    queue: Sent = SimpleQueue()
    monkeypatch.setattr(
        SceneWidget, "send", lambda _, content, buffers=None: queue.put((content, buffers or []))
    )
    return queue


@pytest.fixture
def widget(sent: Sent, tmp_path: Path) -> Iterator[SceneWidget]:
    """A view of a small scene."""
    shown = raytracer.show(write_scene(tmp_path), backend="cpu", threads=1, samples=1, height=200)
    yield shown
    shown.close()


def next_of(sent: Sent, kind: str) -> tuple[dict[str, Any], list[bytes]]:
    """The next message of a kind."""
    while True:
        content, buffers = sent.get(timeout=PATIENCE)
        if content["type"] == kind:
            return content, buffers


def take(widget: SceneWidget, **message: Any) -> None:
    """Take a message as from the page."""
    widget._handle_custom_msg(message, [])


def test_a_page_gets_the_state_and_pictures(widget: SceneWidget, sent: Sent) -> None:
    take(widget, type="open")
    assert next_of(sent, "hello")[0]["controls"]
    state = next_of(sent, "state")[0]["state"]
    assert (state["name"], state["spheres"]) == ("balls.toml", 5)
    take(widget, type="size", width=40, height=30)
    while True:
        frame, buffers = next_of(sent, "frame")
        take(widget, type="ack", serial=frame["serial"])
        if frame["finished"]:
            break
    assert frame["full"] == [40, 30]
    assert frame["mime"] == "image/png"
    assert buffers[0].startswith(b"\x89PNG")
    take(widget, type="nonsense")
    assert next_of(sent, "error")[0]["sentence"].startswith("message")
    take(widget, type="close")


def test_another_cell_drives_the_view(widget: SceneWidget) -> None:
    before = widget.camera
    assert widget.do("orbit", 0.5, 0.0) is None
    assert widget.camera.position != before.position
    assert widget.do("look", value="plain") is None
    assert widget.state()["look"] == "plain"
    assert str(widget.do("print-camera")).startswith("[camera]")
    with pytest.raises(raytracer.UserError, match="nonsense"):
        widget.do("nonsense")
    widget.close()
    with pytest.raises(raytracer.UserError, match="was closed"):
        widget.do("reset")


MODEL = """
import widget from "{module}";
const model = {{
  listeners: {{}},
  get: (name) => ({{ height: 200 }})[name],
  on(name, act) {{ (this.listeners[name] ||= []).push(act); }},
  off(name, act) {{ this.listeners[name] = this.listeners[name].filter((each) => each !== act); }},
  send: (message) => toKernel(message),
}};
let count = 0;
const kinds = [ // notebooks give buffers of messages as one of these
  (bytes) => new DataView(bytes.buffer),
  (bytes) => bytes.buffer,
  (bytes) => new Uint8Array([0, ...bytes, 0]).subarray(1, 1 + bytes.length),
];
window.fromKernel = (message, data) => {{
  const bytes = data === null ? [] : [Uint8Array.from(atob(data), (c) => c.charCodeAt(0))];
  const buffers = bytes.map(kinds[count++ % kinds.length]);
  for (const act of model.listeners["msg:custom"] || []) act(message, buffers);
}};
const made = widget();
made.initialize({{ model }}); // outside of JupyterLab there is no file to keep
window.end = made.render({{ model, el: document.getElementById("cell") }});
"""


@pytest.mark.browser
def test_a_cell_shows_the_view_and_takes_the_mouse(
    chromium: Browser, widget: SceneWidget, sent: Sent
) -> None:
    module = f"data:text/javascript;base64,{b64encode(str(widget._esm).encode()).decode()}"
    page = chromium.new_page(viewport={"width": 700, "height": 300})
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.expose_function("toKernel", lambda message: take(widget, **message))
    page.set_content("<div id='cell'></div>")
    page.add_script_tag(content=MODEL.format(module=module), type="module")

    def relay(until: str) -> None:
        """Pass messages of the kernel on until something is true."""
        end = monotonic() + PATIENCE
        while not page.evaluate(until):
            assert monotonic() < end, until
            try:
                content, buffers = sent.get(timeout=0.02)
            except Empty:
                continue
            data = b64encode(buffers[0]).decode() if buffers else None
            page.evaluate("([message, data]) => fromKernel(message, data)", [content, data])

    root = "document.querySelector('#cell > .rt-view')"
    relay(f"{root} && {root}.dataset.finished === 'true'")
    before = widget.camera
    first = page.evaluate(f"{root}.raytracerView.header.number")
    moved = f"{root}.raytracerView.header.number > {first}"
    page.mouse.move(200, 100)
    page.mouse.down()
    page.mouse.move(240, 100)
    relay(f"{moved} && {root}.raytracerView.header.finished")  # while the button is down
    page.mouse.up()
    assert widget.camera.position != before.position
    kept = page.evaluate(f"{root}.raytracerView.picture.still(12000)")
    with Image.open(BytesIO(b64decode(kept["png"]))) as image:
        assert 11_000 < image.width * image.height <= 12_000
    assert [kept["width"], kept["height"]] == page.evaluate(f"{root}.raytracerView.full")
    page.evaluate("() => { window.heard = []; document.onkeydown = (e) => heard.push(e.key); }")
    page.focus("#cell .rt-stage")
    for key in ("d", "Control+z", "Control+s", "Shift+Enter", "Escape"):
        page.keyboard.press(key)
    assert page.evaluate("heard") == ["s", "Enter", "Escape"], "those of the notebook, and no other"
    assert page.evaluate("document.activeElement === document.body")  # after Escape
    page.evaluate(
        "() => { document.body.onclick = ({ target }) => {"
        " if (target.download) window.saved = [target.download, target.href]; }; }"
    )
    page.click("text=save PNG")
    relay("window.saved")
    assert page.evaluate("saved[0]") == "balls.png"  # VS Code saves a link of its document
    assert page.evaluate("saved[1]").startswith("blob:")
    page.evaluate("end()")
    assert page.inner_html("#cell > div") == ""
    assert errors == []
    page.close()


def test_a_turntable_rests_while_nobody_looks(
    widget: SceneWidget, sent: Sent, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The page of a notebook may end without a word; its kernel should not render for ever."""
    monkeypatch.setattr("raytracer.browser.connection.ABSENT", 0.1)
    take(widget, type="open")
    take(widget, type="size", width=40, height=30)
    widget.do("toggle-turntable")
    serials = [next_of(sent, "frame")[0]["serial"] for _ in range(2)]
    end = monotonic() + PATIENCE
    before = None
    while before != (before := widget.camera.position):  # at rest for longer than several ticks
        assert monotonic() < end
        sleep(0.3)
    take(widget, type="ack", serial=serials[-1])
    while widget.camera.position == before:
        assert monotonic() < end
        sleep(0.02)


def test_it_is_shown_until_the_last_cell_is_closed(widget: SceneWidget) -> None:
    def shown() -> int:
        return widget._host.call(lambda _: len(widget._host._clients))

    for kind, clients in (("open", 1), ("open", 1), ("close", 1), ("close", 0), ("open", 1)):
        take(widget, type=kind)
        assert shown() == clients
