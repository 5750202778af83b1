"""The grid that positions in a page are rounded to."""

from __future__ import annotations

from math import ceil, log2
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.exporting.figure import Figure

PART_OF_RADIUS = 64  # an error of positions is at most this part of the smallest radius
MIN_BITS, MAX_BITS = 10, 24  # of a coordinate: 2^24 are the integers of a float32
RADIUS_CODES = 65535


class Grid(NamedTuple):
    """Where positions are rounded to: low + step * code, render space; of radii their logarithm."""

    low: NDArray[np.float64]  # (3,)
    step: float
    bits: int
    least: float  # the smallest radius
    octave: float  # of the radii, for each step of its code

    @classmethod
    def of(cls, figure: Figure) -> Grid:
        """Return the coarsest grid that is fine enough for all radii."""
        points = [figure.positions, figure.rods.start, figure.rods.end]
        radii = np.concatenate([figure.radius, figure.rods.radius])
        filled = [part for part in points if len(part)]
        low = np.min([part.min(axis=0) for part in filled], axis=0).astype(np.float64)
        high = np.max([part.max(axis=0) for part in filled], axis=0).astype(np.float64)
        extent = float(max((high - low).max(), 1e-30))
        least, most = float(radii.min()), float(radii.max())
        least = max(least, most * 2.0**-40)
        # the error is half of the diagonal of a cell
        cell = 2.0 * least / PART_OF_RADIUS / 3.0**0.5
        bits = int(np.clip(ceil(log2(extent / cell + 1.0)), MIN_BITS, MAX_BITS))
        octave = log2(most / least) / RADIUS_CODES if most > least else 0.0
        return cls(low, extent / (2**bits - 1), bits, least, octave)

    def codes(self, positions: NDArray[np.float32]) -> NDArray[np.uint32]:
        """Return positions as numbers of cells, (N, 3)."""
        return np.rint((positions - self.low) / self.step).astype(np.uint32)

    def radius_codes(self, radius: NDArray[np.float32]) -> NDArray[np.uint16]:
        """Return the logarithms of radii in steps of `octave`, (N,)."""
        if self.octave == 0.0:
            return np.zeros(len(radius), np.uint16)
        ratio = np.maximum(radius.astype(np.float64) / self.least, 1.0)
        return np.rint(np.log2(ratio) / self.octave).astype(np.uint16)
