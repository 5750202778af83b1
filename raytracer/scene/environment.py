"""The environment: light from all directions, of one colour, a gradient or an image."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError
from raytracer.field_types import Number, Text, Truth
from raytracer.fields import Defined, setting
from raytracer.scene.colors import Color, parse_color, srgb_to_linear
from raytracer.scene.key_types import ColorValue


@dataclass(frozen=True, repr=False, eq=False)
class Environment(Defined, place="environment"):
    """Light from all directions, instead of the ambient light and the background's light.

    With the integrator `path` it lights the spheres; the other integrators only reflect it in
    mirrors, and the ambient light stays. The camera sees the background of the scene, unless
    `visible` is set.

    Args:
        image: File of an equirectangular image: .exr, .hdr, .png, .jpg or .tiff, twice as wide as
            high; relative to the scene file.
        color: One colour in all directions, instead of an image.
        bottom: Colour of the nadir of a gradient; needs `top`.
        top: Colour of the zenith of a gradient; needs `bottom`.
        intensity: Factor of the radiance.
        rotation: Rotation in degrees about the up axis of the background. With 0 the middle of an
            image lies towards +x, or +z if x is up.
        shadow: Whether spheres cast shadows in its light (path tracing). Without, each surface gets
            the light of the hemisphere above it.
        visible: Whether the camera sees it behind the spheres, instead of the background.

    Raises:
        SceneError: a value is out of range, or settings contradict each other.
    """

    image: str | None = setting(None, Text())
    color: Color | None = setting(None, ColorValue())
    bottom: Color | None = setting(None, ColorValue())
    top: Color | None = setting(None, ColorValue())
    intensity: float = setting(1.0, Number(0.0, 1e9))
    rotation: float = setting(0.0, Number(-360.0, 360.0))
    shadow: bool = setting(True, Truth())
    visible: bool = setting(False, Truth())

    def __post_init__(self) -> None:
        super().__post_init__()
        if (self.bottom is None) != (self.top is None):
            missing = "bottom" if self.bottom is None else "top"
            raise SceneError(f"environment.{missing}: missing; a gradient needs bottom and top")
        given = [self.image, self.color, self.top]
        if sum(each is not None for each in given) != 1:
            raise SceneError(
                "environment: give one of `image`, `color`, and the gradient of `bottom` and `top`"
            )

    def equirectangular(self) -> NDArray[np.float32]:
        """Return the radiance, linear RGB, float32 (h, w, 3): row 0 is the zenith.

        A grey image has one channel.

        Raises:
            UserError: the image cannot be read.
        """
        if self.image is not None:
            from raytracer.scene.environment_image import read_radiance

            image = read_radiance(Path(self.image))
            image *= self.intensity
            return image
        rows: Any
        if self.color is not None:
            rows = np.array([[srgb_to_linear(parse_color(self.color))]])
        else:
            edges = (self.top, self.bottom)
            top, bottom = (np.array(srgb_to_linear(parse_color(edge or ""))) for edge in edges)
            angle = (np.arange(256) + 0.5) * np.pi / 256  # from the zenith, of each row's middle
            height = 0.5 + 0.5 * np.cos(angle)
            rows = (bottom + height[:, None] * (top - bottom))[:, None, :]
        return np.asarray(rows * self.intensity, np.float32)
