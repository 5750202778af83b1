"""Lights: a class for each type, with its name in scene files and its packing for the kernels."""

from dataclasses import MISSING, dataclass, replace
from functools import lru_cache
from math import hypot, pi, radians, sin
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import SceneError
from raytracer.config.field_types import Number, Truth, Vector3, WordChoice
from raytracer.config.fields import Defined, setting
from raytracer.model.colors import RGB, Color, parse_color, srgb_to_linear
from raytracer.model.key_types import ColorValue
from raytracer.model.render_space import MAX_COORDINATE, Space
from raytracer.model.views import Triple
from raytracer.system.layout import enum_value

FALLOFFS = ("none", "inverse-square")
"""Falloff of point lights: the words of the kernels' `Falloff`."""


class _Light(Defined, place="light"):
    """Common part of lights; `color` and `intensity` give the radiance, in linear RGB.

    Args:
        color: Colour of the light.
        intensity: Linear factor of the light, dimensionless. With 1, a white, fully diffuse surface
            that faces the light is shown white: with `falloff` inverse-square at a distance of one
            scene unit; for a rectangle or disk, if it sees only the light.
        shadow: Whether spheres cast shadows in this light.
    """

    type: ClassVar[str]
    color: Color
    intensity: float
    shadow: bool

    def __post_init__(self) -> None:
        super().__post_init__()
        if hypot(*getattr(self, "direction", (1.0,))) == 0.0:
            raise SceneError("light.direction: has no length; give the direction of travel")

    def pack(self, entry: NDArray[np.void], space: Space) -> None:
        """Write the light into a struct of the kernels, a Light, structured ()."""
        entry["kind"] = enum_value("LightKind", self.type)
        entry["shadow"] = self.shadow
        entry["color"] = self._radiance(space)
        position = getattr(self, "position", None)
        if position is not None:
            entry["vector"] = place = space.point(position)
            if not np.abs(place).max() < MAX_COORDINATE:
                raise SceneError(
                    "light.position: is too far from the spheres for 32-bit numbers; "
                    'use type = "directional" for a distant light'
                )

    def rotated(self, rotation: NDArray[np.float64], pivot: NDArray[np.float64]) -> Self:
        """Return the light rotated (3, 3) about a point (3,), its direction as a unit vector."""
        turned: dict[str, Any] = {}
        for name in ("direction", "up"):
            if (value := getattr(self, name, None)) is not None:
                turned[name] = (rotation @ value / hypot(*value)).tolist()
        if (position := getattr(self, "position", None)) is not None:
            turned["position"] = (pivot + rotation @ (position - pivot)).tolist()
        return replace(self, **turned)  # type: ignore[type-var]

    def _radiance(self, space: Space, power: int = 0) -> NDArray[np.float64]:
        """Return colour times intensity, which has a power of length in its unit, in units of
        render space, float64 (3,)."""
        color = to_linear_light(self.color) * self.intensity / space.scale**power
        if not color.max() <= np.finfo(np.float32).max:
            raise SceneError(
                f"light.intensity: {self.intensity:g} is too large for 32-bit numbers "
                "in the scene's unit of length; give less, or set the exposure"
            )
        return color

    def _length(self, name: str, space: Space) -> float:
        length: float = getattr(self, name)
        if not length / space.scale < MAX_COORDINATE:
            raise SceneError(f"light.{name}: {length:g} is too large for 32-bit numbers; give less")
        return length / space.scale


@dataclass(frozen=True, repr=False, eq=False)
class PointLight(_Light):
    """Light from a point.

    At a distance d the surface receives L = color * intensity, or color * intensity / d**2 with
    "inverse-square" (color in linear RGB, d in scene units); `Material` defines the reflected part.

    Args:
        position: Position of the light, in scene units.
        falloff: Decrease of the light with distance; inverse-square has its intensity at one unit.
        radius: Radius of the light in scene units; larger ones cast softer shadows. It does not
            change the received light.
    """

    type: ClassVar[str] = "point"
    position: Triple = setting(MISSING, Vector3())
    color: Color = setting("#ffffff", ColorValue())
    intensity: float = setting(1.0, Number(0.0))
    falloff: str = setting("none", WordChoice(FALLOFFS, "falloff"))
    radius: float = setting(0.0, Number(0.0))
    shadow: bool = setting(True, Truth())

    def pack(self, entry: NDArray[np.void], space: Space) -> None:
        super().pack(entry, space)
        entry["extent"] = self._length("radius", space)
        entry["falloff"] = enum_value("Falloff", self.falloff)
        # 1 / d^2 of scene space is 1 / (d^2 scale^2) of render space.
        entry["color"] = self._radiance(space, 2 if self.falloff == "inverse-square" else 0)


