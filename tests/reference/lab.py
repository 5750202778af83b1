"""The view of `raytracer.show` in a real JupyterLab, driven by a headless Chromium.

    pip install jupyterlab ipykernel && python tests/reference/lab.py

It starts JupyterLab on a free port of this machine with a notebook of two cells, and checks that
the view is drawn, turns by a drag, picks by a click, keeps its keys from the shortcuts of the
notebook, and obeys another cell. It prints what it saw, and fails where something does not hold.
"""

from __future__ import annotations

import json
import os
import secrets
import socket
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from support.chromium import browser

if TYPE_CHECKING:
    from playwright.sync_api import Page

FRAMES, PARTICLES = 5, 500
PATIENCE = 60.0

CELLS = (
    "import numpy as np\nimport raytracer\n"
    "view = raytracer.show('frame_*.npy', backend='cpu', look='soft', height=400)\nview",
    "view.do('frame', 3)\nprint('frame', view.state()['frame']['number'])",
)


def notebook() -> str:
    """Return the notebook as JSON."""
    cells: list[dict[str, Any]] = [
        {"cell_type": "code", "id": f"cell-{k}", "metadata": {}, "execution_count": None,
         "outputs": [], "source": source}
        for k, source in enumerate(CELLS)
    ]  # fmt: skip
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    about = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
    return json.dumps({"cells": cells, **about})


@contextmanager
def lab(folder: Path) -> Iterator[str]:
    """Run JupyterLab in a folder, and give the address of its notebook."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root", f"--port={port}",
               f"--ServerApp.root_dir={folder}", f"--IdentityProvider.token={token}"]  # fmt: skip
    environment = os.environ | {"JUPYTER_CONFIG_DIR": str(folder / "config")}
    server = subprocess.Popen(command, cwd=folder, env=environment, stderr=subprocess.DEVNULL)
    try:
        address = f"http://127.0.0.1:{port}"
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            try:
                urllib.request.urlopen(f"{address}/api?token={token}", timeout=2.0)
                break
            except (urllib.error.URLError, OSError):
                time.sleep(0.5)
        yield f"{address}/lab/tree/view.ipynb?token={token}"
    finally:
        server.terminate()
        server.wait(PATIENCE)


def state(page: Page) -> dict[str, Any]:
    """Return what the page knows of the view."""
    found: dict[str, Any] = page.evaluate("document.querySelector('.rt-view').raytracerView.state")
    return found


def check(page: Page, address: str) -> None:
    """Drive the notebook."""
    page.goto(address)
    cells = page.locator(".jp-Notebook .jp-Cell")
    cells.first.wait_for(timeout=1e3 * PATIENCE)
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]",
                           timeout=1e3 * PATIENCE)  # fmt: skip
    # JupyterLab loses a command while its kernel is being connected.
    page.wait_for_timeout(2000)
    cells.first.click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_selector(".rt-view[data-finished=true]", timeout=1e3 * PATIENCE)
    print(f"drawn: {page.locator('.rt-status').inner_text()!r}")
    before = state(page)
    box = page.locator(".rt-stage").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    drawn = int(page.get_attribute(".rt-view", "data-frame") or 0)
    page.mouse.move(x, y)
    page.mouse.down()
    for step in range(40):
        page.mouse.move(x + 3 * step, y + step)
        page.wait_for_timeout(20)
    page.mouse.up()
    page.wait_for_timeout(1000)
    after = state(page)
    pictures = int(page.get_attribute(".rt-view", "data-frame") or 0) - drawn
    assert after["camera"]["position"] != before["camera"]["position"]
    print(f"turned by a drag, {pictures} pictures")
    page.locator(".rt-stage").focus()
    number = cells.count()
    for key in "ddabx":
        page.keyboard.press(key)
    page.wait_for_timeout(500)
    assert cells.count() == number
    print("its keys are no shortcuts of the notebook")
    cells.nth(1).locator(".cm-content").click()
    page.keyboard.press("Shift+Enter")
    page.wait_for_function(
        "document.querySelector('.rt-view').raytracerView.state.frame.number == 3",
        timeout=1e3 * PATIENCE,
    )
    told = cells.nth(1).locator(".jp-OutputArea-output").inner_text()
    assert told.strip() == "frame 3", told
    print("another cell shows another frame")


def main() -> None:
    """Run JupyterLab and the browser."""
    rng = np.random.default_rng(3)
    with tempfile.TemporaryDirectory(prefix="raytracer-lab-") as name:
        folder = Path(name)
        places = rng.normal(size=(PARTICLES, 3))
        for frame in range(FRAMES):
            np.save(folder / f"frame_{frame}.npy", places * (1.0 + 0.1 * frame))
        (folder / "view.ipynb").write_text(notebook())
        with lab(folder) as address, browser() as running:
            page = running.new_page(viewport={"width": 1400, "height": 1100})
            errors: list[str] = []
            page.on("pageerror", lambda error: errors.append(str(error)))
            check(page, address)
            assert errors == [], errors


if __name__ == "__main__":
    main()
