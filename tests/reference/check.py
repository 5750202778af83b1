"""Judge hits and shadows one ray at a time, with rounding bounds instead of a second picture.

Float32 moves a surface by a few rounding steps. A sphere that a ray meets even when it is shrunk
by that much is *surely* met, one that it misses even when swollen is *surely* missed; a claim is
wrong only when it contradicts what is sure. So wild inputs (dust, giants, coincident centres) are
judged exactly as strictly as float32 allows, and no edge is excused that is not one.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from reference.scene import Array, Light, unit
from reference.shade import towards

# What float32 storage and arithmetic may move a surface by, relative to the lengths involved:
# sixteen units in the last place (2^-24 each).
ROUNDING = 2.0**-20


@dataclass(frozen=True)
class HitCheck:
    """Rays whose claimed sphere is impossible, and the share of rays that proves something."""

    wrong: NDArray[np.int64]
    reason: str = ""


@dataclass(frozen=True)
class LightCheck:
    """Points wrongly lit, wrongly dark, and how many points were beyond doubt."""

    wrongly_lit: NDArray[np.int64]
    wrongly_dark: NDArray[np.int64]
    decided: int


@dataclass(frozen=True)
class _Span:
    """Bounds (P, N) on where rays meet spheres; `sure` means met whatever the rounding."""

    sure: NDArray[np.bool_]
    possible: NDArray[np.bool_]
    first: Array
    last: Array
    middle: Array


def _span(centers: Array, radii: Array, origin: Array, direction: Array, slack: Array) -> _Span:
    """Where each ray first meets each sphere, when the sphere's surface may be off by `slack`."""
    f = centers[None] - origin[:, None]
    d = direction[:, None]
    middle = (f * d).sum(axis=2)
    side = f - middle[..., None] * d
    perp = np.sqrt((side * side).sum(axis=2))
    away = np.sqrt((f * f).sum(axis=2))
    small, large = np.maximum(radii - slack, 0), radii + slack
    half_small = np.sqrt(np.maximum((small - perp) * (small + perp), 0))
    half_large = np.sqrt(np.maximum((large - perp) * (large + perp), 0))
    outside, inside = away > large, away < small
    ahead = outside & (middle > 0) & (middle - half_small > slack)
    sure = (perp < small) & (ahead | inside)
    possible = (perp <= large) & (middle + half_large >= -slack)
    first = np.where(outside, middle - half_large, np.where(inside, middle + half_small, 0.0))
    last = np.where(outside, middle - half_small, middle + half_large)
    return _Span(sure, possible, first - slack, last + slack, middle)


def _anchors(centers: Array, radii: Array) -> Array:
    """Points that the scene may be centred on before the cast to float32, (2, 3).

    The median of the centres, and the one in which a sphere counts with 1 / radius: rounding
    errors matter in units of each sphere's size.
    """
    weighted = []
    for column in centers.T:
        order = np.argsort(column)
        weight = np.cumsum(radii.min() / radii[order])
        weighted.append(column[order[np.searchsorted(weight, weight[-1] / 2)]])
    return np.array([np.median(centers, axis=0), weighted])


def _slack(centers: Array, radii: Array, origin: Array) -> Array:
    """Rounding of each ray against each sphere, (P, N), in scene units."""
    anchors = _anchors(centers, radii)
    away = np.linalg.norm(centers[None] - origin[:, None], axis=2)
    stored = np.linalg.norm(centers[:, None] - anchors, axis=2).max(axis=1) + radii
    start = np.linalg.norm(origin[:, None] - anchors, axis=2).max(axis=1)
    return np.asarray(ROUNDING * (away + stored[None] + start[:, None]))


def check_hits(
    centers: Array, radii: Array, origin: Array, direction: Array, claimed: NDArray[np.int64]
) -> HitCheck:
    """Which of the claimed spheres (-1: none) cannot be the first one that its ray meets."""
    rays = np.arange(len(origin))
    if len(radii) == 0:
        return HitCheck(rays[claimed >= 0], "a hit where there is no sphere")
    span = _span(centers, radii, origin, direction, _slack(centers, radii, origin))
    nearest = np.where(span.sure, span.last, np.inf).min(axis=1)
    hit = claimed >= 0
    own = np.maximum(claimed, 0)
    missed = ~hit & np.isfinite(nearest)
    phantom = hit & ~span.possible[rays, own]
    behind = hit & (span.first[rays, own] > nearest)
    for reason, wrong in (
        ("a sphere that the ray surely meets is missing", missed),
        ("the sphere claimed is surely missed by the ray", phantom),
        ("a nearer sphere surely hides the one claimed", behind),
    ):
        if wrong.any():
            return HitCheck(rays[wrong], reason)
    return HitCheck(rays[:0])


def check_lit(
    centers: Array,
    radii: Array,
    origin: Array,
    direction: Array,
    hit: NDArray[np.int64],
    lit: NDArray[np.bool_],
    light: Light,
) -> LightCheck:
    """Which points (first hits on spheres `hit`) are lit or dark against what is sure."""
    rays = np.flatnonzero(hit >= 0)
    if len(rays) == 0:
        return LightCheck(rays, rays, 0)
    own, ray = hit[rays], direction[rays]
    away = _slack(centers, radii, origin[rays])[np.arange(len(rays)), own]
    f = centers[own] - origin[rays]
    middle = (f * ray).sum(axis=1)
    perp = np.linalg.norm(f - middle[:, None] * ray, axis=1)
    half = np.sqrt(np.maximum((radii[own] - perp) * (radii[own] + perp), 0))
    inside = np.linalg.norm(f, axis=1) < radii[own]
    point = origin[rays] + np.where(inside, middle + half, middle - half)[:, None] * ray
    # How far the surface's rounding moves the hit point along a slanting ray.
    blur = away * (1 + radii[own] / np.maximum(half, 1e-300))
    normal = unit(point - centers[own]) * np.where(inside, -1.0, 1.0)[:, None]
    to_light, distance, _ = towards(light, point)
    cosine = (normal * to_light).sum(axis=1)
    doubt = blur / radii[own] + blur / distance + ROUNDING

    slack = _slack(centers, radii, point) + blur[:, None]
    span = _span(centers, radii, point, to_light, slack)
    same = (centers[None] == centers[own][:, None]).all(axis=2) & (radii == radii[own][:, None])
    # The surface left behind, and every duplicate of it: from outside never in the way; from
    # inside the light must come before the far end of the chord.
    chord = 2 * span.middle
    sure = np.where(same, inside[:, None] & (chord + slack < distance[:, None]), False)
    maybe = np.where(same, inside[:, None] & (chord - slack < distance[:, None]), False)
    sure |= ~same & span.sure & (span.last < distance[:, None])
    maybe |= ~same & span.possible & (span.first < distance[:, None])
    surely_lit = (cosine > doubt) & ~maybe.any(axis=1)
    surely_dark = (cosine < -doubt) | sure.any(axis=1)
    sharp = half > blur
    shown = lit[rays]
    return LightCheck(
        rays[sharp & surely_dark & shown],
        rays[sharp & surely_lit & ~shown],
        int((sharp & (surely_lit | surely_dark)).sum()),
    )
