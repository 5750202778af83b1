"""Live views for tests: states in memory, scripts in processes of their own."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np

import raytracer
from raytracer.in_situ.feed import COLUMN, Feed
from raytracer.in_situ.sinks import InlineRunner
from raytracer.in_situ.state_channel import StateWriter, make_channel

SETTINGS: dict[str, Any] = {
    "backend": "cpu", "threads": 1, "width": 64, "height": 48, "samples": 2,
}  # fmt: skip


class Simulation:
    """What logs states into a feed, without a view."""

    def __init__(self) -> None:
        self.writer, reader = make_channel()
        self.feed = Feed(reader)

    def log(self, positions: Any, name: str = "points", **columns: Any) -> None:
        arrays = {"positions": np.asarray(positions, np.float64)}
        arrays |= {COLUMN + key: np.asarray(value) for key, value in columns.items()}
        self.writer.write(name, arrays, {"radii": 0.5})
        self.writer.publish({})


def feed_of(view: raytracer.LiveView) -> Feed:
    """What a view in this process shows."""
    runner = view._sinks[0].runner
    assert isinstance(runner, InlineRunner)
    return runner.feed


def size_of(writer: StateWriter) -> int:
    """Bytes of memory for all sets."""
    return sum(memory.size for memory in writer._memories.values())


def grid(count: int, shift: float = 0.0) -> Any:
    """Places of points in a row, (N, 3)."""
    return np.stack([np.arange(count) + shift, np.zeros(count), np.zeros(count)], axis=1)


def script(
    text: str, folder: Path, environment: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    """Start a script that is a simulation; its standard output and errors are pipes."""
    path = folder / "simulation.py"
    path.write_text(text)
    return subprocess.Popen(
        [sys.executable, str(path)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        cwd=folder, env=environment or os.environ,
    )  # fmt: skip


def runs(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"
