"""A real window: its pixels are those that `render` writes, and they reach the display."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import ToneSettings
from raytracer.viewer.edits import BACKGROUNDS
from support.display import Display
from support.host import State
from support.remote import Remote
from support.window_scene import SAMPLES, SIZE, pasted, rendered

Open = Callable[..., Remote]
SCENES = Path(__file__).resolve().parents[2] / "scenes"
Pixels = NDArray[np.uint8]

# Keys that change what is seen, one after another.
SEQUENCES = ["L X", "B B B", "K", "E E", "T T", "A", "O", "X", "SHIFT+Y", "L B K K K T T T SHIFT+E"]


def as_printed(window: Remote, scene: Path, size: tuple[int, int] = SIZE) -> Pixels:
    """What `render` makes of the scene file with everything that the window prints of its view."""
    path = scene.with_name("printed.toml")
    path.write_text(pasted(str(window.ask("toml"))))
    return rendered(path, size, tone=window.state.tone)


def assert_same_but_for_rounding(shown: Pixels, expected: Pixels) -> None:
    """The camera went through scene units, so that a ray at an edge may meet another sphere."""
    differs = (shown != expected).any(axis=-1)
    assert differs.mean() < 0.002, f"{differs.sum()} of {differs.size} pixels differ"


def test_the_picture_at_rest_is_the_one_that_render_writes(window: Remote, scene: Path) -> None:
    state = window.rest()
    assert state.size == state.traced == SIZE
    np.testing.assert_array_equal(window.shot(), rendered(scene))


@pytest.mark.parametrize("curve", ["linear", "agx"])
def test_it_reaches_the_display(
    open_window: Open, display: Display, curve: str, tmp_path: Path
) -> None:
    remote = open_window("--no-text", "--tone", curve, "--exposure", "0.5", "--samples", "5")
    remote.rest()
    tone = ToneSettings(exposure=0.5, tone=curve)
    expected = rendered(tmp_path / "balls.toml", samples=5, tone=tone)
    np.testing.assert_array_equal(remote.shot(), expected)
    assert display.shows(expected)


def test_what_is_painted_after_an_event_reaches_the_display(
    window: Remote, display: Display
) -> None:
    window.press("T")
    window.press("I")
    window.ask("put", {"_notice": ("", 0.0)})
    window.rest()
    assert display.shows(window.shot(text=True))


def test_after_a_drag_the_printed_camera_renders_the_same(window: Remote, scene: Path) -> None:
    before = window.shot()
    window.ask("event", "on_mouse_drag", 120, 80, 30.0, 12.0, 1, 0)
    window.ask("event", "on_mouse_scroll", 120, 80, 0.0, 2.0)
    window.rest()
    shown = window.shot()
    assert (shown != before).any(axis=-1).mean() > 0.2
    assert_same_but_for_rounding(shown, as_printed(window, scene))


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


def test_a_turned_light_is_printed_and_renders_the_same(window: Remote, scene: Path) -> None:
    before = window.shot()
    window.ask("event", "on_mouse_drag", 120, 80, 40.0, 20.0, 1, 2)
    window.rest()
    shown = window.shot()
    assert (shown != before).any(axis=-1).mean() > 0.1
    assert_same_but_for_rounding(shown, as_printed(window, scene))


def test_what_is_transparent_lies_on_checked_paper(window: Remote, scene: Path) -> None:
    for _ in range(len(BACKGROUNDS) - 1):
        window.press("B")
    window.rest()
    picture = as_printed(window, scene).astype(np.float64)
    assert picture.shape[-1] == 4
    rows, columns = np.indices(picture.shape[:2]) // 8
    paper = np.where((rows + columns) % 2 == 0, 0.8, 0.6)[..., None] * 255
    alpha = picture[..., 3:] / 255
    assert 0 < alpha.mean() < 1
    expected = alpha * picture[..., :3] + (1 - alpha) * paper
    off = np.abs(window.shot() - expected).max(axis=-1)
    assert (off > 1.0).mean() < 0.002


def test_backgrounds_come_round(window: Remote) -> None:
    before = window.shot()
    for _ in BACKGROUNDS:
        window.press("B")
    window.rest()
    np.testing.assert_array_equal(window.shot(), before)


def _rests_at(size: tuple[int, int], state: State) -> bool:
    return state.size == state.traced == size and state.rest


def test_a_resized_window_shows_all_spheres_at_the_new_size(
    window: Remote, display: Display, scene: Path
) -> None:
    xid = window.state.xid
    for size in ((333, 150), SIZE):
        display.xdotool("windowsize", xid, *size)
        window.until(partial(_rests_at, size), f"{size}")
        shown = window.shot()
        np.testing.assert_array_equal(shown, rendered(scene, size))
        window.ask("put", {"overlay": False})
        assert display.shows(shown)


def test_a_resized_window_keeps_a_view_that_was_chosen(
    window: Remote, display: Display, scene: Path
) -> None:
    window.ask("act", "orbit", 0.3, 0.1)
    window.ask("act", "dolly", -0.1)
    before = window.rest().camera
    size = (180, 170)
    display.xdotool("windowsize", window.state.xid, *size)
    after = window.until(lambda s: s.size == s.traced == size and s.rest, "the new size")
    assert after.camera == before
    assert_same_but_for_rounding(window.shot(), as_printed(window, scene, size))
    display.xdotool("windowsize", after.xid, *SIZE)
    window.until(lambda s: s.size == SIZE and s.rest, "the old size")


def test_a_moving_picture_is_coarser_and_refines_at_rest(open_window: Open) -> None:
    remote = open_window("--width", "640", "--height", "400", "--samples", "2")
    remote.rest()
    remote.ask("slow", 0.1)  # far more than a frame may take
    remote.ask("key", "press", "LEFT")
    coarse = remote.until(lambda s: s.traced[0] < s.size[0], "a coarser picture")
    assert coarse.traced[0] * 400 == pytest.approx(coarse.traced[1] * 640, rel=0.02)
    remote.ask("key", "release", "LEFT")
    assert remote.rest().traced == (640, 400)


def test_a_window_that_is_smaller_than_asked_for_says_so(open_window: Open) -> None:
    remote = open_window("--width", "5000", "--height", "3000", "--samples", "1")
    state = remote.until(lambda s: s.traced == s.size, "the full size")
    assert state.size == (1440, 863)
    assert state.notice == "1440x863, because the screen is too small for 5000x3000"


def test_with_full_the_picture_never_becomes_coarser(open_window: Open) -> None:
    remote = open_window("--width", "640", "--height", "400", "--samples", "1", "--full")
    remote.rest()
    remote.ask("slow", 0.03)
    remote.ask("key", "press", "LEFT")
    sizes = set()
    first = remote.state.eye

    def turned(state: State) -> bool:
        sizes.add(state.traced)
        return bool(abs(state.eye[0] - first[0]) > 0.5)

    remote.until(turned, "a turn")
    assert sizes == {(640, 400)}


def test_the_overlay_says_what_is_shown_and_how(open_window: Open) -> None:
    remote = open_window("--width", "480", "--height", "300", "--tone", "agx")
    remote.rest()
    lines = remote.ask("status")
    assert lines[0] == "balls.toml   5 spheres"
    finished = f"{SAMPLES} samples per pixel, finished"
    assert lines[1:] == [finished, "tone curve agx", "H for help"]
    plain, text = remote.shot(), remote.shot(text=True)
    assert (plain != text).any(axis=-1)[:120, :240].mean() > 0.2
    assert (plain == text).all(axis=-1)[150:].all()
    remote.press("I")
    technical = remote.ask("status")
    assert technical[:4] == lines
    assert technical[6] == "480x300 pixels rendered"
    assert "rays/s" in technical[7]
    assert technical[8] == "shown by texture upload"
    assert (remote.shot(text=True) != text).any()
    remote.press("I")
    assert (remote.shot(text=True) == plain).all()


@pytest.mark.parametrize("moves", ["drag", "Y", "O Y", "O drag", "SHIFT+B Y"])
def test_from_below_the_ground_is_not_in_the_way(
    open_window: Open, display: Display, moves: str
) -> None:
    """It was one flat colour. The picture is that of the scene without a ground, byte for byte."""
    path = SCENES / "three_balls.toml"
    window = open_window("--size", "240x160", "--samples", "2", scene=path)
    window.rest()
    for move in moves.split():
        if move == "drag":
            center = ("mousemove", 120, 80, "mousedown", 1)
            display.xdotool(*center, "mousemove", 120, 60, "mousemove", 120, 52, "mouseup", 1)
        else:
            window.press(move)
    state = window.until(lambda s: s.eye[1] < 0.0 and s.rest, "a view from below")
    scene = raytracer.load(path)
    sky = replace(scene.background, up=(0.0, 1.0, 0.0))  # it does not follow the camera
    scene = replace(scene, camera=state.camera, background=sky, ground=None)
    expected = raytracer.render(scene, backend="cpu", width=240, height=160, samples=2)
    np.testing.assert_array_equal(window.shot(), expected.to_uint8())
    assert len(np.unique(window.shot().reshape(-1, 3), axis=0)) > 1000
