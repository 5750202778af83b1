"""A real window: its pixels are those of `render`, on the display, and with more dots an inch."""

import subprocess
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support import display as displays
from support.display import LIMIT, Display
from support.live import runs, script
from support.previews import wait_for
from support.remote import Remote
from support.window_scene import SIZE, assert_same_but_for_rounding, pasted, rendered, write_scene

Pixels = NDArray[np.uint8]

# Keys that change what is seen, one after another.
SEQUENCES = ["A", "O", "SHIFT+Y", "CTRL+LEFT B T T T SHIFT+E"]


def as_printed(window: Remote, scene: Path, size: tuple[int, int] = SIZE) -> Pixels:
    """What `render` makes of the scene file with everything that the window prints of its view."""
    path = scene.with_name("printed.toml")
    path.write_text(pasted(str(window.ask("toml"))))
    return rendered(path, size, tone=window.state.tone)


def test_the_picture_at_rest_is_the_one_that_render_writes(window: Remote, scene: Path) -> None:
    state = window.rest()
    assert state.size == state.traced == SIZE
    np.testing.assert_array_equal(window.shot(), rendered(scene))


@pytest.mark.parametrize("keys", SEQUENCES)
def test_what_keys_change_is_printed_and_renders_the_same(
    window: Remote, scene: Path, keys: str
) -> None:
    before = window.shot()
    for key in keys.split():
        window.press(key)
    window.rest()
    shown = window.shot()
    assert (shown != before).any(), "the keys changed nothing that is seen"
    assert_same_but_for_rounding(shown, as_printed(window, scene))


def test_a_resized_window_shows_all_spheres_at_the_new_size(
    window: Remote, display: Display, scene: Path
) -> None:
    xid = window.state.xid
    for size in ((333, 150), SIZE):
        display.xdotool("windowsize", xid, *size)
        window.until(lambda s: s.size == s.traced == size and s.rest, f"{size}")  # noqa: B023
        shown = window.shot()
        np.testing.assert_array_equal(shown, rendered(scene, size))
        window.ask("put", {"overlay": False})
        assert display.shows(shown)


Open = Callable[..., Remote]


def text_box(remote: Remote) -> tuple[int, int, int, int]:
    """Columns and rows of the status text: left, top, right, bottom."""
    differs: NDArray[np.bool_] = (remote.shot() != remote.shot(text=True)).any(axis=-1)
    rows, columns = np.nonzero(differs)
    return int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())


def test_a_framebuffer_of_twice_the_points(open_window: Open, tmp_path: Path) -> None:
    remote = open_window("--width", "900", "--height", "500", "--samples", "1", ratio=2.0)
    state = remote.rest()
    assert state.size == state.traced == (900, 500)
    assert state.points == (450, 250)
    np.testing.assert_array_equal(
        remote.shot(), rendered(tmp_path / "balls.toml", (900, 500), samples=1)
    )
    left, top, *_ = text_box(remote)
    assert left < 40
    assert top < 40
    # The mouse speaks in points, from the lower left.
    found = []
    for way in (("act", "pick", 450, 500 - 1 - 250), ("click", 225, 125)):
        remote.ask(*way)
        found.append(remote.until(lambda s: s.picked is not None, "a sphere").picked)
        remote.ask("put", {"picks": []})
    assert found[0] == found[1]


def save(remote: Remote, size: str) -> None:
    """Begin to save a picture."""
    remote.rest()
    remote.press("S")
    remote.ask("event", "on_text", size)
    remote.press("RETURN")
    remote.until(lambda s: s.save_job, "the saving")


def test_closing_while_a_huge_picture_is_saved_leaves_nothing_behind(
    open_window: Open, tmp_path: Path
) -> None:
    remote = open_window()
    save(remote, "4000x4000 100000")
    remote.ask("event", "on_close")
    assert remote.ends() == 0
    assert not list(tmp_path.glob("*.png*"))
    sentence = "raytracer: balls-view-1.png was not saved: the window was closed first\n"
    assert remote.complained == sentence


def test_a_backend_that_fails_ends_with_its_sentence_and_the_camera(open_window: Open) -> None:
    remote = open_window()
    remote.ask("act", "orbit", 0.4, 0.2)
    eye = remote.rest().eye
    remote.ask("lose_gpu", "the GPU is lost: start the preview again")
    assert remote.ends() == 2
    assert remote.complained == "raytracer: the GPU is lost: start the preview again\n"
    camera = tomllib.loads(remote.printed)["camera"]
    assert camera["position"] == pytest.approx(eye.tolist(), rel=1e-8)


