"""The page at the other end of a slow connection. What it gets is counted in bytes, not timed."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import pytest

from raytracer.browser.link import MIN_BYTES
from support.chromium import Site
from support.slow_link import SlowLink

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

RATE, DELAY = 50e3, 0.3
"""Bytes per second, and seconds of a round trip."""

PHONE: dict[str, Any] = {
    "viewport": {"width": 390, "height": 844}, "device_scale_factor": 2, "has_touch": True,
    "is_mobile": True,
}  # fmt: skip
DESKTOP: dict[str, Any] = {"viewport": {"width": 1440, "height": 900}}

RECORD = """const Real = WebSocket;
window.heard = []; // header and bytes of each message
window.WebSocket = class extends Real {
  constructor(...values) {
    super(...values);
    window.words = [document.querySelector(".rt-word").textContent];
    this.addEventListener("open", () => {
      setTimeout(() => words.push(document.querySelector(".rt-word").textContent));
    });
    this.addEventListener("message", ({ data }) => {
      if (typeof data === "string") {
        heard.push({ ...JSON.parse(data), bytes: data.length });
        return;
      }
      const length = new DataView(data).getUint32(0, true);
      const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
      heard.push({ ...header, bytes: data.byteLength });
    });
  }
};"""


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a crowded scene through a slow connection."""
    path = tmp_path_factory.mktemp("slow") / "many.csv"
    rows = [f"{x},{y},{(x * 7 + y * 3) % 5}" for x in range(40) for y in range(40)]
    path.write_text("\n".join(["x,y,z", *rows]) + "\n")
    with (
        Site(path, backend="cpu", threads=1, samples=4) as site,
        SlowLink(site.server.port, RATE, DELAY) as link,
    ):
        yield site.address.replace(f":{site.server.port}/", f":{link.port}/")


@contextmanager
def opened(chromium: Browser, address: str, settings: dict[str, Any]) -> Iterator[Page]:
    """A new page with the first picture."""
    context = chromium.new_context(**settings)
    page = context.new_page()
    page.set_default_timeout(60_000)
    page.add_init_script(RECORD)
    page.goto(address)
    page.wait_for_function("() => window.raytracerView && raytracerView.header")
    yield page
    context.close()


def frames_of(heard: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The frames among messages, with all their bytes, and what was heard until each was there."""
    found, total, own = [], 0, 0
    for each in heard:
        total += each["bytes"]
        own += each["bytes"] if each["type"] in ("part", "frame") else 0
        if each["type"] == "frame":
            found.append(each | {"until": total, "bytes": own})
            own = 0
    return found


@pytest.mark.parametrize("settings", [PHONE, DESKTOP], ids=["390", "1440"])
def test_a_small_picture_comes_first_and_becomes_finer(
    chromium: Browser, address: str, settings: dict[str, Any]
) -> None:
    with opened(chromium, address, settings) as page:
        assert page.evaluate("words") == ["connecting …", "waiting for the first picture …"]
        assert not page.is_visible(".rt-word")
        page.wait_for_function("() => raytracerView.header.finished")
        frames = frames_of(page.evaluate("heard"))
    # A fifth of a second at this rate, with the state of the panel.
    assert frames[0]["until"] < MIN_BYTES + 4000
    assert frames[-1]["bytes"] > 10 * frames[0]["bytes"], "the scene is too small for this test"
    assert frames[-1]["finished"]
    assert not frames[-1].get("reduced")
