"""A newcomer's first minutes with the page of the real server, on a screen and on a phone."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from PIL import Image

from support.newcomer import CONTRAST, SCENES, contrast, left_behind

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.newcomer

SCREEN = {"viewport": {"width": 1440, "height": 900}}
PHONE = {
    "viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "is_mobile": True,
    "has_touch": True,
}  # fmt: skip
PATIENCE = 30_000  # milliseconds after which something hangs, also on a busy machine
FINISHED = '.rt-view[data-finished="true"]'


@contextmanager
def serving(folder: Path, *options: str) -> Iterator[str]:
    """Run the command until Ctrl-C; gives the address that it prints."""
    command = [sys.executable, "-m", "raytracer", "serve", str(SCENES / "three_balls.toml")]
    command += ["--backend", "cpu", "--samples", "2", *options]
    with subprocess.Popen(
        command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    ) as process:  # fmt: skip
        try:
            assert process.stdout is not None
            found = re.search(r"http://\S+", process.stdout.readline())
            assert found, process.communicate(timeout=30)[1]
            yield found[0]
            process.send_signal(signal.SIGINT)
            error = process.communicate(timeout=30)[1]
        finally:
            process.kill()
    assert (process.returncode, error) == (0, "")


@contextmanager
def opened(
    chromium: Browser, address: str, folder: Path, device: dict[str, Any] = SCREEN
) -> Iterator[Page]:
    """The page with its finished picture, without errors of its own."""
    context = chromium.new_context(**device)
    context.set_default_timeout(PATIENCE)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    with left_behind(lambda path: page.screenshot(path=path), folder):
        page.goto(address)
        page.wait_for_selector(FINISHED)
        yield page
        assert errors == []
    context.close()


def drag(page: Page, right: int, down: int, touch: bool) -> None:
    """Drag from the middle of the picture by a mouse or a finger, in CSS pixels."""
    box = page.locator(".rt-stage").bounding_box()
    assert box is not None
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    before = page.evaluate("raytracerView.header.number")
    if touch:
        session = page.context.new_cdp_session(page)
        for kind, share in (("Start", 0.0), ("Move", 0.5), ("Move", 1.0), ("End", None)):
            at = [] if share is None else [{"x": x + share * right, "y": y + share * down}]
            session.send("Input.dispatchTouchEvent", {"type": f"touch{kind}", "touchPoints": at})
    else:
        page.mouse.move(x, y)
        page.mouse.down()
        page.mouse.move(x + right, y + down, steps=3)
        page.mouse.up()
    page.wait_for_function(
        "before => raytracerView.header.number > before && raytracerView.header.finished",
        arg=before,
    )


def seen(page: Page) -> float:
    """The contrast of the picture on the screen."""
    with Image.open(BytesIO(page.locator(".rt-canvas").screenshot())) as image:
        return contrast(np.asarray(image))


@pytest.mark.parametrize("device", [SCREEN, PHONE], ids=["1440", "390"])
def test_the_picture_turns_and_the_panel_opens_and_closes(
    chromium: Browser, tmp_path: Path, device: dict[str, Any]
) -> None:
    with serving(tmp_path) as address, opened(chromium, address, tmp_path, device) as page:
        touch = "has_touch" in device
        assert seen(page) > CONTRAST
        before = page.evaluate("raytracerView.state.camera.position")
        drag(page, 60, -80, touch)
        page.wait_for_function(
            "before => raytracerView.state.camera.position.join() !== before.join()", arg=before
        )
        assert seen(page) > CONTRAST
        is_open = page.is_visible(".rt-panel")
        for now in (not is_open, is_open):
            (page.tap if touch else page.click)(".rt-opener")
            assert page.is_visible(".rt-panel") == now
            box = page.locator(".rt-panel").bounding_box()
            assert box is None or box["x"] + box["width"] <= device["viewport"]["width"]
