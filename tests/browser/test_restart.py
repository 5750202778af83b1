"""A page whose server ends, and starts again."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from raytracer.browser.security import MIN_TOKEN, token_of
from raytracer.browser.server import bound
from raytracer.errors import UserError
from support.served import served
from support.window_scene import write_scene

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURE = """before => !document.querySelector(".rt-lost") && raytracerView.header
  && raytracerView.header.finished && raytracerView.frames.length > before"""


def free_port() -> str:
    """A port that nobody uses now."""
    with bound(0) as listening:
        return str(listening.getsockname()[1])


@pytest.mark.browser
@pytest.mark.parametrize("width", [390, 1440])
def test_a_page_finds_a_server_that_starts_again(
    chromium: Browser, tmp_path: Path, width: int
) -> None:
    scene, port = write_scene(tmp_path), free_port()

    def start(token: str) -> Any:
        options = ["--port", port, "--token-file", str(tmp_path / token)]
        return served(scene, *options, folder=tmp_path)

    page = chromium.new_page(viewport={"width": width, "height": 844})
    page.set_default_timeout(60_000)
    with start("token") as first:
        page.goto(first.address)
        page.wait_for_function(PICTURE, arg=0)
        page.evaluate("window.same = true")
        drawn = page.evaluate("raytracerView.frames.length")
        first.end()
    page.wait_for_selector(".rt-alarm:has-text('the server has ended; waiting for it')")
    with start("token") as second:
        assert second.address == first.address
        page.wait_for_function(PICTURE, arg=drawn)
        assert page.inner_text(".rt-alarm") == ""
        second.end(signal.SIGKILL)
    page.wait_for_selector(".rt-alarm:has-text('the connection is lost; connecting again')")
    drawn = page.evaluate("raytracerView.frames.length")
    with start("other"):
        page.wait_for_selector(".rt-alarm:has-text('another server has started here')")
    with start("token"):
        page.wait_for_function(PICTURE, arg=drawn)
    assert page.evaluate("window.same")
    page.close()


def test_a_token_file_is_made_for_its_owner_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "token"
    token = token_of(path)
    assert len(token) >= MIN_TOKEN
    assert path.stat().st_mode & 0o777 == 0o600
    assert token_of(path) == token
    path.write_text("of-my-own_0123456789-0123456789-0123")
    assert token_of(path) == path.read_text()


@pytest.mark.parametrize(
    ("text", "mode", "words"),
    [
        ("", 0o600, "has no token"),
        ("x" * 31, 0o600, "has no token"),
        ("x" * 257, 0o600, "has no token"),
        ("x" * 40 + " y", 0o600, "has no token"),
        ("x" * 40 + "\ny\n", 0o600, "has no token"),
        ("x" * 40, 0o640, "chmod 600"),
        ("x" * 40, 0o620, "chmod 600"),
    ],
)
def test_other_token_files_are_refused(text: str, mode: int, words: str, tmp_path: Path) -> None:
    path = tmp_path / "token"
    path.write_text(text)
    path.chmod(mode)
    with pytest.raises(UserError, match=words) as error:
        token_of(path)
    assert str(path) in str(error.value)
    assert "\n" not in str(error.value)
