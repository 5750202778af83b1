"""Products with few rows, columns or steps: kernels/ladders/matmul/skinny.cuh."""

from __future__ import annotations

import math
import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from raytracer.benchmark.products.problem import Operand, Problem, Units

THREADS, COLS = 256, 4  # of a block; columns of C of a thread
WARPS = THREADS // 32
ROWS = 16  # of C that a thread holds, at most
SPLITS = 3  # ways to divide the rows among blocks
MAX_ROWS, MAX_STEPS = 64, 64  # in products for these kernels: one of them, at most
PACKED_BYTES = (16, 4)  # of neighbouring steps that a thread loads at once, the widest first
PACKED_ROWS = {2: 8, 4: 16}  # that a thread can hold beside them, by bytes of a value
PARTS = (1, 2, 4, 8)  # blocks of a cluster that divide k (split-K)
SHARED = 72 * 1024  # bytes of a block at most: three on a multiprocessor
SHARED_OF_ALL = 232448  # bytes of a multiprocessor on sm_90
SECTOR = 32  # bytes: what a read of global memory moves at least
MAX_VALUES = 1 << 32  # rows times pitch of a matrix, less than: offsets have 32 bits
MAX_EXTENT = (1 << 31) - (1 << 16)  # of m, n and k, less than: steps are counted beyond the end
MAX_THREADS = 1 << 31  # of a launch of `DirectProduct`, less than
DIRECT = (1, 4)  # rows, and columns, of a thread that works alone
AT_ONCE = {1: 8, 4: 4}  # blocks of these that a multiprocessor runs at once

# Microseconds for each, by bytes of a value: a launch; a cluster; a doubling of its blocks; a turn
# of loads that a thread waits for; a batch of loads to shared memory; an addition of sums of
# threads, one after the other; and of a multiprocessor's warps, in thousands: loads, sectors that
# these touch, multiply-adds, reads of shared memory, sums to shared memory; a megabyte of A, B, C.
FACTORS = {
    4: (1.1, 0.661, 0.247, 0.155, 0.331, 0.0101, 1.23, 0.471, 0.21, 0.572, 4.5, 0.129),
    2: (0.852, 0.418, 0.292, 0.339, 0.295, 0.0321, 2.9, 0.225, 0.213, 0.0, 1.92, 0.16),
}
# By bytes of a value and rows of a thread: a launch; a turn of loads; and of a multiprocessor's
# warps, in thousands: loads, stores, multiply-adds, loads of neighbouring threads from different
# rows; a megabyte.
DIRECT_FACTORS = {
    (4, 1): (0.411, 0.406, 0.706, 24.3, 0.0, 2.47, 0.211),
    (4, 4): (1.01, 0.402, 0.738, 0.0, 0.0626, 1.98, 0.272),
    (2, 1): (0.565, 0.445, 0.0, 3.69, 0.0, 2.22, 2.25),
    (2, 4): (0.934, 0.312, 0.0, 0.0, 0.0, 3.06, 0.399),
}


class Side(NamedTuple):
    """An operand: its first value, and values from row (or column) to row, from step to step."""

    address: int
    across: int
    step: int


