"""The ground: a plane without end that spheres stand on."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import inf

from raytracer.errors import SceneError
from raytracer.field_types import Number, NumberOr, Text, Truth
from raytracer.fields import Defined, check_fields, define
from raytracer.scene.colors import Color
from raytracer.scene.kinds import ColorValue

BELOW = "below"
"""The word for a height: that of the lowest point of the spheres."""


@dataclass(frozen=True, repr=False, eq=False)
class Ground(Defined):
    """A plane at right angles to the up axis of the background.

    Spheres cast shadows on it, and light from below does not reach them. It is the surface of a
    solid: no light reaches its underside. A camera below it sees the scene without it. The up axis
    is that of `Background.up`: the camera's, unless the background has its own.

    Raises:
        SceneError: a value is out of range.
    """

    height: float | str = field(
        default=BELOW,
        metadata=define(
            NumberOr(BELOW, -inf, inf, "a finite height"),
            "Height along the up axis, in scene units.",
            "With `below` it touches the lowest sphere.",
        ),
    )
    color: Color = field(default="#d9d9d9", metadata=define(ColorValue(), "Colour of the plane."))
    material: str = field(
        default="default",
        metadata=define(Text(), "Name of a material; one with `mirror` reflects the spheres."),
    )
    shadow_catcher: bool = field(
        default=False,
        metadata=define(
            Truth(),
            "Whether the camera sees the shadows alone, with what is behind, or an alpha channel "
            "where the background is transparent.",
        ),
    )
    fade: float = field(
        default=0.0,
        metadata=define(
            Number(0.0, 1e6),
            "Distance from the middle of the spheres at which the plane has faded into the "
            "background, in radii of the scene.",
            "0: it goes on without end.",
        ),
    )

    def __post_init__(self) -> None:
        check_fields(self, "ground", error=SceneError)
