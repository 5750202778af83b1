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
OPEN = """
import faulthandler, sys
from pathlib import Path
faulthandler.dump_traceback_later(60, exit=True)
from raytracer.viewer import opening

offscreen = sys.argv[1] == "offscreen"
opening.open_display(offscreen)
import pyglet
from pyglet import gl
from raytracer.errors import DisplayError
from raytracer.viewer import window as windows

def fails(*_):
    raise gl.GLException("it is refused")

def opened():
    return opening.open_window((64, 48), "test", offscreen)

def still():
    return len(pyglet.app.windows), gl.current_context
"""
HALF_WAY = """
kept, windows.Canvas = windows.Canvas, fails
try:
    opened()
except DisplayError as error:
    assert "(it is refused)" in str(error), error
else:
    raise SystemExit("it was opened")
assert still() == (0, None), still()
windows.Canvas = kept
window = opened()
assert len(pyglet.app.windows) == 1
window.close()
assert still() == (0, None), still()
"""
LOST = """
window = opened()
gl.glFlush, kept = fails, gl.glFlush
window.close()
gl.glFlush = kept
assert still() == (0, None), still()
window.close()
opened().close()
assert still() == (0, None), still()
"""


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


@pytest.mark.usefixtures("egl")
@pytest.mark.parametrize(("code", "kind"), [(HALF_WAY, "window"), (LOST, "offscreen")])
def test_nothing_stays_open(display: Display, code: str, kind: str) -> None:
    python(display, OPEN + code, kind)
