"""The mean spacing of particles, for the radius of those that have none of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPACING = 0.5
"""Radius of particles without radii, in units of their mean spacing: neighbours about touch."""


def default_radius(centers: NDArray[Any]) -> float:
    """Return the radius of particles that have none of their own.

    Args:
        centers: (N, 3), any unit.
    """
    return mean_spacing(centers) * SPACING


def mean_spacing(centers: NDArray[Any]) -> float:
    """Return the edge of the cube that each particle has to itself in their common box.

    Args:
        centers: (N, 3), any unit.

    Returns:
        A length in the same unit; 1 where the particles all coincide.
    """
    import numpy as np

    if len(centers) == 0:
        return 1.0
    extent = np.subtract(centers.max(axis=0), centers.min(axis=0), dtype=np.float64)
    # A sheet or a line of particles fills fewer dimensions.
    filled = extent[extent > 1e-6 * extent.max()]
    if len(filled) == 0:
        return 1.0
    return float(np.exp(np.log(filled).mean()) / len(centers) ** (1.0 / len(filled)))
