"""Closed forms and quadratures of radiometry: Fresnel, form factors, albedo of GGX surfaces.

Radiance is that of Lambertian emitters; irradiance has its unit times steradian. Angles are given
by their cosines. GGX has the width alpha = roughness^2 and the height-correlated Smith masking.
"""

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def fresnel_dielectric(cosine: ArrayLike, eta: ArrayLike) -> Array:
    """Unpolarised reflectance of a smooth boundary; 1 where all light is reflected.

    Args:
        cosine: to the normal, of the side that the light comes from, 0 to 1.
        eta: index of refraction of the far side over that of the near side.
    """
    cosine, eta = np.broadcast_arrays(np.clip(np.asarray(cosine, np.float64), 0, 1), eta)
    sine2 = (1 - cosine**2) / eta**2
    inner = np.sqrt(np.maximum(1 - sine2, 0))
    total = sine2 >= 1
    inner = np.where(total, 1, inner)
    parallel = (eta * cosine - inner) / (eta * cosine + inner)
    perpendicular = (cosine - eta * inner) / (cosine + eta * inner)
    return np.where(total, 1.0, (parallel**2 + perpendicular**2) / 2)


def fresnel_schlick(cosine: ArrayLike, normal_incidence: ArrayLike) -> Array:
    """Schlick's approximation of the reflectance of a metal.

    Args:
        cosine: to the normal, (...).
        normal_incidence: reflectance along the normal, (..., 3).
    """
    weight = (1 - np.clip(np.asarray(cosine, np.float64), 0, 1))[..., None] ** 5
    level = np.asarray(normal_incidence, np.float64)
    return np.asarray(level + (1 - level) * weight)


def ggx_lambda(cosine: ArrayLike, alpha: ArrayLike) -> Array:
    """Smith's auxiliary function: G1 = 1 / (1 + lambda), G2 = 1 / (1 + lambda_o + lambda_i)."""
    c2 = np.maximum(np.asarray(cosine, np.float64) ** 2, 1e-300)
    return np.asarray((np.sqrt(1 + np.asarray(alpha) ** 2 * (1 - c2) / c2) - 1) / 2)


def ggx_visible_normal(wo: Array, alpha: ArrayLike, u: Array) -> Array:
    """Facet normals drawn as `wo` sees them (Heitz 2018, isotropic).

    Args:
        wo: unit, (..., 3), with a z of at least 0.
        alpha: width, (...).
        u: uniform in the unit square, (..., 2).
    """
    alpha = np.asarray(alpha, np.float64)
    stretched = np.stack([alpha * wo[..., 0], alpha * wo[..., 1], wo[..., 2]], axis=-1)
    stretched /= np.linalg.norm(stretched, axis=-1, keepdims=True)
    x, y, z = (stretched[..., i] for i in range(3))
    length2 = x * x + y * y
    level = length2 <= 0
    scale = 1 / np.sqrt(np.where(level, 1, length2))
    t1 = np.stack([np.where(level, 1, -y * scale), np.where(level, 0, x * scale), 0 * z], axis=-1)
    t2 = np.cross(stretched, t1)
    radius, angle = np.sqrt(u[..., 0]), 2 * np.pi * u[..., 1]
    p1, p2 = radius * np.cos(angle), radius * np.sin(angle)
    share = (1 + z) / 2
    p2 = (1 - share) * np.sqrt(np.maximum(1 - p1**2, 0)) + share * p2
    p3 = np.sqrt(np.maximum(1 - p1**2 - p2**2, 0))
    facet = p1[..., None] * t1 + p2[..., None] * t2 + p3[..., None] * stretched
    facet = np.stack(
        [alpha * facet[..., 0], alpha * facet[..., 1], np.maximum(facet[..., 2], 1e-12)], axis=-1
    )
    return np.asarray(facet / np.linalg.norm(facet, axis=-1, keepdims=True))


def ggx_albedo(cosine: ArrayLike, alpha: float, eta: float | None = None, grid: int = 64) -> Array:
    """Share of light that a GGX surface reflects at once, by quadrature over visible normals.

    Args:
        cosine: of the light to the normal, (n,).
        alpha: width; 0 is a smooth surface.
        eta: index of refraction of a dielectric; None reflects all.
        grid: points a side of the quadrature.
    """
    cosine = np.asarray(cosine, np.float64)
    if alpha == 0:
        return np.ones_like(cosine) if eta is None else fresnel_dielectric(cosine, eta)
    z, facet_z, along = _facets(cosine, alpha, grid)
    weight = _seen(z, 2 * along * facet_z - z, alpha)
    if eta is not None:
        weight = weight * fresnel_dielectric(along, eta)
    return np.asarray(weight.mean(axis=1))


def ggx_glass_albedo(cosine: ArrayLike, alpha: float, eta: float, grid: int = 64) -> Array:
    """Share of light that GGX glass scatters at once, to both sides, by quadrature.

    Args:
        cosine: of the light to the normal, (n,).
        alpha: width; 0 is a smooth surface.
        eta: index of refraction beyond the surface over that before it.
        grid: points a side of the quadrature.
    """
    cosine = np.asarray(cosine, np.float64)
    if alpha == 0:
        return np.ones_like(cosine)
    z, facet_z, along = _facets(cosine, alpha, grid)
    fresnel = fresnel_dielectric(along, eta)
    inner = np.sqrt(np.maximum(1 - (1 - along**2) / eta**2, 0))
    up = _seen(z, 2 * along * facet_z - z, alpha)
    down = _seen(z, z / eta - (along / eta - inner) * facet_z, alpha)
    return np.asarray((fresnel * up + (1 - fresnel) * down).mean(axis=1))


