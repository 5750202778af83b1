"""Ctrl-C ends the command at once, whatever it is doing."""

import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import pytest

import raytracer

pytestmark = pytest.mark.slow

# Seconds; a tenth of a second is what it takes, and half a minute what would go on without an end.
# On a loaded machine the memory of a large picture alone takes more than five.
PATIENCE = 20.0


def interrupted(folder: Path, delay: float, *command: str) -> None:
    """Run a command, and interrupt it after `delay` seconds.

    Asserts that it had not ended before, that it says so to the shell, and leaves no file.
    """
    before = sorted(folder.iterdir())
    process = subprocess.Popen(
        [sys.executable, *command],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        # Where a shell started the tests in the background, SIGINT is ignored.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL) and None,
    )
    try:
        time.sleep(delay)
        assert process.poll() is None, f"it ended by itself: {process.communicate()[1]}"
        process.send_signal(signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
        process.communicate()
    assert process.returncode == 130, said
    assert sorted(folder.iterdir()) == before, "nothing half-written is left"
    assert "Traceback" not in said


def render(path: Path) -> tuple[str, ...]:
    """The words of a command that renders a scene on the CPU for a long time."""
    size = ("--width", "1600", "--height", "1200", "--samples", "4096")
    output = ("-o", "a.png", "--backend", "cpu", "--threads", "2")
    return ("-m", "raytracer", "render", path.name, *size, *output)


def many_lights(path: Path) -> None:
    """3,000 lights on 20,000 spheres: a tile takes half a minute."""
    scene = "[camera]\nposition = [0, 0, 5]\n"
    scene += '[[spheres]]\ngenerate = { name = "cloud", count = 20000 }\n'
    for x, y, z in np.random.default_rng(1).uniform(2, 9, (3000, 3)):
        scene += f'[[lights]]\ntype = "point"\nposition = [{x}, {y}, {z}]\nintensity = 0.001\n'
    path.write_text(scene)


def clump(path: Path) -> None:
    """A million spheres almost in one place: every ray meets them all."""
    rng = np.random.default_rng(1)
    np.savez(path, centers=rng.normal(scale=1e-3, size=(1_000_000, 3)), radii=np.ones(1_000_000))


def many_lines(path: Path) -> None:
    path.write_text("3000000\nmany\n" + "C 1.0 2.0 3.0\n" * 3_000_000)


@pytest.mark.parametrize(
    ("name", "make", "delay"),
    [("a.toml", many_lights, 0.7), ("a.npz", clump, 0.5), ("a.npz", clump, 2.5),
     ("a.xyz", many_lines, 0.7)],
)  # fmt: skip
def test_while_reading_building_and_rendering(
    tmp_path: Path, name: str, make: Callable[[Path], None], delay: float
) -> None:
    make(tmp_path / name)
    interrupted(tmp_path, delay, *render(tmp_path / name))


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_a_handler_that_returns_runs_during_the_work_and_changes_nothing(
    threads: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Calls that come while the compiled part is at work, without a clock.

    One call of it makes the whole picture. Signals that come meanwhile are one signal to Python,
    unless the compiled part looks for them: without that there is one call, when it returns.
    """
    monkeypatch.setattr("raytracer.backends.base.BUDGET", 1e9)
    monkeypatch.setattr("raytracer.backends.base.SAMPLES_A_PASS", 1024)
    scene = raytracer.load(Path(__file__).parents[2] / "scenes" / "sphereflake.toml")
    size: Any = {"width": 160, "height": 120, "backend": "cpu", "threads": threads}
    calls: list[str] = []
    denormals: list[bool] = []

    def handler(_: int, frame: FrameType | None) -> None:
        calls.append(frame.f_code.co_name if frame else "")
        denormals.append(float(np.float64(5e-324) * 1.0) > 0)  # the work itself flushes them

    during = 0
    for samples in (16, 64, 256):  # more work, where few signals were looked for
        calls.clear()
        expected = np.asarray(raytracer.render(scene, samples=samples, **size))
        before = signal.signal(signal.SIGALRM, handler)
        signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
        try:
            image = raytracer.render(scene, samples=samples, **size)
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            signal.signal(signal.SIGALRM, before)
        assert np.array_equal(np.asarray(image), expected)
        during = calls.count("_accumulate")
        if during > 1:
            break
    assert during > 1
    assert all(denormals)
