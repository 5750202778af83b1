"""Where the spheres go in render space: the centre, the scale and the float32 coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from math import frexp
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import SceneError
from raytracer.scene.arrays import blocks, each_block
from raytracer.scene.spheres import SphereSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.packing.framing import Spheres
    from raytracer.scene.transform import Triple

SAMPLE = 1 << 14
"""Most spheres looked at for centre and scale; the middle of more is the same to a percent."""

REACH = 0.9
"""The part of the spheres that is to lie within about one unit of render space."""

MOST_LENGTH = 1e300
"""Lengths in scene units are between this and its inverse: powers of two near them are float64."""

OFF_THE_EDGE = 1.2
"""Factor before the scale is rounded to a power of two, so that scenes in round numbers, which
are common, do not sit on the edge between two powers and change sides by a rounding error."""

LARGEST = 2.0**60
"""Largest render-space length: its square, and a sum of several, is still a float32."""


class Space(NamedTuple):
    """Render space: `(scene - center) / scale`.

    Args:
        center: scene space.
        scale: a power of two, scene units a render-space unit.
    """

    center: tuple[float, float, float]
    scale: float

    def point(self, scene: Triple) -> NDArray[np.float64]:
        """Return a point in render space, float64 (3,)."""
        import numpy as np

        offset = np.asarray(scene, np.float64) - np.asarray(self.center, np.float64)
        return np.divide(offset, self.scale)


def render_space(sets: Sequence[SphereSet]) -> Space:
    """Choose centre and scale from an evenly strided sample of the spheres.

    Args:
        sets: sphere sets, none of them empty.
    """
    import numpy as np

    if not sets:
        return Space((0.0, 0.0, 0.0), 1.0)
    stride = -(-sum(s.count for s in sets) // SAMPLE)
    parts = [_sample(spheres, stride) for spheres in sets]
    centers = np.concatenate([c for c, _ in parts])
    radius = np.concatenate([r for _, r in parts])
    middle = np.array([_weighted_median(centers[:, axis], radius) for axis in range(3)])
    extent = np.abs(centers - middle).max(axis=1) + radius
    extent.sort()
    typical = float(extent[int(REACH * (len(extent) - 1))])
    if not 1.0 / MOST_LENGTH < typical < MOST_LENGTH:
        raise SceneError(
            f"the spheres reach over {typical:g} scene units: use other units, so that lengths are "
            f"between {1.0 / MOST_LENGTH:g} and {MOST_LENGTH:g}"
        )
    _, exponent = frexp(typical * OFF_THE_EDGE)
    x, y, z = (float(v) for v in middle)
    return Space((x, y, z), 2.0**exponent)


def _sample(spheres: SphereSet, stride: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return every `stride`-th centre and radius in scene space, in float64."""
    import numpy as np

    rows = slice(0, None, stride)
    chosen = spheres.centers[rows].astype(np.float64)
    radius: Any = spheres.radius
    radius = np.full(len(chosen), radius) if isinstance(radius, float) else radius[rows]
    move = np.asarray(spheres.transform.translate, np.float64)
    linear = spheres.transform.linear()
    columns = [_affine(chosen, linear[axis], move[axis]) for axis in range(3)]
    return np.stack(columns, axis=1), radius.astype(np.float64) * spheres.transform.scale


def _weighted_median(values: NDArray[np.float64], radius: NDArray[np.float64]) -> float:
    """Return the median in which each sphere counts with the inverse of its radius.

    That is the point which minimises the sum of |value - point| / radius: the rounding errors of
    float32 coordinates in units of each sphere's own size. Among equal spheres it is the plain
    (lower) median; of a ball on a giant it is the ball, where a plain median falls between them.
    """
    import numpy as np

    if radius.min() == radius.max():
        lower = (len(values) - 1) // 2
        return float(np.partition(values, lower)[lower])
    order = np.argsort(values, kind="stable")
    weight = np.cumsum((radius.min() / radius)[order])
    return float(values[order[int(np.searchsorted(weight, 0.5 * weight[-1]))]])


def _affine(
    centers: NDArray[np.floating[Any]], row: NDArray[np.float64], offset: float
) -> NDArray[np.float64]:
    """Return one coordinate of `linear @ center + offset`, float64 (M,).

    Written out term by term, because a matrix product rounds differently from one machine's
    linear algebra to the next. Zero coefficients are skipped, so that they cost nothing.
    """
    import numpy as np

    total: NDArray[np.float64] | None = None
    for axis in range(3):
        if row[axis] != 0.0:
            term = np.multiply(centers[:, axis], row[axis], dtype=np.float64)
            total = term if total is None else np.add(total, term, out=total)
    if total is None:
        return np.full(len(centers), offset)
    total += offset
    return total


def place(sets: Sequence[SphereSet], space: Space) -> Spheres:
    """Return x, y, z and radius of all spheres in render space, float32 (N,) each.

    Args:
        sets: sphere sets, none of them empty.
        space: render space.

    Raises:
        SceneError: a sphere is too large, too small or too far for float32.
    """
    import numpy as np

    count = sum(s.count for s in sets)
    x, y, z, radius = (np.empty(count, np.float32) for _ in range(4))
    start = 0
    for spheres in sets:
        rows = slice(start, start + spheres.count)
        out = (x[rows], y[rows], z[rows], radius[rows])
        _place_set(spheres, space, out)
        _check_placed(spheres, out)
        start = rows.stop
    return x, y, z, radius


def _place_set(spheres: SphereSet, space: Space, out: Spheres) -> None:
    """Write one set into its part of the buffers."""
    import numpy as np

    # A power of two divides without rounding, so it can go into the coefficients. The offset is
    # the difference first: sphere coordinates then meet small numbers only.
    linear = spheres.transform.linear() / space.scale
    move = (np.asarray(spheres.transform.translate) - np.asarray(space.center)) / space.scale
    factor = spheres.transform.scale / space.scale
    if isinstance(spheres.radius, float):
        out[3][:] = spheres.radius * factor

    def work(rows: slice) -> None:
        block = spheres.centers[rows]
        for axis in range(3):
            out[axis][rows] = _affine(block, linear[axis], move[axis])
        if not isinstance(spheres.radius, float):
            out[3][rows] = np.multiply(spheres.radius[rows], factor, dtype=np.float64)

    with np.errstate(over="ignore", under="ignore"):
        each_block(spheres.count, work)


def _check_placed(spheres: SphereSet, placed: Spheres) -> None:
    """Refuse spheres that float32 cannot hold beside the others."""
    import numpy as np

    x, y, z, radius = placed
    name = f"{spheres.source}: " if spheres.source else ""
    for rows in blocks(len(x)):
        reach = np.maximum(np.maximum(np.abs(x[rows]), np.abs(y[rows])), np.abs(z[rows]))
        small = radius[rows] < 1.0 / LARGEST
        if not (max(reach.max(), radius[rows].max()) < LARGEST) or small.any():
            bad = small | ~(np.maximum(reach, radius[rows]) < LARGEST)
            index = rows.start + int(np.argmax(bad))
            raise SceneError(
                f"{name}sphere {index} is too far, too large or too small beside the others: "
                "lengths may differ by a factor of at most 1e18"
            )
