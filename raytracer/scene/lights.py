"""Lights: a class for each kind, with its name in scene files and what the kernels read."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from functools import lru_cache
from math import hypot, pi, radians, sin
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from raytracer.errors import SceneError
from raytracer.field_types import Choice, Number, Truth, Vector3
from raytracer.fields import Defined, define, setting
from raytracer.layout import code
from raytracer.scene.colors import RGB, Color, parse_color, srgb_to_linear
from raytracer.scene.kinds import ColorValue
from raytracer.scene.packing.render_space import LARGEST, Space

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.scene.transform import Triple

FALLOFFS = ("none", "inverse-square")
"""Falloff of point lights: the words of the kernels' `Falloff`."""

_NO_LENGTH = "light.direction: has no length; say where the light travels"


def _shadow() -> Any:
    return setting(True, Truth(), "Whether spheres cast shadows in this light.")


@dataclass(frozen=True, repr=False, eq=False)
class PointLight(Defined, place="light"):
    """Light from a point.

    What arrives at a distance d is L = color * intensity, or color * intensity / d**2 with
    "inverse-square" (color in linear RGB, d in scene units); `Material` says what becomes of it.

    Raises:
        SceneError: a value is out of range.
    """

    type: ClassVar[str] = "point"
    position: Triple = field(metadata=define(Vector3(), "Where the light is, in scene units."))
    color: Color = setting("#ffffff", ColorValue(), "Colour of the light.")
    intensity: float = setting(
        1.0,
        Number(0.0),
        "Linear factor of the light, without unit.",
        "1 shows a white, fully diffuse surface that faces the light as white; with "
        "`falloff` inverse-square at a distance of one scene unit.",
    )
    falloff: str = setting(
        "none",
        Choice(FALLOFFS, "falloff"),
        "How the light fades with distance; inverse-square has its intensity at one unit.",
    )
    radius: float = setting(
        0.0,
        Number(0.0),
        "Radius of the lamp in scene units; larger ones cast softer shadows.",
        "What arrives does not depend on it.",
    )
    shadow: bool = _shadow()

    def pack(self, entry: NDArray[np.void], space: Space) -> None:
        """Write the light into a struct of the kernels.

        Args:
            entry: a Light, structured ().
            space: render space.

        Raises:
            SceneError: the light is too far or too bright for float32.
        """
        # 1 / d^2 of scene space is 1 / (d^2 scale^2) of render space.
        unit = space.scale if self.falloff == "inverse-square" else 1.0
        entry["kind"] = code("LightKind", self.type)
        entry["vector"] = _place(self.position, space)
        entry["extent"] = _length("radius", self.radius, space)
        entry["shadow"] = self.shadow
        entry["falloff"] = code("Falloff", self.falloff)
        entry["color"] = _radiance(self, unit)

    def rotated(self, rotation: NDArray[np.float64], pivot: NDArray[np.float64]) -> PointLight:
        """Return the light turned about a point.

        Args:
            rotation: float64 (3, 3).
            pivot: scene units, float64 (3,).
        """
        return replace(self, position=_triple(pivot + rotation @ (self.position - pivot)))


