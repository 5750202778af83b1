"""A newcomer's first minutes with the window: the command, the mouse, and keys of its help.

Events are those of a keyboard and a mouse (XTEST); pictures are those on the screen.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image

from support.display import Display
from support.host import State
from support.newcomer import CONTRAST, SCENES, contrast, left_behind
from support.remote import Remote

pytestmark = pytest.mark.newcomer

Open = Callable[..., Remote]
WIDTH, HEIGHT = 640, 400
TEXT = 80  # rows at the top that have the status


@pytest.fixture
def start(open_window: Open, display: Display, tmp_path: Path) -> Callable[..., Seat]:
    """Opens the window of a scene, as its command does."""

    def opened(scene: str, *options: str) -> Seat:
        small = ("--size", f"{WIDTH}x{HEIGHT}", "--samples", "4")
        window = open_window(*small, *options, scene=SCENES / scene)
        seat = Seat(window, display)
        with seat.watched(tmp_path):
            window.rest()
        return seat

    return opened


class Seat:
    """Somebody in front of a window."""

    def __init__(self, window: Remote, display: Display) -> None:
        self.window, self._display = window, display

    @contextmanager
    def watched(self, folder: Path) -> Iterator[None]:
        """Leave what is on the screen if the block fails."""
        with left_behind(lambda path: Image.fromarray(self.seen()).save(path), folder):
            yield

    def seen(self) -> NDArray[np.uint8]:
        """What is on the screen, uint8 (h, w, 3)."""
        return self._display.pixels((WIDTH, HEIGHT))

    def do(self, what: str, reached: Callable[[State], object], *words: object) -> State:
        """Send events, and wait for what they should do and for the picture at rest."""
        self._display.xdotool("windowfocus", self.window.state.xid, *words)
        return self.window.until(lambda state: reached(state) and state.rest, what)

    def key(self, name: str, reached: Callable[[State], object]) -> State:
        """Press a key; its name is X's."""
        return self.do(f"what {name} does", reached, "key", name)

    def drag(self, right: int, down: int) -> State:
        """Drag from the middle of the window, in pixels."""
        before = self.window.state.camera
        x, y = WIDTH // 2, HEIGHT // 2
        return self.do(
            "a drag", lambda state: state.camera != before,
            "mousemove", x, y, "mousedown", 1, "mousemove", x + right // 2, y + down // 2,
            "mousemove", x + right, y + down, "mouseup", 1,
        )  # fmt: skip

    def sees_something(self) -> None:
        """Fail if the window is of one flat colour."""
        seen = contrast(self.seen()[TEXT:-TEXT])
        assert seen > CONTRAST, f"one flat colour: standard deviation {seen:.1f}"


def test_colours_a_slice_and_a_pick_are_seen_and_the_picture_is_saved(
    start: Callable[..., Seat], display: Display, tmp_path: Path
) -> None:
    seat = start("three_balls.toml")
    with seat.watched(tmp_path):
        for name, what in (("m", "style"), ("w", "slice")):
            before = seat.seen()
            seat.key(name, lambda state: state.shown[what])  # noqa: B023
            assert (seat.seen() != before).any(axis=-1).mean() > 0.05, name
            seat.sees_something()
        ball = ("mousemove", WIDTH // 6, HEIGHT // 2, "click", 1)
        assert seat.do("a pick", lambda state: state.picked, *ball).shown["picks"] == [0]

        seat.key("s", lambda state: state.prompt is not None)
        seat.key("Return", lambda state: state.notice.startswith("saved"))
        (path,) = tmp_path.glob("three_balls*.png")
        with Image.open(path) as image:
            assert image.size == (WIDTH, HEIGHT)
            assert contrast(np.asarray(image)) > CONTRAST
        display.xdotool("key", "q")
        assert seat.window.ends() == 0
        assert seat.window.complained == ""


@pytest.mark.parametrize(("right", "down"), [(0, -80), (80, 60)])
def test_the_first_drag_keeps_a_molecule_in_the_window(
    start: Callable[..., Seat], tmp_path: Path, right: int, down: int
) -> None:
    seat = start("molecule.xyz", "--background", "white")
    with seat.watched(tmp_path):
        seat.drag(right, down)
        covered = (seat.seen() != 255).any(axis=-1)
        assert covered[TEXT:].mean() > 0.03
        edges = (covered[0], covered[-1], covered[:, 0], covered[:, -1])
        cut = sum(int(edge.sum()) for edge in edges)
        assert cut == 0, f"the edges of the window cut the molecule at {cut} pixels"
