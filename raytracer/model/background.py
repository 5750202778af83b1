"""The background of a scene, and the ground: an infinite plane below the spheres."""

from dataclasses import dataclass
from math import hypot
from typing import Self

from raytracer.config.errors import SceneError
from raytracer.config.field_types import AnyOf, Number, Text, Truth, Vector3, WordChoice
from raytracer.config.fields import Defined, setting
from raytracer.model.colors import RGB, Color, parse_color
from raytracer.model.key_types import ColorValue
from raytracer.model.views import Triple

BELOW = "below"  # word for the height of the lowest point of the spheres


@dataclass(frozen=True, repr=False, eq=False)
class Background(Defined, place="background"):
    """What is visible where there is no sphere: one colour, a vertical gradient, or nothing.

    Args:
        color: Colour of the whole background.
        bottom: Lower edge of a vertical gradient, instead of `color`; needs `top`.
        top: Upper edge of a vertical gradient, instead of `color`; needs `bottom`.
        transparent: Whether the picture has an alpha channel instead.
        up: Up axis of the background in reflections; any length. Directly seen, the gradient is
            always vertical in the picture.

    Raises:
        SceneError: a colour is unknown, settings contradict each other, or `up` has no length.
    """

    color: Color | None = setting(None, ColorValue(), default_text="white")
    bottom: Color | None = setting(None, ColorValue())
    top: Color | None = setting(None, ColorValue())
    transparent: bool = setting(False, Truth())
    up: Triple | None = setting(None, Vector3(), default_text="the camera's `up`")

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.bottom is None) != (self.top is None):
            missing = "bottom" if self.bottom is None else "top"
            raise SceneError(f"background.{missing}: missing; a gradient needs bottom and top")
        if self.color is not None and self.top is not None:
            raise SceneError("background.color: give either a colour or a gradient, not both")
        if self.up is not None and hypot(*self.up) == 0.0:
            raise SceneError("background.up: has no length; give a direction")

    @classmethod
    def of_particles(cls) -> Self:
        """Return the default background of particle files.

        White atoms, carbon and both ends of colour maps stand out against it; use `white` for
        print.
        """
        return cls(bottom="#30363f", top="#5a6472")

    @property
    def is_dark(self) -> bool:
        """Whether grey lines need a light shade to be visible."""
        return not self.transparent and sum(map(sum, self.edges())) < 3.0

    def edges(self) -> tuple[RGB, RGB]:
        """Return the sRGB colours of the lower and of the upper edge of the picture."""
        if self.transparent:
            return (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
        if self.bottom is not None and self.top is not None:
            return parse_color(self.bottom), parse_color(self.top)
        color = (1.0, 1.0, 1.0) if self.color is None else parse_color(self.color)
        return color, color


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

    height: float | str = setting(BELOW, AnyOf(WordChoice([BELOW]), Number()))
    color: Color = setting("#d9d9d9", ColorValue())
    material: str = setting("default", Text())
    shadow_catcher: bool = setting(False, Truth())
    fade: float = setting(0.0, Number(0.0, 1e6))
