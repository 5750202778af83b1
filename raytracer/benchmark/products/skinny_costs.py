"""Predicted times of the kernels for skinny products: sums of counts with fitted factors.

    python -m raytracer.benchmark.products.fit_skinny measure matmul -o times.json
    python -m raytracer.benchmark.products.fit_skinny fit times.json

The first command times every form of these kernels at random sizes on a GPU; the second one prints
the constants below. On another device only the proportions matter.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from raytracer.benchmark.products.features import clusters_at_once
from raytracer.benchmark.products.skinny import (
    COLS,
    SECTOR,
    THREADS,
    part_steps,
    sides,
    unroll_of,
)

if TYPE_CHECKING:
    from raytracer.benchmark.products.layout import Problem
    from raytracer.benchmark.products.skinny import SkinnyTile
    from raytracer.benchmark.products.units import Units

WARPS = THREADS // 32
SHARED = 232448  # bytes of a multiprocessor on sm_90, for all its blocks
FULL = {"1x1": 8, "4x4": 4}  # blocks of `DirectProduct` that a multiprocessor runs at once

# Microseconds for each, by bytes of a value: a launch; one that is not early; a cluster; a doubling
# of its blocks; a turn of loads that a thread waits for; a batch of loads to shared memory; an
# addition of sums of threads, one after the other; and of a multiprocessor's warps, in thousands:
# loads, sectors that these touch, multiply-adds, reads of shared memory, sums to shared memory; a
# megabyte of A, B, C.
SKINNY = {
    4: (1.1, 0.272, 0.661, 0.247, 0.155, 0.331, 0.0101, 1.23, 0.471, 0.21, 0.572, 4.5, 0.129),
    2: (0.852, 0.255, 0.418, 0.292, 0.339, 0.295, 0.0321, 2.9, 0.225, 0.213, 0.0, 1.92, 0.16),
}
# A launch; one that is not early; a turn of loads; and of a multiprocessor's warps, in thousands:
# loads, stores, multiply-adds, loads of neighbouring threads from different rows; a megabyte.
DIRECT = {
    (4, "1x1"): (0.411, 0.366, 0.406, 0.706, 24.3, 0.0, 2.47, 0.211),
    (4, "4x4"): (1.01, 0.827, 0.402, 0.738, 0.0, 0.0626, 1.98, 0.272),
    (2, "1x1"): (0.565, 0.383, 0.445, 0.0, 3.69, 0.0, 2.22, 2.25),
    (2, "4x4"): (0.934, 0.598, 0.312, 0.0, 0.0, 0.0, 3.06, 0.399),
}


def seconds_of(
    problem: Problem, tile: SkinnyTile, units: Units, multiprocessors: int, early: bool
) -> float:
    """Return the predicted seconds."""
    numbers = features(problem, tile, units, multiprocessors, early)
    factors = DIRECT[key_of(tile)] if tile.is_direct else SKINNY[tile.value_size]
    return 1e-6 * sum(map(float.__mul__, numbers, factors))


def key_of(tile: SkinnyTile) -> tuple[int, str]:
    """Return the name of the constants of a kernel whose threads work alone."""
    return tile.value_size, f"{tile.rows}x{tile.cols}"


def features(
    problem: Problem, tile: SkinnyTile, units: Units, multiprocessors: int, early: bool
) -> tuple[float, ...]:
    """Return the numbers of one choice, in the order of the constants."""
    each = _direct if tile.is_direct else _shared
    m, n, k = problem.m, problem.n, problem.k
    moved = (tile.value_size * k * (m + n) + tile.c_size * m * n) * 1e-6
    return 1.0, float(not early), *each(problem, tile, units, multiprocessors), moved


def _direct(
    problem: Problem, tile: SkinnyTile, units: Units, multiprocessors: int
) -> tuple[float, ...]:
    apart = sides(problem)[0 if tile.swapped else 1].across > 1
    blocks, k = units.workers, problem.k
    waves = -(-blocks // (multiprocessors * FULL[key_of(tile)[1]]))
    warps = WARPS * max(1.0, blocks / multiprocessors) * 1e-3
    values = tile.rows * tile.cols
    turns = -(-k // (4 if values > 4 else 8))
    loads, stores = k * (tile.rows + tile.cols), values
    return (
        float(turns * waves),
        warps * loads,
        warps * stores,
        warps * k * values,
        warps * k * tile.cols * apart,
    )


def _shared(
    problem: Problem, tile: SkinnyTile, units: Units, multiprocessors: int
) -> tuple[float, ...]:
    share, unroll = part_steps(problem.k, tile.parts), unroll_of(tile.pack, tile.value_size)
    turns = -(-share // (tile.turn * unroll * tile.pack))
    at_once = clusters_at_once(tile.parts, _layers(tile), multiprocessors)
    layers = -(-units.workers // at_once)
    blocks = max(1.0, units.workers * tile.parts / multiprocessors) * 1e-3
    batch = -(-min(share, tile.chunk) * tile.rows // (THREADS * 8)) * -(-share // tile.chunk)
    count = tile.rows * tile.cols
    groups = min(tile.turn, max(1, THREADS // count))
    chain = tile.turn / groups * -(-count * groups // THREADS)
    loads = WARPS * turns * unroll * COLS
    steps = WARPS * turns * unroll * tile.pack
    run = run_bytes(problem, tile)
    sectors = loads * tile.pack * tile.value_size / min(run, SECTOR) * 4
    pieces = _pieces(tile)
    return (
        float(tile.parts > 1),
        math.log2(tile.parts),
        float(turns * layers),
        float(batch * layers),
        float(chain * layers),
        blocks * loads,
        blocks * sectors,
        blocks * steps * COLS * tile.rows,
        blocks * steps * pieces * (4 if tile.step_bits else 1),
        blocks * count * tile.turn / 32,
    )


def _layers(tile: SkinnyTile) -> int:
    """Return the blocks that a multiprocessor runs at once."""
    registers = 2 if tile.rows > 2 or tile.pack > 1 else 3
    return min(registers, SHARED // (max(tile.shared, 1024) + 1024))


def _pieces(tile: SkinnyTile) -> float:
    """Return the reads of shared memory of a step."""
    if tile.pack == 1:
        return float(-(-tile.rows // 4))
    return tile.rows / (4 if tile.pack > 2 else 2)


def run_bytes(problem: Problem, tile: SkinnyTile) -> int:
    """Return the bytes beside each other that the threads of a warp load at once."""
    if tile.step_bits:
        return tile.pack * tile.value_size << tile.step_bits
    apart = sides(problem)[0 if tile.swapped else 1].across > 1
    return tile.value_size << (0 if apart else min(5, tile.col_bits))
