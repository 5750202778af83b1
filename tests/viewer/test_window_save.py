"""S: a size is typed on the keyboard, and the PNG is the one that `render` writes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from support.display import Display
from support.remote import Remote
from support.window_scene import SAMPLES, SIZE, rendered


@pytest.fixture
def folder(shared_window: tuple[Remote, Path]) -> Path:
    """Where the window saves; without pictures of earlier tests."""
    where = shared_window[1].parent
    for path in where.glob("*.png"):
        path.unlink()
    return where


def type_size(window: Remote, display: Display, text: str, end: str = "Return") -> None:
    """S, a text and a key, on a real keyboard."""
    focus = ("windowfocus", window.state.xid)
    display.xdotool(*focus, "key", "s")
    window.until(lambda s: s.prompt == "", "the prompt")
    if text:
        display.xdotool(*focus, "type", "--delay", 1, text)
        window.until(lambda s: s.prompt == text, f"the prompt with {text!r}")
    display.xdotool(*focus, "key", end)


@pytest.mark.parametrize(
    ("typed", "size", "samples"),
    [("", SIZE, SAMPLES), ("320x90", (320, 90), SAMPLES), ("64X48 20", (64, 48), 20)],
)
def test_a_saved_picture_is_the_one_that_render_writes(
    window: Remote,
    display: Display,
    scene: Path,
    folder: Path,
    typed: str,
    size: tuple[int, int],
    samples: int,
) -> None:
    type_size(window, display, typed)
    window.until(lambda s: s.notice == "saved balls-view-1.png", "the picture")
    saved = np.asarray(Image.open(folder / "balls-view-1.png"))
    np.testing.assert_array_equal(saved, rendered(scene, size, samples=samples))
    assert window.printed.rstrip().endswith("balls-view-1.png")
    assert [path.name for path in folder.glob("*.png*")] == ["balls-view-1.png"]


def test_saving_goes_on_while_the_window_is_used_and_can_be_given_up(
    window: Remote, folder: Path
) -> None:
    window.press("S")
    window.ask("event", "on_text", "1000x1000 4000")
    window.press("RETURN")
    window.until(lambda s: s.save_job, "the saving")
    before = window.state
    window.ask("act", "orbit", 0.5, 0.0)
    turned = window.until(lambda s: s.camera != before.camera and s.sharp, "a turn meanwhile")
    assert turned.save_job
    window.press("ESCAPE")
    state = window.until(lambda s: not s.save_job, "the end of it")
    assert state.notice == "not saved"
    assert not list(folder.glob("*.png*"))
