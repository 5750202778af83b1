"""A real window: its pixels are those that `render` writes, and they reach the display."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer import ToneSettings
from support.display import LIMIT, Display
from support.remote import Remote
from support.window_scene import SAMPLES, SIZE, rendered

Open = Callable[..., Remote]


def on_display(display: Display, expected: NDArray[np.uint8]) -> bool:
    """Wait until the display shows a picture in its upper left corner."""
    height, width = expected.shape[:2]
    end = monotonic() + LIMIT
    while not (same := np.array_equal(display.pixels((width, height)), expected)):
        if monotonic() > end:
            break
        sleep(0.02)
    return same


def test_the_picture_at_rest_is_the_one_that_render_writes(window: Remote, scene: Path) -> None:
    state = window.rest()
    assert state.size == state.traced == SIZE
    np.testing.assert_array_equal(window.shot(), rendered(scene))


@pytest.mark.parametrize("curve", ["linear", "agx"])
def test_it_reaches_the_display(open_window: Open, display: Display, curve: str, tmp_path: Path) -> None:
    remote = open_window("--no-text", "--tone", curve, "--exposure", "0.5", "--samples", "5")
    remote.rest()
    tone = ToneSettings(exposure=0.5, tone=curve)
    expected = rendered(tmp_path / "balls.toml", samples=5, tone=tone)
    np.testing.assert_array_equal(remote.shot(), expected)
    assert on_display(display, expected)
