"""Pages in a headless Chromium: the picture beside that of `render`, moves, picks and fingers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

import raytracer
from raytracer import CapsuleSet, Scene

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

pytestmark = [pytest.mark.browser, pytest.mark.filterwarnings("ignore::raytracer.RaytracerWarning")]

SIZE = (320, 200)
DONE = "#figure[data-finished], #figure[data-error]"
FEWER = """async samples => {
    while (!window.raytracerFigure?.tick) await new Promise(requestAnimationFrame);
    raytracerFigure.renderer.samples = samples;
    raytracerFigure.changed();
}"""
"""Takes that many samples of each pixel, from the beginning."""
Open = Callable[..., "Page"]


@pytest.fixture
def open_page(chromium: Browser, tmp_path: Path) -> Iterator[Open]:
    """Export a scene and open the page, which asks for nothing else and has no errors.

    samples: of each pixel, for tests of anything but light: one where no picture is compared.
    """
    pages: list[Page] = []
    errors: list[str] = []
    asked: list[str] = []

    def opened(
        scene: object, touch: bool = False, samples: int | None = None, **settings: Any
    ) -> Page:
        width, height = SIZE
        path = raytracer.export(
            scene, tmp_path / "figure.html", backend="cpu", width=width, height=height, **settings
        )
        page = chromium.new_page(viewport={"width": width, "height": height}, has_touch=touch)
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.on("console", lambda said: errors.append(said.text) if said.type == "error" else None)
        page.on("request", lambda request: asked.append(request.url))
        page.goto(path.as_uri())
        if samples is not None:
            page.evaluate(FEWER, samples)
        page.wait_for_selector(DONE)
        pages.append(page)
        return page

    yield opened
    for page in pages:
        page.close()
    assert errors == []
    assert [url for url in asked if not url.startswith(("data:", "blob:", "file:"))] == []
    assert len([url for url in asked if url.startswith("file:")]) == len(pages)


def shown(page: Page) -> NDArray[np.float64]:
    """The pixels of the page, float64 (h, w, 3)."""
    with Image.open(BytesIO(page.screenshot())) as image:
        return np.asarray(image.convert("RGB"), np.float64)


def rendered(scene: object, **settings: Any) -> NDArray[np.float64]:
    width, height = SIZE
    image = raytracer.render(
        scene, width=width, height=height, samples=64, backend="cpu", **settings
    )
    return np.asarray(image.to_uint8()[..., :3], np.float64)


def rms(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    return float(np.sqrt(((a - b) ** 2).mean()))


def cluster() -> Scene:
    """A hundred spheres of several radii and colours, with a column."""
    rng = np.random.default_rng(7)
    positions = rng.uniform(-1, 1, (100, 3))
    return Scene.from_arrays(
        positions, rng.uniform(0.1, 0.3, 100), colors=rng.uniform(0.2, 1, (100, 3)),
        columns={"charge": np.linspace(-1, 1, 100), "group": np.arange(100) % 7},
    )  # fmt: skip


def finished(page: Page, act: Callable[[], object]) -> None:
    """Do something that changes the view, and wait until the picture is finished."""
    act()
    page.wait_for_timeout(200)  # movements are added up until the screen is drawn
    page.wait_for_selector(DONE)


@pytest.mark.parametrize(
    ("settings", "tolerance"),
    [
        ({"look": "plain"}, 4.0),  # ambient light and hard shadows: edges alone differ
        ({"look": "plain", "shadows": False}, 2.0),
        ({"look": "flat", "shading": "flat"}, 2.0),
        ({"look": "plain", "ortho": True}, 4.0),
        ({"look": "plain", "tone": {"tone": "agx", "exposure": 1.0}}, 4.0),
        ({"look": "plain", "tone": {"tone": "aces"}}, 4.0),
        ({"look": "plain", "tone": {"tone": "reinhard"}}, 4.0),
        ({"look": "plain", "background": "white"}, 4.0),
        ({"look": "studio"}, 10.0),  # occlusion of a sphere as a whole
        ({"look": "soft", "brightness": "auto"}, 10.0),
    ],
)
def test_the_page_shows_the_picture(
    open_page: Open, settings: dict[str, Any], tolerance: float
) -> None:
    picture = rendered(cluster(), ao_samples=4, **settings)
    page = shown(open_page(cluster(), **settings))
    assert rms(page, picture) < tolerance
    assert abs((page - picture).mean()) < 2.0


def test_rods_and_the_box_are_shown(open_page: Open) -> None:
    def scene() -> Scene:
        ends = np.array([[0.0, 0.0, 0.0], [2.0, 0.0, 0.0], [0.0, 1.5, 0.5]])
        spheres = Scene.from_arrays(ends, 0.3).spheres
        blue, red = (0.1, 0.2, 0.9), (0.9, 0.1, 0.1)
        round_ = CapsuleSet(ends[:1], ends[1:2], 0.12, color=blue, end_color=red)
        flat = CapsuleSet(ends[1:2], ends[2:], 0.12, color=blue, end_color=red, caps="flat")
        free = CapsuleSet([[0.0, -1.0, 0.0]], [[2.0, -1.0, 0.5]], 0.2, color=red)
        return Scene(spheres, capsules=[round_, flat, free])

    settings = {"look": "plain"}
    assert rms(shown(open_page(scene(), **settings)), rendered(scene(), **settings)) < 4.0


def test_a_half_transparent_sphere_shows_what_is_behind(open_page: Open) -> None:
    def scene() -> Scene:
        set_ = raytracer.SphereSet([[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]], [1.0, 0.8],
                                   color=[[0.9, 0.1, 0.1], [0.1, 0.1, 0.9]],
                                   opacity=[1.0, 0.5])  # fmt: skip
        return Scene([set_])

    settings = {"look": "flat", "shading": "flat"}
    assert rms(shown(open_page(scene(), **settings)), rendered(scene(), **settings)) < 8.0


def test_a_view_is_turned_and_reset(open_page: Open) -> None:
    page = open_page(cluster(), samples=4, look="plain")
    first = shown(page)

    def drag() -> None:
        page.mouse.move(160, 100)
        page.mouse.down()
        page.mouse.move(220, 110)
        page.mouse.up()

    finished(page, drag)
    assert rms(shown(page), first) > 10.0

    def hold() -> None:
        page.keyboard.down("ArrowLeft")
        page.wait_for_timeout(300)
        page.keyboard.up("ArrowLeft")

    for act in (lambda: page.mouse.wheel(0, 240), hold):
        before = shown(page)
        finished(page, act)
        assert rms(shown(page), before) > 1.0
    finished(page, lambda: page.keyboard.press("r"))
    assert rms(shown(page)[:150], first[:150]) < 0.5  # above the buttons


def test_a_turned_view_is_that_of_a_turned_camera(open_page: Open) -> None:
    """The page looks along -x; the light stays where it is relative to the camera."""
    page = open_page(cluster(), look="plain", view="front", up="z")
    finished(page, lambda: page.keyboard.press("Shift+x"))
    camera = page.evaluate(
        "(() => { const { camera, head } = raytracerFigure; const at = (p) => p.map((v, i) => "
        "head.center[i] + head.scale * v); return { position: at(camera.origin), look_at: "
        "at(camera.pivot), up: camera.up, tan: camera.halves[1] }; })()"
    )
    fov = float(np.degrees(2 * np.arctan(camera.pop("tan"))))
    places: dict[str, Any] = {name: tuple(values) for name, values in camera.items()}
    seen = raytracer.Camera(**places, vertical_fov=fov)
    assert rms(shown(page), rendered(cluster(), look="plain", camera=seen)) < 4.0


def places(page: Page, scene: Scene) -> list[tuple[float, float]]:
    """Where the centres of the spheres are on the page, in pixels."""
    found = page.evaluate(
        "points => points.map(p => raytracerFigure.camera.place(p.map((v, i) => "
        "(v - raytracerFigure.head.center[i]) / raytracerFigure.head.scale)))",
        np.asarray(scene.spheres[0].centers).tolist(),
    )
    width, height = SIZE
    return [((x + 1) / 2 * width, (1 - y) / 2 * height) for x, y, _ in found]


def test_picks_are_those_of_the_picture(open_page: Open) -> None:
    scene = cluster()
    image = raytracer.render(
        scene, width=SIZE[0], height=SIZE[1], samples=1, look="plain", aovs=["id"], backend="cpu"
    )
    ids = image.film.aovs["id"]
    page = open_page(scene, samples=1, look="plain")
    rng = np.random.default_rng(0)
    checked = 0
    for x, y in rng.integers((40, 20), (280, 180), (60, 2)).tolist():
        around = ids[y - 1 : y + 2, x - 1 : x + 2]
        if not (around == ids[y, x]).all():  # an edge
            continue
        checked += 1
        number = page.evaluate(
            "([x, y]) => raytracerFigure.at(x, y)?.row ?? null",
            [(x + 0.5) / SIZE[0], (y + 0.5) / SIZE[1]],
        )
        assert number == (None if ids[y, x] == 2**32 - 1 else ids[y, x])
    assert checked > 20


def test_a_click_shows_the_values(open_page: Open) -> None:
    positions = [[-1.0, 0.0, 0.0], [1.0, 0.25, 0.0]]
    scene = Scene.from_arrays(
        positions, 0.5, columns={"charge": [0.5, -1.25], "name": np.array(["left", "right"])}
    )
    page = open_page(scene, samples=1, look="plain", select="charge < 0")
    x, y = places(page, Scene.from_arrays(positions[1:], 0.5))[0]
    page.mouse.click(x, y)
    page.wait_for_selector(".rt-picks:has-text('charge')")
    lines = page.inner_text(".rt-picks").splitlines()
    assert lines[0] == "sphere 0"
    assert "row 1" in lines
    assert "position 1, 0.25, 0" in lines
    assert "radius 0.5" in lines
    assert "charge -1.25" in lines
    assert "name right" in lines
    assert page.is_visible(".rt-ring-line")
    page.keyboard.press("Escape")
    assert page.inner_text(".rt-picks") == ""


def test_numbers_have_their_digits_and_range(open_page: Open) -> None:
    columns = {
        "small": [1234567, -7],
        "large": np.array([2**53 + 1, -(2**40)], np.int64),
        "huge": np.array([2**64 - 1, 5], np.uint64),
        "far": [1e39, 1e-50],
        "pair": [[1e300, 2.5], [0.0, -1.0]],
        "plain": [0.1, np.nan],
        "sure": [True, False],
    }
    scene = Scene.from_arrays([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]], 0.5, columns=columns)
    page = open_page(scene, samples=1, look="plain")
    page.evaluate("raytracerFigure.reading")
    lines = [page.evaluate("row => raytracerFigure.linesOf({ kind: 'sphere', row })", row)
             for row in (0, 1)]  # fmt: skip
    assert {"small 1234567", "large 9007199254740993", "huge 18446744073709551615", "far 1e+39",
            "pair 1e+300, 2.5", "plain 0.1", "sure 1"} <= set(lines[0])  # fmt: skip
    assert {"small -7", "large -1099511627776", "huge 5", "far 1e-50", "pair 0, -1",
            "plain NaN", "sure 0"} <= set(lines[1])  # fmt: skip


def test_fingers_turn_and_enlarge(open_page: Open) -> None:
    page = open_page(cluster(), touch=True, samples=1, look="plain")
    touch = page.context.new_cdp_session(page)

    def send(kind: str, *points: tuple[float, float]) -> None:
        fingers = [{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)]
        touch.send("Input.dispatchTouchEvent", {"type": kind, "touchPoints": fingers})

    distance = "raytracerFigure.camera.distance"
    before, forward = page.evaluate(distance), page.evaluate("raytracerFigure.camera.forward")
    send("touchStart", (160, 100))
    send("touchMove", (200, 100))
    send("touchEnd")
    page.wait_for_timeout(200)
    assert page.evaluate("raytracerFigure.camera.forward") != forward
    send("touchStart", (140, 100), (180, 100))
    send("touchMove", (120, 100), (200, 100))
    send("touchMove", (100, 100), (220, 100))
    send("touchEnd")
    page.wait_for_timeout(200)
    assert page.evaluate(distance) < 0.7 * before


def test_legend_title_bar_and_axes_are_drawn(open_page: Open) -> None:
    annotations = {"legend": True, "axes": True, "scale_bar": {"unit": "nm"}}
    settings: dict[str, Any] = {"color_by": "charge", "annotations": annotations, "look": "plain",
                                "ortho": True}  # fmt: skip
    page = open_page(cluster(), **settings)
    assert "charge" in page.inner_text(".rt-drawn")
    assert rms(shown(page), rendered(cluster(), **settings)) < 14.0  # letters of another font
    texts = page.eval_on_selector_all(".rt-drawn text", "all => all.map(each => each.textContent)")
    assert {"x", "y", "z"} <= set(texts)
    bar = next(text for text in texts if text.endswith("nm"))
    finished(page, lambda: page.mouse.wheel(0, -1200))
    texts = page.eval_on_selector_all(".rt-drawn text", "all => all.map(each => each.textContent)")
    closer = next(text for text in texts if text.endswith("nm"))
    assert float(closer.split()[0]) < float(bar.split()[0])


def test_another_window_shows_the_whole_frame(open_page: Open) -> None:
    page = open_page(cluster(), look="plain")
    frame = shown(page)
    finished(page, lambda: page.set_viewport_size({"width": 320, "height": 400}))
    tall = shown(page)
    assert rms(tall[100:300], frame) < 3.0


def test_many_spheres_are_drawn_in_part_while_the_view_moves(open_page: Open) -> None:
    rng = np.random.default_rng(1)
    page = open_page(Scene.from_arrays(rng.uniform(-1, 1, (2000, 3)), 0.03), look="plain")
    page.evaluate("raytracerFigure.renderer.share = 0.1")
    finished(page, lambda: page.keyboard.press("r"))
    assert page.evaluate("raytracerFigure.frames.length") >= 2
    picture = rendered(Scene.from_arrays(np.random.default_rng(1).uniform(-1, 1, (2000, 3)), 0.03),
                       look="plain")  # fmt: skip
    assert rms(shown(page), picture) < 6.0
