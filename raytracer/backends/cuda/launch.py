"""How a picture is cut into launches: arithmetic alone.

A launch must end before a desktop's watchdog loses patience (about two seconds), and often enough
for Ctrl-C and a progress bar; it must also be long enough that its ends do not count. So each aims
at TARGET_SECONDS, by the rate of the launch before. The sums in the film do not depend on the cut:
a pixel's samples are added in order, one after another.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

TARGET_SECONDS = 0.05
# Samples (pixels times samples) of the first launch, when nothing is known of scene and card. At a
# poor two million a second the larger takes as long as a watchdog allows; where there is one, the
# smaller keeps a margin of eight.
FIRST_SAMPLES = 4 << 20
FIRST_SAMPLES_WATCHED = 1 << 19
# A launch that took too long is not cut below this: fewer threads do not fill a GPU, and where a
# single warp takes longer than TARGET_SECONDS, smaller launches would take just as long.
LEAST_SAMPLES = 1 << 15
# A launch may be this much larger than the one before: another part of the picture may cost more.
GROWTH = 4
WARP = 32


@dataclass(frozen=True)
class Picture:
    """The tiles of a crop and the samples to add.

    width, height: of the crop, in pixels. tile: width and height of a tile, in pixels.
    """

    width: int
    height: int
    tile: tuple[int, int]
    sample_begin: int
    sample_count: int

    @property
    def tiles_x(self) -> int:
        """Tiles in a row; the last one may hang over the edge."""
        return -(-self.width // self.tile[0])

    @property
    def tiles(self) -> int:
        """Tiles in all; they are numbered by rows."""
        return self.tiles_x * -(-self.height // self.tile[1])

    @property
    def tile_pixels(self) -> int:
        """Pixels of a whole tile."""
        return self.tile[0] * self.tile[1]

    @property
    def work(self) -> int:
        """Pixels times samples, tiles counted whole."""
        return self.tiles * self.tile_pixels * self.sample_count


@dataclass(frozen=True)
class Piece:
    """What one launch renders: tiles and samples, half open and absolute."""

    tile_begin: int
    tile_end: int
    sample_begin: int
    sample_count: int

    @property
    def tiles(self) -> int:
        """Number of tiles."""
        return self.tile_end - self.tile_begin


class Pacer:
    """How many samples the next launch may have."""

    def __init__(self, first: int = FIRST_SAMPLES) -> None:
        """Start with a launch of `first` samples."""
        self.budget = first

    def record(self, samples: int, seconds: float) -> None:
        """Learn from a launch: its samples and what it took on the device.

        One that ended early for want of work says little, so it never lowers the budget.
        """
        fitting = int(samples * TARGET_SECONDS / max(seconds, 1e-6))
        if seconds > TARGET_SECONDS:
            self.budget = min(max(fitting, LEAST_SAMPLES), self.budget)
        else:
            self.budget = max(min(fitting, self.budget * GROWTH), self.budget)


def pieces(picture: Picture, pacer: Pacer) -> Iterator[Piece]:
    """Cut a picture; the pacer is asked anew for every piece.

    As long as the budget allows, a piece is all tiles with as many samples as fit; else it is some
    tiles of a single sample. Every pixel gets its samples in ascending order.
    """
    sample, end = picture.sample_begin, picture.sample_begin + picture.sample_count
    frame = picture.tiles * picture.tile_pixels
    while sample < end:
        count = min(max(pacer.budget // frame, 1), end - sample)
        if count * frame <= pacer.budget:
            yield Piece(0, picture.tiles, sample, count)
        else:
            yield from _parts_of_a_sample(picture, pacer, sample)
        sample += count


def _parts_of_a_sample(picture: Picture, pacer: Pacer, sample: int) -> Iterator[Piece]:
    tile = 0
    while tile < picture.tiles:
        step = max(pacer.budget // picture.tile_pixels, 1)
        stop = min(tile + step, picture.tiles)
        if picture.tiles - stop < step // 2:  # no launch for crumbs
            stop = picture.tiles
        yield Piece(tile, stop, sample, 1)
        tile = stop


def blocks(tiles: int, threads: int) -> int:
    """Thread blocks for so many tiles, one to a warp, with `threads` threads a block."""
    return -(-tiles // (threads // WARP))
