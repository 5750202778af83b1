"""The noise of a film and of its tiles, estimated from two parts of the samples.

Noise is measured as it is seen: in linear light, a few highlights would dominate it, though they
are shown as white anyway. So light is graded first: about by the square root, like sRGB, up to the
mean of the picture, and by the logarithm above. Up to the mean, errors are then relative to the
square root of the light, as in Dammertz et al., "A hierarchical automatic stopping condition for
Monte Carlo global illumination" (2010); above it, to the light.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from math import inf, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

WHITE = 16.0
"""Light, in means of the picture, from which on all is white: one and a half stops above white if
the mean is middle grey. The mean counts light only up to it, or a few highlights would dominate."""

BLACK = 0.02
"""Light, in means, below which grading is about linear, like sRGB below 0.0031 (0.017 of middle
grey)."""


def grade_light(light: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return light in means of the picture, graded with slope 1 at the mean."""
    raised = np.clip(light, 0.0, WHITE) + BLACK
    bright = np.maximum(raised, 1.0)
    values: NDArray[np.float64] = np.where(raised < 1, 2 * np.sqrt(raised), 2 + np.log(bright))
    return values


def measure_mean_light(
    sums: NDArray[np.float32], counts: NDArray[Any] | Sequence[NDArray[Any]]
) -> float:
    """Return the mean of the channels of pixels that show spheres, with light cut at `WHITE` means;
    counts: samples of the pixels of each row, (w,)."""
    mean = inf
    for _ in range(2):
        light, channels = 0.0, 0
        for row, has in zip(sums, counts, strict=True):  # a row needs little memory
            use = _find_shown(row)
            means = row[use, :3] / has[use, None]
            light += float(np.minimum(means, WHITE * mean).sum())
            channels += means.size
        mean = light / max(channels, 1)
    return mean


def _find_shown(sums: NDArray[np.float32]) -> NDArray[np.bool_]:
    shown: NDArray[np.bool_] = (sums[..., 3] > 0) & np.isfinite(sums).all(axis=-1)
    return shown


def _estimate_variances(
    sums: NDArray[np.float32], earlier: NDArray[np.float32], counts: NDArray[Any],
    before: NDArray[Any], light: float,
) -> NDArray[np.float64]:  # fmt: skip
    """Return the variance of the graded mean of each channel of a row, 0 of pixels that do not show
    spheres or got no samples, (w, 3).

    sums, earlier: of all and of the earlier samples, float32 (w, 4); counts, before: numbers of
    samples; light: `measure_mean_light` of the picture.
    """
    counts, before = counts.astype(np.float64), before.astype(np.float64)
    use = _find_shown(sums) & (before > 0) & (counts > before)
    if light <= 0:
        return np.zeros((*use.shape, 3))
    later = counts - before
    both, first = (
        np.where(use[..., None], each[..., :3], 0.0).astype(np.float64) for each in (sums, earlier)
    )
    one, other = (
        grade_light(part / (np.maximum(has, 1) * light)[..., None])
        for part, has in ((first, before), (both - first, later))
    )
    # The mean of all samples has this share of the variance of the difference.
    share = before * later / np.square(np.maximum(counts, 1))
    return np.asarray(share[..., None] * np.square(one - other))


@dataclass(frozen=True)
class TileNoise:
    """Measured noise of tiles; all arrays are (tiles down, tiles across).

    variance: summed over all graded channels that show spheres, `channels` in number. measured:
    whether samples were added between the two parts.
    """

    variance: NDArray[np.float64]
    channels: NDArray[np.float64]
    measured: NDArray[np.bool_]

    @classmethod
    def of(
        cls, sums: NDArray[np.float32], earlier: NDArray[np.float32], counts: NDArray[np.int64],
        before: NDArray[np.int64], side: int,
    ) -> TileNoise:  # fmt: skip
        """Measure the tiles of some pixels a side to which samples were added, by all and earlier
        sums."""
        tiles = np.zeros((2, *counts.shape))
        columns = np.arange(0, sums.shape[1], side)
        has, had = (_expand_to_rows(each, sums.shape, side) for each in (counts, before))
        light = measure_mean_light(sums, has)
        for y, row in enumerate(zip(sums, earlier, has, had, strict=True)):
            values = _estimate_variances(*row, light).sum(axis=1), 3.0 * _find_shown(sums[y])
            for index, value in enumerate(values):
                tiles[index, y // side] += np.add.reduceat(value, columns)
        return cls(tiles[0], tiles[1], counts > before)

    def replace_measured(self, later: TileNoise) -> TileNoise:
        """Return these tiles, replaced by those that were measured later."""
        return replace(
            later,
            variance=np.where(later.measured, later.variance, self.variance),
            measured=self.measured | later.measured,
        )

    @property
    def picture(self) -> float:
        return sqrt(self.variance.sum() / max(self.channels.sum(), 1))

    @property
    def errors(self) -> NDArray[np.float64]:
        """Standard errors of the tiles, relative to the light of the picture."""
        return np.asarray(np.sqrt(self.variance / np.maximum(self.channels, 1)))

    @property
    def around(self) -> NDArray[np.float64]:
        """Standard error of the three by three tiles around each."""
        channels = np.sum(_stack_neighbors(self.channels), axis=0)
        variance = np.sum(_stack_neighbors(self.variance), axis=0)
        return np.asarray(np.sqrt(variance / np.maximum(channels, 1)))


def max_over_neighbors(values: NDArray[Any]) -> NDArray[Any]:
    """Return the maximum of each three by three tiles; values are not negative."""
    return np.asarray(np.max(_stack_neighbors(values), axis=0))


def _expand_to_rows(
    tiles: NDArray[np.int64], shape: tuple[int, ...], side: int
) -> list[NDArray[np.int64]]:
    """Return the tile values of the pixels of each row; rows of a tile share memory."""
    wide = np.repeat(tiles, side, axis=1)[:, : shape[1]]
    return [wide[y // side] for y in range(shape[0])]


def _stack_neighbors(values: NDArray[Any]) -> list[NDArray[Any]]:
    """Return the values of the nine tiles around each; 0 beyond the edge."""
    down, across = values.shape
    wide = np.pad(values, 1)
    return [wide[y : y + down, x : x + across] for y in range(3) for x in range(3)]
