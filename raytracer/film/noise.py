"""The noise of a film and of its tiles, estimated from two parts of the samples."""

from __future__ import annotations

from dataclasses import dataclass, replace
from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from raytracer.film.film import Film


def noise_of(film: Film, earlier: NDArray[np.float32], samples: int | NDArray[np.uint32]) -> float:
    """Return the standard error of a film, relative to its light.

    It is the root mean square of the standard errors of all channels of the pixels in which a
    sphere was hit, divided by the mean of these channels, in linear light. The means of the
    earlier and of the later samples differ by noise alone, so that their difference has the
    variance of both means together. Samples that are spread evenly are less noisy than this says.

    Args:
        film: with all samples.
        earlier: its sums when it had fewer, float32 (h, w, 4).
        samples: how many these were, of all pixels or of each, uint32 (h, w); pixels that had none
            or got none are left out.

    Returns:
        The noise; 0 where nothing was hit.
    """
    shape = film.sums.shape[:2]
    counts = np.broadcast_to(film.samples if film.counts is None else film.counts, shape)
    earlier_counts = np.broadcast_to(samples, shape)
    variance, light, count = 0.0, 0.0, 0
    # A row needs little memory.
    for before, after, had, has in zip(earlier, film.sums, earlier_counts, counts, strict=True):
        use = (after[:, 3] > 0) & np.isfinite(after).all(axis=-1) & (had > 0) & (has > had)
        first, both = before[use, :3].astype(np.float64), after[use, :3].astype(np.float64)
        own, total = (each[use, None].astype(np.float64) for each in (had, has))
        later = total - own
        # Of the mean's variance in that of the difference.
        share = own * later / np.square(total)
        variance += float((share * np.square(first / own - (both - first) / later)).sum())
        light += float((both / total).sum())
        count += both.size
    if light <= 0:
        return 0.0
    return sqrt(variance / count) / (light / count)


@dataclass(frozen=True)
class TileNoise:
    """What is known of the noise of tiles; all arrays are float64 (tiles down, tiles across).

    Args:
        variance: of the means of all channels in which a sphere was hit, summed.
        light: of these channels, summed.
        channels: their number.
        measured: whether samples were added between the two parts.
    """

    variance: NDArray[np.float64]
    light: NDArray[np.float64]
    channels: NDArray[np.float64]
    measured: NDArray[np.bool_]

    @classmethod
    def of(
        cls,
        sums: NDArray[np.float32],
        earlier: NDArray[np.float32],
        counts: NDArray[np.int64],
        before: NDArray[np.int64],
        side: int,
    ) -> TileNoise:
        """Measure the tiles to which samples were added.

        Args:
            sums: of all samples, float32 (h, w, 4).
            earlier: sums before.
            counts: samples of the tiles, (tiles down, tiles across).
            before: samples before, at least 1.
            side: of a tile in pixels.
        """
        found = np.zeros((3, *counts.shape))
        columns = np.arange(0, sums.shape[1], side)
        for y, (now, there) in enumerate(zip(counts, before, strict=True)):
            rows = slice(y * side, (y + 1) * side)
            all_, first = (
                np.repeat(row.astype(np.float64), side)[: sums.shape[1], None]
                for row in (now, there)
            )
            later = all_ - first
            after = sums[rows].astype(np.float64)
            use = ((after[..., 3] > 0) & np.isfinite(after).all(axis=-1))[..., None]
            after = np.where(use, after[..., :3], 0.0)
            part = np.where(use, earlier[rows, :, :3], 0.0)
            difference = part / first - (after - part) / np.maximum(later, 1)
            square = np.square(difference) * (first * later / np.square(all_))
            values = square, after / all_, np.broadcast_to(use, after.shape)
            for index, value in enumerate(values):
                found[index, y] = np.add.reduceat(value.sum(axis=(0, 2)), columns)
        return cls(found[0], found[1], found[2], counts > before)

    def renewed(self, later: TileNoise) -> TileNoise:
        """Return these tiles with those that were measured later."""
        return replace(
            later,
            variance=np.where(later.measured, later.variance, self.variance),
            measured=self.measured | later.measured,
        )

    @property
    def picture(self) -> float:
        """Noise of the picture, as `noise_of` defines it."""
        return self._relative(self.variance.sum(), self.channels.sum())

    @property
    def noise(self) -> NDArray[np.float64]:
        """Standard error of the tiles, relative to the mean light of the picture.

        Light that is rare may be missing in all samples of a tile. It is rarely missing in those
        around it too, so that the mean of three by three tiles counts where it is larger.
        """
        own = self._each(self.variance, self.channels)
        return np.maximum(own, self._each(_around(self.variance), _around(self.channels)))

    def _each(
        self, variance: NDArray[np.float64], channels: NDArray[np.float64]
    ) -> NDArray[np.float64]:
        light, count = self.light.sum(), max(self.channels.sum(), 1.0)
        if light <= 0:
            return np.zeros_like(variance)
        result: NDArray[np.float64] = np.sqrt(variance / np.maximum(channels, 1)) / (light / count)
        return result

    def _relative(self, variance: float, channels: float) -> float:
        return float(self._each(np.array(variance), np.array(channels)))


def _around(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sums over three by three tiles."""
    down, across = values.shape
    wide = np.pad(values, 1)
    total = np.zeros_like(values)
    for y in range(3):
        for x in range(3):
            total += wide[y : y + down, x : x + across]
    return total
