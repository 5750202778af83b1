"""Camera and background."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import hypot, inf
from typing import TYPE_CHECKING, Any

from ..arguments import is_a, one_of, plain, real, truth
from ..errors import SceneError, shown_value
from .colors import RGB, parse_color
from .transform import Vector, vector

if TYPE_CHECKING:
    from .transform import Triple

CAMERA_TYPES = ("perspective", "orthographic")
"""Kinds of camera: the words of the kernels' `CameraKind`."""

STANDARD_DIRECTION: Vector = (1.0, 0.7, 1.4)
"""From the spheres to a fitted camera that was given no direction: right of front, from above."""

PARALLEL = 1e-6
"""Sine of the angle to the view under which `up` no longer says which way is up."""

Color = str | Sequence[float]


def set_field(target: Any, name: str, value: Any) -> None:
    """Store a checked value in a frozen dataclass that is being made."""
    object.__setattr__(target, name, value)


def check_color(value: Any, name: str) -> RGB:
    """Return an sRGB colour in 0..1, naming the field when it is none."""
    try:
        return parse_color(value)
    except SceneError as error:
        raise SceneError(f"{name}: {error}") from None


@dataclass(frozen=True)
class Camera:
    """Where the picture is taken from.

    With `fit`, which is the default where no position is given, the camera is put as near as
    possible with the spheres in the frame, and only its direction is taken from here. At most 1%
    of the spheres, or one of ten or more, are left out, with a warning, where they are more than
    ten times as far out as the others; `fit="all"` frames these too.

    Args:
        position: eye point, scene units.
        look_at: the point in the middle of the picture, scene units; if None, the middle of the
            spheres (of the box around them, without giants and those that are far out).
        up: which way is up in the picture; any length.
        vertical_fov: full angle of the picture's height in degrees, perspective only.
        height: height of the picture in scene units, orthographic only.
        type: "perspective" or "orthographic".
        fit: whether to frame the spheres, or "all"; None fits if there is no position.
        direction: from the spheres towards a fitted camera; any length.

    Raises:
        SceneError: a value is out of range, or they contradict each other.
    """

    position: Triple | None = None
    look_at: Triple | None = None
    up: Triple = (0.0, 1.0, 0.0)
    vertical_fov: float = 40.0
    height: float | None = None
    type: str = "perspective"
    fit: bool | str | None = None
    direction: Triple | None = None

    def __post_init__(self) -> None:
        set_field(self, "type", one_of(self.type, "camera.type", CAMERA_TYPES, "camera"))
        for name in ("position", "look_at", "up", "direction"):
            value = getattr(self, name)
            if value is not None:
                set_field(self, name, vector(value, f"camera.{name}"))
        fov = real(self.vertical_fov, "camera.vertical_fov", 0.001, 179.0)
        set_field(self, "vertical_fov", fov)
        if self.height is not None:
            height = real(self.height, "camera.height", 0.0, inf, above=True)
            set_field(self, "height", height)
        set_field(self, "fit", plain(self.fit))
        if is_a(self.fit, str) and self.fit != "all":
            raise SceneError(
                f"camera.fit: {shown_value(self.fit)} is neither true, false nor 'all'"
            )
        if not is_a(self.fit, str):
            fitted = self.position is None if self.fit is None else truth(self.fit, "camera.fit")
            set_field(self, "fit", fitted)
        self._check_consistency()

    def _check_consistency(self) -> None:
        """Refuse what contradicts itself."""
        if self.fit and self.height is not None:
            raise SceneError("camera.height: a fitted camera finds its own height; leave it out")
        if self.type == "orthographic" and not self.fit and self.height is None:
            raise SceneError("camera.height: an orthographic camera needs a height, or fit = true")
        if self.direction is not None and not self.fit:
            raise SceneError("camera.direction: only a fitted camera has one; use look_at")
        if self.position is None and not self.fit:
            raise SceneError("camera.position: missing; give a position, or fit = true")
        if self.direction is not None and self.position is not None:
            raise SceneError("camera.direction: leave out either the direction or the position")
        if self.position is not None and self.look_at is None:
            return  # at what it looks is known when the spheres are
        backward = self.backward()
        length = hypot(*backward)
        if length == 0.0:
            name = "camera.direction" if self.direction is not None else "camera.look_at"
            problem = "has no length" if self.direction is not None else "is the camera's position"
            raise SceneError(f"{name}: {problem}, so the camera looks nowhere")
        up = vector(self.up, "camera.up")
        # Each is scaled by its own length first, so that the product cannot overflow.
        height = hypot(*up)
        b = [v / length for v in backward]
        u = [v / height for v in up] if height > 0.0 else [0.0, 0.0, 0.0]
        side = hypot(
            b[1] * u[2] - b[2] * u[1], b[2] * u[0] - b[0] * u[2], b[0] * u[1] - b[1] * u[0]
        )
        if side < PARALLEL:
            raise SceneError("camera.up: is parallel to the view, so nothing says which way is up")

    def backward(self) -> Vector:
        """Return the vector from what the camera looks at to the camera, any length."""
        if self.position is None:
            given = STANDARD_DIRECTION if self.direction is None else self.direction
            return (given[0], given[1], given[2])
        target = (0.0, 0.0, 0.0) if self.look_at is None else self.look_at
        a, b, c = (p - t for p, t in zip(self.position, target, strict=True))
        return (a, b, c)


@dataclass(frozen=True)
class Background:
    """What is seen where there is no sphere: one colour, a vertical gradient, or nothing.

    Args:
        color: sRGB, of the whole background; white if nothing else is given.
        bottom, top: sRGB, of the picture's lower and upper edge, instead of `color`.
        transparent: whether the picture has an alpha channel instead.
        up: up axis of the background as mirrors reflect it, any length; None takes the camera's
            `up`. Behind the spheres the gradient is vertical in the picture, whatever this says.

    Raises:
        SceneError: a colour is none, they contradict each other, or `up` has no length.
    """

    color: Color | None = None
    bottom: Color | None = None
    top: Color | None = None
    transparent: bool = False
    up: Triple | None = None

    def __post_init__(self) -> None:
        for name in ("color", "bottom", "top"):
            value = getattr(self, name)
            if value is not None:
                set_field(self, name, check_color(value, f"background.{name}"))
        if (self.bottom is None) != (self.top is None):
            missing = "bottom" if self.bottom is None else "top"
            raise SceneError(f"background.{missing}: a gradient needs both a bottom and a top")
        if self.color is not None and self.top is not None:
            raise SceneError("background.color: leave out either the colour or the gradient")
        set_field(self, "transparent", truth(self.transparent, "background.transparent"))
        if self.up is not None:
            set_field(self, "up", vector(self.up, "background.up"))
            if hypot(*self.up) == 0.0:
                raise SceneError("background.up: has no length; say which way is up")

    def edges(self) -> tuple[RGB, RGB]:
        """Return the sRGB colours of the lower and of the upper edge."""
        if self.transparent:
            return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if self.bottom is not None and self.top is not None:
            return parse_color(self.bottom), parse_color(self.top)
        color = (1.0, 1.0, 1.0) if self.color is None else parse_color(self.color)
        return color, color
