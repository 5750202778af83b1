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

# A session over a scene that never rests. `loading` is told of every stage, in the thread that
# loads it; `leaving` is set when the window is closed and the load is all that is waited for.
SESSION = """
import faulthandler, sys, threading
from pathlib import Path
import raytracer
from raytracer.viewer import opening

faulthandler.dump_traceback_later(100, exit=True)
opening.open_display(offscreen=True)
from raytracer.viewer.orders import Loaded
from raytracer.viewer.stage import Stage
from raytracer.viewer.viewer import Viewer
from raytracer.viewer.watch import Watch
from raytracer.viewer.worker import SLICE, Worker

scene, stages, viewers = Path(sys.argv[1]), [], []
leaving = threading.Event()
load, hear, stop, order = Stage.load, Viewer.hear, Worker.stop, Viewer.order
join = Watch.join

def loading_stage(*arguments):
    before(len(stages))
    stage = load(*arguments)
    stages.append(stage)
    after(len(stages))
    return stage

def hearing(self, message):
    hear(self, message)
    if isinstance(message, Loaded):
        self.close()

def ordering(self):
    viewers[:] = [self]
    order(self)

def stopping(self, *seconds):
    late(self)
    return stop(self, *seconds)

def joining(self):
    leaving.set()
    join(self)

before = after = late = lambda _: None
Stage.load, Viewer.hear, Worker.stop, Viewer.order = loading_stage, hearing, stopping, ordering
Watch.join = joining

def edit():
    scene.write_text(scene.read_text() + "# edited\\n")

def run():
    raytracer.preview(scene, backend="cpu", threads=2, watch=True, offscreen=0, samples=1000000,
                      say=lambda _: None)
    assert not [thread for thread in threading.enumerate() if thread.name == "load"]
"""

EDITED_WHILE_IT_IS_LOADED = """
def after(count):
    if count == 1:
        edit()

run()
first, second = stages
assert first.job.device is second.job.device, "one device for the session"
assert second.job.device.budget == SLICE
assert second.closed
"""

# The load ends only when the window is closed, and its stage is not shown any more.
CLOSED_WHILE_IT_LOADS = """
def after(count):
    if count == 1:
        edit()
    else:
        viewers[0].close()
        assert leaving.wait(20)

run()
first, second = stages
assert first.closed and second.closed
"""

# Between two steps of loading: nothing is left to be done after the first of them.
GIVEN_UP = """
from raytracer import bvh
build, built = bvh.build, []

def building(*arguments):
    built.append(None)
    return build(*arguments)

bvh.build = building

def before(count):
    if count == 1:
        viewers[0].close()
        assert leaving.wait(20)

def after(count):
    edit()

run()
assert len(stages) == len(built) == 1
assert stages[0].closed
"""

# A message that is put while the window does not look any more.
NEVER_TAKEN = """
extra = load(scene, {}, "cpu", 2)

def after(count):
    edit()

def late(worker):
    worker.messages.put(Loaded(extra))

run()
assert extra.closed and stages[-1].closed
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
    "program", [EDITED_WHILE_IT_IS_LOADED, CLOSED_WHILE_IT_LOADS, GIVEN_UP, NEVER_TAKEN],
    ids=["edited while it is loaded", "closed while it loads", "given up", "never taken"],
)  # fmt: skip
def test_a_session(scene: Path, program: str) -> None:
    python(SESSION + program, str(scene))
