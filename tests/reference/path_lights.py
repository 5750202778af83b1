"""Lights of a `PathScene` as the path tracer meets and samples them, for all rays at once."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.path_bsdf import dot, frame
from reference.path_scene import (
    DirectionalLight,
    DiskLight,
    PathScene,
    RectangleLight,
    Sky,
    SphereLight,
)

Array = NDArray[np.float64]


class Toward(NamedTuple):
    """Directions to a light: wi, (n, 3); distance, (n,); radiance over density, (n, 3); density."""

    wi: Array
    distance: Array
    radiance: Array
    pdf: Array


class Lamp(Protocol):
    """A light."""

    def sample(self, point: Array, u: Array) -> Toward:
        """Draw directions. point: (n, 3). u: uniform, (n, 2)."""

    def pdf(self, point: Array, wi: Array) -> Array:
        """Density of directions that meet the light, (n,)."""

    def meet(self, point: Array, wi: Array) -> tuple[Array, Array]:
        """Distance, (n,), infinite without; and radiance, (n, 3), 0 without."""


def vector(value: ArrayLike) -> Array:
    """Three float64 numbers."""
    return np.asarray(value, np.float64)


def unit(value: ArrayLike) -> Array:
    """Unit vectors."""
    value = vector(value)
    return np.asarray(value / np.linalg.norm(value, axis=-1, keepdims=True))


class SphereLamp:
    """A sphere with radiance on its outside, sampled by the cone that it fills."""

    def __init__(self, center: ArrayLike, radius: float, radiance: ArrayLike) -> None:
        self.center, self.radius, self.radiance = vector(center), radius, vector(radiance)

    def _cone(self, point: Array) -> tuple[Array, Array, Array]:
        """Direction and distance of the centre, and 1 - cosine of the cone; 0 within."""
        away = self.center - point
        distance = np.linalg.norm(away, axis=1)
        sine2 = np.minimum((self.radius / distance) ** 2, 1)
        outside = distance > self.radius * (1 + 1e-9)
        return (
            away / distance[:, None],
            distance,
            np.where(outside, sine2 / (1 + np.sqrt(1 - sine2)), 0),
        )

    def sample(self, point: Array, u: Array) -> Toward:
        """See `Lamp`."""
        axis, _, size = self._cone(point)
        wi = _within(axis, size, u)
        distance, _ = self.meet(point, wi)
        # A ray along the edge may miss by rounding.
        pdf = self.pdf(point, wi)
        valid = (pdf > 0) & np.isfinite(distance)
        return Toward(wi, np.where(valid, distance, 0), _over(self.radiance, pdf, valid), pdf)

    def pdf(self, point: Array, wi: Array) -> Array:
        """See `Lamp`."""
        size = self._cone(point)[2]
        return np.where(size > 0, 1 / (2 * np.pi * np.where(size > 0, size, 1)), 0.0)

    def meet(self, point: Array, wi: Array) -> tuple[Array, Array]:
        """See `Lamp`."""
        away = self.center - point
        middle = dot(away, wi)
        across = away - middle[:, None] * wi
        half2 = self.radius**2 - dot(across, across)
        near = middle - np.sqrt(np.maximum(half2, 0))
        outside = dot(away, away) > self.radius**2 * (1 + 1e-9)
        hit = (half2 > 0) & (near > 0) & outside
        return np.where(hit, near, np.inf), np.where(hit[:, None], self.radiance, 0.0)


class FlatLamp:
    """A rectangle or a disk, sampled by its area."""

    def __init__(self, center: ArrayLike, u: Array, v: Array, radiance: ArrayLike, *, disk: bool):
        self.center, self.u, self.v, self.disk = vector(center), u, v, disk
        self.radiance = vector(radiance)
        across = np.cross(u, v)
        self.area = float(np.linalg.norm(across)) * (np.pi if disk else 4)
        self.normal = unit(across)

    def sample(self, point: Array, u: Array) -> Toward:
        """See `Lamp`."""
        if self.disk:
            radius, angle = np.sqrt(u[:, 0]), 2 * np.pi * u[:, 1]
            a, b = radius * np.cos(angle), radius * np.sin(angle)
        else:
            a, b = 2 * u[:, 0] - 1, 2 * u[:, 1] - 1
        away = self.center + a[:, None] * self.u + b[:, None] * self.v - point
        distance = np.linalg.norm(away, axis=1)
        wi = away / distance[:, None]
        pdf = self._density(distance, -(wi @ self.normal))
        return Toward(wi, distance, _over(self.radiance, pdf, pdf > 0), pdf)

    def _density(self, distance: Array, cosine: Array) -> Array:
        front = cosine > 1e-12
        return np.where(front, distance**2 / (np.where(front, cosine, 1) * self.area), 0)

    def pdf(self, point: Array, wi: Array) -> Array:
        """See `Lamp`."""
        distance, _ = self.meet(point, wi)
        met = np.isfinite(distance)
        return np.where(met, self._density(np.where(met, distance, 1), -(wi @ self.normal)), 0)

    def meet(self, point: Array, wi: Array) -> tuple[Array, Array]:
        """See `Lamp`."""
        cosine = -(wi @ self.normal)
        front = cosine > 1e-12
        t = ((point - self.center) @ self.normal) / np.where(front, cosine, 1)
        at = point + t[:, None] * wi - self.center
        a, b = (at @ side / float(side @ side) for side in (self.u, self.v))
        inside = a * a + b * b < 1 if self.disk else (np.abs(a) < 1) & (np.abs(b) < 1)
        hit = front & (t > 1e-9) & inside
        return np.where(hit, t, np.inf), np.where(hit[:, None], self.radiance, 0.0)


class SkyLamp:
    """Everything that rays meet at infinity, sampled uniformly."""

    def __init__(self, sky: Sky) -> None:
        self._bottom, self._top, self._up = vector(sky.bottom), vector(sky.top), unit(sky.up)

    def sample(self, point: Array, u: Array) -> Toward:
        """See `Lamp`."""
        axis = np.broadcast_to([0.0, 0.0, 1.0], point.shape)
        wi = _within(axis, np.full(len(point), 2.0), u)
        distance, radiance = self.meet(point, wi)
        pdf = self.pdf(point, wi)
        return Toward(wi, distance, radiance / pdf[:, None], pdf)

    def pdf(self, point: Array, wi: Array) -> Array:
        """See `Lamp`."""
        return np.full(len(point), 1 / (4 * np.pi))

    def meet(self, point: Array, wi: Array) -> tuple[Array, Array]:
        """See `Lamp`."""
        height = (1 + wi @ self._up)[:, None] / 2
        return np.full(len(point), np.inf), self._bottom + height * (self._top - self._bottom)


class SunLamp:
    """A disk of the sky."""

    def __init__(self, light: DirectionalLight) -> None:
        self._axis = -unit(light.direction)
        half = np.radians(light.angle) / 2
        self._size = 2 * np.sin(half / 2) ** 2  # 1 - cosine
        self._light = vector(light.irradiance) / (np.pi * np.sin(half) ** 2)

    def sample(self, point: Array, u: Array) -> Toward:
        """See `Lamp`."""
        axis = np.broadcast_to(self._axis, point.shape)
        far = np.full(len(point), np.inf)
        wi = _within(axis, np.full(len(point), self._size), u)
        pdf = np.full(len(point), 1 / (2 * np.pi * self._size))
        return Toward(wi, far, self._light / pdf[:, None], pdf)

    def pdf(self, point: Array, wi: Array) -> Array:
        """See `Lamp`."""
        inside = self._inside(wi)
        return np.where(inside, 1 / (2 * np.pi * self._size), 0)

    def _inside(self, wi: Array) -> NDArray[np.bool_]:
        # |wi - axis|^2 = 2 (1 - cosine) keeps its digits where the cosine is near 1.
        return np.asarray(((wi - self._axis) ** 2).sum(axis=1) < 2 * self._size)

    def meet(self, point: Array, wi: Array) -> tuple[Array, Array]:
        """See `Lamp`."""
        radiance = np.where(self._inside(wi)[:, None], self._light, 0.0)
        return np.full(len(point), np.inf), radiance


def lamps_of(scene: PathScene) -> list[Lamp]:
    """Return every light of a scene, its sky among them."""
    lamps: list[Lamp] = [_lamp(light) for light in scene.lights]
    if any(scene.sky.bottom) or any(scene.sky.top):
        lamps.append(SkyLamp(scene.sky))
    return lamps


def _lamp(light: object) -> Lamp:
    match light:
        case DirectionalLight():
            return SunLamp(light)
        case SphereLight():
            return SphereLamp(light.position, light.radius, light.radiance)
        case RectangleLight():
            u, v = vector(light.u), vector(light.v)
            return FlatLamp(light.center, u, v, light.radiance, disk=False)
        case DiskLight():
            t, b = frame(unit(light.normal)[None])
            # frame has cross(n, t) = b, so that cross(t, b) = n
            u, v = light.radius * t[0], light.radius * b[0]
            return FlatLamp(light.center, u, v, light.radiance, disk=True)
    raise TypeError(f"{light} is no light")


def _over(radiance: Array, pdf: Array, valid: NDArray[np.bool_]) -> Array:
    """Radiance over density, (n, 3), 0 where it is not valid."""
    return np.where(valid[:, None], radiance / np.where(valid, pdf, 1)[:, None], 0.0)


def _within(axis: Array, size: Array, u: Array) -> Array:
    """Directions uniform within cones. axis: (n, 3). size: 1 - cosine of the cone, (n,)."""
    t, b = frame(np.asarray(axis))
    low = u[:, 0] * size
    sine, angle = np.sqrt(np.maximum(low * (2 - low), 0)), 2 * np.pi * u[:, 1]
    x, y = sine * np.cos(angle), sine * np.sin(angle)
    return np.asarray(x[:, None] * t + y[:, None] * b + (1 - low)[:, None] * axis)
