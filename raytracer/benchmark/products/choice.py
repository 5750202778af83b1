"""The choice of tile, number of workers and division along k by a model of waves."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

from raytracer.benchmark.products import skinny
from raytracer.benchmark.products.costs import predicted
from raytracer.benchmark.products.features import clusters_at_once, starts_early
from raytracer.benchmark.products.skinny import SkinnyTile
from raytracer.benchmark.products.tile import AnyTile, SimtTile, tile_of
from raytracer.benchmark.products.units import SNAP, Units

if TYPE_CHECKING:
    from raytracer.benchmark.products.layout import Problem
    from raytracer.variants import TileRequest

Usable = Callable[[AnyTile], bool]

BAND_ROWS = 2048  # of C: tiles that are computed at once cover about a square
MOST_PARTS = 16  # of a tile: its owner adds them one by one


@dataclass(frozen=True)
class Choice:
    """A kernel, the division of the work, and the predicted time in seconds.

    Attributes:
        tile: the kernel.
        units: the division of the work.
        seconds: predicted.
        early: whether it may start before the kernel ahead of it has ended.
    """

    tile: AnyTile
    units: Units
    seconds: float
    early: bool = False

    @property
    def blocks(self) -> int:
        """Blocks of the launch."""
        return self.units.workers * self.tile.cluster * self.tile.parts


def choose(
    problem: Problem,
    requests: Iterable[TileRequest],
    parts: bool,
    multiprocessors: int,
    copies: bool = False,
    early: bool = False,
) -> Choice:
    """Return the fastest choice by the model.

    Args:
        problem: sizes and layouts.
        requests: tiles to choose from.
        parts: whether tiles may be divided along k.
        multiprocessors: of the device.
        copies: whether operands may be copied to aligned rows first.
        early: whether the kernel may start before the kernel ahead of it has ended.
    """
    return proposals(problem, requests, parts, multiprocessors, copies, early)[0]


def proposals(
    problem: Problem,
    requests: Iterable[TileRequest],
    parts: bool,
    multiprocessors: int,
    copies: bool = False,
    early: bool = False,
    count: int = 1,
    usable: Usable = lambda _: True,
) -> list[Choice]:
    """Return the `count` fastest choices by the model.

    Args:
        problem: as for `choose`, like the arguments that follow.
        requests: tiles to choose from.
        parts: whether tiles may be divided along k.
        multiprocessors: of the device.
        copies: whether operands may be copied to aligned rows first.
        early: whether the kernel may start before the kernel ahead of it has ended.
        count: of choices, at most.
        usable: whether a tile can be launched here; asked from the fastest choice on.
    """
    found = candidates(problem, requests, parts, multiprocessors, copies, early)
    distinct = dict.fromkeys(sorted(found, key=lambda choice: choice.seconds))
    return list(islice((each for each in distinct if usable(each.tile)), count))


def candidates(
    problem: Problem,
    requests: Iterable[TileRequest],
    parts: bool,
    multiprocessors: int,
    copies: bool = False,
    early: bool = False,
) -> Iterator[Choice]:
    """Yield all choices; arguments as for `choose`."""
    for request in requests:
        for form in tile_forms(request, problem, copies):
            for units in divisions(problem, form, parts, multiprocessors):
                for start in starts(form, units, multiprocessors) if early else (False,):
                    seconds = predicted(problem, form, units, multiprocessors, start)
                    yield Choice(form, units, seconds, start)


def tile_forms(request: TileRequest, problem: Problem, copies: bool) -> list[AnyTile]:
    """Return the kernels of a tile for a problem: none where its layouts do not allow it.

    Args:
        request: the tile.
        problem: sizes and layouts.
        copies: whether operands may be copied to aligned rows first.
    """
    if request.form:
        return [*skinny.forms(request, problem)]
    tile = tile_of(request, problem)
    if not tile.possible:
        return []
    if copies and isinstance(tile, SimtTile) and (copied := tile.with_copies(problem)) != tile:
        return [tile, copied]
    return [tile]


def starts(tile: AnyTile, units: Units, multiprocessors: int) -> tuple[bool, ...]:
    """Return the starts to choose from, early or not.

    Tiles of multiply-adds lose much where an early start fails.
    """
    if isinstance(tile, SimtTile):
        return (starts_early(tile, units, multiprocessors),)
    return True, False


def band_of(tile: AnyTile) -> int:
    """Return the tile rows that are visited column by column."""
    return max(1, BAND_ROWS // tile.cluster_rows)


def divisions(
    problem: Problem, tile: AnyTile, parts: bool, multiprocessors: int
) -> Iterator[Units]:
    """Yield ways to divide a product among workers: whole tiles first."""
    if isinstance(tile, SkinnyTile):
        yield skinny.division(problem, tile)
        return
    if tile.swapped:
        problem = problem.swapped
    rows, cols = -(-problem.m // tile.cluster_rows), -(-problem.n // tile.cluster_cols)
    steps = -(-problem.k // tile.depth)
    tiles, most = (
        rows * cols,
        clusters_at_once(tile.cluster, tile.per_multiprocessor, multiprocessors),
    )
    band = band_of(tile)
    waves = -(-tiles // most)
    if tile.parts > 1:
        if tile.parts <= steps:  # a cluster for each tile
            yield Units(rows, cols, steps, tiles, band=band)
        return
    # No more workers than the same number of waves needs: power is the limit.
    yield Units(rows, cols, steps, -(-tiles // waves), band=band)
    if not parts:
        return
    snap = max(1, min(SNAP, steps // 2))
    if tiles >= most:
        if left := tiles % most:
            yield Units(rows, cols, steps, most, left, snap, band)
            yield Units(rows, cols, steps, most, left + most, snap, band)
        return
    for share in {2, 3, 4, 6, 8, 12, MOST_PARTS, most // tiles}:  # equal parts of every tile
        if share * tiles <= most and 1 < share <= min(MOST_PARTS, steps):
            yield Units(rows, cols, steps, share * tiles, tiles, 1, band)
    for layers in range(1, tile.per_multiprocessor + 1):  # as many workers on each multiprocessor
        workers = most * layers // tile.per_multiprocessor
        if tiles < workers < MOST_PARTS * tiles and tiles * steps >= workers * 2 * snap:
            yield Units(rows, cols, steps, workers, tiles, snap, band)
