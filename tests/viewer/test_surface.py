"""Windows of one process: of one kind, opened entirely or not at all, closed entirely."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import raytracer
from support.display import LIMIT, Display
from support.window_scene import write_scene

# One preview, then one of the other kind.
KINDS = """
import faulthandler, sys
import raytracer
from raytracer.errors import UserError

faulthandler.dump_traceback_later(60, exit=True)
scene, first = sys.argv[1], sys.argv[2] == "offscreen"
from raytracer.viewer import opening
opening.open_display(first)
from raytracer.viewer import window

def end(self):
    self.viewer.do("close")
    opened(self)

opened, window.PreviewWindow.on_render = window.PreviewWindow.on_render, end
for number, offscreen in enumerate((first, first, not first, first)):
    try:
        raytracer.preview(scene, backend="cpu", offscreen=0 if offscreen else None,
                          say=lambda _: None, screenshot=f"{sys.argv[3]}/{number}.png")
        print("shown")
    except UserError as error:
        print(type(error).__name__, error)
"""

# Opens a window, where things fail in a way.


def python(display: Display, *arguments: str) -> str:
    """Standard output of a process of its own, which must end well."""
    paths = [str(Path(raytracer.__file__).parents[1]), os.environ.get("PYTHONPATH", "")]
    environment = display.environment | {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(
        [sys.executable, "-c", *arguments], text=True, capture_output=True, timeout=3 * LIMIT,
        env=environment, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.usefixtures("egl")
def test_a_process_shows_windows_of_one_kind(display: Display, tmp_path: Path) -> None:
    """The second kind is refused, and the first one goes on to work."""
    scene = str(write_scene(tmp_path))
    shown = python(display, KINDS, scene, "offscreen", str(tmp_path)).splitlines()
    assert [*shown[:2], shown[3]] == ["shown"] * 3
    assert shown[2].startswith("DisplayError after a preview offscreen, this process")
    pictures = [path.read_bytes() for path in sorted(tmp_path.glob("*.png"))]
    assert pictures == pictures[:1] * 3
