"""A private X display without a screen, the pixels on it, and real events for its windows."""

import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from time import monotonic, sleep

import numpy as np
import pytest
from numpy.typing import NDArray

WIDTH, HEIGHT = 1600, 1000
LIMIT = 30.0
"""Seconds after which something hangs, also on a busy machine; never a measure of speed."""

PROBE = """
import pyglet
pyglet.options.shadow_window = False
pyglet.options.headless = {headless}
from pyglet import gl
import pyglet.window
config = gl.Config(double_buffer=True, major_version=3, minor_version=3)
pyglet.window.Window(64, 64, config=config).close()
"""


@dataclass(frozen=True)
class Display:
    """A running Xvfb. name: for DISPLAY. folder: where it keeps its framebuffer."""

    name: str
    folder: Path
    server: subprocess.Popen[str]

    @property
    def environment(self) -> dict[str, str]:
        """What a program needs to open its windows there, drawn by Mesa on the CPU."""
        mesa = {"LIBGL_ALWAYS_SOFTWARE": "1", "__GLX_VENDOR_LIBRARY_NAME": "mesa"}
        return os.environ | mesa | {"DISPLAY": self.name}

    def xdotool(self, *words: object) -> str:
        """Send real events (by XTEST), one after another; gives what it prints."""
        command = ["xdotool", *(str(word) for word in words)]
        done = subprocess.run(
            command, env=self.environment, text=True, capture_output=True, timeout=LIMIT,
            check=False,
        )  # fmt: skip
        assert done.returncode == 0, (command, done.stderr)
        return done.stdout

    def python(self, code: str) -> None:
        command = [sys.executable, "-c", code]
        subprocess.run(command, env=self.environment, timeout=LIMIT, check=True)

    def pixels(self, size: tuple[int, int]) -> NDArray[np.uint8]:
        """What is on the screen, uint8 (h, w, 3), from its upper left corner.

        Read from the server's own memory, a file in the format of xwd.
        """
        raw = (self.folder / "Xvfb_screen0").read_bytes()
        head = np.frombuffer(raw, ">u4", 25)
        header, depth, stride, colors = int(head[0]), int(head[11]), int(head[12]), int(head[19])
        assert depth == 32
        start = header + 12 * colors
        rows = np.frombuffer(raw, np.uint8, stride * HEIGHT, start).reshape(HEIGHT, stride)
        return rows.reshape(HEIGHT, -1, 4)[: size[1], : size[0], 2::-1]

    def shows(self, expected: NDArray[np.uint8]) -> bool:
        """Wait until a picture (h, w, 3) is in its upper left corner; False if it does not come."""
        height, width = expected.shape[:2]
        end = monotonic() + LIMIT
        while not (same := np.array_equal(self.pixels((width, height)), expected)):
            if monotonic() > end:
                break
            sleep(0.02)
        return same

    def stop(self) -> None:
        self.server.terminate()
        self.server.wait(LIMIT)


def start(folder: Path) -> Display:
    read, write = os.pipe()
    screen = f"{WIDTH}x{HEIGHT}x24"
    command = ["Xvfb", "-displayfd", str(write), "-screen", "0", screen, "-fbdir", str(folder),
               "-nolisten", "tcp", "-noreset"]  # fmt: skip
    with (folder / "xvfb.log").open("w") as log:
        server = subprocess.Popen(command, pass_fds=[write], stderr=log, stdout=log, text=True)
    os.close(write)
    with os.fdopen(read) as numbers:
        number = numbers.readline().strip()
    assert number, (folder / "xvfb.log").read_text()
    return Display(f":{number}", folder, server)


def missing(reason: str) -> None:
    """Skip a test for a reason, if there is one, so that the tests run on any machine.

    RAYTRACER_REQUIRE_WINDOW=1 turns these skips into failures, where everything must be there, as
    in `.ci/run`.
    """
    if not reason:
        return
    if os.environ.get("RAYTRACER_REQUIRE_WINDOW") == "1":
        pytest.fail(f"RAYTRACER_REQUIRE_WINDOW=1, but {reason}")
    pytest.skip(f"window tests: {reason}")


def tools_missing() -> str:
    """Why no display can be started; empty when one can."""
    missing = [name for name in ("Xvfb", "xdotool") if shutil.which(name) is None]
    return f"{' and '.join(missing)} not installed" if missing else ""


def drawing_missing(environment: dict[str, str], headless: bool) -> str:
    """Why pyglet cannot draw there with OpenGL 3.3; empty when it can.

    headless: without a display, by EGL.
    """
    command = [sys.executable, "-c", PROBE.format(headless=headless)]
    done = subprocess.run(
        command, env=environment, text=True, capture_output=True, timeout=LIMIT, check=False
    )
    if done.returncode == 0:
        return ""
    last = (done.stderr.strip().splitlines() or ["no message"])[-1]
    return f"no OpenGL 3.3 {'by EGL' if headless else 'under Xvfb'} ({last})"