def _facets(cosine: Array, alpha: float, grid: int) -> tuple[Array, Array, Array]:
    """Cosines of the light to the normal, (n, 1), and of facets to both, (n, grid^2)."""
    points = (np.arange(grid) + 0.5) / grid
    u = np.stack(np.meshgrid(points, points, indexing="ij"), axis=-1).reshape(1, -1, 2)
    z = np.maximum(cosine, 1e-6)[:, None]
    wo = np.stack([np.sqrt(1 - z**2), 0 * z, z], axis=-1)
    facet = ggx_visible_normal(np.broadcast_to(wo, (len(cosine), grid**2, 3)), alpha, u)
    return z, facet[..., 2], (wo * facet).sum(axis=-1)


def _seen(z: Array, out: Array, alpha: float) -> Array:
    """Share of light that no facet keeps from leaving at the cosine `out`."""
    lambda_o = ggx_lambda(z, alpha)
    return np.where(out > 0, (1 + lambda_o) / (1 + lambda_o + ggx_lambda(out, alpha)), 0)


def sphere_irradiance(cosine: ArrayLike, distance: ArrayLike, radius: float = 1.0) -> Array:
    """Irradiance by a sphere of radiance 1, which the surface may hide in part.

    Args:
        cosine: of the direction to the sphere's centre to the normal, -1 to 1.
        distance: to its centre, larger than its radius.
        radius: of the sphere.
    """
    cosine = np.asarray(cosine, np.float64)
    sine2 = (radius / np.asarray(distance, np.float64)) ** 2
    whole = np.pi * sine2 * np.maximum(cosine, 0)
    slope = np.sqrt(1 / sine2 - 1)
    with np.errstate(invalid="ignore", divide="ignore"):
        # A cap of the unit hemisphere that the horizon cuts, projected on the surface.
        sine = np.sqrt(1 - cosine**2)
        y = np.clip(-slope * cosine / sine, -1, 1)
        cut = (cosine * np.arccos(y) - slope * sine * np.sqrt(1 - y**2)) * sine2
        cut = cut + np.arctan(sine * np.sqrt(1 - y**2) / slope)
    part = np.where(cosine**2 > sine2, whole, cut)
    return np.where((cosine < 0) & (cosine**2 > sine2), 0.0, part)


def polygon_irradiance(point: ArrayLike, normal: ArrayLike, corners: ArrayLike) -> float:
    """Irradiance by a polygon of radiance 1 above the horizon (Lambert 1760).

    Args:
        point, normal: (3,), where the light falls.
        corners: (n, 3), in either order.
    """
    away = np.asarray(corners, np.float64) - np.asarray(point, np.float64)
    away /= np.linalg.norm(away, axis=1, keepdims=True)
    following = np.roll(away, -1, axis=0)
    angle = np.arccos(np.clip((away * following).sum(axis=1), -1, 1))
    across = np.cross(away, following)
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return abs(float((angle * (across @ np.asarray(normal, np.float64))).sum())) / 2


def rectangle_solid_angle(
    x0: ArrayLike, x1: ArrayLike, y0: ArrayLike, y1: ArrayLike, z: float
) -> Array:
    """Solid angle of the rectangle x0..x1 by y0..y1 at the height z > 0 above the origin."""

    def corner(x: ArrayLike, y: ArrayLike) -> Any:
        x, y = np.asarray(x, np.longdouble), np.asarray(y, np.longdouble)
        return np.arctan2(x * y, z * np.sqrt(x * x + y * y + z * z))

    whole = corner(x1, y1) - corner(x0, y1) - corner(x1, y0) + corner(x0, y0)
    return np.asarray(whole, np.float64)


def disk_solid_angles(aside: float, z: float, sectors: int = 1) -> Array:
    """Solid angle of a disk of radius 1 at the height z > 0, whose centre is `aside` of the axis
    through the origin, by sectors about the foot of the axis, from -pi on or from the edge of the
    disk, (sectors,).

    Along a radius it is a closed form; over the azimuth, Gauss's quadrature, with nodes that become
    dense at the ends, where a chord becomes a tangent.
    """
    widest = np.pi if aside < 1 else np.arcsin(1 / aside)
    edges = np.arcsin(np.linspace(-1, 1, sectors + 1))
    parts = [np.linspace(*ends, 49) for ends in pairwise(edges)]
    start = np.concatenate([part[:-1] for part in parts])
    half = np.concatenate([np.diff(part) for part in parts]) / 2
    nodes, weights = np.polynomial.legendre.leggauss(32)
    s = (start + half)[:, None] + half[:, None] * nodes
    turn = widest * np.sin(s)
    middle = aside * np.cos(turn)
    chord = np.sqrt(np.maximum(1 - (aside * np.sin(turn)) ** 2, 0))
    nearest = np.zeros_like(chord) if aside < 1 else middle - chord
    along = z / np.hypot(nearest, z) - z / np.hypot(middle + chord, z)
    found = (along * widest * np.cos(s) * half[:, None] * weights).sum(axis=1)
    return np.asarray(found.reshape(sectors, -1).sum(axis=1))
