"""A real window: its pixels are those of `render`, on the display, and with more dots an inch."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.viewer.edits import BACKGROUNDS
from support.display import Display
from support.host import State
from support.remote import Remote
from support.window_scene import SIZE, pasted, rendered

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
        remote.ask("put", {"picked": None})
    assert found[0] == found[1]