@dataclass(frozen=True, repr=False, eq=False)
class DirectionalLight(_Light):
    """Light from far away, parallel everywhere: L = color * intensity, color in linear RGB.

    Args:
        direction: Direction in which the light travels; any length.
        angle: Angular diameter in degrees; larger ones cast softer shadows. The sun has 0.53. It
            does not change the received light.
    """

    type: ClassVar[str] = "directional"
    direction: Triple = setting(MISSING, Vector3())
    color: Color = setting("#ffffff", ColorValue())
    intensity: float = setting(1.0, Number(0.0))
    angle: float = setting(0.0, Number(0.0, 180.0))
    shadow: bool = setting(True, Truth())

    def pack(self, entry: NDArray[np.void], space: Space) -> None:
        super().pack(entry, space)
        entry["vector"] = -np.asarray(self.direction) / hypot(*self.direction)
        entry["extent"] = sin(radians(self.angle) / 2.0) ** 2


@dataclass(frozen=True, repr=False, eq=False)
class _FlatLight(_Light):
    """Light from one side of a flat surface.

    Args:
        position: Centre of the surface, in scene units.
        direction: Direction in which the surface shines; any length.
    """

    position: Triple = setting(MISSING, Vector3())
    direction: Triple = setting(MISSING, Vector3())
    color: Color = setting("#ffffff", ColorValue())
    intensity: float = setting(1.0, Number(0.0))
    shadow: bool = setting(True, Truth())

    def pack(self, entry: NDArray[np.void], space: Space) -> None:
        super().pack(entry, space)
        width, height, entry["extent"] = self._extent(space)
        normal = np.asarray(self.direction, np.float64) / hypot(*self.direction)
        entry["normal"], across, up = perpendicular_axes(
            normal, getattr(self, "up", (0.0, 1.0, 0.0))
        )
        entry["u"], entry["v"] = across * width, up * height

    def _extent(self, space: Space) -> tuple[float, float, float]:
        """Return half of the sides or the semi-axes, and the area, in render space."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False, eq=False)
class RectangleLight(_FlatLight):
    """Light from one side of a rectangle: a window or a softbox.

    Its radiance is color * intensity (linear RGB). It is invisible to the camera and blocks no
    light; mirrors, glass and metal reflect it.

    Args:
        width: Width in scene units.
        height: Height in scene units.
        up: Direction of the height, projected into the rectangle.
    """

    type: ClassVar[str] = "rectangle"
    width: float = setting(1.0, Number(0.0, above=True))
    height: float = setting(1.0, Number(0.0, above=True))
    up: Triple = setting((0.0, 1.0, 0.0), Vector3())

    def _extent(self, space: Space) -> tuple[float, float, float]:
        width, height = self._length("width", space), self._length("height", space)
        return width / 2.0, height / 2.0, width * height


@dataclass(frozen=True, repr=False, eq=False)
class DiskLight(_FlatLight):
    """Light from one side of a disk.

    Its radiance is color * intensity (linear RGB). It is invisible to the camera and blocks no
    light; mirrors, glass and metal reflect it.

    Args:
        radius: Radius in scene units.
    """

    type: ClassVar[str] = "disk"
    radius: float = setting(0.5, Number(0.0, above=True))

    def _extent(self, space: Space) -> tuple[float, float, float]:
        radius = self._length("radius", space)
        return radius, radius, pi * radius**2


def perpendicular_axes(normal: NDArray[np.float64], up: Triple) -> NDArray[np.float64]:
    """Return a unit vector (3,) and two perpendicular axes, the second closest to `up`, float64 (3,
    3)."""
    for candidate in (up, (0.0, 0.0, 1.0), (1.0, 0.0, 0.0)):
        across = np.cross(normal, candidate)
        length = float(np.linalg.norm(across))
        if length > 1e-6 * hypot(*candidate):
            break
    across = across / length
    return np.stack([normal, across, np.cross(across, normal)])


Light = PointLight | DirectionalLight | RectangleLight | DiskLight

LIGHTS: dict[str, type[Light]] = {
    light.type: light for light in (PointLight, DirectionalLight, RectangleLight, DiskLight)
}
"""Light types by their names in scene files, the words of the kernels' `LightKind`."""


@dataclass(frozen=True, repr=False, eq=False)
class Ambient(Defined, place="ambient"):
    """Light that reaches every surface equally.

    Args:
        color: Colour of the light.
        intensity: Linear factor of the light.
    """

    color: Color = setting("#ffffff", ColorValue())
    intensity: float = setting(0.1, Number(0.0))


@lru_cache(1024)
def to_linear_light(color: RGB) -> NDArray[np.float64]:
    """Return an sRGB colour as linear light, float64 (3,), read-only."""
    values = srgb_to_linear(parse_color(color))
    values.flags.writeable = False  # cached and shared
    return values
