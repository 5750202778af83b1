"""Render space, in which float32 coordinates are precise for most spheres."""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from raytracer.config.errors import SceneError

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    from raytracer.model.sphere_set import SphereSet
    from raytracer.model.transform import Transform
    from raytracer.model.views import Triple
    from raytracer.packing.sphere_update import SphereUpdate

REACH = 0.9  # fraction of the spheres that should lie within about one unit of render space
MAX_LENGTH = 1e300  # in scene units, and of its inverse: powers of two nearby are float64

MARGIN = 1.2
"""Factor before the scale is rounded to a power of two: scenes in round numbers are common, and
without it rounding errors would decide between two powers."""

MAX_COORDINATE = 2.0**60  # in render space: a sum of squares is still a float32


class Space(NamedTuple):
    """Render space: `(scene - center) / scale`; the scale is a power of two."""

    center: tuple[float, float, float]
    scale: float

    def point(self, scene: Triple | NDArray[np.float64]) -> NDArray[np.float64]:
        """Convert points, (3,) or (N, 3), from scene units to render space, float64."""
        offset = np.asarray(scene, np.float64) - np.asarray(self.center, np.float64)
        return np.divide(offset, self.scale)

    def affine_from(self, transform: Transform) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return matrix (3, 3) and offset (3,) from the units of a set to render space."""
        move = (np.asarray(transform.translate) - np.asarray(self.center)) / self.scale
        return transform.linear() / self.scale, move

    def update(self, sets: Sequence[SphereSet], first: int, **given: Any) -> SphereUpdate:
        """Return an update of sets of one transform, from a sphere on; `given`: other fields."""
        from raytracer.packing.sphere_update import (
            SphereUpdate,  # late: few scenes change on a device
        )

        transform, count = sets[0].transform, sum(each.count for each in sets)
        linear, offset = self.affine_from(transform)
        scale = transform.scale / self.scale
        return SphereUpdate(first, count, linear=linear, offset=offset, scale=scale, **given)


def fit_space(centers: NDArray[np.float64], radius: NDArray[np.float64]) -> Space:
    """Choose centre and scale from a sample of the spheres in scene space, (M, 3) and (M,)."""
    middle = np.array([_weighted_median(centers[:, axis], radius) for axis in range(3)])
    extent = np.abs(centers - middle).max(axis=1) + radius
    extent.sort()
    typical = float(extent[int(REACH * (len(extent) - 1))])
    if not 1.0 / MAX_LENGTH < typical < MAX_LENGTH:
        raise SceneError(
            f"the spheres extend over {typical:g} scene units: use units in which lengths are "
            f"between {1.0 / MAX_LENGTH:g} and {MAX_LENGTH:g}"
        )
    _, exponent = frexp(typical * MARGIN)
    x, y, z = (float(v) for v in middle)
    return Space((x, y, z), 2.0**exponent)


def _weighted_median(values: NDArray[np.float64], radius: NDArray[np.float64]) -> float:
    """Return the median, weighted by the inverse of the radius.

    It minimises the sum of |value - point| / radius: the rounding errors of float32 coordinates
    relative to each sphere's size. Among equal spheres it is the plain (lower) median; for a ball
    on a giant it is the ball, where a plain median falls between them.
    """
    if radius.min() == radius.max():
        lower = (len(values) - 1) // 2
        return float(np.partition(values, lower)[lower])
    order = np.argsort(values, kind="stable")
    weight = np.cumsum((radius.min() / radius)[order])
    return float(values[order[int(np.searchsorted(weight, 0.5 * weight[-1]))]])


def transform_rows(
    centers: NDArray[np.floating[Any]],
    linear: NDArray[Any],
    offset: ArrayLike = (0.0, 0.0, 0.0),
) -> NDArray[np.float64]:
    """Return `linear @ center + offset` for points, float64 (M, 3).

    Written term by term, because rounding of matrix products differs between machines.
    """
    x, y, z = (np.asarray(centers[:, axis, None], np.float64) for axis in range(3))
    placed = x * linear[:, 0] + y * linear[:, 1] + z * linear[:, 2] + np.asarray(offset)
    return np.asarray(placed, np.float64)
