"""A newcomer's first minutes with `raytracer.show` in a real JupyterLab, and its file."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import secrets
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from raytracer.browser.server import bind_socket
from support.chromium import canvas, decoded
from support.display import missing

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.newcomer

PATIENCE = 60.0  # seconds after which something hangs, also on a busy machine
SCENE = Path(__file__).resolve().parents[2] / "scenes/three_balls.toml"
MAX_BYTES = 1_000_000  # of a notebook with one view
CELLS = (
    f"import raytracer\nview = raytracer.show({str(SCENE)!r}, backend='cpu', samples=4, height=300)"
    "\nview",
    "view.close()",
)
LIVE_CELLS = (
    "import time, numpy as np, raytracer\n"
    "view = raytracer.live(open=None, backend='cpu', samples=1)\n"
    "places = np.zeros((2, 3))\nplaces[1] = 9, 0, 0\n"
    "view.log_points('points', places, radii=1.0)\nview.show(height=300)",
    "for step in range(100_000):\n"
    "    if view.closed or step == 300: break\n"
    "    places[0] = 8.0 * (step % 50) / 50.0, 0, 0\n"
    "    view.log_points('points', places, radii=1.0)\n"
    "    time.sleep(0.1)",
)  # fmt: skip
"""A simulation that runs for 30 seconds, and a view of it."""
CELL = ".jp-Notebook .jp-Cell"
VIEW = "document.querySelector('.rt-view')"
FINISHED_NUMBER = (
    f"(({{ finished, number }}) => (finished ? number : 0))({VIEW}.raytracerView.header)"
)
FINISHED = ".rt-view[data-finished=true]"


class Lab:
    """A running JupyterLab, for a user without settings of Jupyter.

    folder: of notebooks, settings and log.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._token = folder, secrets.token_hex(16)
        own = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
        self.environment = os.environ | {name: str(folder / name) for name in own}
        with bind_socket(0) as free:
            port = free.getsockname()[1]
        self._address = f"http://127.0.0.1:{port}"
        command = [sys.executable, "-m", "jupyterlab", "--no-browser", "--allow-root",
                   f"--port={port}", f"--ServerApp.root_dir={folder}",
                   f"--IdentityProvider.token={self._token}"]  # fmt: skip
        with (folder / "lab.log").open("w") as log:
            self.process = subprocess.Popen(
                command, cwd=folder, env=self.environment, stdout=log, stderr=log
            )

    def ask(self, path: str, method: str = "GET") -> Any:
        """Use the interface for programs."""
        headers = {"Authorization": f"token {self._token}"}
        request = urllib.request.Request(f"{self._address}/api{path}", None, headers, method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
            return json.loads(answer.read() or "null")

    def wait(self) -> None:
        """Wait until it answers."""
        end = time.monotonic() + PATIENCE
        while True:
            try:
                self.ask("")
                return
            except OSError:
                assert time.monotonic() < end, (self._folder / "lab.log").read_text()
                time.sleep(0.2)

    def end_kernels(self) -> None:
        """End all kernels."""
        for session in self.ask("/sessions"):
            self.ask(f"/sessions/{session['id']}", "DELETE")

    def written(self, name: str, sources: tuple[str, ...] = CELLS) -> Path:
        """A notebook of some cells."""
        cells: list[dict[str, Any]] = [
            {"cell_type": "code", "id": f"cell-{k}", "metadata": {}, "execution_count": None,
             "outputs": [], "source": source}
            for k, source in enumerate(sources)
        ]  # fmt: skip
        kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
        about = {"metadata": {"kernelspec": kernel}, "nbformat": 4, "nbformat_minor": 5}
        path = self._folder / f"{name}.ipynb"
        path.write_text(json.dumps({"cells": cells, **about}))
        return path

    def page(self, path: Path) -> str:
        """The address of a notebook, in a workspace of its own."""
        place = f"{self._address}/lab/workspaces/{path.stem}/tree/{path.name}"
        return f"{place}?reset&token={self._token}"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A JupyterLab for all tests of the file."""
    missing("" if importlib.util.find_spec("jupyterlab") else "JupyterLab is not installed")
    running = Lab(tmp_path_factory.mktemp("lab"))
    try:
        running.wait()
        yield running
    finally:
        running.process.terminate()
        running.process.wait(PATIENCE)


@contextmanager
def opened(chromium: Browser, address: str, folder: Path) -> Iterator[Page]:
    """The notebook in JupyterLab with an idle kernel, without errors of the page.

    If the block fails, a picture of what is shown is left, which the failure names.
    """
    page = chromium.new_page(viewport={"width": 1400, "height": 900})
    page.set_default_timeout(1e3 * PATIENCE)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    try:
        page.goto(address)
        wait_idle(page)
        yield page
        assert errors == []
    except BaseException as error:
        page.screenshot(path=folder / "shown.png")
        error.add_note(f"what was shown then: {folder / 'shown.png'}")
        raise
    page.close()


def wait_idle(page: Page) -> None:
    """Wait until the kernel is connected."""
    page.locator(CELL).first.wait_for()
    page.wait_for_selector(".jp-Notebook-ExecutionIndicator[data-status=idle]")


def run(page: Page, number: int) -> None:
    """Run a cell as its user does: again if JupyterLab forgets it while its kernel connects."""
    cell, end = page.locator(CELL).nth(number), time.monotonic() + PATIENCE
    prompt = "[ ]:"
    while not re.fullmatch(r"\[\d+\]:", prompt):
        assert time.monotonic() < end, "the cell does not run"
        if (select := page.locator(".jp-Dialog .jp-mod-accept")).count():
            select.click()  # it asks for the kernel while none is connected
        if prompt != "[*]:":
            cell.locator(".cm-content").click()
            page.keyboard.press("Shift+Enter")
        page.wait_for_timeout(500)
        prompt = cell.locator(".jp-InputPrompt").inner_text()


def turn(page: Page) -> None:
    """Drag the picture, and wait for the new one; the view has the keys then."""
    box = page.locator(".rt-stage").bounding_box()
    assert box is not None
    before = page.evaluate(f"{VIEW}.raytracerView.header.number")
    page.mouse.move(box["x"] + 200, box["y"] + 150)
    page.mouse.down()
    page.mouse.move(box["x"] + 260, box["y"] + 150, steps=3)
    page.mouse.up()
    number = before
    while number in (before, 0) or number != page.evaluate(FINISHED_NUMBER):
        number = page.evaluate(FINISHED_NUMBER)
        page.wait_for_timeout(300)  # in which the last movement arrives


def save(page: Page, path: Path) -> list[dict[str, Any]]:
    """Press Ctrl+S, and give the outputs of the first cell when the file is new."""
    before = path.stat().st_mtime_ns
    page.keyboard.press("Control+s")
    end = time.monotonic() + PATIENCE
    # JupyterLab empties the file before it writes it.
    while path.stat().st_mtime_ns == before or not path.read_text().rstrip().endswith("}"):
        assert time.monotonic() < end, "Ctrl+S saved nothing"
        page.wait_for_timeout(100)
    page.wait_for_function("() => !document.querySelector('.jp-mod-dirty')")
    assert path.stat().st_size < MAX_BYTES
    outputs: list[dict[str, Any]] = json.loads(path.read_text())["cells"][0]["outputs"]
    return outputs


def test_a_notebook_keeps_what_was_seen_last(
    chromium: Browser, server: Lab, tmp_path: Path
) -> None:
    path = server.written("file")
    with opened(chromium, server.page(path), tmp_path) as page:
        run(page, 0)
        page.wait_for_selector(FINISHED)
        turn(page)
        page.evaluate(f"{VIEW}.isTheSame = true")
        (output,) = save(page, path)
        assert output["data"].keys() == {"image/png", "text/plain"}
        np.testing.assert_array_equal(
            decoded(output["data"]["image/png"]), canvas(page, f"{VIEW}.raytracerView")
        )
        assert page.evaluate(f"{VIEW}.isTheSame && {VIEW}.contains(document.activeElement)")

        page.reload()  # the kernel has the view
        wait_idle(page)
        page.wait_for_selector(FINISHED)
        turn(page)
        (output,) = save(page, path)
        png = output["data"]["image/png"]
        last = canvas(page, f"{VIEW}.raytracerView")
        np.testing.assert_array_equal(decoded(png), last)

    server.end_kernels()
    with opened(chromium, server.page(path), tmp_path) as page:
        picture = page.locator(f"{CELL} img")
        picture.wait_for()
        assert picture.get_attribute("src") == f"data:image/png;base64,{png}"
        assert page.locator("text=Error displaying widget").count() == 0
        run(page, 0)
        page.wait_for_selector(FINISHED)
        run(page, 1)
        picture.wait_for()
        assert page.locator(".rt-view").count() == 0
        (output,) = save(page, path)
        assert output["data"].keys() == {"image/png", "text/plain"}


def test_a_simulation_is_followed_while_its_cell_runs(
    chromium: Browser, server: Lab, tmp_path: Path
) -> None:
    notebook = server.written("live", LIVE_CELLS)
    with opened(chromium, server.page(notebook), tmp_path) as page:
        run(page, 0)
        page.locator(FINISHED).wait_for()
        cell = page.locator(CELL).nth(1)
        cell.locator(".cm-content").click()
        page.keyboard.press("Shift+Enter")
        page.wait_for_function(f"document.querySelectorAll('{CELL}')[1].innerText.includes('[*]')")
        pictures = set[bytes]()
        while len(pictures) < 8:
            pictures.add(canvas(page, f"{VIEW}.raytracerView").tobytes())
            page.wait_for_timeout(100)
        assert "[*]" in cell.locator(".jp-InputPrompt").inner_text()
        server.end_kernels()
