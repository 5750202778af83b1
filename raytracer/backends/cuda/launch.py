"""Division of a picture into launches.

A launch must end before the watchdog of a desktop stops it (about two seconds), and soon enough for
Ctrl-C and a progress bar; it must also be long enough for its start to be negligible. Each launch
therefore aims at TARGET_SECONDS, by the rate of the previous one. The sums of the film do not
depend on the division: the samples of a pixel are added in order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

TARGET_SECONDS = 0.05  # target duration of a launch (s)

FIRST_SAMPLES = 4 << 20
"""Samples (pixels times samples) of the first launch, when the rate is unknown. At a low rate of
two million a second it takes as long as a watchdog allows."""

FIRST_SAMPLES_WATCHED = 1 << 19
"""Samples of the first launch on a GPU with a watchdog: an eighth of that."""

MIN_SAMPLES = 1 << 15
"""Fewest samples of a launch: fewer threads do not fill a GPU, and if a single warp takes longer
than TARGET_SECONDS, smaller launches would take as long."""

GROWTH = 4
"""Largest ratio of a launch to the previous one: another part of the picture may cost more."""

GROUP = 4
"""Times TARGET_SECONDS that a group of launches takes: each has an end at which the GPU is not
full."""

SLICES = 4
"""Launches of a band in a group, one after another. At the end of a group most of the GPU waits for
a few warps: with as many slices, for a fourth of their samples."""

WARP = 32


@dataclass(frozen=True)
class PictureTiles:
    """The tiles of a crop, or of some of its rows (`bands`), and the samples to add."""

    width: int
    height: int
    tile: tuple[int, int]
    sample_begin: int
    sample_count: int
    bands: Sequence[tuple[int, int]] | None = None

    @property
    def tiles_x(self) -> int:
        """Tiles in a row; the last one may extend beyond the crop."""
        return -(-self.width // self.tile[0])

    @property
    def spans(self) -> list[tuple[int, int]]:
        """The tiles of each band, half open; of the whole crop without bands."""
        bands, rows, across = self.bands or [(0, self.height)], self.tile[1], self.tiles_x
        return [(y0 // rows * across, -(-y1 // rows) * across) for y0, y1 in bands]

    @property
    def tiles(self) -> int:
        return sum(end - begin for begin, end in self.spans)

    @property
    def tile_pixels(self) -> int:
        return self.tile[0] * self.tile[1]

    @property
    def length(self) -> int:
        """Times TARGET_SECONDS that a group of its launches takes."""
        return 1 if self.bands is None else GROUP


@dataclass(frozen=True)
class Piece:
    """Tiles and samples of one launch, as half-open ranges in the picture."""

    tile_begin: int
    tile_end: int
    sample_begin: int
    sample_count: int

    @property
    def tiles(self) -> int:
        return self.tile_end - self.tile_begin

    def make_arguments(self, arguments: NDArray[np.void]) -> bytes:
        """Return RenderArgs (1,) as bytes, with these tiles and samples."""
        for name, value in vars(self).items():
            arguments[name] = value
        return arguments.tobytes()


Group = list[list[Piece]]
"""Launches that may run side by side: of each band some, which follow one another."""


class Pacer:
    """The largest number of samples of the next launch."""

    def __init__(self, first: int = FIRST_SAMPLES) -> None:
        self.budget = first

    def record(self, samples: int, seconds: float) -> None:
        """Adapt the budget to the duration of a launch, but not to one that was small as the
        picture ended."""
        fitting = int(samples * TARGET_SECONDS / max(seconds, 1e-6))
        if seconds > TARGET_SECONDS:
            self.budget = min(max(fitting, MIN_SAMPLES), self.budget)
        else:
            self.budget = max(min(fitting, self.budget * GROWTH), self.budget)


def iterate_launches(picture: PictureTiles, pacer: Pacer) -> Iterator[Group]:
    """Yield the launches of a picture; the budget of the pacer is read for each group of them.

    Every pixel gets its samples in ascending order.
    """
    sample, end = picture.sample_begin, picture.sample_begin + picture.sample_count
    frame = picture.tiles * picture.tile_pixels
    while sample < end:
        count = min(max(picture.length * pacer.budget // frame, 1), end - sample)
        if picture.bands is None:
            yield from ([[piece]] for piece in _iterate_in_turn(picture, pacer, sample, count))
        else:
            yield _group_side_by_side(picture, sample, count)
        sample += count


def _iterate_in_turn(
    picture: PictureTiles, pacer: Pacer, sample: int, count: int
) -> Iterator[Piece]:
    """Yield launches of all tiles with as many samples as fit, or of some with a single sample."""
    tile, tiles, pixels = 0, picture.tiles, picture.tile_pixels
    is_whole = count * tiles * pixels <= pacer.budget
    while tile < tiles:
        step = tiles if is_whole else max(pacer.budget // pixels, 1)
        stop = min(tile + step, tiles)
        if tiles - stop < step // 2:  # no launch for a small rest
            stop = tiles
        yield Piece(tile, stop, sample, count)
        tile = stop


def _group_side_by_side(picture: PictureTiles, sample: int, count: int) -> Group:
    """Return a few launches for each band, which follow one another.

    Bands have other pixels, so they may run side by side: the end of a launch, when most of the GPU
    waits for a few warps, is then filled by others.
    """
    slices = min(SLICES, count)
    cuts = list(pairwise(sample + count * k // slices for k in range(slices + 1)))
    return [
        [Piece(begin, end, first, last - first) for first, last in cuts]
        for begin, end in picture.spans
    ]


def count_blocks(tiles: int, threads: int) -> int:
    """Return the number of thread blocks of `threads` threads, with one warp for each tile."""
    return -(-tiles // (threads // WARP))
