"""Directions that are drawn, counted in cells of the sphere: chi-squared tests of densities."""

from collections.abc import Callable
from math import sqrt

import numpy as np
import pytest

from reference.scene import Array, unit

DRAWN = 20_000
RINGS, SECTORS = 10, 16
FINE = 12
"""Points of a cell, along each side, at which a density is read."""

Density = Callable[[Array], Array]


def frame_about(axis: Array) -> Array:
    """Rows: two vectors across an axis, and the axis, (3, 3)."""
    across = unit(np.cross(axis, (0.3, -0.5, 0.7)))
    return np.stack([across, np.cross(axis, across), axis])


def expected(density: Density, axis: Array, low: float, drawn: int = DRAWN) -> Array:
    """Directions that cells of equal solid angle about an axis ought to get, (RINGS, SECTORS).

    low: the cosine to the axis where the last ring ends.
    """
    z = 1 - (1 - low) * (np.arange(RINGS * FINE) + 0.5) / (RINGS * FINE)
    turn = 2 * np.pi * (np.arange(SECTORS * FINE) + 0.5) / (SECTORS * FINE)
    z, turn = (part.ravel() for part in np.meshgrid(z, turn, indexing="ij"))
    sine = np.sqrt(1 - z**2)
    wi = np.stack([sine * np.cos(turn), sine * np.sin(turn), z], axis=-1) @ frame_about(axis)
    cells = density(wi).reshape(RINGS, FINE, SECTORS, FINE).mean(axis=(1, 3))
    return np.asarray(cells * drawn * 2 * np.pi * (1 - low) / (RINGS * SECTORS))


def counted(wi: Array, axis: Array, low: float) -> Array:
    """Directions in these cells, (RINGS, SECTORS)."""
    x, y, z = frame_about(axis) @ wi.T
    ring = np.clip((1 - z) / (1 - low), 0, 1 - 1e-9) * RINGS
    sector = (np.arctan2(y, x) / (2 * np.pi) % 1) * SECTORS
    cell = ring.astype(int) * SECTORS + np.minimum(sector.astype(int), SECTORS - 1)
    return np.bincount(cell, minlength=RINGS * SECTORS).reshape(RINGS, SECTORS).astype(np.float64)


def check(found: Array, wanted: Array) -> None:
    """Chi-squared: five standard deviations, and all that is drawn has a density."""
    assert wanted.sum() == pytest.approx(found.sum(), rel=0.01)
    full = wanted > 8  # others count together
    found = np.append(found[full], found[~full].sum())
    wanted = np.append(wanted[full], max(wanted[~full].sum(), 1.0))
    chi2, freedom = float(((found - wanted) ** 2 / wanted).sum()), len(wanted)
    assert freedom > 20
    assert chi2 < freedom + 5 * sqrt(2 * freedom)


def squares(count: int, columns: int, seed: int = 5) -> Array:
    """Random numbers below 1 in float32, (count, columns)."""
    return np.random.default_rng(seed).integers(0, 1 << 24, (count, columns)) / np.float32(1 << 24)
