"""Figures of movies: overlap of the stages, workers that are killed, an index of a long file.

    python tests/reference/movies_bench.py movie [--look direct] [--instructions]
    python tests/reference/movies_bench.py farm
    python tests/reference/movies_bench.py index [--gib 1]

`movie` writes 200 frames of 100,000 particles to an .mp4 of 1280x720 with 8 samples, and prints the
elapsed time beside the sum of the times that the same frames take to render alone: the kernels that
add samples to a film, on a tree that is built: those of even frames before the movie, those of odd
ones after it, because the speed of a machine changes. A second ratio counts the tree and the tone
mapping of each frame too, as parts of its picture. `--trajectory` keeps the file of the frames, so
that another run need not write it. `--instructions` counts instructions and cycles of all
threads instead, by `perf`; other processes do not change the former. `farm` lets four workers of
this machine render 200 frames, kills two of them at random moments, and compares time and bytes
with an undisturbed run. `index` writes a LAMMPS dump of 10,000 atoms per frame, and measures how
fast it is indexed, how long any frame takes after that, and the peak of memory. Several GPUs are
measured by `two_gpus.py`.
"""

from __future__ import annotations

import argparse
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import raytracer
from raytracer.animation.shots import Renderer
from raytracer.farm import local
from raytracer.film.film import Film

FRAMES = 200
PARTICLES = 100_000
SIZE: dict[str, Any] = {"width": 1280, "height": 720, "samples": 8, "backend": "cpu"}
DUMP_ATOMS = 10_000
LOOKUPS = 50


def positions(count: int, frames: int) -> NDArray[np.float32]:
    """Particles that drift through a box, (frames, count, 3)."""
    rng = np.random.default_rng(11)
    start = rng.uniform(size=(count, 3))
    way = rng.normal(scale=0.002, size=(count, 3))
    times = np.arange(frames)[:, None, None]
    return ((start + way * times) * 50.0).astype(np.float32)


def gsd_file(folder: Path, count: int, frames: int) -> Path:
    """Write a trajectory of HOOMD-blue."""
    import gsd.hoomd

    path = folder / "movie.gsd"
    with gsd.hoomd.open(path, "w") as file:
        for places in positions(count, frames):
            frame = gsd.hoomd.Frame()
            frame.particles.N = count
            frame.particles.position = places - 25.0
            frame.particles.diameter = np.full(count, 0.8, np.float32)
            frame.configuration.box = [50, 50, 50, 0, 0, 0]
            file.append(frame)
    return path


