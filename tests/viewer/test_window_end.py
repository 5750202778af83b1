"""How a preview ends: closed at once, with a sentence where rendering fails."""

from __future__ import annotations

import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest
from PIL import Image

from support.display import Display
from support.remote import Remote

Open = Callable[..., Remote]

DELETE = """
import ctypes
from pyglet.libs.x11 import xlib
display = xlib.XOpenDisplay(None)
event = xlib.XEvent()
event.type = xlib.ClientMessage
event.xclient.window = {xid}
event.xclient.message_type = xlib.XInternAtom(display, b"WM_PROTOCOLS", 0)
event.xclient.format = 32
event.xclient.data.l[0] = xlib.XInternAtom(display, b"WM_DELETE_WINDOW", 0)
xlib.XSendEvent(display, {xid}, 0, 0, ctypes.byref(event))
xlib.XSync(display, 0)
"""


def save(remote: Remote, size: str) -> None:
    """Begin to save a picture."""
    remote.rest()
    remote.press("S")
    remote.ask("event", "on_text", size)
    remote.press("RETURN")
    remote.until(lambda s: s.save_job, "the saving")


def test_a_window_closes_after_the_picture_that_is_being_saved(
    open_window: Open, display: Display, tmp_path: Path
) -> None:
    remote = open_window()
    remote.ask("slow", 0.002)
    save(remote, "480x320 120")
    display.python(DELETE.format(xid=remote.state.xid))
    assert remote.until(lambda s: s.closes_after_save, "the close button").save_job
    assert remote.ends() == 0
    path = tmp_path / "balls-view-1.png"
    with Image.open(path) as saved:
        assert saved.size == (480, 320)
    assert remote.printed.rstrip().endswith("balls-view-1.png")
    assert remote.complained == ""


def test_closing_twice_while_a_huge_picture_is_saved_leaves_nothing_behind(
    open_window: Open, tmp_path: Path
) -> None:
    remote = open_window()
    save(remote, "4000x4000 100000")
    remote.ask("event", "on_close")
    state = remote.until(lambda s: s.closes_after_save, "the first of the two")
    assert state.save_job
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
