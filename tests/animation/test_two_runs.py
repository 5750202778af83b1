"""Two commands that write one movie at once."""

from __future__ import annotations

import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from raytracer.files.output import claimed

pytestmark = pytest.mark.slow

SCENE = "[[spheres]]\ncenters = [[0, 0, 0], [2, 0, 0]]\n[render]\nwidth = 32\nheight = 24\n"
MANY = ("--turntable", "2000s", "--samples", "1", "--backend", "cpu", "-q")
FEW = ("--turntable", "0.2s", "--samples", "1", "--backend", "cpu", "-q")


def command(*words: str) -> list[str]:
    return [sys.executable, "-m", "raytracer", "animate", "balls.toml", *words]


def run(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*words), capture_output=True, text=True, check=False)


@pytest.fixture(params=["a.gif", "frames/####.png"])
def first(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, subprocess.Popen[bytes]]]:
    """The name of a movie, and a process that has begun to render it and goes on for long."""
    monkeypatch.chdir(tmp_path)
    Path("balls.toml").write_text(SCENE)
    with subprocess.Popen(command(*MANY, "-o", request.param)) as process:
        try:
            end = time.monotonic() + 60
            while not [*Path().glob("*frames/*.png"), *Path().glob("*frames/*.npz")]:
                assert process.poll() is None
                assert time.monotonic() < end
                time.sleep(0.05)
            yield request.param, process
        finally:
            process.kill()


def test_the_second_is_refused_until_the_first_is_killed(
    first: tuple[str, subprocess.Popen[bytes]],
) -> None:
    name, process = first
    done = run(*FEW, "-o", f"./{name}")
    assert (done.returncode, done.stdout) == (2, "")
    assert f"{name}: is being written by another raytracer: wait" in done.stderr
    assert done.stderr.count("\n") == 1
    assert run(*FEW, "-o", "b.gif").returncode == 0  # another name
    assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert run(*FEW, "-o", name).returncode == 0
    assert not list(Path().rglob("*.lock"))


def test_a_claim_ends_with_its_block(tmp_path: Path) -> None:
    for _ in range(2):
        with claimed(tmp_path / "a.mp4"):
            assert len(list(tmp_path.iterdir())) == 1
        assert not list(tmp_path.iterdir())
