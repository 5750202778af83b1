"""The choice of tile, number of workers and division along k by a model of waves.

Constants are fitted to times of choices at random sizes on an H200, by
docs/research/product_model.py; on another device only the proportions matter.
"""

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from raytracer.benchmark.products.tiles import (
    Problem,
    Shape,
    SimtTile,
    TensorTile,
    Units,
    list_kernels,
    shapes_for,
)

AnyTile = TensorTile | SimtTile

SNAP = 4  # steps along k: a shorter part costs more to hand over than to compute
BAND_ROWS = 2048  # of C: tiles that are computed at once cover about a square
MAX_PARTS = 16  # of a tile: its owner adds them one by one
LINE = 128  # bytes of a line of the L2 cache
SCHEDULERS = 4  # of a multiprocessor; a warp belongs to one
LONG_FLOP = 6e10  # from which on a product reaches the power limit
SHARP = 8  # of two limits the larger counts; near their crossing a little more
# Share of the multiprocessors up to which, and from which on, an early launch pays: by blocks of a
# cluster (3: and more), and where several blocks share a multiprocessor, by whether these are parts
# of more than two.
EARLY = {1: (0.5, 0.85), 2: (0.5, 0.97), 3: (0.2, 0.7)}
EARLY_SEVERAL = {False: (0.0, 0.95), True: (0.0, 1.2)}

# Microseconds, and rates in their units; of each tile its rate of multiplication relative to
# others, and microseconds for first loads and last stores.
TENSOR = {
    "rate": 6514.0, "long": 0.08041, "l2": 107.4, "shared": 386.2, "l2 shared": 0.7384,
    "l2 shared unaligned": 0.8852, "l2 unaligned": 70.58, "idle load": 0.5821,
    "shortest step": 0.1498, "launch": 2.255, "early": 0.4382, "cluster": 0.4719, "first": 0.1755,
    "tile area": 0.0311, "tile ragged": 0.03078, "crowded": 0.00885, "part step": 0.04812,
    "exchange": 0.01986, "exchange area": 0.0623, "split step": 1.225, "split": 2.617,
    "split area": 0.00848, "split part": 0.07546, "copy": 2.73, "copy rate": 3.819, "memory": 2.906,
}  # fmt: skip
TENSOR_TILES = {
    "64": (1.07, 0.324), "64 cluster 2": (0.9062, 0.4048),
    "64 cluster 4": (1.049, 0.3905),
    "128": (1.008, 0.3704), "128 turns": (1.006, 0.009529),
    "128 cluster 2": (1.03, 0.3653), "128 cluster 2 turns": (1.072, 0.04968),
    "192": (0.9872, 0.4365),
}  # fmt: skip
SIMT = {
    "rate": 193.2, "shortest step": 0.2985, "launch": 0.8096, "early": 0.1386, "cluster": 0.1176,
    "tile area": 0.01344, "tile scattered": 0.008813, "tile exchanged": 0.003628,
    "narrow": 0.1478, "exchange": 0.1404, "exchange area": 0.0389, "exchange part": 0.1608,
    "split step": 1.034, "split": 4.388, "split area": 0.01124, "split part": 0.04395,
    "copy": 1.451, "copy rate": 4.111, "memory": 2.99,
}  # fmt: skip
SIMT_TILES = {
    "64x64": (0.9688, 1.931), "64x64 narrow": (0.9832, 2.48),
    "64x128": (0.9929, 2.421), "64x128 narrow": (0.9848, 3.796),
    "128x128": (0.9984, 4.58), "128x128 narrow": (1.04, 4.818),
    "128x256": (1.041, 5.534), "128x256 narrow": (1.042, 3.248),
}  # fmt: skip


@dataclass(frozen=True)
class Choice:
    """A kernel and the division of the work."""

    tile: AnyTile
    units: Units
    seconds: float  # predicted
    early: bool = False  # whether it may start before the kernel ahead of it has ended

    @property
    def blocks(self) -> int:
        return self.units.workers * self.tile.cluster * self.tile.parts


def ranked(problem: Problem, multiprocessors: int, clusters: bool = True) -> list[Choice]:
    """Return all choices, the one that the model expects to be the fastest first.

    clusters: whether the device has clusters and early launches (sm_90 and later).
    """
    shapes = shapes_for(problem, clusters)
    choices = candidates(problem, shapes, multiprocessors, early=clusters)
    return sorted(choices, key=lambda choice: choice.seconds)


def candidates(
    problem: Problem, shapes: Iterable[Shape], multiprocessors: int, early: bool = True
) -> Iterator[Choice]:
    """Yield all choices with these tiles; `early`: whether they may start early."""
    for shape in shapes:
        for tile in list_kernels(shape, problem):
            for units in divisions(problem, tile, multiprocessors):
                starts = [True, False] if early else [False]
                if early and isinstance(tile, SimtTile):
                    # Multiply-adds lose much where an early start fails.
                    starts = [starts_early(tile, units, multiprocessors)]
                for start in starts:
                    seconds = predicted(problem, tile, units, multiprocessors, start)
                    yield Choice(tile, units, seconds, start)


