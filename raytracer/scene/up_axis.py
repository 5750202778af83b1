"""The up direction of particles that come without a scene."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.scene.extent import spread
from raytracer.scene.particles.labels import element_symbols
from raytracer.scene.particles.source import Particles
from raytracer.scene.transform import Vector
from raytracer.scene.views import AXES, VIEW_UP, up_of_data

ENDS = 0.005  # share of the particles at each end of an axis that are not looked at: strays
LAYER = 1.0 / 32.0  # thickness of a floor, relative to the extent
FLOOR = 2.0  # particles in a floor, relative to an even distribution; a heap has three
STEEPER = 2.0  # how much more of a floor y must have than z, since files with z up are usual


def up_of_particles(data: Particles) -> Vector | None:
    """Return the up direction of particles; None is that of a camera without one.

    It is that of the box or of gravity (`up_of_data`). Of other files, those with elements, such as
    molecules, and those of two dimensions have none. In the rest it is z, as in most programs of
    particles, unless they lie on a floor across y.
    """
    up = up_of_data(data.box, data.gravity)
    if up is not None:
        return up
    if data.labels is not None and all(element_symbols(data.labels)):
        return None
    centers: Any = data.centers
    if not isinstance(centers, np.ndarray):
        return VIEW_UP  # an array of a GPU is not read for this
    if is_flat(centers):
        return None
    return AXES["y"] if lies_across_y(centers) else VIEW_UP


def is_flat(centers: NDArray[Any]) -> bool:
    """Return whether all particles have the same z, as in two dimensions; centers: (N, 3)."""
    return len(centers) > 0 and float(np.ptp(centers[:, 2])) == 0.0


def lies_across_y(centers: NDArray[Any]) -> bool:
    """Return whether particles lie on a floor across y, and less so across z; centers: (N, 3)."""
    sample = centers[spread(len(centers))].astype(np.float64)
    if len(sample) < 1.0 / ENDS:
        return False
    across_y, across_z = (_floor(sample[:, axis]) for axis in (1, 2))
    return across_y > FLOOR and across_y > STEEPER * across_z


def _floor(heights: NDArray[np.float64]) -> float:
    """Return how many particles are in the lowest layer, relative to an even distribution, or to
    the highest layer if that has more."""
    low, high = np.quantile(heights, [ENDS, 1.0 - ENDS])
    layer = (high - low) * LAYER
    bottom, top = (
        float(np.count_nonzero(w)) for w in (heights < low + layer, heights > high - layer)
    )
    return bottom / max(len(heights) * LAYER, top)
