"""Time of what figures of data need: colours by a column, start-up, a small file as a whole.

`python docs/research/data_bench.py` prints the smallest elapsed time of some rounds, the
processor time of that round, and where `perf` is installed the instructions, which other processes
do not disturb. `--count` says how many particles are coloured.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

import raytracer
from raytracer.appearance.coloring.by_scale import find_limits
from raytracer.appearance.coloring.scale import ColorScale

WATER = "3\nwater\nO 0.000 0.117 0.000\nH 0.757 -0.469 0.000\nH -0.757 -0.469 0.000\n"
"""The file of the guide."""


def least(work: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Return the smallest elapsed time of some calls, and its processor time, seconds."""
    found = []
    for _ in range(rounds):
        start, before = time.perf_counter(), os.times()
        work()
        after, end = os.times(), time.perf_counter()
        used = sum(after[:4]) - sum(before[:4])
        found.append((end - start, used))
    return min(found)


def row(name: str, work: Callable[[], object], rounds: int, count: int = 0) -> None:
    """Print a row: elapsed and processor time, and instructions where they are given."""
    elapsed, used = least(work, rounds)
    cells = f"{count / 1e6:,.0f} M" if count else ""
    print(f"| {name} | {elapsed:.3f} s | {used:.3f} s | {cells} |", flush=True)


def instructions(words: list[str]) -> int:
    """Return the instructions of a process, or 0 without perf."""
    if shutil.which("perf") is None:
        return 0
    command = ["perf", "stat", "-x,", "-e", "instructions:u", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    lines = [line for line in done.stderr.splitlines() if "instructions" in line]
    return int(float(lines[-1].partition(",")[0])) if lines else 0


def colors(count: int, rounds: int) -> None:
    """Print the time of colours of a column, without reading it: range and palette rows."""
    rng = np.random.default_rng(1)
    for kind in ("float64", "float32"):
        values = rng.normal(size=count).astype(kind)

        def work(values: np.ndarray = values) -> object:
            low, high = find_limits((None, None), [values])
            return ColorScale("viridis", "linear", low, high).ids(values)

        row(f"{count:,} colours by a column, {kind}", work, rounds)
    spheres = np.zeros((count, 3), np.float32)
    scene = raytracer.Scene.from_arrays(spheres, 1.0, columns={"value": values})
    row(f"{count:,}, Scene.styled(color_by=...)", lambda: scene.styled(color_by="value"), rounds)


def bonds(count: int, rounds: int) -> None:
    """Print the time of bonds by distance, of atoms placed at random at the density of water."""
    rng = np.random.default_rng(2)
    side = (count / 0.1) ** (1.0 / 3.0)  # 0.1 atoms per cubic angstrom
    scene = raytracer.Scene.from_arrays(rng.uniform(0.0, side, (count, 3)), 0.3)
    row(f"{count:,} atoms, bonds of at most 1.2", lambda: scene.styled(bonds=1.2), rounds)


def processes(rounds: int) -> None:
    """Print the time of whole processes."""
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "water.xyz").write_text(WATER)
        target = str(Path(folder, "water.png"))
        render = ["render", str(Path(folder, "water.xyz")), "--size", "960x540", "-q", "-o", target]
        command = [sys.executable, "-m", "raytracer"]
        for name, words in (
            ("python alone", [sys.executable, "-c", "pass"]),
            ("import raytracer", [sys.executable, "-c", "import raytracer"]),
            ("raytracer render --help", [*command, "render", "--help"]),
            ("render water.xyz, 960x540", [*command, *render, "--backend", "cpu"]),
            ("the same, one sample", [*command, *render, "--backend", "cpu", "--samples", "1"]),
        ):

            def work(words: list[str] = words) -> object:
                return subprocess.run(words, check=True, capture_output=True)

            work()  # compiles the modules
            row(name, work, rounds, instructions(words))


def main() -> None:
    """Run what the command line says."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=10_000_000)
    parser.add_argument("--rounds", type=int, default=7)
    options = parser.parse_args()
    print("| what | elapsed | processor | instructions |\n| --- | ---: | ---: | ---: |")
    processes(options.rounds)
    colors(options.count, options.rounds)
    bonds(options.count // 10, 3)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(f"\nload {os.getloadavg()[0]:.1f}, peak {peak:,.0f} MiB")


if __name__ == "__main__":
    main()
