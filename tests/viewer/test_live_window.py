"""A window that follows a running simulation, on a display without a screen."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from support.display import Display
from support.live import runs, script
from support.previews import wait_for

SIMULATION = """
import sys
import numpy as np
import raytracer

view = raytracer.live(backend="cpu", threads=1, width=300, height=200, samples=1, {options})
step = 0
with view:
    print(view._outlets[0].runner._process.pid, flush=True)
    while not view.closed:
        step += 1
        place = 3.0 * np.sin(0.02 * step)
        view.log_points("ends", [[-4, 0, 0], [4, 0, 0]], radii=0.5, colors="white")
        view.log_points("ball", [[place, 0, 0]], radii=0.8, colors="red")
        if step == {pause}:
            view.flush()
            print("pause", flush=True)
            sys.stdin.readline()
print("closed", flush=True)
"""

SIZE = (300, 200)


@pytest.mark.window
def test_a_window_follows_and_closes_from_both_sides(display: Display, tmp_path: Path) -> None:
    text = SIMULATION.format(options="", pause=0)
    with script(text, tmp_path, display.environment) as process:
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
    pixels = display.pixels(SIZE).astype(int)
    red = (pixels[..., 0] > 2 * pixels[..., 1]) & (pixels[..., 0] > 60)
    return int(np.flatnonzero(red.any(axis=0)).mean()) if red.any() else None
