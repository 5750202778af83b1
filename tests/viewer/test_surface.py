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
    self.viewer.close()
    opened(self)

opened, window.PreviewWindow.on_render = window.PreviewWindow.on_render, end
for offscreen in (first, first, not first, first):
    try:
        raytracer.preview(scene, backend="cpu", offscreen=0 if offscreen else None,
                          say=lambda _: None)
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
from raytracer.viewer import surface

def fails(*_):
    raise gl.GLException("it is refused")

def opened():
    return opening.open_window((64, 48), "test", offscreen)

def still():
    return len(pyglet.app.windows), gl.current_context
"""
HALF_WAY = """
kept, surface.Canvas = surface.Canvas, fails
try:
    opened()
except DisplayError as error:
    assert "(it is refused)" in str(error), error
else:
    raise SystemExit("it was opened")
assert still() == (0, None), still()
surface.Canvas = kept
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
ENTIRELY = """
from ctypes import byref
from pyglet.libs.egl import egl

window = opened()
display, surface, width = window._egl_display_connection, window._egl_surface, egl.EGLint()
asked = display, surface, egl.EGL_WIDTH, byref(width)
assert egl.eglQuerySurface(*asked) and width.value == 64
window.close()
assert not egl.eglQuerySurface(*asked)
"""


@pytest.fixture(params=["offscreen", "window"])
def kind(request: pytest.FixtureRequest) -> str:
    request.getfixturevalue("egl" if request.param == "offscreen" else "display")
    return str(request.param)


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


def test_a_process_shows_windows_of_one_kind(display: Display, kind: str, tmp_path: Path) -> None:
    """The second kind is refused, and the first one goes on to work."""
    shown = python(display, KINDS, str(write_scene(tmp_path)), kind).splitlines()
    before, now = ("offscreen", "in a window")[:: 1 if kind == "offscreen" else -1]
    assert shown == [
        "shown",
        "shown",
        f"DisplayError this process has shown pictures {before}, and then none can be shown {now}: "
        "start the second preview in a new Python process",
        "shown",
    ]


@pytest.mark.parametrize("code", [HALF_WAY, LOST], ids=["half way", "lost"])
def test_nothing_stays_open(display: Display, kind: str, code: str) -> None:
    python(display, OPEN + code, kind)


@pytest.mark.usefixtures("egl")
def test_what_an_offscreen_window_draws_on_goes_with_it(display: Display) -> None:
    python(display, OPEN + ENTIRELY, "offscreen")
