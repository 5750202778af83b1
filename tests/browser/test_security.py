"""Who may use the server, and a page whose server ends."""

from __future__ import annotations

import signal
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from raytracer.browser.security import (
    is_local,
    is_same_origin,
    is_token,
)
from raytracer.browser.server import bound
from support.served import served
from support.window_scene import write_scene


@pytest.mark.parametrize("given", ["", "x", "π", "\udc80", "secret ", "SECRET", "secre", "secrett"])
def test_another_token_is_none(given: str) -> None:
    assert is_token("secret", "secret")
    assert not is_token(given, "secret")


@pytest.mark.parametrize(
    ("host", "local"),
    [
        ("127.0.0.1:8765", True),
        ("localhost:9000", True),
        ("localhost", True),
        ("[::1]:8765", True),
        ("", False),
        ("evil.example", False),
        ("evil.example:8765", False),
        ("127.0.0.1.evil.example", False),
        ("localhost.evil.example:80", False),
        ("127.0.0.1:8765@evil.example", False),
        ("127.0.0.1:8765; script-src *", False),
        ("127.0.0.1:8765\n", False),
        ("127.0.0.1:٣", False),
        ("0.0.0.0:8765", False),
    ],
)
def test_names_of_this_machine(host: str, local: bool) -> None:
    assert is_local(host) is local


@pytest.mark.parametrize(
    ("origin", "same"),
    [
        ("http://127.0.0.1:8765", True),
        ("https://127.0.0.1:8765", True),
        ("", False),
        ("null", False),
        ("http://127.0.0.1", False),
        ("http://127.0.0.1:8766", False),
        ("http://localhost:8765", False),
        ("http://evil.example", False),
        ("http://evil.example/127.0.0.1:8765", False),
        ("http://evil.example@127.0.0.1:8765", False),
        ("file://127.0.0.1:8765", False),
        ("http://[", False),
    ],
)
def test_only_a_page_of_the_server_has_its_origin(origin: str, same: bool) -> None:
    assert is_same_origin(origin, "127.0.0.1:8765") is same


pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser

PICTURE = """() => !document.querySelector(".rt-lost") && raytracerView.header
  && raytracerView.header.finished"""


def free_port() -> str:
    """A port that nobody uses now."""
    with bound(0) as listening:
        return str(listening.getsockname()[1])


@pytest.mark.browser
def test_a_page_says_that_its_server_has_ended(chromium: Browser, tmp_path: Path) -> None:
    scene, port = write_scene(tmp_path), free_port()
    page = chromium.new_page(viewport={"width": 390, "height": 844})
    page.set_default_timeout(60_000)
    with served(scene, "--port", port, folder=tmp_path) as first:
        page.goto(first.address)
        page.wait_for_function(PICTURE)
        first.end(signal.SIGKILL)
    page.wait_for_selector(".rt-alarm:has-text('the connection is lost; connecting again')")
    with served(scene, "--port", port, folder=tmp_path) as second:
        page.wait_for_selector(".rt-alarm:has-text('another server has started here')")
        page.goto(second.address)
        page.wait_for_function(PICTURE)
        second.end()
        page.wait_for_selector(".rt-alarm:has-text('the server has ended')")
    page.close()
