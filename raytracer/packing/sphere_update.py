"""Updates of spheres on a device: positions, radii and colours."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import SceneError
from raytracer.system.device_array import DeviceArray
from raytracer.system.layout import enum_values

if TYPE_CHECKING:
    from raytracer.packing.buffers import DeviceRecords, SphereColumns

Doubles = NDArray[np.float64]
Floats = NDArray[np.float32]
Array: TypeAlias = NDArray[Any] | DeviceArray


class OutOfRangeError(SceneError):
    """A sphere is too far, too large or too small for the render space of its scene."""

    def __init__(self, which: str = "a sphere") -> None:
        super().__init__(
            f"{which} is too far away, too large or too small compared with the others: lengths "
            "may differ by a factor of at most 1e18"
        )


def can_kernels_read(name: str, array: DeviceArray, count: int, number: int | None = None) -> bool:
    """Whether kernels of a GPU, or of any, read an array where it is as this one of an update."""
    shapes = {"positions": (count, 3), "colors": (count, 3)}
    kinds = {"colors": ("uint8", "float16", "float32", "float64")}.get(
        name, enum_values("NumberKind")
    )
    return (
        (number is None or array.device in (None, number))
        and array.shape == shapes.get(name, (count,))
        and array.dtype.name in kinds
        and not any(step % array.dtype.itemsize for step in (array.address, *array.strides))
    )


@dataclass(frozen=True, eq=False)
class ColorMap:
    """How a kernel makes colours of values."""

    table: Floats  # (K + 1, 3), linear RGB of the colour map and, last, of missing values
    scale: str  # a word of the kernels' `ValueScale`
    low: float  # the map begins here and ends at `low + span`, on the scale and times the factor
    span: float
    factor: float
    threshold: float  # of "symlog": where it turns linear
    decade: float  # decades of the linear part


@dataclass(frozen=True, eq=False)
class SphereUpdate:
    """New positions, radii and colours of spheres `first` to `first + count - 1` of a scene.

    What is None stays. Arrays are of the host (NumPy), or of the device that has the scene
    (`DeviceArray`), with any strides. Shapes and dtypes are checked, numbers are not.
    """

    first: int
    count: int  # N
    # (N, 3), own units. Of the host float32 or float64; of a device of any type of the kernels'
    # `NumberKind`: also float16, int32, int64 and uint8.
    positions: Array | None = None
    radii: Array | None = None  # (N,), or (1,) of one radius for all, own units; types as above
    # (N, 3), or (1, 3) of one colour for all. Of the host float32, linear RGB; of a device float16,
    # float32 or float64 in 0..1, or uint8 in 0..255; or values (N,), types as of positions.
    colors: Array | None = None
    color_space: str = "linear"  # or "srgb": of the colours of a device
    first_color: int = 0  # row of the first of the N colours in `SceneBuffers.color`
    # They take positions to render space, in float64: `linear @ position + offset`, whose terms are
    # added in this order, zeros left out.
    linear: Doubles = field(default_factory=lambda: np.eye(3))  # (3, 3)
    offset: Doubles = field(default_factory=lambda: np.zeros(3))  # (3,)
    scale: float = 1.0  # by which radii are multiplied, in float64
    # Handle of the stream on which arrays of a device are complete, and which waits until they have
    # been read; None is the default stream.
    stream: int | None = None
    color_map: ColorMap | None = None  # that of values
    in_graph: bool = False  # the stream is being captured into a CUDA graph: all arrays are there

    @property
    def is_on_host(self) -> bool:
        """Whether positions or radii are arrays of the host."""
        return any(isinstance(array, np.ndarray) for array in (self.positions, self.radii))


Placer = Callable[
    [Sequence[SphereUpdate], Sequence[SphereUpdate], Callable[[slice], "SphereColumns"]],
    "DeviceRecords | None",
]
"""Packs the spheres of a scene without solids in the memory of a device.

The arguments are the spheres of each set, in order; the colours of each surface, or () to leave
them to the host; and what returns the columns of some rows on the host. None if the host places
them: because that is as fast, or because one cannot be shown, for which the host has the sentence.
"""
