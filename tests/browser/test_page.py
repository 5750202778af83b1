"""The page in a headless Chromium: mouse, keys, fingers of a phone, and a slow connection."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import raytracer
from raytracer.browser.connection import MIN_BYTES
from raytracer.viewer.orbit_camera import project_points
from raytracer.viewer.panel import describe_state
from raytracer.viewer.session import Session
from support.chromium import Site, canvas
from support.previews import first_camera

pytest.importorskip("aiohttp", reason="the extra serve is missing")
if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = pytest.mark.browser

WIDTH, HEIGHT, PANEL = 672, 200, 272
STAGE = (WIDTH - PANEL, HEIGHT)  # of the picture
SAMPLES = 2
ATOMS = "5\nstep {0}\nO 0 0 {0}\nC 3 0 0\nN -3 0 0\nH 0 3 0\nH 0 -3 0\n"
FINISHED = '.rt-view[data-finished="true"]'


@pytest.fixture(scope="module")
def atoms(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A trajectory of three frames."""
    path = tmp_path_factory.mktemp("atoms") / "run.xyz"
    path.write_text("".join(ATOMS.format(step) for step in range(3)))
    return path


@pytest.fixture(scope="module")
def site(chromium: Browser, atoms: Path) -> Iterator[Site]:
    """The server of that file."""
    with Site(atoms, frame=0, backend="cpu", threads=1, samples=SAMPLES) as serving:
        yield serving


@pytest.fixture
def page(chromium: Browser, site: Site) -> Iterator[Page]:
    """A page with the finished picture of the file as it is; without errors at the end."""
    site.call(lambda session: session.do("reset"))
    opened = chromium.new_page(viewport={"width": WIDTH, "height": HEIGHT})
    opened.set_default_timeout(20_000)
    errors: list[str] = []
    foreign: list[str] = []
    opened.on("pageerror", lambda error: errors.append(str(error)))
    opened.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
    opened.on("request", lambda asked: foreign.append(asked.url))
    opened.goto(site.address)
    opened.wait_for_function(  # the first picture may have the size of the page before
        "size => String(raytracerView.header?.full) === size && raytracerView.header.finished",
        arg=f"{STAGE[0]},{STAGE[1]}",
    )
    yield opened
    opened.close()
    assert [text for text in errors if "WebSocket" not in text] == []
    assert [url for url in foreign if not url.startswith(("data:", "blob:"))] == [site.address]


def finished(page: Page, act: Any) -> None:
    """Do something that changes the picture, and wait until the new one is finished."""
    before = page.evaluate("raytracerView.header.number")
    act()
    page.wait_for_function(
        "before => raytracerView.header.number > before && raytracerView.header.finished",
        arg=before,
    )


