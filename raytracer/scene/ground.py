"""The ground: an infinite plane below the spheres."""

from dataclasses import dataclass

from raytracer.field_types import AnyOf, Choice, Number, Text, Truth
from raytracer.fields import Defined, setting
from raytracer.scene.colors import Color
from raytracer.scene.key_types import ColorValue

BELOW = "below"  # word for the height of the lowest point of the spheres


@dataclass(frozen=True, repr=False, eq=False)
class Ground(Defined, place="ground"):
    """A plane perpendicular to the up axis of the background.

    Spheres cast shadows on it, and it blocks light from below: it is the surface of a solid. A
    camera below it does not see it. The up axis is `Background.up`: the camera's, unless the
    background has its own.

    Args:
        height: Height along the up axis, in scene units. With `below` it touches the lowest sphere.
        color: Colour of the plane.
        material: Name of a material; one with `mirror` reflects the spheres.
        shadow_catcher: Whether only the shadows are visible, over the background, or as alpha if
            the background is transparent.
        fade: Distance from the centre of the spheres at which the plane has faded into the
            background, in radii of the scene. 0: infinite plane.
    """

    height: float | str = setting(BELOW, AnyOf(Choice([BELOW]), Number()))
    color: Color = setting("#d9d9d9", ColorValue())
    material: str = setting("default", Text())
    shadow_catcher: bool = setting(False, Truth())
    fade: float = setting(0.0, Number(0.0, 1e6))