def divisions(problem: Problem, tile: AnyTile, multiprocessors: int) -> Iterator[Units]:
    """Yield ways to divide a product among workers: whole tiles first."""
    cluster_rows = tile.rows * tile.cluster
    rows, cols = -(-problem.m // cluster_rows), -(-problem.n // tile.cols)
    steps, tiles = -(-problem.k // tile.depth), rows * cols
    most = clusters_at_once(tile.cluster, tile.per_multiprocessor, multiprocessors)
    band = max(1, BAND_ROWS // cluster_rows)
    if tile.parts > 1:
        if tile.parts <= steps:  # a cluster for each tile
            yield Units(rows, cols, steps, tiles, band=band)
        return
    # No more workers than the same number of waves needs: power is the limit.
    yield Units(rows, cols, steps, -(-tiles // -(-tiles // most)), band=band)
    snap = max(1, min(SNAP, steps // 2))
    if tiles >= most:
        if left := tiles % most:
            yield Units(rows, cols, steps, most, left, snap, band)
            yield Units(rows, cols, steps, most, left + most, snap, band)
        return
    for share in {2, 3, 4, 6, 8, 12, MAX_PARTS, most // tiles}:  # equal parts of every tile
        if share * tiles <= most and 1 < share <= min(MAX_PARTS, steps):
            yield Units(rows, cols, steps, share * tiles, tiles, 1, band)
    for layers in range(1, tile.per_multiprocessor + 1):  # as many workers on each multiprocessor
        workers = most * layers // tile.per_multiprocessor
        if tiles < workers < MAX_PARTS * tiles and tiles * steps >= workers * 2 * snap:
            yield Units(rows, cols, steps, workers, tiles, snap, band)


def clusters_at_once(size: int, layers: int, multiprocessors: int) -> int:
    """Return how many clusters of `size` blocks run at once, at most `layers` blocks on each."""
    if size <= 2:
        return layers * multiprocessors // size
    # A cluster of more than two blocks lies within one group of multiprocessors. Groups of these
    # sizes yield what an H200's cuOccupancyMaxActiveClusters says, for clusters of any size and any
    # number of blocks that share a multiprocessor. Eight of the 132 are in no group.
    clusters = sum(layers * group // size for group in (18, 18, 16, 16, 16, 16, 16, 8))
    return max(1, clusters * multiprocessors // 132)


def starts_early(tile: AnyTile, units: Units, multiprocessors: int) -> bool:
    """Whether a launch before the kernel ahead has ended pays.

    If only some of the blocks find room beside those of the kernel ahead, all lie unevenly on the
    multiprocessors, which takes more time than the early launch saves.
    """
    size = tile.cluster * tile.parts
    share = units.workers * size / (multiprocessors * tile.per_multiprocessor)
    few, many = EARLY[min(size, 3)] if tile.per_multiprocessor == 1 else EARLY_SEVERAL[size > 2]
    return share <= few or share >= many


class Load(NamedTuple):
    """The work of the busiest worker."""

    steps: float  # along k, in whole tiles
    part_steps: float  # in parts of tiles
    waves: float  # tiles that are taken whole
    split: bool  # whether tiles are divided along k through global memory
    parts: float  # of a tile, then
    idle: float  # share of the multiprocessors without a block


def estimate_load(tile: AnyTile, units: Units, multiprocessors: int) -> Load:
    split, size = units.split_tiles, tile.cluster * tile.parts
    waves = -(-(units.tiles - split) // units.workers)
    at_once = clusters_at_once(size, tile.per_multiprocessor, multiprocessors) * size
    launched = -(-units.workers * size // at_once)  # waves of workers
    steps = waves * units.steps * launched
    part_steps = split * units.steps / units.workers * launched
    waves *= launched
    if tile.parts > 1:
        waves, part_steps = launched, 0
        steps = waves * -(-units.steps // tile.parts)
    parts = units.workers / split if split else 0.0
    idle = max(0.0, 1 - units.workers * size / at_once)
    return Load(steps, part_steps, waves, split > 0, parts, idle)


def predicted(
    problem: Problem, tile: AnyTile, units: Units, multiprocessors: int, early: bool
) -> float:
    """Return the predicted seconds."""
    load = estimate_load(tile, units, multiprocessors)
    a, b = problem.a, problem.b
    if isinstance(tile, SimtTile):
        c, copies = SIMT, tile.copied
        terms = _simt(problem, tile, load, _sharing(tile, units.workers, multiprocessors))
    else:
        c, copies = TENSOR, (not a.aligned, not b.aligned)
        crowded = early and not starts_early(tile, units, multiprocessors)
        terms = _tensor(problem, tile, load, crowded)
    cluster = tile.cluster * tile.parts > 1
    seconds = c["launch"] - c["early"] * early + c["cluster"] * cluster
    seconds = sum(terms, seconds)
    read_and_written = (2.0 * each.rows * each.cols * each.size for each in (a, b))
    copied = sum(n * which for n, which in zip(read_and_written, copies, strict=True))
    seconds = seconds + any(copies) * c["copy"] + copied * 1e-6 / c["copy rate"]
    moved = a.size * problem.k * (problem.m + problem.n) + problem.c.size * problem.m * problem.n
    return 1e-6 * _larger(seconds, c["launch"] + moved * 1e-6 / c["memory"])


def _tensor(problem: Problem, tile: TensorTile, load: Load, crowded: bool) -> tuple[float, ...]:
    """Microseconds on the tensor cores, beside launch and copies."""
    c, a, b, out = TENSOR, problem.a, problem.b, problem.c
    efficiency, each = TENSOR_TILES[f"{tile.rows}{tile.kind}"]
    area, sharers = tile.rows * tile.cols * 1e-3, math.log2(tile.cluster)
    bytes_of_step = tile.depth * a.size * 1e-3
    traffic = (tile.rows + tile.box_cols) * bytes_of_step
    reads = tile.rows / 64 * (64 + tile.cols) * bytes_of_step
    long = 2.0 * problem.m * problem.n * problem.k > LONG_FLOP
    multiply = area * 128 / (c["rate"] * efficiency) * (1 + c["long"] * long)
    rate = c["l2"] * c["l2 shared"] ** sharers
    if (a.pitch | b.pitch) * a.size % LINE:  # rows do not fill lines of the cache
        rate = c["l2 unaligned"] * c["l2 shared unaligned"] ** sharers
    fetch = traffic * (1 - c["idle load"] * load.idle) / rate
    step = _larger(multiply, fetch, reads / c["shared"], c["shortest step"])
    step = step * (1 + c["crowded"] * crowded)
    in_parts = tile.parts > 1
    step = step * (1 + c["part step"] * in_parts * (tile.parts - 1))
    ragged = out.pitch * out.size % LINE != 0
    per_tile = each + area * (c["tile area"] + c["tile ragged"] * ragged)
    split = c["split"] + area * (c["split area"] + c["split part"] * load.parts)
    return (
        c["first"],
        load.steps * step,
        load.waves * per_tile,
        in_parts * (c["exchange"] + c["exchange area"] * area),
        load.part_steps * step * c["split step"],
        load.split * (per_tile + split),
    )


def _simt(problem: Problem, tile: SimtTile, load: Load, sharing: float) -> tuple[float, ...]:
    """Microseconds by multiply-adds, beside launch and copies."""
    c, narrow = SIMT, not tile.wide_b
    efficiency, each = SIMT_TILES[f"{tile.rows}x{tile.cols}{' narrow' * narrow}"]
    area, in_parts = tile.rows * tile.cols * 1e-3, tile.parts > 1
    unit = area * 8 / (c["rate"] * efficiency)  # a step of a block that has the multiprocessor
    work = (load.steps + load.part_steps * c["split step"]) * sharing * unit
    waiting = (load.steps + load.part_steps) * c["shortest step"]
    # A warp that has its scheduler alone waits for its copies of single values.
    work = work * (1 + c["narrow"] * narrow / (sharing * tile.threads / 32 / SCHEDULERS))
    work = (work**4 + waiting**4) ** 0.25
    # Rows of C that are not aligned: parts of a cluster store single values, others neighbours.
    scattered = not problem.c.aligned and in_parts
    exchanged = not problem.c.aligned and not in_parts
    store = c["tile area"] + c["tile scattered"] * scattered + c["tile exchanged"] * exchanged
    exchange = c["exchange"] + c["exchange area"] * area * sharing
    split = sharing * area * (c["split area"] + c["split part"] * load.parts)
    return (
        work,
        load.waves * (each + store * area * sharing),
        in_parts * (exchange + c["exchange part"] * tile.parts),
        load.split * (each + c["split"] + split),
    )


def _larger(*values: float) -> float:
    """Return about the largest of some numbers."""
    return float(sum(value**SHARP for value in values) ** (1 / SHARP))


def _sharing(tile: SimtTile, workers: int, multiprocessors: int) -> float:
    """Return the blocks that a scheduler serves in turns, the mean of the waves of clusters.

    Where two blocks fill a multiprocessor they end together, and two of the next wave follow them
    there even if others have none.
    """
    most = tile.per_multiprocessor
    at_once = clusters_at_once(tile.parts, most, multiprocessors)
    waves = -(-workers // at_once)
    last = _layers(workers - (waves - 1) * at_once, tile, multiprocessors)
    if waves > 1 and most == 2:
        last = most
    return ((waves - 1) * _turns(tile, most) + _turns(tile, last)) / waves


def _layers(clusters: int, tile: SimtTile, multiprocessors: int) -> int:
    """Return the blocks on the busiest multiprocessor: the fewest with which all clusters fit."""
    for layers in range(1, tile.per_multiprocessor):
        if clusters <= clusters_at_once(tile.parts, layers, multiprocessors):
            return layers
    return tile.per_multiprocessor


def _turns(tile: SimtTile, blocks: int) -> float:
    """Return blocks that a scheduler serves in turns, if a multiprocessor has some.

    Two warps of a small block leave two of the four schedulers idle.
    """
    warps = tile.threads // 32
    return math.ceil(blocks * warps / SCHEDULERS) * SCHEDULERS / warps
