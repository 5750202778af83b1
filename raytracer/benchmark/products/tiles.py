"""Matrix products as they lie in memory, their division among blocks, and the tiles of C from which
a product chooses, each a compilation of its kernel.
"""

import struct
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import product

from raytracer.backends.kernel_sources import split_architecture
from raytracer.benchmark.op import Op

ALIGNMENT = 16  # bytes: of the copy engine, and of the widest copies of threads
SHARED_LIMIT = 232448  # bytes of a block on sm_90 (CUDA programming guide, specifications)
CHUNK = 2048  # bytes of C that a warp stores at a time
# Of SimtTile by rows and columns: warp rows, warp columns, groups of four columns of a thread,
# blocks of a multiprocessor.
WARPS = {
    (128, 256): (2, 4, 4, 1),
    (128, 128): (2, 2, 4, 2),
    (64, 128): (1, 4, 2, 4),
    (64, 64): (1, 2, 2, 6),
}


@dataclass(frozen=True)
class Operand:
    """A matrix on the device."""

    address: int  # of its first value
    rows: int  # as stored: a row is contiguous
    cols: int  # values of a row
    pitch: int  # values from row to row
    size: int  # bytes of a value
    # whether it is stored as the transpose of A by rows, or B by rows (bfloat16: by columns)
    transposed: bool = False

    @property
    def aligned(self) -> bool:
        """Whether every row starts at a multiple of 16 bytes."""
        return self.address % ALIGNMENT == 0 and self.pitch * self.size % ALIGNMENT == 0

    @property
    def whole_pieces(self) -> bool:
        """Whether it is aligned, and its rows are whole pieces of 16 bytes.

        The copy engine stores whole pieces: it would write behind the end of other rows.
        """
        return self.aligned and self.cols * self.size % ALIGNMENT == 0

    @property
    def aligned_pitch(self) -> int:
        """The smallest pitch with which a copy of the matrix is aligned."""
        values = ALIGNMENT // self.size
        return -(-self.cols // values) * values


@dataclass(frozen=True)
class Problem:
    """A product C (m, n) = A (m, k) B (k, n)."""

    m: int
    n: int
    k: int
    a: Operand
    b: Operand
    c: Operand


def make_problem(op: Op, address: Callable[[str], int]) -> Problem:
    """Return the matrices of an operation at addresses by name, without padding."""
    operands = []
    for name, array in op.arrays.items():
        is_transposed = name in op.transposed
        rows, cols = reversed(array.shape) if is_transposed else array.shape
        operands.append(Operand(address(name), rows, cols, cols, array.itemsize, is_transposed))
    return Problem(op.axes["m"], op.axes["n"], op.axes["k"], *operands)


@dataclass(frozen=True)
class Units:
    """The division of a product among workers, as kernels/ladders/matmul/units.cuh has it."""

    tile_rows: int  # tiles along m; the tile of a cluster counts as one
    tile_cols: int  # tiles along n
    steps: int  # along k
    workers: int  # blocks of the launch, or clusters of blocks
    split_tiles: int = 0  # divided along k into equal parts for all workers; others are taken whole
    snap: int = 1  # borders of workers closer than this many steps to that of a tile move there
    band: int = 1  # tile rows that are visited column by column

    @property
    def tiles(self) -> int:
        """Number of tiles."""
        return self.tile_rows * self.tile_cols

    def packed(self) -> bytes:
        """Return the struct `Units` of the kernels."""
        sizes = (self.tile_rows, self.tile_cols, self.steps)
        return struct.pack("<6i", *sizes, self.split_tiles, self.snap, self.band)


@dataclass(frozen=True)
class Shape:
    """A tile of C."""

    rows: int  # that a block computes at a time
    cols: int  # the same
    cluster: int = 1  # blocks with adjacent rows that share the columns of B
    turns: bool = False  # two warpgroups take tiles in turns, instead of sharing each
    parts: int = 1  # blocks of a cluster that divide the tile along k

    @property
    def kind(self) -> str:
        """What distinguishes it from others of these rows and columns, but for parts."""
        cluster = f" cluster {self.cluster}" if self.cluster > 1 else ""
        return f"{cluster}{' turns' * self.turns}"


def _parts(rows: int, cols: int, *parts: int) -> list[Shape]:
    return [Shape(rows, cols, parts=each) for each in parts]


# Each tile is a compilation, or two in float32, so that there are few of them. Among the tiles that
# the kernels admit, these were chosen for the time that they save by the model at random sizes.
WHOLE_SIMT = tuple(Shape(*size) for size in WARPS)
SIMT_SHAPES = (*_parts(64, 64, *range(1, 9)), *_parts(64, 128, 1, 2), Shape(128, 256))
TENSOR_SHAPES = (
    *(Shape(64, cols) for cols in (64, 88, 128)),
    *_parts(64, 64, 2, 4, 8),
    *_parts(64, 80, 4),
    *_parts(64, 104, 4),
    *_parts(64, 128, 2, 8),
    *(Shape(64, cols, cluster=2) for cols in (128, 192)),
    *(Shape(64, cols, cluster=4) for cols in (144, 192)),
    Shape(128, 256),
    *_parts(128, 88, 3),
    *_parts(128, 120, 2),
    *_parts(128, 128, 4),
    *(Shape(128, cols, turns=True) for cols in (96, 104, 128, 152, 192)),
    *(Shape(128, cols, cluster=2) for cols in (208, 232, 256)),
    *(Shape(128, cols, cluster=2, turns=True) for cols in (144, 168, 176, 192)),
    Shape(192, 192),
    *_parts(192, 136, 2),
)


@dataclass(frozen=True)
class TensorTile(Shape):
    """kernels/ladders/matmul_bf16/product_plan.cuh: warpgroups of 64 rows, or 128 in two blocks."""

    transposed_a: bool = False  # A is stored by columns
    transposed_b: bool = False  # B is stored by rows
    c_size: int = 4  # bytes of a value of C: 4 or 2

    depth = 64  # along k in a step
    per_multiprocessor = 1  # blocks that run at once

    @property
    def box_cols(self) -> int:
        """Columns of B that a block of a cluster copies for all: the least multiple of eight."""
        return -(-self.cols // 8 // self.cluster) * 8

    @property
    def groups(self) -> int:
        return 2 if self.turns or self.rows == 256 else self.rows // 64

    @property
    def blocks(self) -> int:
        return self.rows // 64 // (1 if self.turns else self.groups)

    @property
    def threads(self) -> int:
        return 128 * (1 + self.groups)

    @property
    def stored(self) -> tuple[int, int]:
        """Rows and columns of C that a warp stores at a time (warp_store.cuh)."""
        cols = 128 // self.c_size
        return CHUNK // (cols * self.c_size), cols

    @cached_property
    def buffers(self) -> tuple[int, int]:
        """Stages of shared memory, as many as fit, and chunks of C of a warp.

        Two chunks if they cost no stage, or if five stages remain.
        """
        one, two = (
            min(12, (SHARED_LIMIT - 512 - 4 * self.groups * chunks * CHUNK) // self._stage)
            for chunks in (1, 2)
        )
        return (two, 2) if two == one or two >= 5 else (one, 1)

    @property
    def _stage(self) -> int:
        return (self.rows + self.cols) * 2 * self.depth

    @property
    def shared(self) -> int:
        """Bytes of shared memory: stages, chunks of C, two barriers for each stage."""
        stages, chunks = self.buffers
        return stages * self._stage + 4 * self.groups * chunks * CHUNK + 16 * stages

    def macros(self) -> dict[str, str]:
        stages, chunks = self.buffers
        return _macros(
            GROUPS=self.groups, BLOCKS=self.blocks, TURNS=self.turns, COLS=self.cols,
            STAGES=stages, CLUSTER=self.cluster, CHUNKS=chunks, PARTS=self.parts,
            TRANSPOSED_A=self.transposed_a, TRANSPOSED_B=self.transposed_b,
            C_FLOAT=self.c_size == 4,
        )  # fmt: skip


@dataclass(frozen=True)
class SimtTile(Shape):
    """kernels/ladders/matmul/unit_pipeline.cuh: warps of 64 rows."""

    along_m: bool = False  # A is stored by columns
    along_k: bool = False  # B is stored by columns
    wide_a: bool = False  # A is copied in pieces of 16 bytes
    wide_b: bool = False  # B is copied in pieces of 16 bytes
    # whether A, and B, come from copies with aligned rows
    copied: tuple[bool, bool] = (False, False)

    depth = 8
    stages = 4

    @property
    def threads(self) -> int:
        warp_rows, warp_cols, _, _ = WARPS[self.rows, self.cols]
        return 32 * warp_rows * warp_cols

    @property
    def per_multiprocessor(self) -> int:
        return WARPS[self.rows, self.cols][3]

    @property
    def shared(self) -> int:
        """Bytes of shared memory: stages, padded for operands stored along k; the unit.

        Sums of the parts of a cluster take the place of the stages.
        """
        pitches = self.rows + 4 * (not self.along_m) + self.cols + 4 * self.along_k
        stages = self.stages * self.depth * pitches * 4 + 32
        if self.parts == 1:
            return stages
        pieces = 8 * WARPS[self.rows, self.cols][2]  # of 16 bytes, of a thread
        return max(stages, self.parts * -(-pieces // self.parts) * self.threads * 16)

    def macros(self) -> dict[str, str]:
        warp_rows, warp_cols, groups, blocks = WARPS[self.rows, self.cols]
        return _macros(
            WARP_ROWS=warp_rows, WARP_COLS=warp_cols, GROUPS=groups, PER_SM=blocks,
            STAGES=self.stages, ALONG_M=self.along_m, ALONG_K=self.along_k, WIDE_A=self.wide_a,
            WIDE_B=self.wide_b, PARTS=self.parts,
        )  # fmt: skip


def _macros(**values: int) -> dict[str, str]:
    return {name: str(int(value)) for name, value in values.items()}


def has_clusters(arch: str) -> bool:
    """Whether an architecture has clusters of blocks and early launches."""
    return split_architecture(arch)[0] >= 90


def shapes_for(problem: Problem, clusters: bool) -> tuple[Shape, ...]:
    """Return the tiles of a product; `clusters`: whether the device has them (sm_90 and later)."""
    if problem.a.size == 2:
        return TENSOR_SHAPES
    return SIMT_SHAPES if clusters else WHOLE_SIMT


def list_kernels(shape: Shape, problem: Problem) -> list[TensorTile] | list[SimtTile]:
    """Return the kernels of a tile for the layouts of a problem: none where these forbid it."""
    a, b = problem.a, problem.b
    if a.size == 2:
        if b.transposed and shape.cols % 64:  # B by rows comes in panels of 64 columns
            return []
        layout = {"transposed_a": a.transposed, "transposed_b": b.transposed}
        return [TensorTile(**vars(shape), **layout, c_size=problem.c.size)]
    # Operands stored along m or n are copied in pieces of 16 bytes if all of them can be, for fewer
    # compilations, or after copies to aligned rows; others are copied by single values.
    along_m, along_k = a.transposed, b.transposed
    narrow = SimtTile(**vars(shape), along_m=along_m, along_k=along_k)
    copied = along_m and not a.whole_pieces, not along_k and not b.whole_pieces
    wide = replace(narrow, wide_a=along_m, wide_b=not along_k, copied=copied)
    if not any(copied):
        return [wide]
    return [narrow, wide] if problem.k > 1 else [narrow]


def every_compilation(problem: Problem, clusters: bool) -> list[dict[str, str]]:
    """Return the macros of the kernels that serve products of any size with the types and layouts
    of a problem."""
    found = []
    for a, b in product(_alignments(problem.a), _alignments(problem.b)):
        any_size = replace(problem, a=a, b=b)
        for shape in shapes_for(problem, clusters):
            found += [tile.macros() for tile in list_kernels(shape, any_size)]
    return [dict(each) for each in dict.fromkeys(tuple(macros.items()) for macros in found)]


def _alignments(operand: Operand) -> list[Operand]:
    """Return an operand with rows that are aligned, and one with rows that are not."""
    return [replace(operand, address=0, cols=4, pitch=pitch) for pitch in (16, 17)]