def counts_of(command: list[str]) -> NDArray[np.float64]:
    """Instructions and cycles of all threads of a command, (2,)."""
    done = subprocess.run(
        ["perf", "stat", "-x", ",", "-e", "instructions:u,cycles:u", *command],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    found = re.findall(r"^(\d+),,(?:instructions|cycles)", done.stderr, re.MULTILINE)
    assert len(found) == 2, done.stderr
    return np.array(found, np.float64)


def settings_of(look: str) -> dict[str, Any]:
    """Settings of a movie: the default look, or direct light."""
    return SIZE | ({} if look == "default" else {"integrator": "direct"})


class Alone(NamedTuple):
    """Seconds of the frames of a movie, each measured alone."""

    render: float
    tree: float
    tone: float


def alone(path: Path, look: str, repeat: int, frames: int, every: slice = slice(None)) -> Alone:
    """Render some frames so often, and return the seconds of the last time."""
    plan = raytracer.animate(path, frames=f":{frames}", **settings_of(look))._plan
    render, tree, tone = 0.0, 0.0, 0.0
    with Renderer(plan) as renderer:
        settings = replace(renderer.tone, exposure=0.0)
        for shot in plan.shots[every]:
            job = renderer._prepare(shot).job
            for left in reversed(range(repeat)):
                with job.film(Film.blank(SIZE["width"], SIZE["height"])) as film:
                    last = job.expose(film, SIZE["samples"])
                    if not left:
                        job.image(film, settings, 8)
            render, tree = render + last, tree + job.timings["build"]
            tone += job.timings["tone"]
            job.scene.close()
    return Alone(render, tree, tone)


def movie(
    look: str, count: int, frames: int, count_instructions: bool, trajectory: Path | None
) -> None:
    """Compare a movie with its frames."""
    with tempfile.TemporaryDirectory(prefix="raytracer-bench-") as name:
        folder = Path(name)
        if trajectory is None:
            path = gsd_file(folder, count, frames)
        else:
            path = trajectory / "movie.gsd"
            path = path if path.exists() else gsd_file(trajectory, count, frames)
        if count_instructions:
            _movie_in_instructions(path, look, frames)
            return
        even = alone(path, look, 1, frames, slice(0, None, 2))
        animation = raytracer.animate(path, frames=f":{frames}", **settings_of(look))
        start, before = time.perf_counter(), processor_time()
        target = animation.save(folder / "a.mp4")
        elapsed, spent = time.perf_counter() - start, processor_time() - before
        odd = alone(path, look, 1, frames, slice(1, None, 2))
        rendering, tree, tone = (one + other for one, other in zip(even, odd, strict=True))
        size = target.stat().st_size / 1e6
    print(
        f"{look}: {frames} frames in {elapsed:.1f} s ({1e3 * spent / frames:.0f} ms of processor "
        f"time a frame), {size:.1f} MB; rendering alone "
        f"{rendering:.1f} s, {1e3 * rendering / frames:.0f} ms a frame; ratio "
        f"{elapsed / rendering:.2f}; with tree ({1e3 * tree / frames:.0f} ms) and tone mapping "
        f"({1e3 * tone / frames:.0f} ms) {elapsed / (rendering + tree + tone):.2f}"
    )


def _movie_in_instructions(path: Path, look: str, frames: int) -> None:
    me = [sys.executable, __file__]
    whole = counts_of([*me, "save", str(path), look, str(frames)])
    none = counts_of([*me, "save", str(path), look, "1"])
    one = counts_of([*me, "alone", str(path), look, "1", str(frames)])
    three = counts_of([*me, "alone", str(path), look, "3", str(frames)])
    render = (three - one) / 2.0 / frames / 1e6
    frame = (whole - none) / (frames - 1) / 1e6
    ratio = frame / render
    print(
        f"{look}: a frame of the movie takes {frame[0]:.0f} million instructions, {frame[1]:.0f} "
        f"million cycles; rendering alone {render[0]:.0f} and {render[1]:.0f}; ratio "
        f"{ratio[0]:.2f} and {ratio[1]:.2f}"
    )


def farm(count: int, frames: int) -> None:
    """Compare four workers with and without losses."""
    made: list[local.LocalCrew] = []

    class Seen(local.LocalCrew):
        def __init__(self, *arguments: Any) -> None:
            super().__init__(*arguments)
            made.append(self)

    local.LocalCrew = Seen  # type: ignore[assignment, misc]
    with tempfile.TemporaryDirectory(prefix="raytracer-bench-") as name:
        folder = Path(name)
        path = gsd_file(folder, count, frames)
        options: dict[str, Any] = SIZE | {"width": 640, "height": 360}
        took: list[float] = []
        spent: list[float] = []
        rendered: list[int] = []
        for target in ("calm.mp4", "killed.mp4"):
            made.clear()
            killer = threading.Thread(target=_kill_two, args=(made, took), daemon=True)
            animation = raytracer.animate(path, **options)
            start, before = time.perf_counter(), processor_time()
            if took:
                killer.start()
            animation.save(folder / target, workers=4)
            took.append(time.perf_counter() - start)
            spent.append(processor_time() - before)
            rendered.append(len(animation.seconds))
        one, other = ((folder / target).read_bytes() for target in ("calm.mp4", "killed.mp4"))
        same = "the same bytes" if one == other else "OTHER BYTES"
    print(
        f"four workers, {frames} frames: {took[0]:.1f} s; two killed: {took[1]:.1f} s, ratio "
        f"{took[1] / took[0]:.2f}; processor time {spent[0]:.1f} and {spent[1]:.1f} s, ratio "
        f"{spent[1] / spent[0]:.2f}; {rendered[1]} frames, {same}"
    )


def processor_time() -> float:
    """Seconds of all processors that this process and its ended children have used."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(used.ru_utime + used.ru_stime for used in map(resource.getrusage, kinds))


def _kill_two(made: list[local.LocalCrew], took: list[float]) -> None:
    """Kill two workers at random moments of the time that the undisturbed run took."""
    chance = random.Random(time.time_ns())
    moments = sorted(chance.uniform(0.1, 0.9) * took[0] for _ in range(2))
    start = time.perf_counter()
    for moment in moments:
        time.sleep(max(moment - (time.perf_counter() - start), 0.0))
        victim = chance.choice(list(made[0].processes.values()))
        os.kill(victim.pid, signal.SIGKILL)
        print(f"killed a worker after {moment:.1f} s")


def write_dump(path: Path, size: int) -> int:
    """Write a LAMMPS dump of real text, and return its number of frames."""
    rng = np.random.default_rng(7)
    ids = np.arange(1, DUMP_ATOMS + 1)
    blocks = []
    for _ in range(8):  # frames of the same atoms at other places
        places = rng.uniform(0.0, 50.0, (DUMP_ATOMS, 3))
        rows = [
            f"{i} {1 + i % 3} {x:.6f} {y:.6f} {z:.6f}"
            for i, (x, y, z) in zip(ids.tolist(), places.tolist(), strict=True)
        ]
        blocks.append("\n".join(rows).encode() + b"\n")
    frame, written = 0, 0
    with path.open("wb") as file:
        while written < size:
            head = (
                f"ITEM: TIMESTEP\n{frame * 1000}\nITEM: NUMBER OF ATOMS\n{DUMP_ATOMS}\n"
                "ITEM: BOX BOUNDS pp pp pp\n0 50\n0 50\n0 50\nITEM: ATOMS id type x y z\n"
            )
            written += file.write(head.encode()) + file.write(blocks[frame % len(blocks)])
            frame += 1
    return frame


def index(gib: float) -> None:
    """Index a dump, and read frames of it."""
    with tempfile.TemporaryDirectory(prefix="raytracer-bench-") as name:
        path = Path(name) / "long.dump"
        frames = write_dump(path, round(gib * 2**30))
        shutil.copyfile(path, "/dev/null")  # into the memory of the system: the disk is not asked
        environment = os.environ | {"RAYTRACER_CACHE": name + "/cache"}
        command = [sys.executable, __file__, "look", str(path), str(frames)]
        subprocess.run(command, env=environment, check=True)


def look(path: Path, frames: int) -> None:
    """Print the rate of the index, the time of a frame, and memory; in a process of its own."""
    from raytracer.trajectory.source import source_of

    size = path.stat().st_size
    start = time.perf_counter()
    source = source_of(path)
    indexed = time.perf_counter() - start
    assert source.count == frames
    again = time.perf_counter()
    source_of(path)
    again = time.perf_counter() - again
    chance, times = random.Random(3), []
    for _ in range(LOOKUPS):
        start = time.perf_counter()
        source.load(chance.randrange(frames))
        times.append(time.perf_counter() - start)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(
        f"{size / 2**30:.2f} GiB, {frames:,} frames: indexed in {indexed:.2f} s, "
        f"{size / indexed / 1e9:.2f} GB/s, again in {1e3 * again:.0f} ms; any frame in "
        f"{1e3 * sorted(times)[LOOKUPS // 2]:.0f} ms, at most {1e3 * max(times):.0f} ms; "
        f"peak {peak:.0f} MiB"
    )


def main() -> None:
    """Run a figure; `save`, `alone` and `look` are parts that run in processes of their own."""
    if sys.argv[1:2] == ["save"]:
        path, look_, frames = sys.argv[2:]
        animation = raytracer.animate(path, frames=f":{frames}", duration=int(frames) / 30.0,
                                      **settings_of(look_))  # fmt: skip
        animation.save(Path(path).with_name("a.mp4"), resume=False)
        return
    if sys.argv[1:2] == ["alone"]:
        alone(Path(sys.argv[2]), sys.argv[3], int(sys.argv[4]), int(sys.argv[5]))
        return
    if sys.argv[1:2] == ["look"]:
        look(Path(sys.argv[2]), int(sys.argv[3]))
        return
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("figure", choices=["movie", "farm", "index"])
    parser.add_argument("--look", choices=["default", "direct"], default="default")
    parser.add_argument("--instructions", action="store_true")
    parser.add_argument("--particles", type=int, default=PARTICLES)
    parser.add_argument("--frames", type=int, default=FRAMES)
    parser.add_argument("--gib", type=float, default=1.0)
    parser.add_argument("--trajectory", type=Path, help="a folder that keeps the frames")
    options = parser.parse_args()
    if options.figure == "movie":
        movie(
            options.look, options.particles, options.frames, options.instructions,
            options.trajectory,
        )  # fmt: skip
    elif options.figure == "farm":
        farm(options.particles // 10, options.frames)
    else:
        index(options.gib)


if __name__ == "__main__":
    main()
