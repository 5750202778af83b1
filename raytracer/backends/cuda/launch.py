"""Division of a picture into launches.

A launch must end before the watchdog of a desktop stops it (about two seconds), and soon enough for
Ctrl-C and a progress bar; it must also be long enough for its start to be negligible. Each launch
therefore aims at TARGET_SECONDS, by the rate of the previous one. The sums of the film do not
depend on the division: the samples of a pixel are added in order.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
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
class Picture:
    """The tiles of a crop and the samples to add."""

    width: int
    height: int
    tile: tuple[int, int]
    sample_begin: int
    sample_count: int

    @property
    def tiles_x(self) -> int:
        """Tiles in a row; the last one may extend beyond the crop."""
        return -(-self.width // self.tile[0])

    @property
    def tiles(self) -> int:
        return self.tiles_x * -(-self.height // self.tile[1])

    @property
    def tile_pixels(self) -> int:
        return self.tile[0] * self.tile[1]

    @property
    def work(self) -> int:
        return self.tiles * self.tile_pixels * self.sample_count


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

    def arguments(self, arguments: NDArray[np.void]) -> bytes:
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


def pieces(picture: Picture, pacer: Pacer) -> Iterator[Piece]:
    """Yield the launches of a picture; the budget of the pacer is read for each of them.

    If the budget allows, a launch renders all tiles with as many samples as fit, otherwise some
    tiles with a single sample. Every pixel gets its samples in ascending order.
    """
    sample, end = picture.sample_begin, picture.sample_begin + picture.sample_count
    frame = picture.tiles * picture.tile_pixels
    while sample < end:
        count = min(max(pacer.budget // frame, 1), end - sample)
        tile, is_whole = 0, count * frame <= pacer.budget
        while tile < picture.tiles:
            step = picture.tiles if is_whole else max(pacer.budget // picture.tile_pixels, 1)
            stop = min(tile + step, picture.tiles)
            if picture.tiles - stop < step // 2:  # no launch for a small rest
                stop = picture.tiles
            yield Piece(tile, stop, sample, count)
            tile = stop
        sample += count


def side_by_side(
    picture: Picture, bands: Sequence[tuple[int, int]], pacer: Pacer
) -> Iterator[Group]:
    """Yield groups of launches for some rows of a picture: a few for each band in every group.

    Bands have other pixels, so they may run side by side: the end of a launch, when most of the GPU
    waits for a few warps, is then filled by others. The launches of a band follow one another, and
    so do groups: every pixel gets its samples in ascending order.
    """
    spans = _spans(picture, bands)
    frame = work_of(replace(picture, sample_count=1), bands)
    sample, stop = picture.sample_begin, picture.sample_begin + picture.sample_count
    while sample < stop:
        count = min(max(GROUP * pacer.budget // frame, 1), stop - sample)
        slices = min(SLICES, count)
        cuts = list(pairwise(sample + count * k // slices for k in range(slices + 1)))
        yield [
            [Piece(begin, end, first, last - first) for first, last in cuts] for begin, end in spans
        ]
        sample += count


def work_of(picture: Picture, bands: Sequence[tuple[int, int]]) -> int:
    """Return `Picture.work` of bands."""
    tiles = sum(end - begin for begin, end in _spans(picture, bands))
    return tiles * picture.tile_pixels * picture.sample_count


def _spans(picture: Picture, bands: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the tiles of bands, half open."""
    rows = picture.tile[1]
    return [(y0 // rows * picture.tiles_x, -(-y1 // rows) * picture.tiles_x) for y0, y1 in bands]


def blocks(tiles: int, threads: int) -> int:
    """Return the number of thread blocks of `threads` threads, with one warp for each tile."""
    return -(-tiles // (threads // WARP))