@dataclass(frozen=True)
class SkinnyTile:
    """A kernel for few rows, and how its threads share the columns and the steps."""

    rows: int  # of C of a block, or its columns if swapped; of a thread that works alone
    is_direct: bool  # whether a thread computes values of C by itself (`DirectProduct`)
    swapped: bool  # the rows are the columns of C
    step_bits: int  # logarithm to base 2 of neighbouring threads that take steps in turns
    col_bits: int  # of the groups of those that have columns of their own
    parts: int  # blocks of a cluster that divide k
    value_size: int  # bytes of a value of A and B
    c_size: int  # bytes of a value of C
    chunk: int  # steps whose rows are in shared memory
    pack: int = 1  # neighbouring steps of a column that a thread loads at once

    threads = THREADS
    cluster = 1

    @property
    def cols(self) -> int:
        """Columns of C of a block, or its rows if swapped; of a thread that works alone."""
        return self.rows if self.is_direct else COLS << self.col_bits

    @property
    def turn(self) -> int:
        """Threads of a block that take steps in turns."""
        return THREADS >> self.col_bits

    @property
    def layers(self) -> int:
        """Blocks that a multiprocessor runs at once."""
        registers = 2 if self.rows > 2 or self.pack > 1 else 3
        return min(registers, SHARED_OF_ALL // (max(self.shared, 1024) + 1024))

    @property
    def label(self) -> str:
        """The kernel in words."""
        return f"direct {self.rows}x{self.rows}" if self.is_direct else f"skinny {self.rows}"

    @property
    def shared(self) -> int:
        """Bytes for rows of a chunk of steps; in the same place, later, the sums of all threads."""
        if self.is_direct:
            return 0
        sums = self.turn * (self.rows * self.cols + 1)
        room = self.chunk * pitch_of(self.rows, self.pack)
        return 4 * max(room, sums if self.turn * self.parts > 1 else 0)

    def macros(self) -> dict[str, str]:
        """Return the macros that the kernel is compiled with."""
        c_float = {"C_FLOAT": str(int(self.c_size == 4))} if self.value_size == 2 else {}
        kind = ("DIRECT_COLS", self.cols) if self.is_direct else ("PACK", self.pack)
        return {"SKINNY_ROWS": str(self.rows), kind[0]: str(kind[1]), **c_float}

    def arguments(self, problem: Problem, units: Units) -> bytes:
        """Return the struct `SkinnyArgs`."""
        few, many = sides(problem)
        rows, cols, c_row, c_col = problem.m, problem.n, problem.c.pitch, 1
        if self.swapped:
            few, many, rows, cols, c_row, c_col = many, few, cols, rows, c_col, c_row
        return struct.pack(
            "<3Q6I10i",
            few.address, many.address, problem.c.address,
            few.across, few.step, many.step, many.across, c_row, c_col,
            rows, cols, problem.k,
            units.tile_cols, self.parts, part_steps(problem.k, self.parts), self.chunk,
            self.step_bits, self.col_bits, 0,
        )  # fmt: skip


def pitch_of(rows: int, pack: int = 1) -> int:
    """Return the values of a step in shared memory, as in the kernel."""
    return rows if rows < 3 or pack > 1 else 4 * (-(-rows // 4) | 1)


def part_steps(steps: int, parts: int) -> int:
    """Return the steps of a block: whole warps of them where they are many."""
    share = -(-steps // parts)
    return -(-share // 32) * 32 if share > 64 or parts > 1 else share


def unroll_of(pack: int, size: int) -> int:
    """Return the loads of a column that a thread has on their way, as in the kernel."""
    return 2 if pack * size == PACKED_BYTES[0] else 4


def sides(problem: Problem) -> tuple[Side, Side]:
    """Return where the values of A and B lie."""
    by_rows = problem.b.transposed == (problem.b.size == 2)  # a row of B is contiguous
    return _side(problem.a, not problem.a.transposed), _side(problem.b, not by_rows)


def _side(operand: Operand, along_k: bool) -> Side:
    across, step = (operand.pitch, 1) if along_k else (1, operand.pitch)
    return Side(operand.address, across, step)


def forms(problem: Problem) -> Iterator[SkinnyTile]:
    """Yield the kernels for a product: none if it is not skinny."""
    if max(each.rows * each.pitch for each in (problem.a, problem.b, problem.c)) >= MAX_VALUES:
        return
    if max(problem.m, problem.n, problem.k) >= MAX_EXTENT:
        return
    for swapped in (False, True):
        rows = problem.n if swapped else problem.m
        if rows <= MAX_ROWS:
            fewest = -(-rows // ROWS)
            for rows_of_thread in {-(-rows // (fewest + i)) for i in range(SPLITS)}:
                yield from _shared_forms(rows_of_thread, problem, swapped)
        for rows in DIRECT if problem.k <= MAX_STEPS else ():
            tile = _form(rows, problem, swapped, is_direct=True)
            if division(problem, tile).workers * THREADS < MAX_THREADS:
                yield tile


def _shared_forms(rows: int, problem: Problem, swapped: bool) -> Iterator[SkinnyTile]:
    operand, cols = (problem.a, problem.m) if swapped else (problem.b, problem.n)
    many = sides(problem)[0 if swapped else 1]
    pack = _pack(problem.k, operand, many, rows)
    for step_bits in (0, 3, 5) if many.step == 1 and problem.k > 1 else (0,):
        for col_bits in range(9 - step_bits):
            if col_bits and COLS << (col_bits - 1) >= cols:
                break
            if not step_bits and _is_scattered(many, col_bits, cols, problem.a.size):
                continue
            for parts in PARTS:
                each = (step_bits, col_bits, parts, pack if step_bits else 1)
                tile = _form(rows, problem, swapped, *each)
                if tile.shared <= SHARED and (parts == 1 or problem.k >= parts * tile.turn):
                    yield tile


def _is_scattered(many: Side, col_bits: int, cols: int, size: int) -> bool:
    """Whether a warp reads less than a sector from each row, where rows would have more of it."""
    return many.across == 1 and size << col_bits < SECTOR and COLS << col_bits < cols


def _pack(steps: int, operand: Operand, many: Side, rows: int) -> int:
    """Return the steps that one access covers: one where they do not lie beside each other."""
    if many.step == 1 and rows <= PACKED_ROWS[operand.size]:
        for size in PACKED_BYTES:
            pack = size // operand.size
            whole = steps % pack == operand.pitch % pack == 0
            if pack > 1 and whole and operand.address % size == 0:
                return pack
    return 1


def _form(
    rows: int,
    problem: Problem,
    swapped: bool,
    step_bits: int = 0,
    col_bits: int = 0,
    parts: int = 1,
    pack: int = 1,
    is_direct: bool = False,
) -> SkinnyTile:
    share, size = part_steps(problem.k, parts), problem.a.size
    group = (THREADS >> col_bits) * unroll_of(pack, size) * pack
    room = SHARED // (4 * pitch_of(rows, pack))
    chunk = share if share <= room else max(1, room // group) * group
    return SkinnyTile(
        rows, is_direct, swapped, step_bits, col_bits, parts, size, problem.c.size, chunk, pack
    )


def every_macros(size: int, c_size: int, sample: bool) -> list[dict[str, str]]:
    """Return the macros of all compilations for bytes of values of A and B, and of C.

    sample: of the fewest and the most rows alone.
    """
    kinds = [(rows, True, 1) for rows in DIRECT]
    for rows in (1, ROWS) if sample else range(1, ROWS + 1):
        packs = [each // size for each in PACKED_BYTES if each > size]
        packs = [1, *(packs if rows <= PACKED_ROWS[size] else ())]
        kinds += [(rows, False, pack) for pack in packs]
    return [
        SkinnyTile(rows, direct, False, 0, 0, 1, size, c_size, 1, pack).macros()
        for rows, direct, pack in kinds
    ]


def division(problem: Problem, tile: SkinnyTile) -> Units:
    """Return the blocks of a product: one tile of C for each cluster, or for each thread."""
    rows, cols = (problem.n, problem.m) if tile.swapped else (problem.m, problem.n)
    tile_rows, tile_cols = -(-rows // tile.rows), -(-cols // tile.cols)
    blocks = -(-tile_rows * tile_cols // (THREADS if tile.is_direct else 1))
    return Units(tile_rows, tile_cols, problem.k, blocks)


def predicted(
    problem: Problem,
    tile: SkinnyTile,
    units: Units,
    multiprocessors: int,
    at_once: int,
) -> float:
    """Return the predicted seconds: counts times FACTORS. at_once: clusters that run at once."""
    m, n, k = problem.m, problem.n, problem.k
    moved = (tile.value_size * k * (m + n) + tile.c_size * m * n) * 1e-6
    factors: tuple[float, ...] = FACTORS[tile.value_size]
    counts: tuple[float, ...]
    if tile.is_direct:
        counts = _direct(problem, tile, units, multiprocessors)
        factors = DIRECT_FACTORS[tile.value_size, tile.rows]
    else:
        counts = _shared(problem, tile, units, multiprocessors, at_once)
    numbers = (1.0, *counts, moved)
    return 1e-6 * sum(number * each for number, each in zip(numbers, factors, strict=True))


def _direct(
    problem: Problem, tile: SkinnyTile, units: Units, multiprocessors: int
) -> tuple[float, ...]:
    apart = sides(problem)[0 if tile.swapped else 1].across > 1
    blocks, k = units.workers, problem.k
    waves = -(-blocks // (multiprocessors * AT_ONCE[tile.rows]))
    warps = WARPS * max(1.0, blocks / multiprocessors) * 1e-3
    values = tile.rows * tile.cols
    turns = -(-k // (4 if values > 4 else 8))
    loads = k * (tile.rows + tile.cols)
    return (
        float(turns * waves),
        warps * loads,
        warps * values,
        warps * k * values,
        warps * k * tile.cols * apart,
    )


def _shared(
    problem: Problem, tile: SkinnyTile, units: Units, multiprocessors: int, at_once: int
) -> tuple[float, ...]:
    share, unroll = part_steps(problem.k, tile.parts), unroll_of(tile.pack, tile.value_size)
    turns = -(-share // (tile.turn * unroll * tile.pack))
    layers = -(-units.workers // at_once)
    blocks = max(1.0, units.workers * tile.parts / multiprocessors) * 1e-3
    batch = -(-min(share, tile.chunk) * tile.rows // (THREADS * 8)) * -(-share // tile.chunk)
    count = tile.rows * tile.cols
    groups = min(tile.turn, max(1, THREADS // count))
    chain = tile.turn / groups * -(-count * groups // THREADS)
    loads = WARPS * turns * unroll * COLS
    steps = WARPS * turns * unroll * tile.pack
    sectors = loads * tile.pack * tile.value_size / min(_run_bytes(problem, tile), SECTOR) * 4
    pieces = tile.rows / (4 if tile.pack > 2 else 2) if tile.pack > 1 else -(-tile.rows // 4)
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


def _run_bytes(problem: Problem, tile: SkinnyTile) -> int:
    """Return the bytes beside each other that the threads of a warp load at once."""
    if tile.step_bits:
        return tile.pack * tile.value_size << tile.step_bits
    apart = sides(problem)[0 if tile.swapped else 1].across > 1
    return tile.value_size << (0 if apart else min(5, tile.col_bits))
