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
from support.window_scene import SIZE, pasted, rendered

Open = Callable[..., Remote]
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


@pytest.mark.parametrize("curve", ["agx"])
def test_it_reaches_the_display(
    open_window: Open, display: Display, curve: str, tmp_path: Path
) -> None:
    remote = open_window("--no-text", "--tone", curve, "--exposure", "0.5", "--samples", "5")
    remote.rest()
    tone = ToneSettings(exposure=0.5, tone=curve)
    expected = rendered(tmp_path / "balls.toml", samples=5, tone=tone)
    np.testing.assert_array_equal(remote.shot(), expected)
    assert display.shows(expected)


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


def test_a_moving_picture_is_coarser_and_refines_at_rest(open_window: Open) -> None:
    remote = open_window("--width", "640", "--height", "400", "--samples", "2")
    remote.rest()
    remote.ask("slow", 0.1)  # far more than a frame may take
    remote.ask("key", "press", "LEFT")
    coarse = remote.until(lambda s: s.traced[0] < s.size[0], "a coarser picture")
    assert coarse.traced[0] * 400 == pytest.approx(coarse.traced[1] * 640, rel=0.02)
    remote.ask("key", "release", "LEFT")
    assert remote.rest().traced == (640, 400)


@pytest.mark.parametrize("moves", ["drag", "O Y"])
def test_from_below_the_ground_is_not_in_the_way(
    open_window: Open, display: Display, moves: str
) -> None:
    """It was one flat colour. The picture is that of the scene without a ground, byte for byte."""
    path = Path(__file__).parents[2] / "scenes/three_balls.toml"
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
