"""A float64 path tracer in NumPy: the independent proof of pictures of indirect light.

It shares no code with the kernels: every ray is tested against every sphere, and light is found by
scattering alone. Pictures of 16 x 16 pixels and a handful of spheres are its range.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reference.path_bsdf import Surfaces, Tables, dot
from reference.path_scene import (
    DirectionalLight,
    DiskLight,
    Light,
    PathScene,
    RectangleLight,
    Sky,
    SphereLight,
)
from reference.scene import View, unit, vector

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

ROULETTE = 6
"""Scatterings after which paths end by chance, with the probability of their loss."""

GLASS_BOUNCES = 256
"""Scatterings of a path in glass beyond the largest depth."""


@dataclass(frozen=True)
class Estimate:
    """Means over samples, (h, w, 3), and the variances of these means."""

    mean: Array
    variance: Array

    def z(self, other: Estimate, least: float = 1e-9) -> Array:
        """Difference of each mean to another estimate's in standard deviations.

        It is 0 where the means are equal but for float32's rounding, or differ by at most `least`:
        where light is so rare that few samples found it, their variance says nothing.
        """
        difference = self.mean - other.mean
        sigma = np.sqrt(self.variance + other.variance)
        rounding = 1e-6 * (np.abs(self.mean) + np.abs(other.mean)) + least
        with np.errstate(divide="ignore", invalid="ignore"):
            z = np.where(np.abs(difference) <= rounding, 0.0, difference / sigma)
        return np.asarray(z)

    def z_of_mean(self, other: Estimate) -> Array:
        """Difference of the means of the whole pictures in standard deviations, (3,)."""
        return np.asarray(self._whole().z(other._whole())[0, 0])

    def _whole(self) -> Estimate:
        mean = self.mean.mean(axis=(0, 1), keepdims=True)
        return Estimate(
            mean, self.variance.mean(axis=(0, 1), keepdims=True) / self.mean[..., 0].size
        )


def agree(one: Estimate, other: Estimate, what: str = "pictures", least: float = 1e-9) -> None:
    """Assert that two estimates have the same expectation: each pixel, and the whole picture.

    least: difference of a pixel that is no error; see `Estimate.z`.
    """
    z, mean = one.z(other, least), one.z_of_mean(other)
    y, x, channel = np.unravel_index(int(np.abs(z).argmax()), z.shape)
    values = [float(each.mean[y, x, channel]) for each in (one, other)]
    assert np.abs(z).max() < 6, f"{what}: {z[y, x, channel]:.1f} sigma at ({x}, {y}): {values}"
    means = [np.round(each.mean.mean(axis=(0, 1)), 6).tolist() for each in (one, other)]
    assert np.abs(mean).max() < 4, f"{what}: the means differ by {mean.round(1)} sigma: {means}"


def estimate_of(samples: NDArray[np.floating]) -> Estimate:
    """The estimate by independent pictures, (n, h, w, 3)."""
    pictures = np.asarray(samples, np.float64)
    return Estimate(pictures.mean(axis=0), pictures.var(axis=0, ddof=1) / len(pictures))


def trace(
    scene: PathScene,
    view: View,
    width: int,
    height: int,
    samples: int,
    *,
    max_depth: int = 8,
    seed: int = 0,
) -> Estimate:
    """Return a picture of linear radiance.

    Args:
        scene: spheres and lights.
        view: the camera.
        width, height: pixels.
        samples: paths a pixel.
        max_depth: most scatterings of a path, but for those on the way out of glass; 0 shows
            lights alone.
        seed: of the random numbers.
    """
    rng = np.random.default_rng(seed)
    tracer = _Tracer(scene, max_depth, rng)
    shape = height, width, samples
    y, x, _ = (axis.ravel() for axis in np.indices(shape))
    within = rng.random((2, x.size))
    origin, direction = _camera(view, width, height, x + within[0], y + within[1])
    values = tracer.radiance(origin, direction).reshape(*shape, 3)
    variance = (
        values.var(axis=2, ddof=1) / samples if samples > 1 else np.full((height, width, 3), np.inf)
    )
    return Estimate(values.mean(axis=2), variance)


def _camera(view: View, width: int, height: int, x: Array, y: Array) -> tuple[Array, Array]:
    """Origins and unit directions of rays through places in pixels from the upper left."""
    forward, right, up = view.axes()
    half = view.half_height()
    across = ((2 * x / width - 1) * half * width / height)[:, None] * right
    across = across + ((1 - 2 * y / height) * half)[:, None] * up
    origin = np.broadcast_to(np.asarray(view.position, np.float64), across.shape)
    if view.vertical_fov is None:
        return origin + across, np.broadcast_to(forward, across.shape).copy()
    direction = forward + across
    return origin.copy(), direction / np.linalg.norm(direction, axis=1, keepdims=True)


class _Hits(NamedTuple):
    """First surfaces of rays.

    ball: its number, -1 without. near, far: glass on the side of the ray and behind, -1 for air.
    through: share of light that the medium before it lets pass.
    """

    t: Array
    ball: Numbers
    near: Numbers
    far: Numbers

    def of(self, which: NDArray[np.bool_]) -> _Hits:
        """Return those of some rays."""
        return _Hits(self.t[which], self.ball[which], self.near[which], self.far[which])


class _Tracer:
    """Paths of one scene; arrays have a row a ray."""

    def __init__(self, scene: PathScene, max_depth: int, rng: np.random.Generator) -> None:
        balls = scene.balls
        self._rng = rng
        self._max_depth = max_depth
        self._lights = [*scene.lights, scene.sky]
        self._tables = Tables(balls)
        self._centers = np.array([b.center for b in balls], np.float64).reshape(-1, 3)
        self._radii = np.array([b.radius for b in balls], np.float64)
        self._colors = np.array([b.base_color for b in balls], np.float64).reshape(-1, 3)
        self._ior = np.array([b.ior for b in balls] + [1.0], np.float64)  # at -1: air
        self._absorption = np.array([b.absorption for b in balls] + [(0, 0, 0)], np.float64)
        self._rough = np.array([b.roughness for b in balls], np.float64)
        self._specular = np.array([b.specular for b in balls], np.float64)
        self._metal = np.array([b.metallic for b in balls], np.float64)
        self._glass = np.array([b.transmission for b in balls], np.float64)
        self._is_glass = (self._metal < 1) & (self._glass > 0)
        rank = sorted(range(len(balls)), key=lambda i: (balls[i].priority, i))
        self._order = [i for i in rank if self._is_glass[i]]  # the last of them fills overlaps

    def radiance(self, origin: Array, direction: Array) -> Array:
        """Return an estimate of the light along each ray, (n, 3)."""
        count = len(origin)
        light, weight = np.zeros((count, 3)), np.ones((count, 3))
        path = np.arange(count)
        medium = self._medium(origin, np.full(count, -1))
        for depth in range(self._max_depth + GLASS_BOUNCES + 1):
            hits = self._first(origin, direction, medium)
            light[path] += weight * self._met(origin, direction, hits, medium, depth)
            keep = hits.ball >= 0
            if depth >= self._max_depth:
                keep &= (medium >= 0) & (self._max_depth > 0)
            if not keep.any():
                break
            path, weight, hits = path[keep], weight[keep], hits.of(keep)
            direction, medium = direction[keep], medium[keep]
            weight = weight * self._passed(medium, hits.t)
            point = origin[keep] + hits.t[:, None] * direction
            surfaces = self._surfaces(point, direction, hits)
            drawn = surfaces.sample(self._rng.random((len(point), 4)))
            weight = weight * drawn.weight
            medium = np.where(drawn.through, hits.far, hits.near)
            origin, direction = point, drawn.wi
            alive = self._roulette(depth, weight)
            path, weight, medium = path[alive], weight[alive], medium[alive]
            origin, direction = origin[alive], direction[alive]
        return light

    def _roulette(self, depth: int, weight: Array) -> NDArray[np.bool_]:
        """Choose the paths that go on; their weights are raised in place."""
        chance = weight.max(axis=1)
        alive = chance > 0
        if depth >= ROULETTE:
            chance = np.minimum(chance, 0.95)
            alive = self._rng.random(len(weight)) < chance
            weight /= np.where(alive, chance, 1)[:, None]
        return np.asarray(alive)

    def _medium(self, point: Array, skip: Numbers) -> Numbers:
        """Glass that fills each point, but for the ball `skip`; -1 is air."""
        filled = np.full(len(point), -1)
        for ball in self._order:
            away = point - self._centers[ball]
            inside = dot(away, away) < self._radii[ball] ** 2
            filled[inside & (skip != ball)] = ball
        return filled

    def _nearest(self, origin: Array, direction: Array) -> tuple[Array, Numbers]:
        """Distance and number of the first sphere; infinity and -1 without."""
        best, number = np.full(len(origin), np.inf), np.full(len(origin), -1)
        for ball, (center, radius) in enumerate(zip(self._centers, self._radii, strict=True)):
            away = center - origin
            middle = dot(away, direction)
            across = away - middle[:, None] * direction
            half2 = radius**2 - dot(across, across)
            half = np.sqrt(np.maximum(half2, 0))
            least = 1e-7 * radius
            t = np.where(middle - half > least, middle - half, middle + half)
            closer = (half2 > 0) & (t > least) & (t < best)
            best, number = np.where(closer, t, best), np.where(closer, ball, number)
        return best, number

    def _first(self, origin: Array, direction: Array, medium: Numbers) -> _Hits:
        """First surfaces, past those of glass that other glass fills."""
        t, ball = np.zeros(len(origin)), np.full(len(origin), -1)
        near, far = medium.copy(), medium.copy()
        open_rays = np.arange(len(origin))
        while len(open_rays):
            at = origin[open_rays] + t[open_rays, None] * direction[open_rays]
            step, number = self._nearest(at, direction[open_rays])
            t[open_rays] += step
            ball[open_rays] = number
            hit = number >= 0
            open_rays, at, step, number = open_rays[hit], at[hit], step[hit], number[hit]
            point = at + step[:, None] * direction[open_rays]
            others = self._medium(point, number)
            enters = dot(direction[open_rays], point - self._centers[number]) < 0
            fills = self._is_glass[number] & (self._rank(number) > self._rank(others))
            inner = np.where(fills, number, others)
            near[open_rays] = np.where(enters, others, inner)
            far[open_rays] = np.where(enters, inner, others)
            hidden = self._is_glass[number] & ~fills
            ball[open_rays[hidden]] = -1
            open_rays = open_rays[hidden]
        return _Hits(t, ball, near, far)

    def _rank(self, ball: Numbers) -> Numbers:
        ranks = np.full(len(self._radii) + 1, -1)
        ranks[self._order] = np.arange(len(self._order))
        return np.asarray(ranks[ball])

    def _passed(self, medium: Numbers, distance: Array) -> Array:
        """Share of light that a medium lets pass, (n, 3)."""
        absorption = self._absorption[medium]
        with np.errstate(invalid="ignore"):  # no absorption over no end
            depth = np.where(absorption > 0, absorption * distance[:, None], 0.0)
        return np.asarray(np.exp(-depth))

    def _met(
        self, origin: Array, direction: Array, hits: _Hits, medium: Numbers, depth: int
    ) -> Array:
        """Light that rays meet; the camera sees no lights in the scene."""
        light = np.zeros((len(origin), 3))
        for each in self._lights:
            if depth > 0 or isinstance(each, Sky | DirectionalLight):
                t, radiance = meet(each, origin, direction)
                shown = (t < hits.t) | (np.isinf(t) & (hits.ball < 0))
                light += radiance * shown[:, None] * self._passed(medium, np.minimum(t, hits.t))
        return light

    def _surfaces(self, point: Array, direction: Array, hits: _Hits) -> Surfaces:
        ball = hits.ball
        n = (point - self._centers[ball]) / self._radii[ball, None]
        n *= np.where(dot(direction, n) > 0, -1, 1)[:, None]
        eta = np.where(self._is_glass[ball], self._ior[hits.far] / self._ior[hits.near], 1.0)
        return Surfaces(
            n=n, wo=-direction, color=self._colors[ball], alpha=self._rough[ball] ** 2, eta=eta,
            ior=self._ior[ball], specular=self._specular[ball], metal=self._metal[ball],
            glass=self._glass[ball], table=ball,
            tables=self._tables,
        )  # fmt: skip


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
