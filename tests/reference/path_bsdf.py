"""Scattering at the surfaces of a `PathScene`: values, densities and samples of all rays at once.

Directions are unit vectors that point away from the surface: `wo` to where the path came from, and
`wi` to where it goes. The normal `n` is on the side of `wo`. Every lobe is reciprocal, transmission
with the factor of the squared indices of refraction.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from reference.path_scene import Ball
from reference.radiometry import (
    fresnel_dielectric,
    fresnel_schlick,
    ggx_albedo,
    ggx_density,
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

    def of(self, which: Any) -> Surfaces:
        """Some of the rays."""
        names = [each.name for each in fields(self) if each.name != "tables"]
        return replace(self, **{name: getattr(self, name)[which] for name in names})

    @cached_property
    def cosine(self) -> Array:
        """Of wo to the normal."""
        return dot(self.wo, self.n)

    @property
    def base(self) -> Array:
        """Share of the diffuse base with its coat."""
        return (1 - self.metal) * (1 - self.glass)

    @property
    def smooth(self) -> Mask:
        """Where facets are level."""
        return np.asarray(self.alpha == 0)

    @cached_property
    def coat_chance(self) -> Array:
        """How often the coat is sampled where there is a diffuse base."""
        albedo = self.specular * self.tables.coat(self, self.cosine)
        return np.where(self.specular > 0, 0.1 + 0.8 * albedo, 0.0)

    @cached_property
    def many_chance(self) -> Array:
        """How often a metal is sampled as a diffuse one, for light that facets reflect often."""
        return np.asarray(1 - self.tables.facets(self, self.cosine))

    @cached_property
    def _again(self) -> Again:
        """What facets of glass scatter more than once."""
        return self.tables.again(self)

    def evaluate(self, wi: Array) -> tuple[Array, Array]:
        """Value times the cosine of wi, (n, 3), and density, (n,), without mirrors of no width."""
        value, pdf = np.zeros_like(self.wo), np.zeros(len(self.wo))
        up = dot(wi, self.n)
        above, rough = up > 0, ~self.smooth
        for which, lobe in (
            (above & (self.base > 0), Surfaces._diffuse),
            (above & (self.base > 0) & rough, Surfaces._coat),
            (above & (self.metal > 0) & rough, Surfaces._metal),
            ((self._glass_share > 0) & rough, Surfaces._glass),
        ):
            if which.any():
                part, density = lobe(self.of(which), wi[which])
                value[which] += part
                pdf[which] += density
        return value * np.abs(up)[:, None], pdf

    @property
    def _glass_share(self) -> Array:
        return (1 - self.metal) * self.glass

    def _diffuse(self, wi: Array) -> tuple[Array, Array]:
        """What the coat lets in and out again; all of it where the base is white."""
        up = dot(wi, self.n)
        out, into = (1 - self.specular * self.tables.coat(self, c) for c in (self.cosine, up))
        mean = 1 - self.specular * self.tables.mean_coat[self.table]
        value = self.color * (self.base * out * into / (mean * np.pi))[:, None]
        return value, self.base * (1 - self.coat_chance) * up / np.pi

    def _facets(self, wi: Array) -> tuple[Array, Array, Array]:
        """D G / (4 cos cos), density of a reflected direction, cosine of wo to the facet."""
        up = dot(wi, self.n)
        h = self.wo + wi
        h /= np.linalg.norm(h, axis=1, keepdims=True)
        density = ggx_density(dot(h, self.n), self.alpha)
        lambda_o, lambda_i = ggx_lambda(self.cosine, self.alpha), ggx_lambda(up, self.alpha)
        value = density / (4 * self.cosine * up * (1 + lambda_o + lambda_i))
        return value, density / (4 * self.cosine * (1 + lambda_o)), dot(self.wo, h)

    def _coat(self, wi: Array) -> tuple[Array, Array]:
        value, pdf, along = self._facets(wi)
        share = self.base * self.specular * fresnel_dielectric(along, self.ior) * value
        return np.repeat(share[:, None], 3, axis=1), self.base * self.coat_chance * pdf

    def _metal(self, wi: Array) -> tuple[Array, Array]:
        """One reflection, and the others as Kulla and Conty (2017) estimate them."""
        value, pdf, along = self._facets(wi)
        single = fresnel_schlick(along, self.color) * value[:, None]
        out, into = (1 - self.tables.facets(self, c) for c in (self.cosine, dot(wi, self.n)))
        mean = self.tables.mean_facets[self.table]
        many = out * into / (np.pi * np.maximum(1 - mean, 1e-9))
        average = self.color + (1 - self.color) / 21  # mean of Schlick's Fresnel over the cosine
        tint = average**2 * mean[:, None] / (1 - average * (1 - mean)[:, None])
        pdf += self.many_chance * (dot(wi, self.n) / np.pi - pdf)
        return (single + tint * many[:, None]) * self.metal[:, None], self.metal * pdf

    def _glass(self, wi: Array) -> tuple[Array, Array]:
        """Reflection and refraction by facets (Walter and others 2007)."""
        up = dot(wi, self.n)
        eta = np.where(up > 0, 1.0, self.eta)
        h = self.wo + wi * eta[:, None]
        length = np.linalg.norm(h, axis=1, keepdims=True)
        h = h / np.maximum(length, 1e-300)
        h *= np.where(dot(h, self.n) < 0, -1, 1)[:, None]
        along, across = dot(self.wo, h), dot(wi, h)
        fresnel = fresnel_dielectric(along, self.eta)
        valid = (along > 0) & (across * up > 0) & (length[:, 0] > 1e-9)
        density = ggx_density(dot(h, self.n), self.alpha)
        lambda_o = ggx_lambda(self.cosine, self.alpha)
        mask = 1 / (1 + lambda_o + ggx_lambda(up, self.alpha))
        seen = density * np.abs(along) / (self.cosine * (1 + lambda_o))  # density of facets
        turn = (across + along / eta) ** 2
        with np.errstate(divide="ignore", invalid="ignore"):
            bent = density * mask * np.abs(across * along) / (turn * self.cosine * np.abs(up))
            bent *= (1 - fresnel) / eta**2  # radiance is that of the nearer medium
            value = np.where(up > 0, fresnel * density * mask / (4 * self.cosine * up), bent)
            through = seen * (1 - fresnel) * np.abs(across) / turn
            pdf = np.where(up > 0, fresnel * seen / (4 * np.abs(along)), through)
        value, pdf = np.where(valid, value, 0), np.where(valid, pdf, 0)
        again, share = self._again, self._glass_share
        side = np.where(up > 0, again.stays, 1 - again.stays)
        value += (
            again.lost * self.tables.glass_lost(self, np.abs(up), up < 0) / (np.pi * again.both)
        )
        pdf = pdf + again.lost * (side * np.abs(up) / np.pi - pdf)
        return np.repeat((share * value)[:, None], 3, axis=1), share * pdf

    def sample(self, u: Array) -> Samples:
        """Draw a direction a ray. u: uniform, (n, 4)."""
        count = len(self.wo)
        wi, through = np.zeros((count, 3)), np.zeros(count, bool)
        t, b = frame(self.n)
        local = np.stack([dot(self.wo, t), dot(self.wo, b), self.cosine], axis=1)
        facet = ggx_visible_normal(local, np.where(self.smooth, 1, self.alpha), u[:, :2])
        h = facet[:, :1] * t + facet[:, 1:2] * b + facet[:, 2:] * self.n
        h = np.where(self.smooth[:, None], self.n, h)
        along = dot(self.wo, h)
        # kinds by their shares: metal, glass, coat, diffuse
        facets = self.metal * (1 - self.many_chance)
        again = self._again
        once = self._glass_share * (1 - again.lost)
        edges = np.stack([facets, once, self.base * self.coat_chance], axis=1)
        many = self._glass_share * again.lost
        first = u[:, 2] - edges.sum(axis=1)
        scattered = (first >= 0) & (first < many)  # by glass, more than once
        kind = (u[:, 2, None] >= np.cumsum(edges, axis=1)).sum(axis=1)
        fresnel = fresnel_dielectric(along, self.eta)
        through = (kind == 1) & (u[:, 3] >= fresnel)
        crosses = scattered & (u[:, 3] >= again.stays)
        diffuse = kind == 3
        wi = 2 * along[:, None] * h - self.wo
        inner = np.sqrt(np.maximum(1 - (1 - along**2) / self.eta**2, 0))
        bent = (along / self.eta - inner)[:, None] * h - self.wo / self.eta[:, None]
        wi = np.where(through[:, None], bent, wi)
        around = self._cosine_weighted(u, t, b)
        across = around - 2 * dot(around, self.n)[:, None] * self.n
        wi = np.where(diffuse[:, None], np.where(crosses[:, None], across, around), wi)
        through = through | crosses
        wi /= np.linalg.norm(wi, axis=1, keepdims=True)
        value, pdf = self.evaluate(wi)
        good = (dot(wi, self.n) < 0) == through
        with np.errstate(divide="ignore", invalid="ignore"):
            weight = np.where((good & (pdf > 0))[:, None], value / pdf[:, None], 0.0)
        level = self.smooth & ~diffuse
        if level.any():
            weight[level] = self.of(level)._mirror(kind[level], along[level], through[level])
        return Samples(wi, weight, through)

    def _cosine_weighted(self, u: Array, t: Array, b: Array) -> Array:
        radius, angle = np.sqrt(u[:, 0]), 2 * np.pi * u[:, 1]
        height = np.sqrt(1 - u[:, 0])
        x, y = radius * np.cos(angle), radius * np.sin(angle)
        return x[:, None] * t + y[:, None] * b + height[:, None] * self.n

    def _mirror(self, kind: NDArray[np.int64], along: Array, through: Mask) -> Array:
        """Weights of the one direction that level facets send light to."""
        coat = fresnel_dielectric(along, self.ior) * self.specular
        coat /= np.where(self.coat_chance > 0, self.coat_chance, 1)
        weight = np.where((kind == 2)[:, None], coat[:, None], 1.0)
        weight = np.where((kind == 0)[:, None], fresnel_schlick(along, self.color), weight)
        return weight / np.where(through, self.eta**2, 1)[:, None]


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
        glass = (surfaces.glass > 0) & ~surfaces.smooth
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