def camera(site: Site) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Position and target of the camera of the session, float64 (3,) each."""
    seen = site.call(lambda session: session.camera)
    return np.array(seen.position), np.array(seen.look_at)


def centers_on_screen(session: Session) -> list[tuple[float, float]]:
    """Where the atoms are, in CSS pixels of the page."""
    viewer = session
    buffers = viewer.loaded_scene.buffers
    points = buffers.centers.astype(np.float64)
    places, _ = project_points(viewer.view, points, viewer.size[0] / viewer.size[1])
    width, height = STAGE
    return [((x + 1) / 2 * width, (1 - y) / 2 * height) for x, y in places.tolist()]


def test_the_finished_picture_is_that_of_render(page: Page, atoms: Path, site: Site) -> None:
    width, height = STAGE
    camera = first_camera(atoms, STAGE)
    # measured in the first view, which had the size of another window
    brightness = site.call(lambda session: session.loaded_scene.job.settings.brightness)
    image = raytracer.render(
        atoms,
        camera=camera,
        frame=0,
        width=width,
        height=height,
        samples=SAMPLES,
        ao_samples=1,
        brightness=brightness,
        backend="cpu",
    )  # the page shows its first sample sooner with one occlusion ray
    np.testing.assert_array_equal(canvas(page), image.to_uint8()[..., :3])


def test_shift_picks_one_more_and_a_box_selects(page: Page, site: Site) -> None:
    for key in ("z", "f"):
        finished(page, lambda: page.keyboard.press(key))  # noqa: B023
    places = sorted(site.call(centers_on_screen)[:2])
    page.mouse.click(*places[0])
    page.keyboard.down("Shift")
    page.mouse.click(*places[1])
    page.keyboard.up("Shift")
    page.wait_for_function("() => raytracerView.state.measure.startsWith('distance 3')")
    page.keyboard.down("Control")
    page.keyboard.down("Shift")
    page.mouse.move(places[0][0] - 5, places[0][1] - 5)
    page.mouse.down()
    page.mouse.move(places[1][0] + 5, places[1][1] + 5, steps=3)
    assert page.is_visible(".rt-box")
    page.mouse.up()
    page.keyboard.up("Shift")
    page.keyboard.up("Control")
    page.wait_for_function("() => raytracerView.state.selection.count === 2")
    assert not page.is_visible(".rt-box")
    finished(page, lambda: page.keyboard.press("Control+d"))
    page.keyboard.press("Escape")


def test_the_panel_changes_the_look_and_the_colours(page: Page, site: Site) -> None:
    assert "undefined" not in page.inner_text(".rt-panel")
    for name, value in (("look", "plain"), ("background", "white"), ("color-by", "x")):
        finished(page, lambda: page.select_option(f"select[name={name}]", value))  # noqa: B023
    state = site.call(lambda session: describe_state(session))
    assert (state["look"], state["background"], state["color"]["by"]) == ("plain", "white", "x")
    page.fill("input[name=range]", "-1,1")
    finished(page, lambda: page.keyboard.press("Enter"))
    color = site.call(lambda session: describe_state(session))["color"]
    assert (color["low"], color["high"]) == (-1.0, 1.0)
    page.fill("input[name=select]", "nonsense >")
    page.keyboard.press("Enter")
    page.wait_for_selector(".rt-notice:has-text('nonsense')")


def test_a_lost_connection_comes_back_with_the_state(page: Page, site: Site) -> None:
    finished(page, lambda: page.keyboard.press("x"))
    before, number = camera(site), page.evaluate("raytracerView.frames.length")
    site.drop()
    page.wait_for_selector(".rt-lost")
    assert "connecting again" in page.inner_text(".rt-alarm")
    page.wait_for_selector(".rt-view:not(.rt-lost)")
    page.wait_for_function("number => raytracerView.frames.length > number", arg=number)
    page.wait_for_selector(FINISHED)
    np.testing.assert_array_equal(camera(site), before)
    assert page.inner_text(".rt-alarm") == ""


def test_a_saved_picture_is_downloaded(page: Page) -> None:
    for title, value in (("width", 60), ("height", 40), ("samples", 1)):
        page.fill(f"input[name={title}]", str(value))
    with page.expect_download() as download:
        page.click("text=save PNG")
    assert download.value.suggested_filename == "run.png"
    with Image.open(download.value.path()) as image:
        assert (image.format, image.size) == ("PNG", (60, 40))


@pytest.fixture
def phone(chromium: Browser, site: Site) -> Iterator[Page]:
    """A page of a phone with a picture."""
    site.call(lambda session: session.do("reset"))
    context = chromium.new_context(
        viewport={"width": 390, "height": 844}, has_touch=True, is_mobile=True
    )
    opened = context.new_page()
    opened.set_default_timeout(20_000)
    opened.goto(site.address)
    rested(opened)
    yield opened
    context.close()


def rested(phone: Page) -> None:
    """Wait for the finished picture of the present size."""
    phone.wait_for_function(
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
    return float(np.linalg.norm(np.subtract(*camera(site))))


def test_two_fingers_move_the_camera_and_leave_the_page(phone: Page, site: Site) -> None:
    before = distance(site)
    fingers(phone, [(160, 300), (230, 300)], [(60, 300), (330, 300)])
    phone.wait_for_function("() => raytracerView.frames.some(({ draft }) => draft)")
    rested(phone)
    assert distance(site) < 0.5 * before
    assert phone.evaluate("visualViewport.scale") == 1


RATE = 2000.0  # bytes per millisecond, which the page reports

RECORD = f"""const Real = WebSocket;
window.heard = []; // header and bytes of each message
window.WebSocket = class extends Real {{
  constructor(...values) {{
    super(...values);
    this.addEventListener("message", ({{ data }}) => {{
      if (typeof data === "string") {{
        heard.push({{ ...JSON.parse(data), bytes: data.length }});
        return;
      }}
      const length = new DataView(data).getUint32(0, true);
      const header = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
      heard.push({{ ...header, bytes: data.byteLength }});
    }});
  }}
  send(text) {{
    const message = JSON.parse(text);
    const of = heard.find(({{ serial }}) => serial === message.serial);
    super.send(JSON.stringify(message.type === "ack" ? {{ ...message, ms: of.bytes / {RATE} }}
                                                     : message));
  }}
}};"""


def test_a_small_picture_comes_first_and_becomes_finer(chromium: Browser, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    rows = [f"{x},{y},{(x * 7 + y * 3) % 5}" for x in range(40) for y in range(40)]
    path.write_text("\n".join(["x,y,z", *rows]) + "\n")
    with Site(path, backend="cpu", threads=1, samples=4) as site:
        page = chromium.new_page(viewport={"width": 1440, "height": 900})
        page.set_default_timeout(60_000)
        page.add_init_script(RECORD)
        page.goto(site.address)
        page.wait_for_function("() => window.raytracerView?.header?.finished")
        heard: list[dict[str, Any]] = page.evaluate("heard")
        page.close()
    frames = [each for each in heard if each["type"] == "frame"]
    before = sum(each["bytes"] for each in heard[: heard.index(frames[0])])
    # A fifth of a second at this rate, and the state of the panel, which names files and folders.
    assert frames[0]["bytes"] <= MIN_BYTES
    assert before < 8000
    assert frames[-1]["bytes"] > 10 * frames[0]["bytes"], "the scene is too small for this test"
    assert not frames[-1].get("reduced")
