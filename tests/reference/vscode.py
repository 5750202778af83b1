"""The view of `raytracer.show` by the widget manager of VS Code, in a headless Chromium.

    python tests/reference/vscode.py

VS Code shows widgets by a script of its Jupyter extension, `@vscode/jupyter-ipywidgets8`, which the
registry of npm has, and by the script that anywidget installs beside Python. This program takes
both as they are. Around them it has what VS Code has: RequireJS, a kernel whose messages arrive
with binary buffers, and the listeners of its notebook for clicks, wheel and keys. The other side is
a real widget with a session. It checks that the view is drawn, turns by a drag, keeps wheel and
keys from the notebook, obeys another cell and saves its picture by a link that VS Code sees, and
prints what it saw.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
from base64 import b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from queue import Empty, SimpleQueue
from time import monotonic
from typing import TYPE_CHECKING, Any

import comm
import numpy as np
from comm.base_comm import BaseComm

import raytracer

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.chromium import browser

if TYPE_CHECKING:
    from playwright.sync_api import Page, Route

MANAGER = "@vscode/jupyter-ipywidgets8@1.0.9", "package/dist/ipywidgets.js"
LOADER = "requirejs@2.3.8", "package/require.js"
ANYWIDGET = Path(sys.prefix, "share", "jupyter", "nbextensions", "anywidget", "index.js")
SITE = "https://notebook.test/"
FRAMES, PARTICLES, PATIENCE = 5, 500, 60.0

PAGE = """<!doctype html><html><body style="overflow: hidden">
<script src="require.js"></script>
<div id="container" class="widgetarea"><div id="output"></div></div>
<script type="module">
import { activate } from "./ipywidgets.js";

// The listeners of VS Code's notebook: it saves what links of blobs point at, scrolls by a wheel
// that nobody took, and hands keys on to its shortcuts.
window.heard = { links: [], wheel: 0, keys: [] };
document.body.addEventListener("click", (event) => {
  for (const node of event.composedPath()) {
    if (node instanceof HTMLAnchorElement && node.href.startsWith("blob:")) {
      fetch(node.href).then((answer) => answer.blob()).then((blob) => {
        heard.links.push([node.download, blob.type, blob.size]);
      });
      event.preventDefault();
      return;
    }
  }
});
window.addEventListener("wheel", (event) => { if (!event.defaultPrevented) heard.wheel += 1; });
window.addEventListener("keydown", (event) => heard.keys.push(event.key));

activate();
vscIPyWidgets8.load();
const signal = () => ({ connect() {}, disconnect() {} });
const comms = new Map();
class Comm {
  constructor(targetName, commId) {
    Object.assign(this, { targetName, commId });
    comms.set(commId, this);
  }
  open() {}
  close() {}
  dispose() {}
  send(data) { toKernel(this.commId, data); return { msg: { header: { msg_id: "m" } } }; }
}
let opened = null;
const kernel = {
  id: "k", name: "python3", username: "", clientId: "c", status: "idle", handleComms: true,
  model: { id: "k", name: "python3" }, isDisposed: false, connectionStatus: "connected",
  statusChanged: signal(), connectionStatusChanged: signal(), iopubMessage: signal(),
  unhandledMessage: signal(), anyMessage: signal(), disposed: signal(), pendingInput: signal(),
  registerCommTarget(name, take) { opened = take; }, removeCommTarget() {},
  createComm: (target, id) => comms.get(id) || new Comm(target, id),
  requestCommInfo: async () => ({ content: { status: "ok", comms: {} } }),
};
requirejs.config({ paths: { anywidget: "anywidget" } });
const loader = {
  widgetsRegisteredInRequireJs: new Set(["anywidget"]),
  loadWidgetScript: async () => {}, successHandler() {},
  errorHandler: (kind, module, version, error) => { throw error; },
};
const manager = new vscIPyWidgets.WidgetManager(
  kernel, document.getElementById("output"), loader, () => {});
await manager.restored;

