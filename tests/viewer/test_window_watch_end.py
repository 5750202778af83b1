"""`--watch` from the first load to the last: what a window does not wait for, and leaves behind."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import raytracer
from support.window_scene import write_scene

LIMIT = 120.0  # seconds after which something hangs

# A session over a scene that never rests. `before` and `after` are called around every load,
# in its thread; `closed` is set when the window is closed and only the load is waited for.
SESSION = """
import faulthandler, sys, threading
from pathlib import Path
import raytracer
from raytracer.viewer import opening

faulthandler.dump_traceback_later(100, exit=True)
opening.open_display(offscreen=True)
from raytracer.viewer.messages import Loaded
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer import window
from raytracer.viewer.state import ViewerState
from raytracer.viewer.frames import FrameLoader
from raytracer.viewer.worker import CPU_SLICE, Worker

scene, scenes, viewers = Path(sys.argv[1]), [], []
closed = threading.Event()
load, receive = LoadedScene.load, window.receive
stop, submit = Worker.stop, ViewerState.submit
join = FrameLoader.stop

def loading(*arguments, **named):
    before(len(scenes))
    loaded = load(*arguments, **named)
    scenes.append(loaded)
    after(len(scenes))
    return loaded

def receiving(viewer, message):
    receive(viewer, message)
    if isinstance(message, Loaded):
        viewer.do("close")

def submitting(self, buffers):
    viewers[:] = [self]
    submit(self, buffers)

def stopping(self, *seconds):
    late(self)
    return stop(self, *seconds)

def joining(self):
    closed.set()
    join(self)

before = after = late = lambda _: None
LoadedScene.load, window.receive = loading, receiving
Worker.stop, ViewerState.submit = stopping, submitting
FrameLoader.stop = joining

def edit():
    scene.write_text(scene.read_text() + "# edited\\n")

def run():
    raytracer.preview(scene, backend="cpu", threads=2, watch=True, offscreen=0, samples=1000000,
                      say=lambda _: None)
    assert not [thread for thread in threading.enumerate() if thread.name == "frames"]
"""

EDITED_WHILE_IT_IS_LOADED = """
def after(count):
    if count == 1:
        edit()

run()
first, second = scenes
assert first.job.device is second.job.device, "one device for the session"
assert second.job.device.budget == CPU_SLICE
assert second.closed
"""

# Between two steps of loading: nothing is left to be done after the first of them.
GIVEN_UP = """
from raytracer.backends import cpu
build, built = cpu.build_bvh, []

def building(*arguments):
    built.append(None)
    return build(*arguments)

cpu.build_bvh = building

def before(count):
    if count == 1:
        viewers[0].do("close")
        assert closed.wait(20)

def after(count):
    edit()

run()
assert len(scenes) == len(built) == 1
assert scenes[0].closed
"""

# A message that comes after the window has stopped.
NEVER_TAKEN = """
extra = load(scene, {}, "cpu", 2)

def after(count):
    edit()

def late(worker):
    worker.messages.put(Loaded(extra))

run()
assert extra.closed and scenes[-1].closed
"""


@pytest.fixture
def scene(tmp_path: Path) -> Path:
    return write_scene(tmp_path)


def python(program: str, *arguments: str) -> None:
    """Run a program without a display; it says nothing and ends well."""
    kept = {name: value for name, value in os.environ.items() if name != "DISPLAY"}
    paths = [str(Path(raytracer.__file__).parents[1]), *filter(None, [kept.get("PYTHONPATH")])]
    done = subprocess.run(
        [sys.executable, "-c", program, *arguments], text=True, capture_output=True,
        timeout=LIMIT, check=False, env=kept | {"PYTHONPATH": os.pathsep.join(paths)},
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


@pytest.mark.usefixtures("egl")
@pytest.mark.parametrize(
    "program", [EDITED_WHILE_IT_IS_LOADED, GIVEN_UP, NEVER_TAKEN],
    ids=["edited while it is loaded", "given up", "never taken"],
)  # fmt: skip
def test_a_session(scene: Path, program: str) -> None:
    python(SESSION + program, str(scene))
