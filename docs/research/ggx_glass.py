"""Writes kernels/shade/ggx_glass.h: how much light rough glass loses after one bounce.

For glass with GGX facets, Smith's height-correlated masking and Fresnel's factors, one bounce
scatters the share E of light from a direction at cosine mu: with facets drawn from those that the
viewer sees (Heitz 2018), E is the mean of F G2 / G1 of the reflected and (1 - F) G2 / G1 of the
refracted direction. The table has 1 - E.

    python docs/research/ggx_glass.py > kernels/shade/ggx_glass.h
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIZE = 20
"""Entries along two sides: roughness, root of the cosine."""

INDICES = 16
"""Entries along the third: root of (ior - 1) / (ior + 1)."""

MOST_INDEX = 4.0
LEAST_INDEX = 1.0005  # at an index of 1 there is no surface; near it grazing light loses most
POINTS = 1 << 14

Array = NDArray[np.float64]


def indices() -> Array:
    """Return the indices of refraction of the table, float64 (INDICES,)."""
    root = np.linspace(0.0, 1.0, INDICES) ** 2 * (MOST_INDEX - 1.0) / (MOST_INDEX + 1.0)
    return np.maximum((1.0 + root) / (1.0 - root), LEAST_INDEX)


def lost(mu: float, alpha: float, etas: Array) -> Array:
    """Return 1 - E for indices beyond the surface by those before it, by a lattice, (n,)."""
    number = np.arange(POINTS)
    u, v = (number + 0.5) / POINTS, (number * 0.6180339887498949 + 0.5) % 1.0
    view = np.array([np.sqrt(max(0.0, 1.0 - mu * mu)), 0.0, mu])
    stretched = view * [alpha, alpha, 1.0]
    stretched /= np.linalg.norm(stretched)
    z = (1.0 - u) * (1.0 + stretched[2]) - stretched[2]
    across = np.sqrt(np.clip(1.0 - z * z, 0.0, 1.0))
    cap = np.stack([across * np.cos(2 * np.pi * v), across * np.sin(2 * np.pi * v), z])
    facet = (cap + stretched[:, None]) * np.array([[alpha], [alpha], [1.0]])
    facet /= np.linalg.norm(facet, axis=0)
    cosine = view @ facet

    def seen(out: Array) -> Array:
        """G2 / G1 of directions at that cosine on either side."""
        leaves = out > 0.0
        x = np.where(leaves, out, 1.0)
        view_root, out_root = (np.sqrt(alpha**2 + (1 - alpha**2) * c * c) for c in (mu, x))
        return np.where(leaves, (mu + view_root) * x / (mu * out_root + x * view_root), 0.0)

    reflected = seen(2.0 * cosine * facet[2] - mu)
    shares = []
    for eta in etas:
        sine2 = (1.0 - cosine**2) / eta**2
        beyond = np.sqrt(np.clip(1.0 - sine2, 0.0, 1.0))
        parallel = (eta * cosine - beyond) / (eta * cosine + beyond)
        perpendicular = (cosine - eta * beyond) / (cosine + eta * beyond)
        fresnel = np.where(sine2 < 1.0, 0.5 * (parallel**2 + perpendicular**2), 1.0)
        refracted = seen(mu / eta - (cosine / eta - beyond) * facet[2])
        shares.append(np.mean(fresnel * reflected + (1.0 - fresnel) * refracted))
    return np.clip(1.0 - np.array(shares), 0.0, 1.0)


def table() -> Array:
    """Return 1 - E, float64 (2 sides, SIZE roughnesses, INDICES, SIZE roots of cosines).

    The first side is that of air, the second that of glass.
    """
    steps, both = np.linspace(0.0, 1.0, SIZE), np.concatenate([indices(), 1.0 / indices()])
    entries = np.array(
        [[lost(max(x * x, 1e-5), max(r * r, 1e-3), both) for x in steps] for r in steps]
    )
    return np.moveaxis(entries.reshape(SIZE, SIZE, 2, INDICES), (2, 0, 3, 1), (0, 1, 2, 3))


def averages(entries: Array) -> Array:
    """Return the means of a table over cosine-distributed viewers, (..., SIZE) to (...).

    Between the entries the kernels interpolate: the means are those of what they find.
    """
    x = np.sqrt(np.sqrt((np.arange(20000) + 0.5) / 20000)) * (SIZE - 1)
    i = np.minimum(x.astype(int), SIZE - 2)
    weights = np.bincount(i, 1.0 - (x - i), SIZE) + np.bincount(i + 1, x - i, SIZE)
    return np.asarray(entries @ weights / len(x))


def header() -> str:
    """Return the text of the header."""
    entries = table()
    lines = [
        "// How much light glass with GGX facets loses after one bounce: by side (air, glass),",
        "// roughness, index of refraction n as the root of (n - 1) / (n + 1), and the root of the",
        "// cosine to the viewer; and the means over the hemisphere. Written by",
        "// docs/research/ggx_glass.py.",
        "#pragma once",
        '#include "../core/compat.h"',
        "",
        "// clang-format off",
        "namespace RT_NS {",
        "",
        f"constexpr int kGlassSize = {SIZE}, kGlassIndices = {INDICES};",
        f"constexpr float kGlassMostIndex = {MOST_INDEX}f;",
        "",
        "RT_TABLE float kGgxGlassLost[2 * kGlassSize * kGlassIndices * kGlassSize] = {",
    ]
    lines += [*_rows(entries), "};", ""]
    lines += ["RT_TABLE float kGgxGlassLostMean[2 * kGlassSize * kGlassIndices] = {"]
    lines += [*_rows(averages(entries)), "};"]
    return "\n".join([*lines, "", "}  // namespace RT_NS", "// clang-format on", ""])


def _rows(entries: Array) -> list[str]:
    values = [f"{value:.5f}f".removeprefix("0") for value in entries.ravel()]
    return ["  " + ", ".join(values[k : k + 16]) + "," for k in range(0, len(values), 16)]


if __name__ == "__main__":
    print(header(), end="")
