"""Writes kernels/shade/ggx_glass.h: how much light rough glass loses after one bounce.

For glass with GGX facets, Smith's height-correlated masking and Fresnel's factors, one bounce
scatters the share E of light from a direction at cosine mu: with facets drawn from those that the
viewer sees (Heitz 2018), E is the mean of F G2 / G1 of the reflected and (1 - F) G2 / G1 of the
refracted direction. The table has 1 - E.

A second table has what a coat in air changes, to be added to 1 - E times the share 1 - R that the
coat lets through for the viewer, with the coat's Fresnel factor R = R0 + (1 - R0) (1 - c)^5. For a
viewer in air it is what the coat takes of reflected light beyond that share, as in ggx_albedo.py.
For one in glass it is what the coat sends back of refracted light, less what is added to the
light that a facet reflects: there the cosine is that of the refracted ray to the facet.

    python docs/research/ggx_glass.py > kernels/shade/ggx_glass.h
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

SIZE = 20
"""Entries along two sides: roughness, root of the cosine."""

INDICES = 24
"""Entries along the third: root of (ior - 1) / (ior + 1)."""

MOST_INDEX = 4.0
LEAST_INDEX = 1.0005  # at an index of 1 there is no surface; near it grazing light loses most
POINTS = 1 << 14
COAT_REFLECTANCE = 0.04  # R0, kCoatReflectance of the kernels

Array = NDArray[np.float64]


def indices() -> Array:
    """Return the indices of refraction of the table, float64 (INDICES,)."""
    root = np.linspace(0.0, 1.0, INDICES) ** 2 * (MOST_INDEX - 1.0) / (MOST_INDEX + 1.0)
    return np.maximum((1.0 + root) / (1.0 - root), LEAST_INDEX)


def coat(cosine: Array) -> Array:
    """Return the Fresnel factor of the coat."""
    grazing = np.clip(1.0 - cosine, 0.0, 1.0) ** 5
    return COAT_REFLECTANCE + (1.0 - COAT_REFLECTANCE) * grazing


def lost(mu: float, alpha: float, etas: Array) -> Array:
    """Return 1 - E and what a coat changes, by a lattice, (n, 2).

    etas: indices beyond the surface by those before it, (n,); the coat is on the side of air.
    """
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

    out = 2.0 * cosine * facet[2] - mu
    reflected = seen(out)
    taken = reflected * np.maximum(coat(out) - coat(np.asarray(mu)), 0.0)
    shares = []
    for eta in etas:
        sine2 = (1.0 - cosine**2) / eta**2
        beyond = np.sqrt(np.clip(1.0 - sine2, 0.0, 1.0))
        parallel = (eta * cosine - beyond) / (eta * cosine + beyond)
        perpendicular = (cosine - eta * beyond) / (cosine + eta * beyond)
        fresnel = np.where(sine2 < 1.0, 0.5 * (parallel**2 + perpendicular**2), 1.0)
        down = mu / eta - (cosine / eta - beyond) * facet[2]
        refracted = seen(down)
        share = 1.0 - np.mean(fresnel * reflected + (1.0 - fresnel) * refracted)
        share = np.clip(share, 0.0, 1.0)
        if eta > 1.0:
            changed = np.mean(fresnel * taken)
        else:
            back = refracted * coat(down) - reflected * coat(beyond)
            changed = max(np.mean((1.0 - fresnel) * back), -share)
        shares.append((share, changed))
    return np.array(shares)


def table() -> Array:
    """Return 1 - E and what a coat changes.

    Returns:
        float64 (2 sides, SIZE roughnesses, INDICES, SIZE roots of cosines, 2). The first side is
        that of air, the second that of glass.
    """
    steps, both = np.linspace(0.0, 1.0, SIZE), np.concatenate([indices(), 1.0 / indices()])
    entries = np.array(
        [[lost(max(x * x, 1e-5), max(r * r, 1e-3), both) for x in steps] for r in steps]
    )
    return np.moveaxis(entries.reshape(SIZE, SIZE, 2, INDICES, 2), (2, 0, 3, 1), (0, 1, 2, 3))


def averages(entries: Array) -> Array:
    """Return the means of the table over cosine-distributed viewers, (..., SIZE, 2) to (..., 2).

    Between the entries the kernels interpolate: the means are those of what they find. What the
    coat changes has its share for the viewer taken off where the coat is on that side.
    """
    mu = np.sqrt((np.arange(20000) + 0.5) / 20000)
    x = np.sqrt(mu) * (SIZE - 1)
    i = np.minimum(x.astype(int), SIZE - 2)

    def weights(factor: Array) -> Array:
        low, high = (1.0 - (x - i)) * factor, (x - i) * factor
        return (np.bincount(i, low, SIZE) + np.bincount(i + 1, high, SIZE)) / len(x)

    means = np.einsum("...ck,c->...k", entries, weights(np.ones_like(mu)))
    means[0, ..., 1] -= entries[0, ..., 0] @ weights(coat(mu))
    return np.asarray(means)


def header() -> str:
    """Return the text of the header."""
    entries = table()
    means = averages(entries)
    lines = [
        "// How much light glass with GGX facets loses after one bounce: by side (air, glass),",
        "// roughness, index of refraction n as the root of (n - 1) / (n + 1), and the root of the",
        "// cosine to the viewer; and the means over the hemisphere. Then what a coat changes,",
        "// with its means. Written by docs/research/ggx_glass.py.",
        "#pragma once",
        '#include "../core/compat.h"',
        "",
        "// clang-format off",
        "namespace RT_NS {",
        "",
        f"constexpr int kGlassSize = {SIZE}, kGlassIndices = {INDICES};",
        f"constexpr float kGlassMostIndex = {MOST_INDEX}f;",
        "",
    ]
    grid = "2 * kGlassSize * kGlassIndices * kGlassSize"
    row = "2 * kGlassSize * kGlassIndices"
    lines += [*_array("kGgxGlassLost", grid, entries[..., 0]), ""]
    lines += [*_array("kGgxGlassLostMean", row, means[..., 0]), ""]
    lines += [*_array("kGgxGlassCoated", grid, entries[..., 1]), ""]
    lines += [*_array("kGgxGlassCoatedMean", row, means[..., 1]), ""]
    return "\n".join([*lines, "}  // namespace RT_NS", "// clang-format on", ""])


def _array(name: str, size: str, entries: Array) -> list[str]:
    values = [f"{value:.5f}f".replace("0.", ".", 1) for value in entries.ravel()]
    lines = ["  " + ", ".join(values[k : k + 16]) + "," for k in range(0, len(values), 16)]
    return [f"RT_TABLE float {name}[{size}] = {{", *lines, "};"]


if __name__ == "__main__":
    print(header(), end="")