// Buffers are views at some place of a message, as @jupyterlab/services makes them.
function views(buffers) {
  return buffers.map((text) => {
    const bytes = Uint8Array.from("header" + atob(text), (letter) => letter.charCodeAt(0));
    return new DataView(bytes.buffer, 6);
  });
}
window.fromKernel = async (kind, commId, data, metadata, buffers) => {
  const header = { msg_type: kind, msg_id: "m", session: "s", username: "", version: "5.3" };
  const content = { comm_id: commId, target_name: "jupyter.widget", data };
  const message = { header, parent_header: {}, metadata, content, buffers: views(buffers) };
  if (kind === "comm_open") await opened(new Comm("jupyter.widget", commId), message);
  else await comms.get(commId)?.onMsg?.(message);
};
window.display = async (model_id) => {
  const model = await manager.get_model(model_id);
  const node = document.getElementById("output");
  const view = await manager.create_view(model, { el: node });
  await manager.display_view({}, view, { node });
};
window.ready = true;
</script></body></html>"""


def unpacked(folder: Path, package: str, member: str) -> bytes:
    """Return a file of a package of npm."""
    done = subprocess.run(
        ["npm", "pack", "--silent", package], cwd=folder, check=True, capture_output=True, text=True
    )
    with tarfile.open(folder / done.stdout.split()[-1]) as archive:
        found = archive.extractfile(member)
        assert found is not None
        return found.read()


Sent = SimpleQueue[tuple[str, str, dict[str, Any], dict[str, Any], list[str]]]


@contextmanager
def channels(sent: Sent) -> Iterator[dict[str, BaseComm]]:
    """Make widgets send to a queue instead of a kernel; gives their channels by number."""
    found: dict[str, BaseComm] = {}

    class Channel(BaseComm):
        def publish_msg(self, msg_type: str, data: Any = None, metadata: Any = None,
                        buffers: Any = None, **_: Any) -> None:  # fmt: skip
            texts = [b64encode(bytes(each)).decode() for each in buffers or []]
            sent.put((msg_type, self.comm_id, data or {}, metadata or {}, texts))

    def create(*arguments: Any, **named: Any) -> BaseComm:
        made = Channel(*arguments, **named)
        found[made.comm_id] = made
        return made

    before, comm.create_comm = comm.create_comm, create
    try:
        yield found
    finally:
        comm.create_comm = before


def check(page: Page, relay: Callable[[str], None], view: Any) -> None:
    """Drive the view."""
    root = "document.querySelector('.rt-view')"
    relay(f"{root} && {root}.dataset.finished === 'true'")
    print(f"drawn: {page.inner_text('.rt-status')!r}")
    before, number = view.camera, page.evaluate(f"{root}.raytracerView.header.number")
    box = page.locator(".rt-stage").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(20):
        page.mouse.move(x + 3 * step, y + step)
        relay("true")
    page.mouse.up()
    newer = f"{root}.raytracerView.header.number > {number}"
    relay(f"{newer} && {root}.raytracerView.header.finished")
    assert view.camera.position != before.position
    pictures = page.evaluate(f"{root}.raytracerView.header.number") - number
    print(f"turned by a drag, {pictures} pictures")
    page.mouse.wheel(0, 120)
    for key in ("d", "d", "o", "ArrowLeft"):
        page.keyboard.press(key)
    relay(f"{root}.raytracerView.state.projection === 'orthographic'")
    assert page.evaluate("heard.wheel") == 0
    assert page.evaluate("heard.keys") == []
    print("wheel and keys stay in the view")
    view.do("frame", 3)
    relay(f"{root}.raytracerView.state.frame.number === 3")
    print("another cell shows another frame")
    view.height = 300
    relay(f"{root}.clientHeight === 300")
    print("its height follows the widget")
    page.click("text=save PNG")
    relay("heard.links.length > 0")
    name, kind, size = page.evaluate("heard.links[0]")
    assert (name, kind) == ("frame.png", "image/png")
    assert size > 1000
    print(f"VS Code would save {name} ({kind}, {size:,} bytes)")


def main() -> None:
    """Run the page and the widget."""
    rng = np.random.default_rng(3)
    sent: Sent = SimpleQueue()
    with tempfile.TemporaryDirectory(prefix="raytracer-vscode-") as name, browser() as running:
        folder = Path(name)
        files = {
            "": PAGE.encode(),
            "ipywidgets.js": unpacked(folder, *MANAGER),
            "require.js": unpacked(folder, *LOADER),
            "anywidget.js": ANYWIDGET.read_bytes(),
        }
        places = rng.normal(size=(PARTICLES, 3))
        for frame in range(FRAMES):
            np.save(folder / f"frame_{frame}.npy", places * (1.0 + 0.1 * frame))
        page = running.new_page(viewport={"width": 900, "height": 600})
        errors: list[str] = []
        page.on("pageerror", lambda error: errors.append(str(error)))

        def serve(route: Route) -> None:
            path = route.request.url.removeprefix(SITE).partition("?")[0]
            kind = "text/javascript" if path else "text/html"
            if path in files:
                route.fulfill(body=files[path], content_type=kind)
            else:
                route.fulfill(status=404)

        page.route(f"{SITE}**", serve)
        with channels(sent) as opened:

            def take(number: str, data: Any) -> None:
                opened[number].handle_msg({"content": {"data": data}, "buffers": []})

            def relay(until: str) -> None:
                """Pass messages of the kernel on until something is true."""
                end = monotonic() + PATIENCE
                while not page.evaluate(until):
                    assert monotonic() < end, (until, errors)
                    try:
                        message = sent.get(timeout=0.02)
                    except Empty:
                        continue
                    page.evaluate("message => fromKernel(...message)", list(message))

            page.expose_function("toKernel", take)
            page.goto(SITE)
            page.wait_for_function("() => window.ready", timeout=1e3 * PATIENCE)
            view = raytracer.show(str(folder / "frame_*.npy"), backend="cpu", look="soft")
            try:
                while not sent.empty():
                    page.evaluate("message => fromKernel(...message)", list(sent.get()))
                page.evaluate("model => { display(model); }", view.model_id)
                check(page, relay, view)
            finally:
                view.close()
            assert errors == [], errors


if __name__ == "__main__":
    main()