@dataclass(frozen=True, repr=False, eq=False)
class DirectionalLight(Defined, place="light"):
    """Light from far away, parallel everywhere: L = color * intensity, color in linear RGB.

    Raises:
        SceneError: a value is out of range, or the direction has no length.
    """

    type: ClassVar[str] = "directional"
    direction: Triple = field(
        metadata=define(Vector3(), "Direction in which the light travels; any length.")
    )
    color: Color = setting("#ffffff", ColorValue(), "Colour of the light.")
    intensity: float = setting(
        1.0,
        Number(0.0),
        "Linear factor of the light, without unit.",
        "1 shows a white, fully diffuse surface that faces the light as white.",
    )
    angle: float = setting(
        0.0,
        Number(0.0, 180.0),
        "Angle that the light covers in the sky, in degrees; larger ones cast softer shadows.",
        "The sun covers 0.53. What arrives does not depend on it.",
    )
    shadow: bool = _shadow()

    def __post_init__(self) -> None:
        super().__post_init__()
        if hypot(*self.direction) == 0.0:
            raise SceneError(_NO_LENGTH)

    def pack(self, entry: NDArray[np.void], space: Space) -> None:
        """Write the light into a struct of the kernels.

        Args:
            entry: a Light, structured ().
            space: render space; directions are the same in it.

        Raises:
            SceneError: the light is too bright for float32.
        """
        entry["kind"] = code("LightKind", self.type)
        entry["vector"] = -np.asarray(self.direction) / hypot(*self.direction)
        entry["extent"] = sin(radians(self.angle) / 2.0) ** 2
        entry["shadow"] = self.shadow
        entry["color"] = _radiance(self)

    def rotated(
        self, rotation: NDArray[np.float64], pivot: NDArray[np.float64]
    ) -> DirectionalLight:
        """Return the light turned, its direction as a unit vector.

        Args:
            rotation: float64 (3, 3).
            pivot: of no effect on a light from far away.
        """
        towards = rotation @ self.direction
        return replace(self, direction=_triple(towards / hypot(*towards)))


@dataclass(frozen=True, repr=False, eq=False)
class _FlatLight(Defined, place="light"):
    """Light from one side of a flat surface, with a radiance of color * intensity (linear RGB).

    The camera does not see it, and it is no obstacle; mirrors, glass and metal show it.
    """

    type: ClassVar[str]
    position: Triple = field(metadata=define(Vector3(), "Centre of the surface, in scene units."))
    direction: Triple = field(
        metadata=define(Vector3(), "Direction in which the surface shines; any length.")
    )
    color: Color = setting("#ffffff", ColorValue(), "Colour of the light.")
    intensity: float = setting(
        1.0,
        Number(0.0),
        "Linear factor of the radiance, without unit.",
        "With 1, a white, fully diffuse surface that sees nothing but the light is white.",
    )
    shadow: bool = _shadow()

    def __post_init__(self) -> None:
        super().__post_init__()
        if hypot(*self.direction) == 0.0:
            raise SceneError(_NO_LENGTH)

    def rotated(self, rotation: NDArray[np.float64], pivot: NDArray[np.float64]) -> Self:
        """Return the light turned about a point.

        Args:
            rotation: float64 (3, 3).
            pivot: scene units, float64 (3,).
        """
        return replace(
            self,
            position=_triple(pivot + rotation @ (self.position - pivot)),
            direction=_triple(rotation @ self.direction),
        )

    def _pack(self, entry: NDArray[np.void], space: Space, half: tuple[float, float]) -> None:
        """Write all but the area; half: half the sides, or the semi-axes, in render space."""
        normal, across, up = self._axes()
        entry["kind"] = code("LightKind", self.type)
        entry["vector"] = _place(self.position, space)
        entry["shadow"] = self.shadow
        entry["color"] = _radiance(self)
        entry["normal"] = normal
        entry["u"], entry["v"] = across * half[0], up * half[1]

    def _axes(self) -> NDArray[np.float64]:
        """Return where the surface shines, and the axes of its width and height, float64 (3, 3)."""
        normal = np.asarray(self.direction, np.float64) / hypot(*self.direction)
        return axes_about(normal, self._up())

    def _up(self) -> Triple:
        return (0.0, 1.0, 0.0)


