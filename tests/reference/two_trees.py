"""One tree over atoms and bonds, or one for each kind under a common walk: time and instructions.

`python tests/reference/two_trees.py` renders a crystal as balls and sticks, with shadow rays, over
three hierarchies: mixed leaves, which is what the builder makes; a tree of the atoms and
one of the bonds, whose roots are the two children of one node, so that one walk visits both, nearer
nodes first; and the same with the bonds' tree first. Films are compared, and frames are timed in
turns. `--instructions` counts those of a frame on one thread by `perf` instead, which other
processes do not disturb. Records stay 32 bytes for atoms too: a tree with records of 16 bytes would
need a second copy of the walk.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time

import numpy as np
from numpy.typing import NDArray

from raytracer import _core, layout
from raytracer.backends.cpu import CpuDevice
from raytracer.buffers import Bvh, SceneBuffers, build_bvh
from raytracer.film.film import Film
from raytracer.pipeline import prepare
from raytracer.scene.scene import CapsuleSet, Scene, SphereSet

SIZE = (1024, 1024)
TREES = ("mixed", "atoms first", "bonds first")
SEED, CELLS_OF_CRYSTAL = 20261122, 60
CELLS = 255
"""Cells of a node's grid along an axis; its exponent is biased by 127."""


def tree_of(buffers: SceneBuffers, kind: str) -> Bvh:
    """Return the hierarchy over a scene of spheres and capsules by its name in TREES."""
    if kind == "mixed":
        return build_bvh(buffers, 2)
    parts = [np.arange(buffers.spheres), np.arange(buffers.spheres, buffers.count)]
    if kind == "bonds first":
        parts.reverse()
    trees = []
    for rows in parts:
        columns = tuple(np.ascontiguousarray(column[rows]) for column in buffers.columns)
        nodes, order, records = _core.build_bvh(columns, 2)
        trees.append(Bvh(nodes, rows[order].astype(np.int32), records))
    return joined(*trees)


def joined(first: Bvh, second: Bvh) -> Bvh:
    """Return two trees under a root of two children."""
    a, b = (tree.nodes.view(layout.dtype("Node"))[:, 0].copy() for tree in (first, second))
    # the roots lie side by side, then the other nodes of both
    a["child_base"] += 2
    b["child_base"] += len(a) + 1
    b["sphere_base"] += len(first.order)
    top = np.zeros(1, a.dtype)
    boxes = [box_of(tree.spheres) for tree in (first, second)]
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    top["origin"], top["inner"], top["child_base"] = low, 0b11, 1
    for axis, name in enumerate("xyz"):
        cell = 2.0 ** np.ceil(np.log2((high[axis] - low[axis]) / (CELLS - 1)))
        top["exponent"][0, axis] = int(np.log2(cell)) + 127
        top[f"lo_{name}"], top[f"hi_{name}"] = CELLS, 0  # an empty slot is an inverted box
        for slot, (begin, end) in enumerate(boxes):
            top[f"lo_{name}"][0, slot] = np.floor((begin[axis] - low[axis]) / cell)
            top[f"hi_{name}"][0, slot] = np.ceil((end[axis] - low[axis]) / cell)
    nodes = np.concatenate([top, a[:1], b[:1], a[1:], b[1:]])
    return Bvh(
        np.ascontiguousarray(nodes.view(np.uint8).reshape(len(nodes), -1)),
        np.concatenate([first.order, second.order]),
        np.concatenate([first.spheres, second.spheres]),
    )


def box_of(records: NDArray[np.float32]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the lower and the upper corner of the box around capsules, (3,) each."""
    values = records.astype(np.float64)
    reach = np.abs(values[:, 4:7]) + values[:, 3:4]
    low, high = (values[:, :3] - reach).min(axis=0), (values[:, :3] + reach).max(axis=0)
    slack = 1e-6 * (high - low)
    return low - slack, high + slack


def crystal() -> Scene:
    """Return 216,000 atoms on a grid, a little out of their places, with 424,800 bonds."""
    random = np.random.default_rng(SEED)
    grid = np.stack(np.meshgrid(*[np.arange(CELLS_OF_CRYSTAL)] * 3, indexing="ij"), axis=-1)
    places = grid + random.uniform(-0.1, 0.1, grid.shape)
    starts = [places[:-1].reshape(-1, 3), places[:, :-1].reshape(-1, 3)]
    ends = [places[1:].reshape(-1, 3), places[:, 1:].reshape(-1, 3)]
    bonds = CapsuleSet(np.concatenate(starts), np.concatenate(ends), 0.08, "gray")
    return Scene([SphereSet(places.reshape(-1, 3), 0.25, "firebrick")], capsules=[bonds])


class Frames:
    """Frames of the crystal over one hierarchy."""

    def __init__(self, kind: str, scene: Scene, threads: int) -> None:
        settings = {"width": SIZE[0], "height": SIZE[1], "samples": 1, "integrator": "direct"}
        job = prepare(scene, settings, backend="cpu", threads=threads, keep=True)
        assert job.kept is not None
        buffers = job.kept[1]
        device = CpuDevice(threads)
        self.tree = tree_of(buffers, kind)
        self.view = job.view
        self.scene = device.scene(buffers, self.tree)
        self.device = device

    def one(self) -> NDArray[np.float32]:
        """Return the sums of a frame."""
        film = self.device.film(Film.blank(*SIZE))
        film.add(self.scene, self.view, 1)
        return film.to_host().sums


def compare(rounds: int, threads: int) -> None:
    """Print the median time of a frame over each hierarchy, in turns, and whether films agree."""
    scene = crystal()
    sides = {kind: Frames(kind, scene, threads) for kind in TREES}
    films = {kind: side.one() for kind, side in sides.items()}
    times: dict[str, list[float]] = {kind: [] for kind in TREES}
    for _ in range(rounds):
        for kind, side in sides.items():
            start = time.perf_counter()
            side.one()
            times[kind].append(1e3 * (time.perf_counter() - start))
    base = times["mixed"]
    for kind, found in times.items():
        ratio = statistics.median(a / b for a, b in zip(found, base, strict=True))
        differ = int((films[kind] != films["mixed"]).any(axis=-1).sum())
        size = sides[kind].tree.nbytes / len(sides[kind].tree.order)
        print(
            f"{kind:12} {statistics.median(found):7.1f} ms, {ratio:.3f} of mixed leaves, "
            f"{size:.1f} bytes a primitive, {differ} pixels differ"
        )


def instructions(kind: str, frames: int) -> int:
    """Return the instructions of a process that renders frames over a hierarchy."""
    words = [sys.executable, __file__, "--only", kind, "--rounds", str(frames)]
    done = subprocess.run(
        ["perf", "stat", "-x,", "-e", "instructions:u", *words],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    return int(next(line for line in done.stderr.splitlines() if "instr" in line).split(",")[0])


def main() -> None:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=15, help="frames of each")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--instructions", action="store_true", help="count instructions instead")
    parser.add_argument("--only", choices=TREES, help=argparse.SUPPRESS)
    said = parser.parse_args()
    if said.only:
        side = Frames(said.only, crystal(), 1)
        for _ in range(said.rounds):
            side.one()
    elif said.instructions:
        for kind in TREES:
            frame = (instructions(kind, 3) - instructions(kind, 1)) / 2
            print(f"{kind:12} {frame / 1e6:.0f} million instructions a frame")
    else:
        compare(said.rounds, said.threads)


if __name__ == "__main__":
    main()
