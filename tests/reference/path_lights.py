"""Lights of a `PathScene` as paths meet them, for all rays at once."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.path_bsdf import dot
from reference.path_scene import (
    DirectionalLight,
    DiskLight,
    Light,
    RectangleLight,
    Sky,
    SphereLight,
)
from reference.scene import unit, vector

Array = NDArray[np.float64]


def meet(light: Light | Sky, point: Array, wi: Array) -> tuple[Array, Array]:
    """Where rays meet a light.

    Args:
        light: one of a scene.
        point, wi: origins and unit directions, (n, 3).

    Returns:
        Distance, (n,), infinite without; and radiance, (n, 3), 0 without.
    """
    far = np.full(len(point), np.inf)
    match light:
        case Sky():
            bottom, top = np.array(light.bottom), np.array(light.top)
            return far, bottom + (1 + wi @ unit(light.up))[:, None] / 2 * (top - bottom)
        case DirectionalLight():
            half = np.radians(light.angle) / 2
            # |wi - axis|^2 = 2 (1 - cosine) keeps its digits where the cosine is near 1.
            inside = ((wi + unit(light.direction)) ** 2).sum(axis=1) < 4 * np.sin(half / 2) ** 2
            radiance = np.array(light.irradiance) / (np.pi * np.sin(half) ** 2)
            return far, np.where(inside[:, None], radiance, 0.0)
        case SphereLight():
            away = np.array(light.position) - point
            middle = dot(away, wi)
            across = away - middle[:, None] * wi
            half2 = light.radius**2 - dot(across, across)
            t = middle - np.sqrt(np.maximum(half2, 0))
            hit = (half2 > 0) & (t > 0) & (dot(away, away) > light.radius**2 * (1 + 1e-9))
        case RectangleLight():
            t, at = _on_plane(light.center, np.cross(light.u, light.v), point, wi)
            a, b = (at @ np.array(side) / np.dot(side, side) for side in (light.u, light.v))
            hit = (t > 1e-9) & (np.abs(a) < 1) & (np.abs(b) < 1)
        case DiskLight():
            t, at = _on_plane(light.center, light.normal, point, wi)
            hit = (t > 1e-9) & (dot(at, at) < light.radius**2)
    return np.where(hit, t, np.inf), np.where(hit[:, None], np.array(light.radiance), 0.0)


def _on_plane(center: ArrayLike, normal: ArrayLike, point: Array, wi: Array) -> tuple[Array, Array]:
    """Distance to the front of a plane, -1 without, and the place from its centre, (n, 3)."""
    cosine = -(wi @ unit(normal))
    front = cosine > 1e-12
    away = point - vector(center)
    t = np.where(front, away @ unit(normal) / np.where(front, cosine, 1), -1.0)
    return t, away + t[:, None] * wi
