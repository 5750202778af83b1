"""Mean spacing of particles, for the radius of particles without one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer.scene.extent import stray

if TYPE_CHECKING:
    from numpy.typing import NDArray

SPACING = 0.5  # radius of particles without one, in mean spacings: neighbours about touch


def default_radius(centers: NDArray[Any]) -> float:
    """Return the radius of particles without one, from centres (N, 3)."""
    from raytracer.scene.inferred import inferred_radius

    return inferred_radius(lambda: mean_spacing(centers) * SPACING, decides=len(centers) > 0)


def mean_spacing(centers: NDArray[Any]) -> float:
    """Return the edge of the cube per particle in the box of all, without outliers.

    Args:
        centers: (N, 3), any unit.

    Returns:
        A length in the same unit; 1 if all particles coincide.
    """
    if len(centers) == 0:
        return 1.0
    low, high = _box(centers)
    far = stray(centers, low, high)
    if far is not None:  # an outlier would enlarge all spheres
        centers = centers[~far]
        low, high = _box(centers)
    extent = high - low
    # A sheet or a line of particles has fewer dimensions.
    filled = extent[extent > 1e-6 * extent.max()]
    if len(filled) == 0:
        return 1.0
    return float(np.exp(np.log(filled).mean()) / len(centers) ** (1.0 / len(filled)))


def _box(centers: NDArray[Any]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the corners of the bounding box of points, float64 (3,) each."""
    # Column by column: along the short axis NumPy is thirty times slower.
    low, high = (np.array([f(axis) for axis in centers.T], np.float64) for f in (np.min, np.max))
    return low, high
