"""Updates of spheres that are on a device: where they are now, how large, in which colours."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from raytracer.errors import SceneError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Doubles = NDArray[np.float64]


class OutOfRangeError(SceneError):
    """A sphere is too far, too large or too small for the render space of its scene."""

    def __init__(self) -> None:
        super().__init__(
            "positions, radii: a sphere is too far, too large or too small beside those that the "
            "scene was made with: lengths may differ by a factor of at most 1e18"
        )


@dataclass(frozen=True, eq=False)
class SphereUpdate:
    """New positions, radii and colours of spheres `first` to `first + count - 1` of a scene.

    What is None stays. Arrays are of the host (NumPy), or of the device that has the scene. Shapes
    and dtypes are checked, numbers are not.

    Args:
        first: number of the first of the spheres in the scene.
        count: N, how many they are.
        positions: float32 or float64 (N, 3), any strides, own units.
        radii: float32 or float64 (N,), any strides, or (1,) of one radius for all, own units.
        colors: (N, 3), or (1, 3) of one colour for all. Of the host float32, linear RGB; of a
            device also float64, or uint8 in 0..255, as `color_space` says.
        color_space: "linear" or "srgb": what the numbers of `colors` are.
        first_color: row of the first of the N colours in `SceneBuffers.color`.
        linear: float64 (3, 3); with `offset` it takes positions to render space, in float64:
            `linear @ position + offset`, whose terms are added in this order, zeros left out.
        offset: float64 (3,).
        scale: by which radii are multiplied, in float64.
        stream: address of the stream on which arrays of a device are complete; None is the default
            stream.
    """

    first: int
    count: int
    positions: Any
    radii: Any
    colors: Any
    color_space: str
    first_color: int
    linear: Doubles
    offset: Doubles
    scale: float
    stream: int | None = None
