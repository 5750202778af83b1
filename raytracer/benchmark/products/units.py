"""The division of a product among workers, as kernels/ladders/matmul/units.cuh has it."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass

# Borders between workers closer than this many steps to the border of a tile move there: a part so
# short costs more to hand over than to compute.
SNAP = 4


@dataclass(frozen=True)
class Unit:
    """A tile of C, or a part of it along k: steps `first` to `last`, exclusive."""

    tile: int
    first: int
    last: int


@dataclass(frozen=True)
class Units:
    """All units of a product.

    Attributes:
        tile_rows: tiles along m; the tile of a cluster counts as one.
        tile_cols: tiles along n.
        steps: along k.
        workers: blocks of the launch, or clusters of blocks.
        split_tiles: tiles that are divided along k into equal parts for all workers; the others are
            taken whole, in turns.
        snap: see SNAP.
        band: tile rows that are visited column by column.
    """

    tile_rows: int
    tile_cols: int
    steps: int
    workers: int
    split_tiles: int = 0
    snap: int = 1
    band: int = 1

    @property
    def tiles(self) -> int:
        """Number of tiles."""
        return self.tile_rows * self.tile_cols

    def border(self, worker: int) -> int:
        """Return the first step of a worker among those of the split tiles."""
        at = self.split_tiles * self.steps * worker // self.workers
        within = at % self.steps
        if within < self.snap:
            return at - within
        return at - within + self.steps if self.steps - within < self.snap else at

    def of(self, worker: int) -> Iterator[Unit]:
        """Yield the units of a worker in their order."""
        at, end = self.border(worker), self.border(worker + 1)
        while at < end:
            tile, first = divmod(at, self.steps)
            last = min(self.steps, first + end - at)
            yield Unit(tile, first, last)
            at += last - first
        for tile in range(self.split_tiles + worker, self.tiles, self.workers):
            yield Unit(tile, 0, self.steps)

    def packed(self) -> bytes:
        """Return the struct `Units` of the kernels."""
        return struct.pack(
            "<6i",
            self.tile_rows,
            self.tile_cols,
            self.steps,
            self.split_tiles,
            self.snap,
            self.band,
        )
