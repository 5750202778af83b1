"""The camera of a scene."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import hypot
from typing import TYPE_CHECKING

from raytracer.arguments import vector
from raytracer.errors import SceneError
from raytracer.field_types import Choice, Number, Vector3, Words
from raytracer.fields import Defined, check_fields, define
from raytracer.scene.transform import Vector

if TYPE_CHECKING:
    from raytracer.scene.transform import Triple

CAMERA_TYPES = ("perspective", "orthographic")
"""Kinds of camera: the words of the kernels' `CameraKind`."""

STANDARD_DIRECTION: Vector = (1.0, 0.7, 1.4)
"""From the spheres to a fitted camera that was given no direction: right of front, from above."""

PARALLEL = 1e-6
"""Sine of the angle to the view under which `up` no longer says which way is up."""


@dataclass(frozen=True, repr=False, eq=False)
class Camera(Defined):
    """Where the picture is taken from.

    Raises:
        SceneError: a value is out of range, or they contradict each other.
    """

    position: Triple | None = field(
        default=None, metadata=define(Vector3(), "Eye point in scene units.", default_text="fitted")
    )
    look_at: Triple | None = field(
        default=None,
        metadata=define(
            Vector3(),
            "The point in the middle of the picture, in scene units.",
            "The middle of the spheres is that of the box around them, without giants and those "
            "that are far out.",
            default_text="the middle of the spheres",
        ),
    )
    up: Triple = field(
        default=(0.0, 1.0, 0.0),
        metadata=define(Vector3(), "Which way is up in the picture; any length."),
    )
    vertical_fov: float = field(
        default=40.0,
        metadata=define(
            Number(0.001, 179.0),
            "Full angle of the picture's height in degrees, of a fitted camera too.",
            variant="perspective",
        ),
    )
    height: float | None = field(
        default=None,
        metadata=define(
            Number(0.0, above=True),
            "Height of the picture in scene units; not with `fit`.",
            default_text="fitted",
            variant="orthographic",
        ),
    )
    type: str = field(
        default="perspective", metadata=define(Choice(CAMERA_TYPES, "camera"), "Kind of camera.")
    )
    fit: bool | str | None = field(
        default=None,
        metadata=define(
            Words("all"),
            "Whether the camera is put where the spheres fill the frame.",
            "At most 1% of the spheres, or one of ten or more, are left out, with a warning, where "
            'they are more than ten times as far out as the others; `"all"` frames these too. Of '
            "`position` and `look_at` only the direction counts.",
            default_text="true without a position",
        ),
    )
    direction: Triple | None = field(
        default=None,
        metadata=define(
            Vector3(),
            "From the spheres towards a fitted camera, instead of a position; any length.",
            default_text="[1, 0.7, 1.4]",
        ),
    )

    def __post_init__(self) -> None:
        check_fields(self, "camera")
        if self.fit is None:
            object.__setattr__(self, "fit", self.position is None)
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
