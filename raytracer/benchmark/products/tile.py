"""Kernels for a tile of C: macros, threads, shared memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Protocol

from raytracer.benchmark.products.skinny import SkinnyTile

if TYPE_CHECKING:
    from raytracer.benchmark.products.layout import Problem
    from raytracer.variants import TileRequest

SHARED_LIMIT = (
    232448  # bytes of a block on sm_90 (CUDA programming guide, technical specifications)
)
CHUNK = 2048  # bytes of C that a warp stores at a time


class Tile(Protocol):
    """What the choice and the launch need to know of a kernel."""

    rows: int  # of C that a block computes at a time
    cols: int
    cluster: int  # blocks that share operands
    cluster_rows: int  # of C that a cluster computes at a time
    cluster_cols: int
    box_cols: int  # columns of B that a block copies for its cluster
    swapped: bool  # rows and columns are those of the transpose of C
    parts: int  # blocks of a cluster that divide a tile along k
    depth: int  # along k in a step
    threads: int  # of a block
    shared: int  # bytes of dynamic shared memory
    per_multiprocessor: int  # blocks that run at once
    label: str
    possible: bool  # with the layouts of the problem

    def macros(self) -> dict[str, str]:
        """Return the macros that the kernel is compiled with."""


@dataclass(frozen=True)
class TensorTile:
    """kernels/ladders/matmul_bf16/product.cuh: warpgroups of 64 rows, or 128 in two blocks.

    Attributes:
        request: rows, columns, cluster and turns.
        transposed_a: A is stored by columns; swapped, B by rows.
        transposed_b: B is stored by rows; swapped, A by columns.
        c_size: bytes of a value of C: 4 or 2.
    """

    request: TileRequest
    transposed_a: bool
    transposed_b: bool
    c_size: int

    depth = 64
    per_multiprocessor = 1

    @property
    def rows(self) -> int:
        """Rows of C."""
        return self.request.rows

    @property
    def cols(self) -> int:
        """Columns of C."""
        return self.request.cols

    @property
    def cluster(self) -> int:
        """Blocks of a cluster that share operands."""
        return self.request.cluster * self.request.across

    @property
    def cluster_rows(self) -> int:
        """Rows of C of a cluster."""
        return self.rows * self.request.cluster

    @property
    def cluster_cols(self) -> int:
        """Columns of C of a cluster."""
        return self.cols * self.request.across

    @property
    def box_cols(self) -> int:
        """Columns of B that a block of a cluster copies for all: the least multiple of eight."""
        return -(-self.cols // 8 // self.request.cluster) * 8

    @property
    def swapped(self) -> bool:
        """Whether the product is that of the transposes."""
        return self.request.swapped

    @property
    def parts(self) -> int:
        """Blocks of a cluster that divide a tile along k."""
        return self.request.parts

    @property
    def label(self) -> str:
        """The entry of the header."""
        return str(self.request)

    @property
    def possible(self) -> bool:
        """B by rows comes in panels of 64 columns."""
        return not self.transposed_b or self.cols % 64 == 0

    @property
    def groups(self) -> int:
        """Multiplying warpgroups."""
        return 2 if self.request.turns or self.rows == 256 else self.rows // 64

    @property
    def blocks(self) -> int:
        """Blocks of 64 rows of a warpgroup."""
        return self.rows // 64 // (1 if self.request.turns else self.groups)

    @property
    def threads(self) -> int:
        """One warpgroup copies."""
        return 128 * (1 + self.groups)

    @property
    def stored(self) -> tuple[int, int]:
        """Rows and columns of C that a warp stores at a time (warp_store.cuh)."""
        cols = 16 if self.swapped else 128 // self.c_size
        return CHUNK // (cols * self.c_size), cols

    def _stages(self, chunks: int) -> int:
        free = SHARED_LIMIT - 512 - 4 * self.groups * chunks * CHUNK
        return min(12, free // self._stage)

    @property
    def _stage(self) -> int:
        return (self.rows + self.cols) * 2 * self.depth

    @property
    def chunks(self) -> int:
        """Chunks of C of a warp: two if they cost no stage, or if five stages remain."""
        return 2 if self._stages(2) == self._stages(1) or self._stages(2) >= 5 else 1

    @property
    def stages(self) -> int:
        """Stages of shared memory: as many as fit."""
        return self._stages(self.chunks)

    @property
    def shared(self) -> int:
        """Stages, chunks of C, two barriers for each stage."""
        chunks = 4 * self.groups * self.chunks * CHUNK
        return self.stages * self._stage + chunks + 16 * self.stages

    def macros(self) -> dict[str, str]:
        """Return the macros that the kernel is compiled with."""
        values = {
            "GROUPS": self.groups,
            "BLOCKS": self.blocks,
            "TURNS": int(self.request.turns),
            "COLS": self.cols,
            "STAGES": self.stages,
            "CLUSTER": self.request.cluster,
            "CHUNKS": self.chunks,
            "TRANSPOSED_A": int(self.transposed_a),
            "TRANSPOSED_B": int(self.transposed_b),
            "C_FLOAT": int(self.c_size == 4),
        }
        if self.parts > 1:
            values["PARTS"] = self.parts
        if self.request.across > 1:
            values["ACROSS"] = self.request.across
        if self.swapped:
            values["SWAPPED"] = 1
        return {name: str(value) for name, value in values.items()}


# Warp rows, warp columns, groups of four columns of a thread, blocks of a multiprocessor.
SIMT_SHAPES = {
    (128, 256): (2, 4, 4, 1),
    (256, 128): (4, 2, 4, 1),
    (128, 128): (2, 2, 4, 2),
    (64, 128): (1, 4, 2, 4),
    (64, 64): (1, 2, 2, 6),
}


@dataclass(frozen=True)
class SimtTile:
    """kernels/ladders/matmul/unit_pipeline.cuh: warps of 64 rows.

    Attributes:
        request: rows and columns.
        along_m: A is stored by columns.
        along_k: B is stored by columns.
        wide_a: A is copied in pieces of 16 bytes.
        wide_b: B is copied in pieces of 16 bytes.
        copied: whether A, and B, come from copies with aligned rows, which are made before.
        unaligned_c: rows of C do not start at multiples of 16 bytes.
    """

    request: TileRequest
    along_m: bool
    along_k: bool
    wide_a: bool
    wide_b: bool
    copied: tuple[bool, bool] = (False, False)
    unaligned_c: bool = False

    depth = 8
    cluster = 1
    swapped = False
    stages = 4
    possible = True

    @property
    def rows(self) -> int:
        """Rows of C."""
        return self.request.rows

    @property
    def cols(self) -> int:
        """Columns of C."""
        return self.request.cols

    @property
    def cluster_rows(self) -> int:
        """Rows of C: no blocks share operands."""
        return self.rows

    @property
    def cluster_cols(self) -> int:
        """Columns of C."""
        return self.cols

    @property
    def box_cols(self) -> int:
        """Columns of B that a block copies: no blocks share operands."""
        return self.cols

    @property
    def label(self) -> str:
        """The entry of the header."""
        return str(self.request)

    @property
    def parts(self) -> int:
        """Blocks of a cluster that divide a tile along k."""
        return self.request.parts

    @property
    def _shape(self) -> tuple[int, int, int, int]:
        return SIMT_SHAPES[self.rows, self.cols]

    @property
    def threads(self) -> int:
        """Threads of a block."""
        return 32 * self._shape[0] * self._shape[1]

    @property
    def per_multiprocessor(self) -> int:
        """Blocks that run at once."""
        return self._shape[3]

    @property
    def shared(self) -> int:
        """Stages, padded by 16 bytes a step for operands stored along k; the unit.

        Sums of the parts of a cluster take the place of the stages.
        """
        pitches = self.rows + 4 * (not self.along_m) + self.cols + 4 * self.along_k
        stages = self.stages * self.depth * pitches * 4 + 32
        if self.parts == 1:
            return stages
        pieces = 8 * self._shape[2]  # of 16 bytes, of a thread
        return max(stages, self.parts * -(-pieces // self.parts) * self.threads * 16)

    def with_copies(self, problem: Problem) -> SimtTile:
        """Return the kernel for operands that are copied to aligned rows where that makes it wide.

        Operands stored along k are copied by single values in any case.
        """
        copied = (
            self.along_m and not self.wide_a and problem.k > 1,
            not self.along_k and not self.wide_b and problem.k > 1,
        )
        return replace(
            self, wide_a=self.wide_a or copied[0], wide_b=self.wide_b or copied[1], copied=copied
        )

    def macros(self) -> dict[str, str]:
        """Return the macros that the kernel is compiled with."""
        warp_rows, warp_cols, groups, blocks = self._shape
        values = {
            "WARP_ROWS": warp_rows,
            "WARP_COLS": warp_cols,
            "GROUPS": groups,
            "PER_SM": blocks,
            "STAGES": self.stages,
            "ALONG_M": int(self.along_m),
            "ALONG_K": int(self.along_k),
            "WIDE_A": int(self.wide_a),
            "WIDE_B": int(self.wide_b),
        }
        if self.parts > 1:
            values["PARTS"] = self.parts
        if self.unaligned_c:
            values["UNALIGNED_C"] = 1
        return {name: str(value) for name, value in values.items()}


AnyTile = TensorTile | SimtTile | SkinnyTile


def tile_of(request: TileRequest, problem: Problem) -> TensorTile | SimtTile:
    """Return the kernel for a tile and the layouts of a problem."""
    a, b, c = problem.a, problem.b, problem.c
    if a.size == 2:
        if request.swapped:
            a, b = b, a
        return TensorTile(request, a.transposed, b.transposed, c.size)
    wide_a = a.transposed and a.aligned and a.cols % 4 == 0
    wide_b = not b.transposed and b.aligned and b.cols % 4 == 0
    return SimtTile(request, a.transposed, b.transposed, wide_a, wide_b, unaligned_c=not c.aligned)