@pytest.fixture(scope="module", params=["de", "fr"])
def keyboard(
    request: pytest.FixtureRequest, display: Display, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Display, Remote]]:
    """A window on a display of its own with a keyboard of a country: "/" is Shift 7 on a German
    one, Shift : on a French one."""
    folder = tmp_path_factory.mktemp(request.param)
    own = displays.start(folder)
    write_scene(folder)
    command = ["setxkbmap", "-display", own.name, request.param]
    subprocess.run(command, env=own.environment, timeout=LIMIT, check=True)
    window = Remote(["preview", "balls.toml", "--backend", "cpu"], folder, own.environment)
    try:
        window.rest()
        yield own, window
    finally:
        window.stop()
        own.stop()


@pytest.fixture
def fresh(keyboard: tuple[Display, Remote]) -> tuple[Display, Remote]:
    """The window, as when it was opened."""
    keyboard[1].fresh()
    keyboard[0].xdotool("windowfocus", keyboard[1].state.xid)
    return keyboard


def test_a_condition_is_typed_whole(fresh: tuple[Display, Remote]) -> None:
    """Also its own "/", and letters that are keys of the window; then the keys act again."""
    display, window = fresh
    typed = "radius / 2 > 0.25 and x < 9"
    display.xdotool("key", "slash")
    display.xdotool("type", typed)
    window.until(lambda s: s.prompt == typed, "the condition")
    display.xdotool("key", "Return")
    state = window.until(lambda s: s.shown["selected"], "the selection")
    assert state.shown["selected"] == 2
    assert state.prompt is None
    display.xdotool("key", "slash")
    window.until(lambda s: s.prompt == "", "the prompt again")


def test_keys_that_need_others_on_a_keyboard_act(fresh: tuple[Display, Remote]) -> None:
    """Brackets are AltGr 8 and 9 on a German keyboard, digits are above on a French one."""
    display, window = fresh
    display.xdotool("key", "z")
    window.until(lambda s: s.shown["forward"] == (0.0, 0.0, 1.0), "the view")
    display.xdotool("key", "w")
    before = window.until(lambda s: s.shown["slice"] and not s.shown["busy"], "a slice")
    display.xdotool("key", "bracketright")
    at = before.shown["slice"].position
    window.until(lambda s: s.shown["slice"].position > at, "the slice moved")
    window.ask("act", "do", "keep-view", "2")
    display.xdotool("key", "x")
    window.until(lambda s: s.shown["forward"] == (1.0, 0.0, 0.0), "another view")
    display.xdotool("key", "2")
    window.until(lambda s: s.shown["forward"] == (0.0, 0.0, 1.0), "the view that was kept")


SIMULATION = """
import numpy as np
import raytracer

view = raytracer.live(backend="cpu", threads=1, width=300, height=200, samples=1)
step = 0
with view:
    print(view._sinks[0].runner._process.pid, flush=True)
    while not view.closed:
        step += 1
        place = 3.0 * np.sin(0.02 * step)
        view.log_points("ends", [[-4, 0, 0], [4, 0, 0]], radii=0.5, colors="white")
        view.log_points("ball", [[place, 0, 0]], radii=0.8, colors="red")
print("closed", flush=True)
"""

LIVE_SIZE = (300, 200)


@pytest.mark.window
def test_a_window_follows_and_closes_from_both_sides(display: Display, tmp_path: Path) -> None:
    with script(SIMULATION, tmp_path, display.environment) as process:
        try:
            assert process.stdout is not None
            pid = int(process.stdout.readline())
            wait_for(lambda: _ball(display) is not None, "the ball")
            places = set[int]()

            def moved() -> bool:
                place = _ball(display)
                if place is not None:
                    places.add(place // 10)
                return len(places) > 4

            wait_for(moved, "a ball that moves")
            window = display.xdotool("search", "--name", "simulation - raytracer").split()[0]
            display.xdotool("windowfocus", window)
            display.xdotool("key", "q")
            output, errors = process.communicate(timeout=60.0)
        finally:
            process.kill()
    assert (output, errors) == ("closed\n", "")
    assert not runs(pid)


def _ball(display: Display) -> int | None:
    """The column of the middle of the red ball; None if there is none."""
    pixels = display.pixels(LIVE_SIZE).astype(int)
    red = (pixels[..., 0] > 2 * pixels[..., 1]) & (pixels[..., 0] > 60)
    return int(np.flatnonzero(red.any(axis=0)).mean()) if red.any() else None
