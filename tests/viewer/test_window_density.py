"""Displays with a high density: text grows with the dots an inch, the mouse with the pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from support.display import Display
from support.remote import Remote
from support.window_scene import rendered

Open = Callable[..., Remote]

# Xft.dpi, which desktops set for displays with a high density.
RESOURCE = """
import ctypes
from pyglet.libs.x11 import xlib
display = xlib.XOpenDisplay(None)
text = {text!r}
buffer = ctypes.cast(ctypes.create_string_buffer(text), ctypes.POINTER(ctypes.c_ubyte))
atom = xlib.XInternAtom(display, b"RESOURCE_MANAGER", 0)
xlib.XChangeProperty(display, xlib.XDefaultRootWindow(display), atom, 31, 8, 0, buffer, len(text))
xlib.XCloseDisplay(display)
"""


@pytest.fixture
def dense(display: Display) -> Iterator[None]:
    """192 dots an inch."""
    display.python(RESOURCE.format(text=b"Xft.dpi:\t192\n"))
    yield
    display.python(RESOURCE.format(text=b""))


def text_box(remote: Remote) -> tuple[int, int, int, int]:
    """Columns and rows of the status text: left, top, right, bottom."""
    differs: NDArray[np.bool_] = (remote.shot() != remote.shot(text=True)).any(axis=-1)
    rows, columns = np.nonzero(differs)
    return int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())


SIZE = ("--width", "900", "--height", "500", "--samples", "1")


def test_text_follows_the_dots_an_inch(open_window: Open, dense: None, tmp_path: Path) -> None:
    remote = open_window(*SIZE)
    state = remote.rest()
    assert state.size == state.points == (900, 500)  # on X the size is given in pixels
    np.testing.assert_array_equal(
        remote.shot(), rendered(tmp_path / "balls.toml", (900, 500), samples=1)
    )
    left, top, right, bottom = text_box(remote)
    assert (left, top) == pytest.approx((20, 20), abs=3)
    assert right - left > 300
    assert bottom - top > 100


def test_text_at_96_dots_an_inch(open_window: Open) -> None:
    remote = open_window(*SIZE)
    remote.rest()
    left, top, right, bottom = text_box(remote)
    assert (left, top) == pytest.approx((10, 10), abs=3)
    assert 100 < right - left < 450
    assert 60 < bottom - top < 160


def test_a_framebuffer_of_twice_the_points(open_window: Open, tmp_path: Path) -> None:
    remote = open_window(*SIZE, ratio=2.0)
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


def test_the_highlight_lies_on_the_sphere_at_any_density(open_window: Open) -> None:
    found = []
    for ratio in (1.0, 2.0):
        remote = open_window(*SIZE, ratio=ratio)
        remote.rest()
        remote.ask("act", "pick", 450, 250)
        remote.until(lambda s: s.picked is not None, "a sphere")
        remote.ask("put", {"overlay": False})
        found.append((remote.shot(text=True) == (255, 176, 0)).all(axis=-1))
    assert found[0].sum() > 200
    np.testing.assert_array_equal(*found)


def test_a_window_moved_to_a_denser_display_grows_its_text(open_window: Open) -> None:
    remote = open_window(*SIZE)
    remote.rest()
    _, _, right, bottom = text_box(remote)
    remote.ask("event", "on_scale", 2.0, 192)
    _, _, wider, lower = text_box(remote)
    assert wider > 1.7 * right
    assert lower > 1.7 * bottom


def test_a_drag_over_the_height_turns_the_same_at_any_density(open_window: Open) -> None:
    found = []
    for ratio in (1.0, 2.0):
        remote = open_window(*SIZE, ratio=ratio)
        remote.rest()
        points = remote.state.points
        remote.ask("event", "on_mouse_drag", 50, 50, points[1] / 8, points[1] / 16, 1, 0)
        found.append(remote.rest().camera.position)
    assert found[0] == pytest.approx(found[1])
