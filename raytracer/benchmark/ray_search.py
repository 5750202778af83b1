"""Rays through few or many spheres, and whether their hits are those of a search of all spheres."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

CHECKED = 512  # rays, at most, that are compared with a search of all spheres
PAIRS, BLOCK = 1 << 25, 1 << 18  # of a ray and a sphere: that a check computes at most, at once
AWKWARD_COUNTS = (1, 2, 3, 5, 33, 257, 1500)
HIT = np.dtype([("t", "<f4"), ("primitive", "<u4")])
NO_PRIMITIVE, FAR = 0xFFFFFFFF, 1e38  # of a ray without a hit: its number, and less than its t
ROUNDING = 4e-6  # of a hit, in the largest distance: 64 half-ulps, twice what box tests allow for
SEED, BESIDE = 7, 1.5  # of rays; radii from the centres of spheres to where they aim


@dataclass
class Search:
    """Rays through spheres, and the least and largest right length of each hit."""

    about: str
    records: Array  # (N, 4)
    rays: Array  # (R, 8)
    checked: slice  # of the rays
    first: NDArray[np.float64]  # of those that are checked
    last: NDArray[np.float64]

    @classmethod
    def of(cls, about: str, records: Array, rays: Array) -> Self:
        """Search all spheres for the nearest hits of some of the rays."""
        most = max(16, min(CHECKED, PAIRS // len(records)))
        checked = slice(0, None, max(1, len(rays) // most))
        return cls(about, records, rays, checked, *search(records, rays[checked]))

    def fault(self, hits: NDArray[np.void]) -> str:
        """Describe the first hit that is wrong; "" if none is."""
        rays, found = self.rays[self.checked], hits[self.checked]
        fault = find_fault(self.records, rays, found, self.first, self.last)
        return fault and f"{fault}, of {self.about}"


def records_of(centers: Array, radii: Array) -> Array:
    """Return records of spheres, (N, 4): centre and radius."""
    return np.ascontiguousarray(np.column_stack([centers, radii]), np.float32)


def awkward_records(counts: Sequence[int] = AWKWARD_COUNTS) -> Iterator[tuple[str, Array]]:
    """Yield few spheres with words for them: equal and unequal radii, and centres that coincide."""
    for count in counts:
        random = np.random.default_rng([SEED, count])
        made = random.uniform(-1.0, 1.0, (count, 4)).astype(np.float32)
        made[:, 3] = 0.05
        yield f"{count} equal spheres", made.copy()
        made[:, 3] = 0.05 * np.exp(random.standard_normal(count))
        yield f"{count} spheres of unequal radii", made.copy()
        made[:, :3] = made[np.arange(count) // 8, :3]
        yield f"{count} spheres, eight to a centre", made.copy()
        made[:] = made[0]
        yield f"{count} times the same sphere", made.copy()
        made[:, 3] = np.linspace(0.05, 0.5, count)
        yield f"{count} spheres of one centre", made


def awkward_searches() -> Iterator[Search]:
    for about, records in awkward_records():
        yield Search.of(about, records, draw_rays(records, CHECKED))


def draw_rays(records: Array, count: int) -> Array:
    """Return rays from around all spheres to points in and beside spheres drawn at random, float32
    (count, 8): origin, 0, unit vector, 0."""
    random = np.random.default_rng([SEED, count])
    low, high = (each.astype(np.float64) for each in _bounds(records))
    center, reach = (low + high) / 2, np.linalg.norm(high - low) / 2
    outward = random.standard_normal((count, 3))
    origins = center + 1.25 * reach * outward / np.linalg.norm(outward, axis=1)[:, None]
    aims = records[random.integers(len(records), size=count)].astype(np.float64)
    directions = aims[:, :3] + BESIDE * aims[:, 3:] * random.uniform(-1, 1, (count, 3)) - origins
    rays = np.zeros((count, 8), np.float32)
    rays[:, :3] = origins
    rays[:, 4:7] = directions / np.linalg.norm(directions, axis=1)[:, None]
    return rays


def _bounds(records: Array) -> tuple[Array, Array]:
    centers, radii = records[:, :3], records[:, 3:]
    return (centers - radii).min(axis=0), (centers + radii).max(axis=0)


def _error(records: Array) -> float:
    """Return the rounding of hits of rays of `draw_rays`."""
    low, high = _bounds(records)
    return ROUNDING * 1.2 * float(np.linalg.norm(high - low))


def search(records: Array, rays: Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Search all spheres in float64; return the least and largest right t of each ray, (R,).

    They are the hits of spheres that are larger and smaller by the rounding of float32; infinity is
    no hit.
    """
    spheres, shot, error = records.astype(np.float64), rays.astype(np.float64), _error(records)
    # They are unit vectors of float32: without this, grazing hits are off by more than `error`.
    shot[:, 4:7] /= np.linalg.norm(shot[:, 4:7], axis=1)[:, None]
    found = np.full((2, len(rays)), np.inf)
    block = max(1, BLOCK // len(records))
    for begin in range(0, len(rays), block):
        part = slice(begin, begin + block)
        offsets = spheres[:, :3] - shot[part, None, :3]
        along = (offsets * shot[part, None, 4:7]).sum(axis=2)
        apart2 = np.maximum((offsets * offsets).sum(axis=2) - along * along, 0.0)
        for bound, more in enumerate((error, -error)):
            radii = np.maximum(spheres[:, 3] + more, 0.0)
            half2 = radii * radii - apart2
            met = (half2 >= 0.0) & (radii > 0.0)
            nearest = np.where(met, along - np.sqrt(np.maximum(half2, 0.0)), np.inf)
            found[bound, part] = nearest.min(axis=1)
    return found[0], found[1]


def find_fault(
    records: Array, rays: Array, hits: NDArray[np.void], first: NDArray[np.float64],
    last: NDArray[np.float64],
) -> str:  # fmt: skip
    """Return what is wrong with hits: lengths outside of the bounds that `search` found, or points
    that are not on their spheres; "" if nothing is."""
    error, number = _error(records), hits["primitive"].astype(np.int64)
    t = np.where(hits["t"] >= FAR, np.inf, hits["t"]).astype(np.float64)
    is_hit = ~np.isinf(t)
    known = np.where(is_hit, number < len(records), number == NO_PRIMITIVE)
    right = known & (first - error <= t) & (t <= last + error)
    spheres = records[np.where(known & is_hit, number, 0)].astype(np.float64)
    points = rays[:, :3] + np.where(is_hit, t, 0.0)[:, None] * rays[:, 4:7] - spheres[:, :3]
    off = np.abs(np.linalg.norm(points, axis=1) - spheres[:, 3])
    right &= ~is_hit | (off <= 4 * error)
    if right.all():
        return ""
    i = int(right.argmin())
    return (
        f"ray {i} hits sphere {number[i]} at {t[i]:.6g}, {off[i]:.2g} off its surface; right is "
        f"{first[i]:.6g} to {last[i]:.6g}"
    )
