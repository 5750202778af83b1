"""Sets of solids other than spheres: capsules, cones and ellipsoids; meshes are in `mesh`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.arguments import check_part_names, check_word
from raytracer.config.errors import SceneError, pluralize
from raytracer.model.arrays import ErrorContext, as_array, check_radius, check_rows
from raytracer.model.materials import AnyMaterial
from raytracer.model.quantities import find_unit
from raytracer.model.sphere_set import Balls, SphereSet
from raytracer.model.transform import Transform

if TYPE_CHECKING:
    from raytracer.appearance.coloring.scale import ColorScale

TIP_RADIUS = 2.0**-10  # of the ball for the tip of a cone in framing, relative to its other end

CAPS = ("round", "flat")
COLOR_CHANGES = ("sharp", "smooth")


class SolidSet:
    """Solids of one type, other than spheres, that share a material and a transform.

    `start` is a set of one ball per solid with its colours, material and transform.
    """

    noun: str
    start: SphereSet
    even_colors = False  # whether the colour changes linearly from end to end
    are_bonds = False  # whether they are bonds of particles, to be remade when these change
    made_for = ""  # the glyph they belong to, to be remade with it: "arrows", "box", or ""
    scales: Sequence["ColorScale"] = ()  # of glyphs
    file: Path | None = None  # of their arrays in a scene file
    of_set = 0  # number of the set of the particles
    particles: tuple[NDArray[Any], NDArray[Any]] | None = None  # where bonds start and end
    replaces: NDArray[Any] | None = None  # the particles that ribbons are shown for

    @property
    def balls(self) -> tuple[SphereSet, ...]:
        """Balls at the ends of the solids, or around them."""
        return (self.start,)

    @property
    def second_colors(self) -> SphereSet | None:
        """Balls with further colours: of the second ends, or of the vertices of a mesh."""
        return None

    @property
    def count(self) -> int:
        """Number of solids."""
        return self.start.count

    @property
    def material(self) -> str | AnyMaterial:
        """Material, or its name in the scene."""
        return self.start.material

    @property
    def transform(self) -> Transform:
        """Transform to scene units."""
        return self.start.transform

    def check(self) -> None:
        """Check the arrays again, as `SphereSet.check`."""
        for balls in dict.fromkeys((self.start, *self.balls)):
            balls.check()

    def __repr__(self) -> str:
        return f"<{type(self).__name__}: {pluralize(self.count, self.noun)}>"


class CapsuleSet(SolidSet):
    """Capsules that share a material and a transform: bonds, rods, edges, lines.

    A capsule is the set of points within its radius of the segment from start to end.

    Args:
        starts: (N, 3), any unit.
        ends: (N, 3), the same unit; an end at its start makes a sphere, unless `caps` is "flat".
        radius: one radius or (N,), the same unit.
        color: as for `SphereSet`: one colour, N colours, or a palette (K, 3) for `color_id`.
        end_color: colour of the half towards the end, in the same forms; None is `color`.
        caps: "round" or "flat": with flat ends it is a cylinder.
        color_change: "sharp": the colour changes at the middle; "smooth": linearly from end to end.
        color_id: integers (N,) into the palette `color`.
        end_color_id: integers (N,) into the palette `end_color`.
        opacity: one opacity or (N,), from 0 to 1; None is that of the colours, or 1.
        names: names in a file for "starts", "ends", "radius", "color", "end_color" and "opacity",
            for messages.
        **looks: `color_space`, `material` and `transform`, as for `SphereSet`.

    Raises:
        SceneError: arrays of wrong shape, NaN or infinity (with the index of the first), radii that
            are not positive, colours out of range.
    """

    noun = "capsule"

    caps = "round"
    """Shape of the ends, one of `CAPS`."""

    def __init__(
        self, starts: Any, ends: Any, radius: Any, color: Any = None, end_color: Any = None, *,
        color_id: Any = None, end_color_id: Any = None, opacity: Any = None,
        caps: str | None = None, color_change: str = "sharp",
        names: Mapping[str, str] | None = None, **looks: Any,
    ) -> None:  # fmt: skip
        self.caps = check_word(self.caps if caps is None else caps, "caps", CAPS)
        self.even_colors = check_word(color_change, "color_change", COLOR_CHANGES) == "smooth"
        names = check_part_names(names)
        name_of_ends = names.get("ends", "ends")
        if radius is None:
            name = names.get("radius", "radius")
            raise SceneError(f"{name}: is None; give the radius of the {self.noun}s")
        self.start: SphereSet = Balls(
            self.noun, starts, radius, color, color_id=color_id, opacity=opacity,
            names={**names, "centers": names.get("starts", "starts")}, **looks,
        )  # fmt: skip
        unit = self.start.where.unit
        if unit is not None or find_unit(ends) is not None:
            ends = as_array(ends, name_of_ends, ErrorContext(noun=self.noun), unit)
        self.end: SphereSet = Balls(
            self.noun, ends, 1.0, end_color, color_id=end_color_id, **looks,
            names={"centers": name_of_ends, "color": names.get("end_color", "end_color")},
        )  # fmt: skip
        if self.end.count != self.start.count:
            raise SceneError(
                f"{name_of_ends}: has {pluralize(self.end.count, 'end')} for "
                f"{pluralize(self.start.count, 'start')}"
            )
        self.end.radius = self.start.radius
        self.has_end_colors = end_color is not None or end_color_id is not None
        same = (self.starts == self.ends).all(axis=1)
        if self.caps == "flat" and same.any():
            raise SceneError(
                f"{name_of_ends}: {self.noun} {int(np.argmax(same))} ends where it starts; with "
                "flat ends it needs a length"
            )

    @property
    def balls(self) -> tuple[SphereSet, ...]:
        return self.start, self.end

    @property
    def second_colors(self) -> SphereSet | None:
        return self.end if self.has_end_colors else None

    @property
    def starts(self) -> NDArray[np.floating[Any]]:
        """Starts, float32 or float64 (N, 3)."""
        return self.start.centers

    @property
    def ends(self) -> NDArray[np.floating[Any]]:
        """Ends, float32 or float64 (N, 3)."""
        return self.end.centers

    @property
    def radius(self) -> NDArray[np.floating[Any]] | float:
        """One radius, or (N,)."""
        return self.start.radius


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
        self, starts: Any, ends: Any, radius: Any, end_radius: Any = 0.0, color: Any = None,
        end_color: Any = None, *, names: Mapping[str, str] | None = None, **looks: Any,
    ) -> None:  # fmt: skip
        if "caps" in looks:
            raise SceneError("caps: cones have flat ends; leave it out")
        super().__init__(starts, ends, 1.0, color, end_color, names=names, **looks)
        where = ErrorContext("", check_part_names(names), self.noun, self.start.where.unit)
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

    def check(self) -> None:
        super().check()
        for part, radii in zip(("radius", "end_radius"), self.radii, strict=True):
            check_radius(radii, self.count, self.start.where, part, zero=True)

    @property
    def radius(self) -> NDArray[np.floating[Any]] | float:
        """Radius at the starts: one, or (N,)."""
        return self.radii[0] if self.radii[0].ndim else float(self.radii[0])

    @property
    def end_radius(self) -> NDArray[np.floating[Any]] | float:
        """Radius at the ends: one, or (N,)."""
        return self.radii[1] if self.radii[1].ndim else float(self.radii[1])


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
        self, centers: Any, semi_axes: Any, orientation: Any = None, color: Any = None, *,
        names: Mapping[str, str] | None = None, **looks: Any,
    ) -> None:  # fmt: skip
        names = check_part_names(names)
        where = ErrorContext("", names, self.noun, find_unit(centers))
        self.start: SphereSet = Balls(self.noun, centers, 1.0, color, names=names, **looks)
        axes = check_rows(semi_axes, "semi_axes", 3, self.count, where)
        check_radius(axes.min(axis=1), len(axes), where, "semi_axes")
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

    def check(self) -> None:
        super().check()
        check_radius(self.semi_axes.min(axis=1), len(self.semi_axes), self.start.where, "semi_axes")

    @property
    def centers(self) -> NDArray[np.floating[Any]]:
        """Centres, float32 or float64 (N, 3)."""
        return self.start.centers
