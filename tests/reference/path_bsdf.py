"""Scattering at the surfaces of a `PathScene`: samples of all rays at once.

Directions are unit vectors that point away from the surface: `wo` to where the path came from, and
`wi` to where it goes. The normal `n` is on the side of `wo`. Every lobe is reciprocal, transmission
with the factor of the squared indices of refraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference.path_scene import Ball
from reference.radiometry import (
    fresnel_dielectric,
    fresnel_schlick,
    ggx_albedo,
    ggx_glass_albedo,
    ggx_lambda,
    ggx_visible_normal,
)

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

COSINES = np.linspace(0, 1, 65) ** 2
"""Where albedos are tabulated: dense at grazing light."""


def dot(a: Array, b: Array) -> Array:
    """Scalar products of rows, (n,)."""
    return np.asarray((a * b).sum(axis=-1))


class Samples(NamedTuple):
    """A direction a ray.

    wi: (n, 3). weight: value times cosine over density, (n, 3). through: whether it leaves the side
    of wo.
    """

    wi: Array
    weight: Array
    through: Mask


@dataclass(frozen=True)
class Surfaces:
    """What rays meet; every array has a row a ray.

    color, (n, 3); eta: index of refraction of the far side over that of the near side;
    metal, glass, base: the shares of the kinds of surface; tables: rows of `Tables`.
    """

    n: Array
    wo: Array
    color: Array
    alpha: Array
    eta: Array
    ior: Array
    specular: Array
    metal: Array
    glass: Array
    table: NDArray[np.int64]
    tables: Tables

    @cached_property
    def cosine(self) -> Array:
        """Of wo to the normal."""
        return dot(self.wo, self.n)

    @property
    def base(self) -> Array:
        """Share of the diffuse base with its coat."""
        return (1 - self.metal) * (1 - self.glass)

    def sample(self, u: Array) -> Samples:
        """Draw a lobe by its share, and a direction of it, a ray. u: uniform, (n, 4)."""
        tables = self.tables
        many = 1 - tables.facets(self, self.cosine)  # of metal: light that facets reflect often
        again = tables.again(self)
        albedo = self.specular * tables.coat(self, self.cosine)
        coat = np.where(self.specular > 0, 0.1 + 0.8 * albedo, 0.0)
        glass = (1 - self.metal) * self.glass
        chances = np.stack(
            [self.metal * (1 - many), self.metal * many, glass * (1 - again.lost),
             glass * again.lost, self.base * coat],
            axis=1,
        )  # fmt: skip
        lobe = (u[:, 2, None] >= np.cumsum(chances, axis=1)).sum(axis=1)
        lobes = [lobe == number for number in range(6)]
        _, metal_many, glass_once, glass_again, _, diffuse = lobes

        t, b = frame(self.n)
        local = np.stack([dot(self.wo, t), dot(self.wo, b), self.cosine], axis=1)
        facet = ggx_visible_normal(local, np.where(self.alpha == 0, 1, self.alpha), u[:, :2])
        h = facet[:, :1] * t + facet[:, 1:2] * b + facet[:, 2:] * self.n
        h = np.where((self.alpha == 0)[:, None], self.n, h)
        along = dot(self.wo, h)
        inner = np.sqrt(np.maximum(1 - (1 - along**2) / self.eta**2, 0))
        mirrored = 2 * along[:, None] * h - self.wo
        bent = (along / self.eta - inner)[:, None] * h - self.wo / self.eta[:, None]
        around = self._cosine_weighted(u, t, b)
        across = around - 2 * dot(around, self.n)[:, None] * self.n
        refracts = glass_once & (u[:, 3] >= fresnel_dielectric(along, self.eta))
        crosses = glass_again & (u[:, 3] >= again.stays)
        wi = np.where((metal_many | glass_again | diffuse)[:, None], around, mirrored)
        wi = np.where(refracts[:, None], bent, np.where(crosses[:, None], across, wi))
        wi /= np.linalg.norm(wi, axis=1, keepdims=True)
        through = refracts | crosses

        up = np.abs(dot(wi, self.n))
        lambda_o = ggx_lambda(self.cosine, self.alpha)
        seen = (1 + lambda_o) / (1 + lambda_o + ggx_lambda(up, self.alpha))
        side = np.where(crosses, 1 - again.stays, again.stays)
        with np.errstate(divide="ignore", invalid="ignore"):
            grey = [
                seen / (1 - again.lost) / np.where(refracts, self.eta**2, 1),
                tables.glass_lost(self, up, crosses) / (again.both * side),
                self.specular * fresnel_dielectric(along, self.ior) * seen / coat,
            ]
            weights = [
                fresnel_schlick(along, self.color) * (seen / (1 - many))[:, None],
                self._reflected_often(up),
                *(np.repeat(each[:, None], 3, axis=1) for each in grey),
                self._below_the_coat(up) / (1 - coat)[:, None],
            ]
        weight = np.select([each[:, None] for each in lobes], weights)
        valid = (dot(wi, self.n) < 0) == through
        return Samples(wi, np.where(valid[:, None], weight, 0.0), through)

    def _reflected_often(self, up: Array) -> Array:
        """Of metal, by its share in `many`: as Kulla and Conty (2017) estimate it."""
        mean = self.tables.mean_facets[self.table]
        average = self.color + (1 - self.color) / 21  # mean of Schlick's Fresnel over the cosine
        tint = average**2 * mean[:, None] / (1 - average * (1 - mean)[:, None])
        return tint * ((1 - self.tables.facets(self, up)) / (1 - mean))[:, None]

    def _below_the_coat(self, up: Array) -> Array:
        """What the coat lets in and out again; all of it where the base is white."""
        out, into = (1 - self.specular * self.tables.coat(self, c) for c in (self.cosine, up))
        mean = 1 - self.specular * self.tables.mean_coat[self.table]
        return self.color * (out * into / mean)[:, None]

    def _cosine_weighted(self, u: Array, t: Array, b: Array) -> Array:
        radius, angle = np.sqrt(u[:, 0]), 2 * np.pi * u[:, 1]
        height = np.sqrt(1 - u[:, 0])
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        return x[:, None] * t + y[:, None] * b + height[:, None] * self.n


def frame(n: Array) -> tuple[Array, Array]:
    """Two unit vectors across each normal, (n, 3)."""
    other = np.where((np.abs(n[:, 0]) < 0.7)[:, None], [1.0, 0, 0], [0, 1.0, 0])
    t = np.cross(n, other)
    t /= np.linalg.norm(t, axis=1, keepdims=True)
    return t, np.cross(n, t)


class Again(NamedTuple):
    """Light that facets of glass scatter more than once, (n,) each.

    lost: share of light that they do not scatter at once. both: mean of that of either side, each
    times the square of its index over the near one's. stays: share of the near side.
    """

    lost: Array
    both: Array
    stays: Array


class Tables:
    """Albedos of the coats and of fully reflecting facets by cosine, a row a ball."""

    def __init__(self, balls: tuple[Ball, ...]) -> None:
        shape = len(balls), len(COSINES)
        self._facets = np.array([_albedo(b.roughness, None) for b in balls]).reshape(shape)
        self._coats = np.array([_albedo(b.roughness, b.ior) for b in balls]).reshape(shape)
        self.mean_facets, self.mean_coat = self._mean(self._facets), self._mean(self._coats)
        self._roughness = [b.roughness for b in balls]

    def facets(self, surfaces: Surfaces, cosine: Array) -> Array:
        """Albedo of facets that reflect all, (n,)."""
        return self._at(self._facets, surfaces.table, cosine)

    def coat(self, surfaces: Surfaces, cosine: Array) -> Array:
        """Albedo of the coat, (n,)."""
        return self._at(self._coats, surfaces.table, cosine)

    def again(self, surfaces: Surfaces) -> Again:
        """Light that facets of glass scatter more than once."""
        shape = len(surfaces.eta)
        lost, both, stays = np.zeros(shape), np.ones(shape), np.ones(shape)
        for which, roughness, eta in self._kinds(surfaces):
            here = self._mean(1 - _glass(roughness, eta)[None])[0]
            beyond = eta**2 * self._mean(1 - _glass(roughness, 1 / eta)[None])[0]
            scattered = np.interp(surfaces.cosine[which], COSINES, _glass(roughness, eta))
            lost[which] = 1 - scattered
            both[which] = here + beyond
            stays[which] = here / (here + beyond)
        return Again(lost, both, stays)

    def glass_lost(self, surfaces: Surfaces, cosine: Array, beyond: Mask) -> Array:
        """Share that facets do not scatter at once, from near or far directions, (n,)."""
        lost = np.zeros(len(cosine))
        for which, roughness, eta in self._kinds(surfaces):
            near, far = (_glass(roughness, each) for each in (eta, 1 / eta))
            found = [np.interp(cosine[which], COSINES, each) for each in (near, far)]
            lost[which] = 1 - np.where(beyond[which], found[1], found[0])
        return lost

    def _kinds(self, surfaces: Surfaces) -> Iterator[tuple[Mask, float, float]]:
        """Yield roughness and indices of rough glass, and which surfaces have them."""
        glass = (surfaces.glass > 0) & (surfaces.alpha > 0)
        pairs = np.stack([surfaces.table, surfaces.eta], axis=1)
        for number, eta in np.unique(pairs[glass], axis=0):
            which = glass & (surfaces.table == number) & (surfaces.eta == eta)
            if eta != 1:
                yield which, self._roughness[int(number)], float(eta)

    @staticmethod
    def _mean(table: Array) -> Array:
        """Means of albedos that are weighted by the cosine."""
        return np.asarray(np.trapezoid(2 * COSINES * table, COSINES, axis=1))

    @staticmethod
    def _at(table: Array, row: NDArray[np.int64], cosine: Array) -> Array:
        place = np.sqrt(np.clip(cosine, 0, 1)) * (len(COSINES) - 1)
        low = np.minimum(place.astype(np.int64), len(COSINES) - 2)
        part = (cosine - COSINES[low]) / (COSINES[low + 1] - COSINES[low])
        return np.asarray(table[row, low] * (1 - part) + table[row, low + 1] * part)


@cache
def _glass(roughness: float, eta: float) -> Array:
    """Share of light that glass scatters at once, at the cosines of the tables."""
    return ggx_glass_albedo(COSINES, roughness**2, eta)


@cache
def _albedo(roughness: float, ior: float | None) -> Array:
    """Albedo of facets at the cosines of the tables."""
    return ggx_albedo(COSINES, roughness**2, ior)
