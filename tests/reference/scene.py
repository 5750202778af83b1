"""What the reference renders: plain float64 arrays in the user's own coordinates."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def vector(value: ArrayLike) -> Array:
    """A float64 array of three numbers."""
    return np.asarray(value, dtype=np.float64).reshape(3)


def unit(value: ArrayLike) -> Array:
    """The unit vector along `value`."""
    v = np.asarray(value, dtype=np.float64)
    return np.asarray(v / np.sqrt((v * v).sum(axis=-1, keepdims=True)))


@dataclass(frozen=True)
class View:
    """A camera: perspective when `vertical_fov` (degrees) is set, else orthographic `height`."""

    position: tuple[float, float, float]
    look_at: tuple[float, float, float]
    up: tuple[float, float, float] = (0.0, 1.0, 0.0)
    vertical_fov: float | None = 40.0
    height: float = 0.0

    def axes(self) -> tuple[Array, Array, Array]:
        """Unit forward, right and up."""
        forward = unit(vector(self.look_at) - vector(self.position))
        right = unit(np.cross(forward, vector(self.up)))
        return forward, right, np.cross(right, forward)

    def half_height(self) -> float:
        """Half the picture's height: a tangent (perspective) or scene units (orthographic)."""
        if self.vertical_fov is None:
            return self.height / 2
        return float(np.tan(np.radians(self.vertical_fov) / 2))


@dataclass(frozen=True)
class Light:
    """A point light at `vector`, or a directional one whose light travels along `vector`."""

    kind: Literal["point", "directional"]
    vector: tuple[float, float, float]
    color: tuple[float, float, float] = (1.0, 1.0, 1.0)
    intensity: float = 1.0
    inverse_square: bool = False


@dataclass(frozen=True)
class Material:
    """Phong coefficients and the share of a perfect mirror."""

    ambient: float = 1.0
    diffuse: float = 1.0
    specular: float = 0.0
    shininess: float = 32.0
    mirror: float = 0.0


@dataclass(frozen=True)
class RefScene:
    """Spheres (float64, scene units), colours (linear RGB) and everything that lights them."""

    centers: Array
    radii: Array
    view: View
    colors: Array = field(default_factory=lambda: np.ones((1, 3)))
    materials: tuple[Material, ...] = (Material(),)
    material_id: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    lights: tuple[Light, ...] = ()
    ambient: tuple[float, float, float] = (0.0, 0.0, 0.0)
    bottom: tuple[float, float, float] = (0.0, 0.0, 0.0)
    top: tuple[float, float, float] = (0.0, 0.0, 0.0)
    transparent: bool = False
    world_up: tuple[float, float, float] | None = None  # of the reflected sky; None: the view's up

    def __post_init__(self) -> None:
        n = len(self.radii)
        object.__setattr__(self, "centers", np.asarray(self.centers, np.float64).reshape(n, 3))
        object.__setattr__(self, "radii", np.asarray(self.radii, np.float64))
        colors = np.broadcast_to(np.asarray(self.colors, np.float64), (n, 3))
        object.__setattr__(self, "colors", colors)
        ids = np.broadcast_to(np.asarray(self.material_id, np.int64), (n,))
        object.__setattr__(self, "material_id", ids)

    def but(self, **changes: Any) -> RefScene:
        """The same scene with some fields replaced."""
        return replace(self, **changes)

    def moved(self, scale: float = 1.0, offset: ArrayLike = (0, 0, 0)) -> RefScene:
        """The whole scene (spheres, camera, lights) scaled, then moved."""
        shift = vector(offset)

        def place(point: tuple[float, float, float]) -> tuple[float, float, float]:
            x, y, z = (vector(point) * scale + shift).tolist()
            return (x, y, z)

        view = replace(
            self.view,
            position=place(self.view.position),
            look_at=place(self.view.look_at),
            height=self.view.height * scale,
        )
        return self.but(
            centers=self.centers * scale + shift,
            radii=self.radii * scale,
            view=view,
            lights=tuple(
                replace(
                    light,
                    vector=place(light.vector) if light.kind == "point" else light.vector,
                    intensity=light.intensity * (scale**2 if light.inverse_square else 1.0),
                )
                for light in self.lights
            ),
        )


def camera_rays(
    view: View, width: int, height: int, offset: tuple[float, float] = (0.5, 0.5)
) -> tuple[Array, Array]:
    """Origins and unit directions, each (height * width, 3), rows from the top."""
    forward, right, up = view.axes()
    half = view.half_height()
    y, x = np.mgrid[0:height, 0:width].astype(np.float64)
    u = (2 * (x + offset[0]) / width - 1).ravel()[:, None] * right * half * (width / height)
    v = (1 - 2 * (y + offset[1]) / height).ravel()[:, None] * up * half
    origin = np.broadcast_to(vector(view.position), u.shape)
    if view.vertical_fov is None:
        return origin + u + v, np.broadcast_to(forward, u.shape).copy()
    return origin.copy(), unit(forward + u + v)
