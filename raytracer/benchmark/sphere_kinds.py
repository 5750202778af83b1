"""Kinds of sets of spheres over which trees are built."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]
Random = np.random.Generator

SEED = 20261126
FILL = 0.08  # of the unit cube by the spheres of `uniform`
MASS_KEPT = 0.985  # of Plummer's model, which has no edge
NEAREST = 4  # nodes of the web among which one is the other end of a filament
WIDTH = 0.004  # of a filament: standard deviation, of the edge of the cube
SPREAD = 0.8  # standard deviation of the logarithms of the radii of `overlap`


def _uniform(random: Random, count: int) -> tuple[Array, float]:
    return random.random((count, 3), np.float32), (FILL / (4 / 3 * np.pi)) ** (1 / 3)


def _lattice(random: Random, count: int) -> tuple[Array, float]:
    side = int(np.ceil(round(count ** (1 / 3), 9)))
    places = np.unravel_index(np.arange(count), (side, side, side))
    return np.stack(places, axis=1).astype(np.float32), 0.5 * count ** (1 / 3)


def _plummer(random: Random, count: int) -> tuple[Array, float]:
    # The mass within r is (1 + r^-2)^(-3/2): H. C. Plummer, MNRAS 71, 1911.
    mass = MASS_KEPT * (1 - random.random(count, np.float32))
    places = random.standard_normal((count, 3), np.float32)
    places *= ((mass ** (-2 / 3) - 1) ** -0.5 / np.linalg.norm(places, axis=1))[:, None]
    return places, 0.15


def _web(random: Random, count: int) -> tuple[Array, float]:
    nodes = random.random((max(NEAREST + 1, round(count ** (1 / 3))), 3), np.float32)
    apart = np.linalg.norm(nodes[:, None] - nodes, axis=2)
    start, other = random.integers(len(nodes), size=count), random.integers(NEAREST, size=count)
    end = np.argsort(apart, axis=1)[start, 1 + other]
    along = random.random((count, 1), np.float32)
    places = nodes[start] + along * (nodes[end] - nodes[start])
    return places + np.float32(WIDTH) * random.standard_normal((count, 3), np.float32), 0.1


def _overlap(random: Random, count: int) -> tuple[Array, Array]:
    radii = 0.5 * np.exp(np.float32(SPREAD) * random.standard_normal(count, np.float32))
    return random.random((count, 3), np.float32), radii


Kind = Callable[[Random, int], tuple[Array, Array | float]]
KINDS: dict[str, tuple[str, Kind]] = {
    "uniform": ("equal spheres, uniform in a cube, of which they fill 8%", _uniform),
    "lattice": ("equal spheres that touch, on a simple cubic lattice", _lattice),
    "plummer": ("equal spheres, a star cluster of Plummer's model", _plummer),
    "web": ("equal spheres along filaments between neighbouring nodes", _web),
    "overlap": ("spheres of log-normal radii, uniform in a cube, most of which overlap", _overlap),
}
"""What they are, and centres and radii; radii are times the edge of the cube of one sphere."""


def spheres(kind: str, count: int) -> tuple[Array, Array]:
    """Return centres, float32 (N, 3), and radii, float32 (N,), the same ones in every run."""
    centers, radii = KINDS[kind][1](np.random.default_rng([SEED, list(KINDS).index(kind)]), count)
    return centers, np.full(count, np.float32(count ** (-1 / 3)) * np.float32(radii), np.float32)
