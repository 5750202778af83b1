"""The estimate of memory is not below what commands use, and not far above it."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

MIB = 1 << 20
FACTOR, NEAR = 1.6, 240 * MIB
"""How far the estimate may lie above the peak: a factor, or bytes where those are more."""

# Runs one command as the terminal does, then says what was told and what was used.
CHILD = """
import json, sys
from raytracer.system import memory
from raytracer.system import resources
from raytracer.commands.cli import main
measured = {"estimate": 0}
def require_host(need, refuse=memory.require_host):
    measured["estimate"] = resources.peak_memory() + need.extra
    refuse(need)
memory.require_host = require_host
code = main(sys.argv[1:])
print(json.dumps(measured | {"peak": resources.peak_memory(), "code": code}))
"""
SAMPLE = ["--samples", "1", "--backend", "cpu"]
LARGE = ["--width", "3840", "--height", "2160"]
SMALL = ["--width", "640", "--height", "360"]
VARIABLES = ["--aov", "depth,normal,albedo,id,position,samples"]
RENDER = ["render", "a.npz", "-o", "a.png", "-q", *SAMPLE]
FILM = [*RENDER, *LARGE, *VARIABLES, "--film"]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        not Path("/proc/self/status").exists(), reason="reads memory as Linux tells it"
    ),
]


def write(name: str, count: int) -> None:
    rng = np.random.default_rng(1)
    centers = rng.random((count, 3), dtype=np.float32)
    size = np.float32(0.3 * count ** (-1 / 3))
    colors = rng.integers(0, 256, (count, 3), np.uint8)
    np.savez(name, centers=centers, radii=np.full(count, size), colors=colors)


def run(*command: str, limit: str = "") -> subprocess.CompletedProcess[str]:
    """One command in a process of its own, under a limit of the shell."""
    start = ["bash", "-c", f'{limit}; exec "$@"', "limited"] if limit else []
    return subprocess.run(
        [*start, sys.executable, "-c", CHILD, *command],
        capture_output=True, text=True, check=False,
    )  # fmt: skip


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("count", "command"),
    [
        (1_000_000, [*RENDER, *SMALL]),
        (1_000_000, [*RENDER, *LARGE, "--bits", "16"]),
        (1000, [*FILM, "f.exr"]),
    ],
    ids=lambda value: " ".join(value)[:60] if isinstance(value, list) else str(value),
)  # fmt: skip
def test_estimate(count: int, command: list[str]) -> None:
    if "f.exr" in command:
        pytest.importorskip("OpenEXR")
    write("a.npz", count)
    done = run(*command)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    assert found["code"] == 0, done.stderr
    peak, estimate = found["peak"], found["estimate"]
    figures = f"estimate {estimate / MIB:.0f} MiB, peak {peak / MIB:.0f} MiB"
    assert peak <= estimate <= max(FACTOR * peak, peak + NEAR), figures


@pytest.mark.parametrize("options", [[], ["--film", "f.npz", "--aov", "depth,normal"]])
def test_what_a_refusal_proposes_works(options: list[str]) -> None:
    """Under `ulimit -v`: first a sentence, then the size that it names is rendered."""
    write("a.npz", 1000)

    def render(width: str, height: str) -> subprocess.CompletedProcess[str]:
        size = ["--width", width, "--height", height]
        return run(*RENDER, *size, "--threads", "1", *options, limit="ulimit -v 900000")

    refused = render("20000", "10000")
    found = re.search(r"a picture of (\d+)x(\d+) fits", refused.stderr)
    assert found, refused.stderr
    assert not Path("a.png").exists()
    render(found[1], found[2])
    assert Path("a.png").exists()
