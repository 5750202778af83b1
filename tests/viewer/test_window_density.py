"""Displays with a high density: text grows with the dots an inch, the mouse with the pixels."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from support.remote import Remote
from support.window_scene import rendered

Open = Callable[..., Remote]


def text_box(remote: Remote) -> tuple[int, int, int, int]:
    """Columns and rows of the status text: left, top, right, bottom."""
    differs: NDArray[np.bool_] = (remote.shot() != remote.shot(text=True)).any(axis=-1)
    rows, columns = np.nonzero(differs)
    return int(columns.min()), int(rows.min()), int(columns.max()), int(rows.max())


SIZE = ("--width", "900", "--height", "500", "--samples", "1")


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
