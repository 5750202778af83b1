"""Standard views: directions of a fitted camera, and the up direction in the picture.

The names are those of OVITO and ParaView. A view looks from the side it is named after: `x` and
`right` from +x, towards -x. With z up:

| view          | from     | to the right | up  |
| ------------- | -------- | ------------ | --- |
| x, right      | +x       | +y           | +z  |
| -x, left      | -x       | -y           | +z  |
| y, back       | +y       | -x           | +z  |
| -y, front     | -y       | +x           | +z  |
| z, top        | +z       | +x           | +y  |
| -z, bottom    | -z       | +x           | -y  |
| iso           | +x-y+z   | +x+y         | +z  |

With another up axis the words rotate with it and the axes do not: with y up, `front` is from +z,
and `x` still from +x.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import hypot, radians, tan
from typing import TYPE_CHECKING, Any, NamedTuple, Union

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.model.particle_source import Box

Triple = Union[Sequence[float], "NDArray[Any]"]
"""Three numbers as a user gives them; `arguments.vector` makes a `Vector` of them."""

Vector = tuple[float, float, float]

AXES: dict[str, Vector] = {
    "x": (1.0, 0.0, 0.0),
    "-x": (-1.0, 0.0, 0.0),
    "y": (0.0, 1.0, 0.0),
    "-y": (0.0, -1.0, 0.0),
    "z": (0.0, 0.0, 1.0),
    "-z": (0.0, 0.0, -1.0),
}

# Towards the camera, in components along right, up and back.
_WORDS: dict[str, Vector] = {
    "right": (1.0, 0.0, 0.0),
    "left": (-1.0, 0.0, 0.0),
    "top": (0.0, 1.0, 0.0),
    "bottom": (0.0, -1.0, 0.0),
    "front": (0.0, 0.0, 1.0),
    "back": (0.0, 0.0, -1.0),
    "iso": (1.0, 1.0, 1.0),
}

FITS = ("all", "bulk", "box")  # values of `Camera.fit` besides true and false
VIEWS = (*AXES, "front", "back", "left", "right", "top", "bottom", "iso")
STANDARD: Vector = (1.0, 0.7, 1.4)  # default direction to a fitted camera: from front right above
VIEW_UP: Vector = AXES["z"]  # default up direction in a named view: as in OVITO and ParaView
PLAIN_UP: Vector = AXES["y"]  # default up direction otherwise


class ObserverAxes(NamedTuple):
    """Right, up and back of an observer in front of the scene, unit vectors."""

    right: Vector
    up: Vector
    back: Vector

    def vector(self, parts: Vector) -> Vector:
        """Convert components along right, up and back to a vector of the scene."""
        x, y, z = (
            sum(part * axis[i] for part, axis in zip(parts, self, strict=True)) for i in range(3)
        )
        return (x + 0.0, y + 0.0, z + 0.0)  # no negative zeros


def observer_axes(up: Triple) -> ObserverAxes:
    """Return right, up and back for an up vector of any nonzero length. Right is +x, or +y if x is
    up or down, made perpendicular to `up` by the smallest rotation."""
    length = hypot(*up)
    x, y, z = (v / length for v in up)
    first: Vector = AXES["y"] if abs(x) > max(abs(y), abs(z)) else AXES["x"]
    along = first[0] * x + first[1] * y
    level = (first[0] - along * x, first[1] - along * y, -along * z)
    size = hypot(*level)
    a, b, c = (v / size for v in level)
    return ObserverAxes((a, b, c), (x, y, z), (b * z - c * y, c * x - a * z, a * y - b * x))


def find_data_up(box: Box | None, gravity: Sequence[float] | None) -> Vector | None:
    """Return the up direction from box and gravity, (3,), or None: opposite to gravity; normal to a
    slab, whose box is periodic along two edges only; in any other box z, as in OVITO."""
    if gravity is not None:
        x, y, z = gravity
        return (0.0 - x, 0.0 - y, 0.0 - z)
    if box is None:
        return None
    if box.periodic.count(False) != 1:
        return VIEW_UP
    across = box.periodic.index(False)
    a, b = (box.edges[(across + step) % 3] for step in (1, 2))
    normal = (a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])
    length = hypot(*normal)
    x, y, z = (part / length + 0.0 for part in normal) if length else VIEW_UP
    return (x, y, z)


def find_standard_direction(up: Triple, elevation: float | None = None) -> Vector:
    """Return the default direction from the spheres to a fitted camera, any length; elevation:
    angle above the plane across `up`, in degrees; None is that of `STANDARD`."""
    right, height, back = STANDARD
    if elevation is not None:
        height = hypot(right, back) * tan(radians(elevation))
    return observer_axes(up).vector((right, height, back))


def find_view_direction(view: str, up: Triple) -> tuple[Vector, Vector]:
    """Return the direction to the camera of a named view, and the up direction in its picture."""
    axes = observer_axes(up)
    towards = AXES[view] if view in AXES else axes.vector(_WORDS[view])
    height = sum(a * b for a, b in zip(towards, axes.up, strict=True)) / hypot(*towards)
    if abs(height) < 0.9999:
        return towards, axes.up
    return towards, axes.vector((0.0, 0.0, -1.0 if height > 0.0 else 1.0))
