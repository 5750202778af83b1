"""What the model of waves knows of a choice: counts of steps, waves and bytes."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from raytracer.benchmark.products.tile import SimtTile, TensorTile

if TYPE_CHECKING:
    from raytracer.benchmark.products.layout import Operand, Problem
    from raytracer.benchmark.products.tile import AnyTile
    from raytracer.benchmark.products.units import Units

LINE = 128  # bytes of a line of the L2 cache
SCHEDULERS = 4  # of a multiprocessor; a warp belongs to one
# A cluster of more than two blocks lies within one group of multiprocessors. Groups of these sizes
# yield what an H200's cuOccupancyMaxActiveClusters says, of clusters of any size and for any number
# of blocks that share a multiprocessor. Eight of the multiprocessors are in none.
GROUPS, OF_GROUPS = (18, 18, 16, 16, 16, 16, 16, 8), 132
# Share of the multiprocessors up to which, and from which on, an early launch pays: by blocks of a
# cluster (3: and more), and where several blocks share a multiprocessor, by whether these are parts
# of more than two.
EARLY = {1: (0.5, 0.85), 2: (0.5, 0.97), 3: (0.2, 0.7)}
EARLY_SEVERAL = {False: (0.0, 0.95), True: (0.0, 1.2)}


class Features(NamedTuple):
    """Numbers for one choice, or arrays of them for many; flags are 0 or 1.

    Attributes:
        area: of a tile, 1,000 values of C.
        traffic: bytes of a step along k that a block reads from the L2 cache, 1,000.
        reads: bytes of a step that its tensor cores read from shared memory, 1,000.
        sharers: blocks of a cluster that share operands, the logarithm to base 2.
        steps: of the busiest worker, in whole tiles.
        part_steps: of the busiest worker, in parts of tiles.
        waves: tiles of the busiest worker that are taken whole.
        sharing: blocks that a scheduler serves in turns (float32).
        turns: warps of those blocks.
        split: tiles are divided along k through global memory.
        parts: of a tile, then.
        cluster: blocks of a cluster that share an operand or a tile.
        cluster_parts: blocks of a cluster that divide a tile along k; 0: none.
        idle: share of the multiprocessors without a block.
        early: launched early.
        crowded: launched early where that does not pay (`starts_early`).
        unaligned: rows of A or B do not fill lines of the cache.
        ragged: rows of C do not.
        scattered: rows of C do not start at multiples of 16 bytes, and parts of a cluster store
            single values (float32).
        exchanged: nor do these, but a warp stores neighbours (ladders/matmul/unit_rows.cuh).
        narrow: B is copied by single values (float32).
        long: the product reaches the power limit.
        copies: operands are copied to aligned rows first.
        copied: bytes of those copies, in millions.
        moved: bytes of A, B and C, in millions.
    """

    area: float
    traffic: float
    reads: float
    sharers: float
    steps: float
    part_steps: float
    waves: float
    sharing: float
    turns: float
    split: float
    parts: float
    cluster: float
    cluster_parts: float
    idle: float
    early: float
    crowded: float
    unaligned: float
    ragged: float
    scattered: float
    exchanged: float
    narrow: float
    long: float
    copies: float
    copied: float
    moved: float


LONG_FLOP = 6e10


def own_key(tile: AnyTile) -> str:
    """Return the name under which a tile, or tiles of any width, have constants of their own."""
    request = replace(tile.request, parts=1)
    if isinstance(tile, SimtTile):
        return f"{request}{'' if tile.wide_b else ' narrow'}"
    return f"{tile.rows}{request.kind}"


def clusters_at_once(size: int, layers: int, multiprocessors: int) -> int:
    """Return how many clusters of `size` blocks run at once, at most `layers` blocks on each."""
    if size <= 2:
        return layers * multiprocessors // size
    found = sum(layers * group // size for group in GROUPS)
    return max(1, found * multiprocessors // OF_GROUPS)


def layers_of(clusters: int, tile: TensorTile | SimtTile, multiprocessors: int) -> int:
    """Return the blocks on the busiest multiprocessor: the fewest with which all clusters fit."""
    size = tile.cluster * tile.parts
    for layers in range(1, tile.per_multiprocessor):
        if clusters <= clusters_at_once(size, layers, multiprocessors):
            return layers
    return tile.per_multiprocessor


def starts_early(tile: AnyTile, units: Units, multiprocessors: int) -> bool:
    """Whether a launch before the kernel ahead has ended pays.

    If only some of the blocks find room beside those of the kernel ahead, all lie unevenly on the
    multiprocessors, which takes more time than the early launch saves.
    """
    size = tile.cluster * tile.parts
    share = units.workers * size / (multiprocessors * tile.per_multiprocessor)
    few, many = EARLY[min(size, 3)] if tile.per_multiprocessor == 1 else EARLY_SEVERAL[size > 2]
    return share <= few or share >= many


def features(
    problem: Problem,
    tile: TensorTile | SimtTile,
    units: Units,
    early: bool,
    multiprocessors: int,
) -> Features:
    """Return the numbers of a choice."""
    whole, split = units.tiles - units.split_tiles, units.split_tiles
    waves, sharing = -(-whole // units.workers), 1.0
    steps, part_steps = waves * units.steps, split * units.steps / units.workers
    size, most = tile.cluster * tile.parts, tile.per_multiprocessor
    at_once = clusters_at_once(size, most, multiprocessors) * size
    launched = -(-units.workers * size // at_once)  # waves of workers
    steps, part_steps, waves = steps * launched, part_steps * launched, waves * launched
    if tile.parts > 1:
        waves = launched
        steps, part_steps = waves * -(-units.steps // tile.parts), 0
    if isinstance(tile, SimtTile):
        sharing = _sharing(tile, units.workers, multiprocessors)
    flop = 2.0 * problem.m * problem.n * problem.k
    copied = sum(_copied(problem, tile))
    value = problem.a.size
    moved = value * problem.k * (problem.m + problem.n) + problem.c.size * problem.m * problem.n
    return Features(
        area=tile.rows * tile.cols * 1e-3,
        traffic=(tile.rows / tile.request.across + tile.box_cols) * tile.depth * value * 1e-3,
        reads=tile.rows / 64 * (64 + tile.cols) * tile.depth * value * 1e-3,
        sharers=math.log2(tile.cluster),
        steps=steps,
        part_steps=part_steps,
        waves=waves,
        sharing=sharing,
        turns=sharing * tile.threads / 32 / SCHEDULERS,
        split=float(split > 0),
        parts=units.workers / split if split else 0.0,
        cluster=float(tile.cluster * tile.parts > 1),
        cluster_parts=float(tile.parts if tile.parts > 1 else 0),
        idle=max(0.0, 1 - units.workers * size / at_once),
        early=float(early),
        crowded=float(early and not starts_early(tile, units, multiprocessors)),
        unaligned=float((problem.a.pitch | problem.b.pitch) * value % LINE != 0),
        ragged=float(problem.c.pitch * problem.c.size % LINE != 0),
        scattered=float(not problem.c.aligned and tile.parts > 1),
        exchanged=float(not problem.c.aligned and tile.parts == 1),
        narrow=float(isinstance(tile, SimtTile) and not tile.wide_b),
        long=float(flop > LONG_FLOP),
        copies=float(copied > 0),
        copied=copied * 1e-6,
        moved=moved * 1e-6,
    )


def _sharing(tile: SimtTile, workers: int, multiprocessors: int) -> float:
    """Return the blocks that a scheduler serves in turns, the mean of the waves of clusters.

    Where two blocks fill a multiprocessor they end together, and two of the next wave follow them
    there even if others have none.
    """
    if tile.parts == 1:
        return _turns(tile, layers_of(workers, tile, multiprocessors))
    most = tile.per_multiprocessor
    at_once = clusters_at_once(tile.parts, most, multiprocessors)
    waves = -(-workers // at_once)
    last = layers_of(workers - (waves - 1) * at_once, tile, multiprocessors)
    if waves > 1 and most == 2:
        last = most
    return ((waves - 1) * _turns(tile, most) + _turns(tile, last)) / waves


def _turns(tile: SimtTile, blocks: int) -> float:
    """Return blocks that a scheduler serves in turns, if a multiprocessor has some.

    Two warps of a small block leave two of the four schedulers idle.
    """
    warps = tile.threads // 32
    return math.ceil(blocks * warps / SCHEDULERS) * SCHEDULERS / warps


def _copied(problem: Problem, tile: TensorTile | SimtTile) -> tuple[float, float]:
    a, b = problem.a, problem.b
    which = tile.copied if isinstance(tile, SimtTile) else (not a.aligned, not b.aligned)
    return _bytes(a) * which[0], _bytes(b) * which[1]


def _bytes(operand: Operand) -> float:
    return 2.0 * operand.rows * operand.cols * operand.size  # read and written
