"""Products with few rows, columns or steps: kernels/ladders/matmul/skinny.cuh."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from raytracer.benchmark.products.units import Units
from raytracer.variants.header import MOST_SKINNY_ROWS

if TYPE_CHECKING:
    from raytracer.benchmark.products.layout import Operand, Problem
    from raytracer.variants import TileRequest

THREADS, COLS = 256, 4  # of a block; columns of C of a thread
ROWS = MOST_SKINNY_ROWS  # of C that a thread holds, at most
SPLITS = 3  # ways to divide the rows among blocks
MOST_ROWS, MOST_STEPS = 64, 64  # in products for these kernels: one of them, at most
PACKED_BYTES = (16, 4)  # of neighbouring steps that a thread loads at once, the widest first
PACKED_ROWS = {2: 8, 4: 16}  # that a thread can hold beside them, by bytes of a value
PARTS = (1, 2, 4, 8)  # blocks of a cluster that divide k (split-K)
SHARED = 72 * 1024  # bytes of a block at most: three on a multiprocessor
SECTOR = 32  # bytes: what a read of global memory moves at least
MOST_VALUES = 1 << 32  # rows times pitch of a matrix, less than: offsets have 32 bits
MOST_EXTENT = (1 << 31) - (1 << 16)  # of m, n and k, less than: steps are counted beyond the end
MOST_THREADS = 1 << 31  # of a launch of `DirectProduct`, less than


@dataclass(frozen=True)
class Side:
    """An operand: its first value, and values from row (or column) to row, and from step to step.

    Attributes:
        address: of the first value.
        across: values between rows of A, or between columns of B.
        step: values between steps along k.
    """

    address: int
    across: int
    step: int


@dataclass(frozen=True)
class SkinnyTile:
    """A kernel for few rows, and how its threads share the columns and the steps.

    Attributes:
        request: the rows of C that a thread holds, or rows and columns of a thread that works alone
            (`DirectProduct`).
        swapped: the rows are the columns of C.
        step_bits: logarithm to base 2 of neighbouring threads that take steps in turns.
        col_bits: of the groups of those that have columns of their own.
        parts: blocks of a cluster that divide k.
        value_size: bytes of a value of A and B.
        c_size: bytes of a value of C.
        chunk: steps whose rows are in shared memory.
        pack: neighbouring steps of a column that a thread loads at once.
    """

    request: TileRequest
    swapped: bool
    step_bits: int
    col_bits: int
    parts: int
    value_size: int
    c_size: int
    chunk: int
    pack: int = 1

    cluster = 1
    depth = 1
    threads = THREADS
    per_multiprocessor = 2

    @property
    def rows(self) -> int:
        """Rows of C of a block, or its columns if swapped."""
        return self.request.rows

    @property
    def is_direct(self) -> bool:
        """Whether a thread computes values of C by itself."""
        return self.request.form == "direct"

    @property
    def cols(self) -> int:
        """Columns of C of a block, or its rows if swapped; of a thread that works alone."""
        return self.request.cols if self.is_direct else COLS << self.col_bits

    @property
    def cluster_rows(self) -> int:
        """Rows of C of a cluster: its blocks divide k."""
        return self.rows

    @property
    def cluster_cols(self) -> int:
        """Columns of C of a cluster."""
        return self.cols

    @property
    def turn(self) -> int:
        """Threads of a block that take steps in turns."""
        return THREADS >> self.col_bits

    @property
    def label(self) -> str:
        """The entry of the header."""
        return str(self.request)

    @property
    def shared(self) -> int:
        """Rows of a chunk of steps; in the same place, later, the sums of all threads."""
        if self.is_direct:
            return 0
        sums = self.turn * (self.rows * self.cols + 1)
        room = self.chunk * pitch_of(self.rows, self.pack)
        return 4 * max(room, sums if self.turn * self.parts > 1 else 0)

    def macros(self) -> dict[str, str]:
        """Return the macros that the kernel is compiled with."""
        c_float = {"C_FLOAT": str(int(self.c_size == 4))} if self.value_size == 2 else {}
        own = ("DIRECT_COLS", self.cols) if self.is_direct else ("PACK", self.pack)
        return {"SKINNY_ROWS": str(self.rows), own[0]: str(own[1]), **c_float}

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


def sides(problem: Problem) -> tuple[Side, Side]:
    """Return where the values of A and B lie."""
    by_rows = problem.b.transposed == (problem.b.size == 2)  # a row of B is contiguous
    return _side(problem.a, not problem.a.transposed), _side(problem.b, not by_rows)


def _side(operand: Operand, along_k: bool) -> Side:
    across, step = (operand.pitch, 1) if along_k else (1, operand.pitch)
    return Side(operand.address, across, step)


def forms(request: TileRequest, problem: Problem) -> Iterator[SkinnyTile]:
    """Yield the kernels for a request: none for products that are not skinny."""
    if max(_extent(each) for each in (problem.a, problem.b, problem.c)) >= MOST_VALUES:
        return
    if max(problem.m, problem.n, problem.k) >= MOST_EXTENT:
        return
    for swapped in (False, True):
        if request.form == "direct":
            tile = _form(request, problem, swapped)
            threads = division(problem, tile).workers * THREADS
            if problem.k <= MOST_STEPS and threads < MOST_THREADS:
                yield tile
        else:
            yield from _shared_forms(request, problem, swapped)


def _extent(operand: Operand) -> int:
    return operand.rows * operand.pitch


def _shared_forms(request: TileRequest, problem: Problem, swapped: bool) -> Iterator[SkinnyTile]:
    rows, cols = (problem.n, problem.m) if swapped else (problem.m, problem.n)
    fewest = -(-rows // ROWS)
    if rows > MOST_ROWS or request.rows not in {-(-rows // (fewest + i)) for i in range(SPLITS)}:
        return
    many = sides(problem)[0 if swapped else 1]
    pack = _pack(problem, problem.a if swapped else problem.b, many, request.rows)
    for step_bits in (0, 3, 5) if many.step == 1 and problem.k > 1 else (0,):
        for col_bits in range(9 - step_bits):
            if col_bits and COLS << (col_bits - 1) >= cols:
                break
            if not step_bits and _is_scattered(many, col_bits, cols, problem.a.size):
                continue
            for parts in PARTS:
                each = (step_bits, col_bits, parts, pack if step_bits else 1)
                tile = _form(request, problem, swapped, *each)
                if tile.shared <= SHARED and (parts == 1 or problem.k >= parts * tile.turn):
                    yield tile


def _is_scattered(many: Side, col_bits: int, cols: int, size: int) -> bool:
    """Whether a warp reads less than a sector from each row, where rows would have more of it."""
    return many.across == 1 and size << col_bits < SECTOR and COLS << col_bits < cols


def _pack(problem: Problem, operand: Operand, many: Side, rows: int) -> int:
    """Return the steps that one access covers: one where they do not lie beside each other."""
    if many.step != 1 or rows > PACKED_ROWS[operand.size]:
        return 1
    for size in PACKED_BYTES:
        pack = size // operand.size
        whole = problem.k % pack == operand.pitch % pack == 0
        if pack > 1 and whole and operand.address % size == 0:
            return pack
    return 1


def _form(
    request: TileRequest,
    problem: Problem,
    swapped: bool,
    step_bits: int = 0,
    col_bits: int = 0,
    parts: int = 1,
    pack: int = 1,
) -> SkinnyTile:
    share, size = part_steps(problem.k, parts), problem.a.size
    group = (THREADS >> col_bits) * unroll_of(pack, size) * pack
    room = SHARED // (4 * pitch_of(request.rows, pack))
    chunk = share if share <= room else max(1, room // group) * group
    return SkinnyTile(
        request, swapped, step_bits, col_bits, parts, size, problem.c.size, chunk, pack
    )


def unroll_of(pack: int, size: int) -> int:
    """Return the loads of a column that a thread has on their way, as in the kernel."""
    return 2 if pack * size == PACKED_BYTES[0] else 4


def every_macros(request: TileRequest, size: int, c_size: int) -> list[dict[str, str]]:
    """Return the macros of all compilations of a request.

    Args:
        request: rows of a thread.
        size: bytes of a value of A and B.
        c_size: bytes of a value of C.
    """
    packs = [1]
    if request.form == "skinny" and request.rows <= PACKED_ROWS[size]:
        packs += [each // size for each in PACKED_BYTES if each > size]
    return [SkinnyTile(request, False, 0, 0, 1, size, c_size, 1, pack).macros() for pack in packs]


def division(problem: Problem, tile: SkinnyTile) -> Units:
    """Return the blocks of a product: one tile of C for each cluster, or for each thread."""
    rows, cols = (problem.n, problem.m) if tile.swapped else (problem.m, problem.n)
    tile_rows, tile_cols = -(-rows // tile.rows), -(-cols // tile.cols)
    blocks = -(-tile_rows * tile_cols // (THREADS if tile.is_direct else 1))
    return Units(tile_rows, tile_cols, problem.k, blocks)
