"""The page on a phone: a narrow screen and fingers."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest

from support.chromium import Site

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WIDTH, HEIGHT = 390, 844
TARGET = 40
"""Least width and height of what a finger hits, in CSS pixels."""

ATOMS = "4\nstep {0}\nO 0 0 {0}\nC 3 0 0\nN -3 0 0\nH 0 3 0\n"

SMALL = """least => [...document.querySelectorAll(".rt-view :is(button, input, select, summary)")]
  .map((each) => each.closest("label") || each)
  .filter((each) => each.checkVisibility())
  .map((each) => [each.textContent || each.title, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => width < least || height < least)
  .map(([name, { width, height }]) => [name, width, height])"""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    """The server of a trajectory."""
    path = tmp_path_factory.mktemp("phone") / "run.xyz"
    path.write_text("".join(ATOMS.format(step) for step in range(3)))
    with Site(path, frame=0, backend="cpu", threads=1, samples=1) as serving:
        yield serving


@pytest.fixture
def page(chromium: Browser, site: Site) -> Iterator[Page]:
    """A page of a phone with a picture."""
    site.call(lambda session: session.do("reset"))
    context = chromium.new_context(
        viewport={"width": WIDTH, "height": HEIGHT}, has_touch=True, is_mobile=True
    )
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    opened.goto(site.address)
    finished(opened)
    yield opened
    context.close()


def finished(page: Page) -> None:
    """Wait for the finished picture of the present size."""
    page.wait_for_function(
        "() => raytracerView.header && raytracerView.header.finished"
        " && raytracerView.header.full[1] === raytracerView.stage.clientHeight"
    )


def fingers(page: Page, start: list[tuple[float, float]], end: list[tuple[float, float]]) -> None:
    """Put fingers on places, move them to others, and lift them."""
    devtools = page.context.new_cdp_session(page)

    def touch(kind: str, places: Any) -> None:
        points = [{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(places)]
        devtools.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": points})

    touch("touchStart", start)
    for share in np.linspace(0.1, 1.0, 10):
        touch("touchMove", np.array(start) + share * (np.array(end) - np.array(start)))
    touch("touchEnd", [])
    devtools.detach()


def distance(site: Site) -> float:
    """Between camera and target."""
    seen = site.call(lambda session: session.viewer.camera)
    return float(np.linalg.norm(np.array(seen.position) - np.array(seen.look_at)))


def test_fingers_hit_what_they_aim_at(page: Page) -> None:
    page.tap(".rt-opener")
    page.evaluate("document.querySelectorAll('details').forEach((each) => { each.open = true; })")
    assert page.evaluate(SMALL, TARGET) == []
    wide = "() => document.documentElement.scrollWidth"
    assert page.evaluate(wide) == WIDTH
    page.tap("button[title='one frame on']")
    page.wait_for_function("() => document.querySelector('.rt-frames').value === '1'")


def test_two_fingers_move_the_camera_and_leave_the_page(page: Page, site: Site) -> None:
    before = distance(site)
    fingers(page, [(160, 300), (230, 300)], [(60, 300), (330, 300)])
    page.wait_for_function("() => raytracerView.frames.some(({ draft }) => draft)")
    finished(page)
    assert distance(site) < 0.5 * before
    assert page.evaluate("visualViewport.scale") == 1
