"""Commands under limits of address space: it succeeds, or is refused in one sentence."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest

from raytracer.cli import main

pytestmark = pytest.mark.slow

COMMANDS = [
    ["scene", "check", "balls.toml"],
    ["scene", "check", "points.csv"],
    ["scene", "generate", "sphereflake", "--count", "9000", "-o", "made.npz"],
    ["render", "balls.toml", "--width", "8", "--height", "6", "--backend", "cpu", "-o", "made.png"],
    ["tone", "film.npz", "-o", "made.png"],
    ["info", "balls.png"],
    ["devices"],
]

LIMIT = 150  # MiB, with which the modules are imported and little more

NO_LIMITS = pytest.mark.skipif(sys.platform != "linux", reason="limits count otherwise here")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Files for all commands in the current folder."""
    monkeypatch.chdir(tmp_path)
    # A rotation is a product of matrices, for which linear algebra takes buffers.
    ball = "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1.0\ntransform = {rotate = [0, 30, 0]}\n"
    Path("balls.toml").write_text(ball)
    points = np.random.default_rng(1).normal(size=(200_000, 3))
    np.savez("points.npz", centers=points, radii=np.full(len(points), 0.01))
    np.savetxt("points.csv", points, fmt="%.4f", delimiter=",", header="x,y,z", comments="")
    small = ["--width", "8", "--height", "6", "--backend", "cpu", "--film", "film.npz", "--quiet"]
    assert main(["render", "balls.toml", *small]) == 0
    return tmp_path


def limited(kind: int, command: list[str], folder: Path) -> str:
    """Run a command in a folder of its own; gives what is wrong with its end, or ""."""
    own = folder / f"{kind}-{COMMANDS.index(command)}"
    own.mkdir()
    for path in folder.iterdir():
        if path.is_file():
            (own / path.name).symlink_to(path)
    before = {path.name for path in own.iterdir()}
    code = (
        f"import resource, runpy, sys; resource.setrlimit({kind}, ({LIMIT << 20},) * 2)\n"
        f"sys.argv[1:] = {command!r}\n"
        "runpy.run_module('raytracer', run_name='__main__', alter_sys=True)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=own, capture_output=True, text=True, check=False,
        env=os.environ | {"RAYTRACER_THREADS": "1"},
    )  # fmt: skip
    what = f"{' '.join(command)} with {LIMIT} MiB ended with {done.returncode}: {done.stderr}"
    made = {path.name for path in own.iterdir()} - before
    if done.returncode == 0:
        return ""
    if made:
        return f"{what}, and left {made}"
    lines = done.stderr.splitlines()
    threads = done.returncode == 1 and "no thread could be started" in done.stderr
    right = done.returncode == 2 or threads
    return "" if right and len(lines) == 1 and lines[0].startswith("raytracer: ") else what


@NO_LIMITS
@pytest.mark.parametrize("kind", [resource.RLIMIT_AS, resource.RLIMIT_DATA])
def test_a_limit_of_address_space_is_one_sentence(kind: int, folder: Path) -> None:
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        jobs = [pool.submit(limited, kind, command, folder) for command in COMMANDS]
        wrong = [said for job in jobs if (said := job.result())]
    assert wrong == []
