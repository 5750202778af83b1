"""Predicted times of products on an H200: waves of tiles, with costs fitted on measurements.

The constants are those with which the model chose best among the timings of 130 sizes (tensor
cores) and 150 sizes (float32); docs/kernels/experiments.md has the shares that it reaches. On
another device only the proportions matter.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from raytracer.benchmark.products.tile import SimtTile, TensorTile

if TYPE_CHECKING:
    from raytracer.benchmark.products.layout import Problem
    from raytracer.benchmark.products.units import Units

US = 1e-6
LINE = 128  # bytes of a line of the L2 cache
AREA = 128 * 256  # of a tile, to which the costs below refer

# Tensor cores
LAUNCH, CLUSTER_LAUNCH = 1.4 * US, 0.35 * US
RATE = 5.74e12  # FLOP/s of a multiprocessor
LONG, LONG_FLOP = 1.076, 6e10  # the clock is lower in products that reach the power limit
L2_RATE, L2_RATE_UNALIGNED = 60e9, 49e9  # bytes/s of a multiprocessor, if rows fill lines or not
SHORTEST_STEP = 0.10 * US
TILE, TILE_AREA = 0.75 * US, 0.56 * US  # first loads and stores of a tile
PART, PART_AREA, PART_EACH = 2.7 * US, 8.2 * US, 2.4 * US  # parts of a tile: written, read, added
PART_STEP = 1.18  # parts share less of A and B in the L2 cache
MEMORY_RATE = 3.6e12  # bytes/s
EXCHANGE, EXCHANGE_AREA = 0.3 * US, 0.8 * US  # parts of a cluster: sent, added
COPY_LAUNCH, COPY_RATE = 2.5 * US, 2.4e12  # copies to aligned rows, bytes/s

# Multiply-adds
SIMT_LAUNCH = 10.5 * US
SCHEDULERS = 4  # of a multiprocessor; a warp belongs to one
SIMT_RATE = 200e9  # multiply-adds/s of a multiprocessor
SIMT_SHAPES = {
    (128, 256): 1.04,
    (256, 128): 1.06,
    (128, 128): 1.10,
    (64, 128): 1.17,
    (64, 64): 1.08,
}
NARROW = {256: 1.30, 128: 1.14, 64: 1.14}  # B by copies of 4 bytes, by columns of the tile
SIMT_TILE, SIMT_TILE_AREA = 3.0 * US, 0.1 * US
SIMT_PART, SIMT_PART_AREA, SIMT_PART_EACH = 0.7 * US, 3.3 * US, 0.6 * US


def predicted(
    problem: Problem, tile: TensorTile | SimtTile, units: Units, multiprocessors: int
) -> float:
    """Return the predicted seconds: those of the busiest worker, or of the memory."""
    if isinstance(tile, SimtTile):
        return _simt(tile, units, multiprocessors) + _copies(problem, tile)
    area = tile.rows * tile.cols / AREA
    flop = 2.0 * problem.m * problem.n * problem.k
    filled = min(1.0, units.workers * tile.cluster / multiprocessors)
    rows_fill_lines = (
        problem.a.pitch * problem.a.size | problem.b.pitch * problem.b.size
    ) % LINE == 0
    traffic = (tile.rows + tile.cols / tile.cluster) * tile.depth * 2 * (0.35 + 0.65 * filled)
    step = max(
        area * AREA * tile.depth * 2 / RATE * (LONG if flop > LONG_FLOP else 1.0),
        traffic / (L2_RATE if rows_fill_lines else L2_RATE_UNALIGNED),
        SHORTEST_STEP,
    )
    each = TILE + TILE_AREA * area
    whole, rest = units.tiles - units.split_tiles, units.split_tiles
    launch = LAUNCH + (CLUSTER_LAUNCH if tile.cluster * tile.parts > 1 else 0.0)
    if tile.parts > 1:
        waves = -(-units.tiles * tile.parts // multiprocessors)
        steps = -(-units.steps // tile.parts)
        return launch + waves * (steps * step + each + EXCHANGE + EXCHANGE_AREA * area)
    seconds = launch + -(-whole // units.workers) * (units.steps * step + each)
    if rest:
        parts = max(1.0, units.workers / rest)
        seconds += rest * units.steps / units.workers * step * PART_STEP + each
        seconds += PART + area * (PART_AREA + PART_EACH * parts)
    read = 2.0 * problem.k * (problem.m + problem.n)
    moved = read + problem.c.size * problem.m * problem.n
    return max(seconds, launch + moved / MEMORY_RATE)


def _copies(problem: Problem, tile: SimtTile) -> float:
    operands = zip((problem.a, problem.b), tile.copied, strict=True)
    moved = sum(2.0 * each.rows * each.cols * each.size for each, copied in operands if copied)
    return COPY_LAUNCH + moved / COPY_RATE if moved else 0.0


def _simt(tile: SimtTile, units: Units, multiprocessors: int) -> float:
    area, most = tile.rows * tile.cols, tile.per_multiprocessor
    rate = area * tile.depth * SIMT_SHAPES[tile.rows, tile.cols] / SIMT_RATE
    if not tile.wide_b:
        rate *= NARROW[tile.cols]
    each = SIMT_TILE_AREA * area / AREA
    blocks = min(most, -(-units.workers // multiprocessors))  # of a multiprocessor
    # Two warps of a small block leave two of the four schedulers idle.
    warps = tile.threads // 32
    together = -(-blocks * warps // SCHEDULERS) * SCHEDULERS / warps
    if tile.parts > 1:
        steps, waves = -(-units.steps // tile.parts), 1
        active = min(most, -(-units.tiles * tile.parts // multiprocessors))
        waves = -(-units.tiles * tile.parts // (most * multiprocessors))
        full = -(-active * warps // SCHEDULERS) * SCHEDULERS / warps
        return SIMT_LAUNCH + waves * (steps * rate * full + SIMT_TILE + each * full)
    whole, rest = units.tiles - units.split_tiles, units.split_tiles
    waves = -(-whole // units.workers)
    seconds = SIMT_LAUNCH + waves * (units.steps * rate * together + SIMT_TILE + each * together)
    if rest:
        parts = max(1.0, units.workers / rest)
        seconds += rest * units.steps / units.workers * rate * together + SIMT_TILE
        seconds += each * together + SIMT_PART
        seconds += area / AREA * together * (SIMT_PART_AREA + SIMT_PART_EACH * parts)
    return seconds
