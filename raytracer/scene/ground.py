"""The ground: a plane without end that spheres stand on."""

from __future__ import annotations

from dataclasses import dataclass

from raytracer.field_types import AnyOf, Choice, Number, Text, Truth
from raytracer.fields import Defined, setting
from raytracer.scene.colors import Color
from raytracer.scene.kinds import ColorValue

BELOW = "below"
"""The word for a height: that of the lowest point of the spheres."""


@dataclass(frozen=True, repr=False, eq=False)
class Ground(Defined, place="ground"):
    """A plane at right angles to the up axis of the background.

    Spheres cast shadows on it, and light from below does not reach them. It is the surface of a
    solid: no light reaches its underside. A camera below it sees the scene without it. The up axis
    is that of `Background.up`: the camera's, unless the background has its own.

    Args:
        height: Height along the up axis, in scene units. With `below` it touches the lowest sphere.
        color: Colour of the plane.
        material: Name of a material; one with `mirror` reflects the spheres.
        shadow_catcher: Whether the camera sees the shadows alone, with what is behind, or an alpha
            channel where the background is transparent.
        fade: Distance from the middle of the spheres at which the plane has faded into the
            background, in radii of the scene. 0: it goes on without end.
    """

    height: float | str = setting(BELOW, AnyOf(Choice([BELOW]), Number()))
    color: Color = setting("#d9d9d9", ColorValue())
    material: str = setting("default", Text())
    shadow_catcher: bool = setting(False, Truth())
    fade: float = setting(0.0, Number(0.0, 1e6))
