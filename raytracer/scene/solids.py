"""Sets of cones and ellipsoids; capsules are in `raytracer.scene.scene`."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError
from raytracer.scene.arrays import Where, check_radius, check_rows
from raytracer.scene.scene import Balls, CapsuleSet, SolidSet, SphereSet

TIP_RADIUS = 2.0**-10  # of the ball for the tip of a cone in framing, relative to its other end


class ConeSet(CapsuleSet):
    """Cones with flat ends that share a material and a transform: tips of arrows, funnels, tubes.

    A cone has a radius at its start and one at its end. With equal radii it is a cylinder.

    Args:
        starts: (N, 3), any unit.
        ends: (N, 3), the same unit; different from the starts.
        radius: at the starts: one radius or (N,), the same unit; 0 is a tip.
        end_radius: at the ends, likewise; not both are 0.
        color, end_color: as for `CapsuleSet`.
        names: names in a file for "starts", "ends", "radius", "end_radius", "color" and
            "end_color", for messages.
        **looks: `color_id`, `end_color_id`, `color_change`, `color_space`, `material`, `transform`
            and `opacity`, as for `CapsuleSet`.

    Raises:
        SceneError: arrays of wrong shape, NaN or infinity (with the index of the first), negative
            radii, cones without length or radius, colours out of range.
    """

    noun = "cone"
    caps = "flat"

    def __init__(
        self,
        starts: Any,
        ends: Any,
        radius: Any,
        end_radius: Any = 0.0,
        color: Any = None,
        end_color: Any = None,
        *,
        names: Mapping[str, str] | None = None,
        **looks: Any,
    ) -> None:
        if "caps" in looks:
            raise SceneError("caps: cones have flat ends; leave it out")
        super().__init__(starts, ends, 1.0, color, end_color, names=names, **looks)
        where = Where("", dict(names or {}), self.noun)
        first, last = (
            np.asarray(check_radius(value, self.count, where, part, zero=True), np.float64)
            for part, value in (("radius", radius), ("end_radius", end_radius))
        )
        largest = np.maximum(first, last)
        if not np.all(largest > 0.0):
            bad = "" if largest.ndim == 0 else f"cone {int(np.argmin(largest > 0.0))}: "
            raise where.wrong("end_radius", f"{bad}both radii are 0; give one above 0")
        self.radii = (first, last)
        for balls, radii in zip(self.balls, self.radii, strict=True):
            balls.radius = check_radius(np.maximum(radii, TIP_RADIUS * largest), self.count, where)

    @property
    def radius(self) -> NDArray[np.floating[Any]] | float:
        """Radius at the starts: one, or (N,)."""
        return _one_or_all(self.radii[0])

    @property
    def end_radius(self) -> NDArray[np.floating[Any]] | float:
        """Radius at the ends: one, or (N,)."""
        return _one_or_all(self.radii[1])


class EllipsoidSet(SolidSet):
    """Ellipsoids that share a material and a transform: liquid crystals, tensors, grains.

    Args:
        centers: (N, 3), any unit.
        semi_axes: (3,) for all or (N, 3), the same unit.
        orientation: quaternions w, x, y, z that rotate an ellipsoid from the coordinate axes: (4,)
            for all or (N, 4), of any length above 0; None is no rotation.
        color: as for `SphereSet`: one colour, N colours, or a palette (K, 3) for `color_id`.
        names: names in a file for "centers", "semi_axes", "orientation" and "color", for messages.
        **looks: `color_id`, `color_space`, `material`, `transform` and `opacity`, as for
            `SphereSet`.

    Raises:
        SceneError: arrays of wrong shape, NaN or infinity (with the index of the first), semi-axes
            that are not positive, quaternions of length 0, colours out of range.
    """

    noun = "ellipsoid"

    def __init__(
        self,
        centers: Any,
        semi_axes: Any,
        orientation: Any = None,
        color: Any = None,
        *,
        names: Mapping[str, str] | None = None,
        **looks: Any,
    ) -> None:
        names = dict(names or {})
        where = Where("", names, self.noun)
        self.start: SphereSet = Balls(self.noun, centers, 1.0, color, names=names, **looks)
        axes = check_rows(semi_axes, "semi_axes", 3, self.count, where)
        if not (axes > 0.0).all():
            row = int(np.argmin((axes > 0.0).all(axis=1)))
            raise where.wrong(
                "semi_axes",
                f"ellipsoid {row} has a semi-axis {axes[row].min():g}; it must be positive",
            )
        turn = np.array([[1.0, 0.0, 0.0, 0.0]])
        if orientation is not None:
            turn = check_rows(orientation, "orientation", 4, self.count, where)
        largest = np.abs(turn).max(axis=1, keepdims=True)
        if not (largest > 0.0).all():
            row = int(np.argmin(largest[:, 0] > 0.0))
            raise where.wrong("orientation", f"ellipsoid {row} has a quaternion of length 0")
        turn = turn / largest
        self.semi_axes = axes
        """Semi-axes, float64 (1, 3) or (N, 3)."""
        self.orientation = turn / np.sqrt(np.square(turn).sum(axis=1, keepdims=True))
        """Unit quaternions w, x, y, z, float64 (1, 4) or (N, 4)."""
        size = axes.max(axis=1)
        self.start.radius = size if len(size) > 1 else float(size[0])

    @property
    def centers(self) -> NDArray[np.floating[Any]]:
        """Centres, float32 or float64 (N, 3)."""
        return self.start.centers


def _one_or_all(radius: NDArray[np.float64]) -> NDArray[np.floating[Any]] | float:
    return float(radius) if radius.ndim == 0 else radius
