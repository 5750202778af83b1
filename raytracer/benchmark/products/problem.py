"""Matrix products as they lie in memory, and their division among blocks."""

import struct
from collections.abc import Callable
from dataclasses import dataclass

from raytracer.benchmark.operations.base import Axes, Op

ALIGNMENT = 16  # bytes: of the copy engine, and of the widest copies of threads


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


def problem_of(
    op: Op,
    axes: Axes,
    dtype: str,
    address: Callable[[str], int],
    transposed: frozenset[str] = frozenset(),
) -> Problem:
    """Return the matrices of an operation at addresses by name, without padding.

    transposed: inputs whose arrays are the transposes of those of `op.inputs`.
    """
    operands = []
    for name, array in (op.input_arrays(axes, dtype) | op.output_arrays(axes, dtype)).items():
        is_transposed = name in transposed
        rows, cols = reversed(array.shape) if is_transposed else array.shape
        operands.append(Operand(address(name), rows, cols, cols, array.itemsize, is_transposed))
    return Problem(axes["m"], axes["n"], axes["k"], *operands)


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
