"""Fields, help and names of a page: by keys alone, in a small view, on a phone, for a reader."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from raytracer.viewer.controls import GROUPS
from raytracer.viewer.panel import describe_state
from raytracer.viewer.session import Session
from support.chromium import Site
from support.keys import FRAMES, SETTINGS, fresh, write_run

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

ON_PICTURE = "document.activeElement === raytracerView.picture.canvas"
TARGET = 44  # least side of what a finger touches, in CSS pixels


@pytest.fixture(scope="module")
def site(chromium: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    path = write_run(tmp_path_factory.mktemp("controls"))
    with Site(path, frame=0, backend="cpu", threads=1, samples=1, **SETTINGS) as serving:
        opened(chromium, serving, 720, 480).context.close()  # once all frames are found
        yield serving


def opened(chromium: Browser, site: Site, width: int, height: int, touch: bool = False) -> Page:
    context = chromium.new_context(
        viewport={"width": width, "height": height}, has_touch=touch, is_mobile=touch,
        bypass_csp=True,
    )  # fmt: skip
    page = context.new_page()
    page.set_default_timeout(20_000)
    page.goto(site.address)
    page.wait_for_function("() => window.raytracerView?.header?.finished")
    page.wait_for_function("count => raytracerView.state.frame.count === count", arg=FRAMES)
    return page


@pytest.fixture
def page(chromium: Browser, site: Site) -> Iterator[Page]:
    site.call(fresh)
    found = opened(chromium, site, 720, 480)
    yield found
    found.context.close()


def test_a_condition_is_typed_and_keys_act_again(page: Page) -> None:
    page.keyboard.press("/")
    page.keyboard.type("mass > 2")
    page.keyboard.press("Enter")
    page.wait_for_function("() => raytracerView.state.selection.count === 1")
    assert page.evaluate(ON_PICTURE)
    page.keyboard.press("d")
    page.wait_for_function("() => raytracerView.state.hidden === 1")
    assert page.input_value("input[name=select]") == ""


@pytest.mark.parametrize(
    ("key", "name", "wrong", "right", "holds"),
    [
        ("/", "select", "mass >", "mass > 2", "selection.count === 1"),
        ("Control+m", "color-by", "massive + 1", "mass + 1", "color.by === 'mass + 1'"),
        ("Control+m", "color-by", "sqrt(", "x", "color.by === 'x'"),
        ("Control+j", "map", "virridis", "gray_r", "keyframes === 0"),
        ("Control+u", "range", "5 to 1", "1,5", "color.high === 5"),
    ],
)
def test_a_mistyped_text_stays_to_be_corrected(
    page: Page, site: Site, key: str, name: str, wrong: str, right: str, holds: str
) -> None:
    if key in ("Control+j", "Control+u"):
        site.call(lambda session: session.do("color-by", "mass"))
    page.keyboard.press(key)
    field = f"input[name={name}]"
    page.fill(field, wrong)
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{field}[aria-invalid]")
    assert page.input_value(field) == wrong
    assert page.evaluate("document.activeElement.name") == name
    assert page.inner_text(".rt-notice")
    page.fill(field, right)
    page.keyboard.press("Enter")
    page.wait_for_function(f"() => raytracerView.state.{holds}")
    page.wait_for_function(f"() => {ON_PICTURE}")
    assert page.locator("[aria-invalid]").count() == 0


def test_escape_leaves_a_field_without_a_change(page: Page, site: Site) -> None:
    before = site.call(describe_state)
    for key in ("/", "Control+m", "s"):
        page.keyboard.press(key)
        page.keyboard.type("1")
        assert not page.evaluate(ON_PICTURE)
        page.keyboard.press("Escape")
        assert page.evaluate(ON_PICTURE), key
    assert page.input_value("input[name=select]") == ""
    page.focus("select[name=look]")
    page.keyboard.press("Escape")
    assert page.evaluate(ON_PICTURE)
    after = site.call(describe_state)
    assert (after["selection"], after["color"]) == (before["selection"], before["color"])


def test_fields_show_all_their_digits(page: Page) -> None:
    for name, value in (("width", 16384), ("height", 16384), ("samples", 1000000)):
        page.fill(f"input[name={name}]", str(value))
        assert page.evaluate(
            "name => { const field = document.querySelector(`input[name=${name}]`);"
            " return field.scrollWidth <= field.clientWidth; }",
            name,
        )


def ring(page: Page) -> tuple[float, float, float, float]:
    """Left, top, width and height of the ring of a pick in a page."""
    page.wait_for_selector(".rt-ring-line")
    box: list[float] = page.evaluate(
        "(({ left, top, width, height }) => [left, top, width, height])"
        "(document.querySelector('.rt-ring-line').getBoundingClientRect())"
    )
    left, top, width, height = box
    return left, top, width, height


def test_the_ring_of_a_pick_is_round_for_a_client_of_other_proportions(
    page: Page, chromium: Browser, site: Site
) -> None:
    site.call(lambda session: session.do("dolly", 0.5))  # the view is not fitted again
    other = opened(chromium, site, 700, 900)
    shown = "() => String(raytracerView.header.full) === '428,900'"
    try:
        other.wait_for_function(shown)
        x, y = site.call(hydrogen)
        other.mouse.click(x, y)
        for each in (other, page):
            each.wait_for_function(shown)
            left, top, width, height = ring(each)
            assert width == pytest.approx(height, rel=0.03)
            if each is other:
                across, down = (x - left) / width, (y - top) / height
        # A click on the atom where the first page shows it picks it again.
        number = site.call(lambda session: session.picked.number)
        assert number == 1
        site.call(lambda session: session.do("cancel"))
        page.wait_for_function("() => raytracerView.state.picks.length === 0")
        page.mouse.click(left + across * width, top + down * height)
        page.wait_for_function("() => raytracerView.state.picks.length === 1")
        assert site.call(lambda session: session.picked.number) == number
    finally:
        other.context.close()


def hydrogen(session: Session) -> tuple[int, int]:
    """A pixel that shows the second atom, which the first covers in part."""
    (width, height), loaded = session.size, session.loaded_scene
    for y in range(0, height, 4):
        hits = [loaded.find_hit(session.requested, x, y) for x in range(0, width, 4)]
        row = [4 * i for i, hit in enumerate(hits) if hit is not None and hit.id == 1]
        if len(row) > 3:
            return row[len(row) // 2], y
    raise AssertionError("the atom is not seen")


@pytest.mark.parametrize(("width", "height", "touch"), [(400, 300, False), (390, 844, True),
                                                        (736, 480, False)])  # fmt: skip
def test_help_is_read_from_top_to_bottom(
    chromium: Browser, site: Site, width: int, height: int, touch: bool
) -> None:
    page = opened(chromium, site, width, height, touch)
    (page.tap if touch else page.click)("button[title^=keys]")
    groups = page.locator(".rt-help caption")
    assert set(groups.all_inner_texts()) == {*GROUPS, "Touch screen"}
    wide, high = page.evaluate(
        "(({ scrollWidth, clientWidth, scrollHeight, clientHeight }) =>"
        " [scrollWidth - clientWidth, scrollHeight - clientHeight])(raytracerView.help)"
    )
    assert wide == 0, "nothing is to the right"
    assert high > 0
    page.keyboard.press("End")
    page.wait_for_function(  # it has come to rest there
        "() => (({ scrollTop, clientHeight, scrollHeight }) =>"
        " scrollTop + clientHeight > scrollHeight - 2)(raytracerView.help)"
    )
    page.mouse.move(width / 2 - 50, height / 2)
    page.mouse.wheel(0, -10_000)
    page.wait_for_function("() => raytracerView.help.scrollTop === 0")
    (page.tap if touch else page.click)("button[title^=keys]")
    assert not page.is_visible(".rt-help")
    assert page.evaluate(ON_PICTURE)
    page.context.close()


NAMELESS = """() => [...document.querySelectorAll("button, input, select, canvas, summary")]
  .filter((each) => each.checkVisibility())
  .filter((each) => !(each.getAttribute("aria-label") || each.textContent.trim()))
  .map((each) => each.outerHTML)"""
SMALL = """least => [...document.querySelectorAll("button, input, select, summary")]
  .filter((each) => each.checkVisibility())
  .map((each) => [each.outerHTML, each.getBoundingClientRect()])
  .filter(([, { width, height }]) => Math.min(width, height) < least)
  .map(([html, { width, height }]) => `${html}: ${width} x ${height}`)"""


def violations(page: Page) -> list[str]:
    """Critical and serious violations by axe-core, if RAYTRACER_AXE is the path of its script."""
    if not (path := os.environ.get("RAYTRACER_AXE")):
        return []
    page.evaluate(Path(path).read_text())
    found: list[dict[str, Any]] = page.evaluate("async () => (await axe.run()).violations")
    return [f"{each['id']}: {each['nodes'][0]['html']}" for each in found
            if each["impact"] in ("critical", "serious")]  # fmt: skip


def test_everything_has_a_name_and_a_finger_can_touch_it(chromium: Browser, site: Site) -> None:
    site.call(fresh)
    site.call(lambda session: session.do("slice", "z"))
    for width, height, touch in ((1440, 900, False), (390, 844, True)):
        page = opened(chromium, site, width, height, touch)
        assert violations(page) == []
        if touch:
            page.tap("button[title^=panel]")
        page.evaluate("document.querySelectorAll('details').forEach((each) => each.open = true)")
        page.evaluate("raytracerView.panel.focus('color-by')")  # a field that is else hidden
        assert page.evaluate(NAMELESS) == []
        assert page.evaluate(SMALL, TARGET if touch else 1) == []
        assert violations(page) == []
        canvas = page.locator("canvas")
        assert canvas.get_attribute("role") == "application"
        assert "run.xyz, 3 spheres" in str(canvas.get_attribute("aria-label"))
        assert canvas.get_attribute("tabindex") == "0"
        assert page.locator("main h1").count() == 1
        zoom = str(page.get_attribute("meta[name=viewport]", "content"))
        assert "user-scalable" not in zoom
        assert "maximum-scale" not in zoom
        page.evaluate("raytracerView.toggleHelp()")
        assert violations(page) == []
        page.context.close()


def test_a_page_that_is_not_let_in_says_why(
    chromium: Browser, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("raytracer.browser.server.MAX_CLIENTS", 0)
    page = chromium.new_page()
    page.goto(site.address)
    page.wait_for_selector("text=0 pages are already connected: close one of them")
    monkeypatch.undo()
    page.wait_for_function("() => raytracerView.header?.finished")
    monkeypatch.setattr(site.server, "token", "of-a-new-server")
    site.drop()
    page.wait_for_selector("text=open its latest address")
    page.close()