@dataclass(frozen=True, repr=False, eq=False)
class RectangleLight(_FlatLight):
    """Light from one side of a rectangle, a window or a softbox.

    The camera does not see it, and it is no obstacle; mirrors, glass and metal show it.

    Raises:
        SceneError: a value is out of range, or the direction has no length.
    """

    type: ClassVar[str] = "rectangle"
    width: float = setting(1.0, Number(0.0, above=True), "Width in scene units.")
    height: float = setting(1.0, Number(0.0, above=True), "Height in scene units.")
    up: Triple = setting(
        (0.0, 1.0, 0.0), Vector3(), "Direction of the height, as far as it lies in the rectangle."
    )

    def pack(self, entry: NDArray[np.void], space: Space) -> None:
        """Write the light into a struct of the kernels.

        Args:
            entry: a Light, structured ().
            space: render space.

        Raises:
            SceneError: the light is too far or too bright for float32.
        """
        width, height = (_length(name, getattr(self, name), space) for name in ("width", "height"))
        self._pack(entry, space, (width / 2.0, height / 2.0))
        entry["extent"] = width * height

    def rotated(self, rotation: NDArray[np.float64], pivot: NDArray[np.float64]) -> Self:
        """Return the light and its height turned; see `DiskLight.rotated`."""
        turned = super().rotated(rotation, pivot)
        return replace(turned, up=_triple(rotation @ self.up))

    def _up(self) -> Triple:
        return self.up


@dataclass(frozen=True, repr=False, eq=False)
class DiskLight(_FlatLight):
    """Light from one side of a disk.

    The camera does not see it, and it is no obstacle; mirrors, glass and metal show it.

    Raises:
        SceneError: a value is out of range, or the direction has no length.
    """

    type: ClassVar[str] = "disk"
    radius: float = setting(0.5, Number(0.0, above=True), "Radius in scene units.")

    def pack(self, entry: NDArray[np.void], space: Space) -> None:
        """Write the light into a struct of the kernels.

        Args:
            entry: a Light, structured ().
            space: render space.

        Raises:
            SceneError: the light is too far or too bright for float32.
        """
        radius = _length("radius", self.radius, space)
        self._pack(entry, space, (radius, radius))
        entry["extent"] = pi * radius**2


def axes_about(normal: NDArray[np.float64], up: Triple) -> NDArray[np.float64]:
    """Return a unit vector and two axes across it, the second next to `up`, float64 (3, 3).

    Args:
        normal: unit, float64 (3,).
        up: any length; where it is parallel to the normal, another axis takes its place.
    """
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
"""Kinds of light by their names in scene files, the words of the kernels' `LightKind`."""


@dataclass(frozen=True, repr=False, eq=False)
class Ambient(Defined, place="ambient"):
    """Light that reaches everything alike.

    Raises:
        SceneError: a value is out of range.
    """

    color: Color = setting("#ffffff", ColorValue(), "Colour of the light.")
    intensity: float = setting(0.1, Number(0.0), "Linear factor of the light.")


def _radiance(light: Light | _FlatLight, unit: float = 1.0) -> NDArray[np.float64]:
    """Return colour times intensity as linear light, float64 (3,).

    Args:
        light: any.
        unit: length in scene units in which the intensity falls off; 1 if it does not.

    Raises:
        SceneError: it is too bright for float32.
    """
    color = linear(light.color) * light.intensity / unit / unit
    if not color.max() <= np.finfo(np.float32).max:
        raise SceneError(
            f"light.intensity: {light.intensity:g} is too bright for 32-bit numbers "
            "in the scene's unit of length; give less, or set the exposure"
        )
    return color


def _place(position: Triple, space: Space) -> NDArray[np.float64]:
    """Return the position of a light in render space, float64 (3,).

    Raises:
        SceneError: it is too far for float32.
    """
    place = space.point(position)
    if not np.abs(place).max() < LARGEST:
        raise SceneError(
            "light.position: is too far from the spheres for 32-bit numbers; "
            'a light that is far away has type = "directional"'
        )
    return place


def _length(name: str, length: float, space: Space) -> float:
    """Return a length of a light in render space.

    Raises:
        SceneError: it is too large for float32.
    """
    if not length / space.scale < LARGEST:
        raise SceneError(f"light.{name}: {length:g} is too large for 32-bit numbers; give less")
    return length / space.scale


@lru_cache(1024)
def linear(color: RGB) -> NDArray[np.float64]:
    """Return an sRGB colour as linear light, float64 (3,), not writeable."""
    values = srgb_to_linear(parse_color(color))
    values.flags.writeable = False  # many lights share it
    return values


def _triple(values: Iterable[float]) -> tuple[float, float, float]:
    x, y, z = map(float, values)
    return x, y, z
