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

The kernels interpolate linearly between the entries. These are a least-squares fit to the integral
at many points between them, which takes an eighth of the entries that have the values of
their own places, for the same error.

    python docs/research/ggx_glass.py > kernels/shade/ggx_glass.h
    python docs/research/ggx_glass.py --errors
"""

from __future__ import annotations

import argparse
import textwrap

import numpy as np
from numpy.typing import NDArray

SIZE = 12
"""Entries by each of roughness, root of 1 - 1 / index, and root of the cosine."""

FINER = 5
"""Steps of the fit from one entry to the next."""

MAX_INDEX = 4.0
MIN_INDEX = 1.0005  # closer to 1 the kernels have no surface
MIN_ROUGHNESS = 0.0317  # below this they have smooth glass
UNIT = 1e-4
"""Of the table, whose entries are whole numbers: the shortest text."""

POINTS = 1 << 12
COAT_REFLECTANCE = 0.04  # R0, kCoatReflectance of the kernels

Array = NDArray[np.float64]


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


def losses(roughness: Array, index: Array, cosine: Array) -> Array:
    """Return 1 - E and what a coat changes at all combinations.

    index: as the table has it, from 0 to 1.

    Returns:
        float64 (2 sides, roughnesses, indices, cosines, 2). The first side is that of air.
    """
    ior = np.maximum(1.0 / (1.0 - (1.0 - 1.0 / MAX_INDEX) * index**2), MIN_INDEX)
    both = np.concatenate([ior, 1.0 / ior])
    values = [
        [lost(max(mu, 1e-5), max(r, MIN_ROUGHNESS) ** 2, both) for mu in cosine] for r in roughness
    ]
    shape = len(roughness), len(cosine), 2, len(index), 2
    return np.moveaxis(np.array(values).reshape(shape), (2, 0, 3, 1), (0, 1, 2, 3))


def parts(x: Array) -> Array:
    """Return the parts that entries have in what is interpolated at x, float64 (n, SIZE)."""
    return np.maximum(1.0 - np.abs(x[:, None] * (SIZE - 1) - np.arange(SIZE)), 0.0)


def table() -> Array:
    """Return the entries of both tables in their unit, float64 (2 sides, SIZE, SIZE, SIZE, 2)."""
    x = np.linspace(0.0, 1.0, (SIZE - 1) * FINER + 1)
    rough = x[x > MIN_ROUGHNESS]
    entries = losses(rough, x, x**2)
    # Errors count by the light that comes from their cosine, and a little at grazing.
    measures = np.ones_like(rough), np.ones_like(x), (x**2 + 0.03) * x
    measures[2][-1] *= 3.0  # an entry at the end of a side has neighbours on one side alone
    for axis, (place, measure) in enumerate(zip((rough, x, x), measures, strict=True), start=1):
        between = parts(place)
        weighted = between.T * measure
        fit = np.linalg.solve(weighted @ between, weighted)
        entries = np.moveaxis(np.tensordot(fit, entries, (1, axis)), 0, axis)
    entries[..., 0] = np.clip(entries[..., 0], 0.0, 1.0)
    return np.round(entries / UNIT)


def averages(entries: Array) -> Array:
    """Return the means of the table over cosine-distributed viewers, (..., SIZE, 2) to (..., 2).

    Between the entries the kernels interpolate: the means are those of what they find. What the
    coat changes has its share for the viewer taken off where the coat is on that side.
    """
    mu = np.sqrt((np.arange(20000) + 0.5) / 20000)
    between = parts(np.sqrt(mu))
    means = np.einsum("...ck,c->...k", entries, between.mean(axis=0))
    means[0, ..., 1] -= entries[0, ..., 0] @ (coat(mu) @ between / len(mu))
    return np.asarray(means)


def header() -> str:
    """Return the text of the header."""
    entries = table()
    means = averages(entries)
    lines = [
        "// How much light glass with GGX facets loses after one bounce: by side (air, glass),",
        "// roughness, index of refraction n as the root of 1 - 1 / n, and the root of the cosine",
        "// to the viewer; and the means over the hemisphere. Then what a coat changes, with its",
        "// means. Written by docs/research/ggx_glass.py.",
        "#pragma once",
        '#include "../core/compat.h"',
        "",
        "// clang-format off",
        "namespace RT_NS {",
        "",
        f"constexpr int kGlassSize = {SIZE};",
        f"constexpr float kGlassMaxIndex = {MAX_INDEX}f;",
        f"constexpr float kGlassUnit = {UNIT}f;  // of the tables",
        "",
    ]
    row = "2 * kGlassSize * kGlassSize"
    for k, name in enumerate(("Lost", "Coated")):
        lines += [*_array(f"kGgxGlass{name}", f"{row} * kGlassSize", entries[..., k], 0), ""]
        lines += [*_array(f"kGgxGlass{name}Mean", row, means[..., k], 2), ""]
    return "\n".join([*lines, "}  // namespace RT_NS", "// clang-format on", ""])


def _array(name: str, size: str, entries: Array, digits: int) -> list[str]:
    text = ", ".join(f"{value + 0.0:.{digits}f}" for value in entries.ravel())
    lines = textwrap.wrap(text + ",", 118, break_on_hyphens=False)
    return [f"RT_TABLE float {name}[{size}] = {{", *("  " + line for line in lines), "};"]


def errors(count: int = 2000) -> str:
    """Return the errors of the interpolated table at random places beside the integral."""
    entries, random = UNIT * table(), np.random.default_rng(1)
    roughness = random.uniform(MIN_ROUGHNESS, 1.0, count)
    index, cosine = random.random(count), np.sqrt(random.random(count))
    places = [v[:, None] for v in (roughness, index, cosine)]
    wanted = np.concatenate([losses(*place) for place in zip(*places, strict=True)], axis=1)
    between = (parts(x) for x in (roughness, index, np.sqrt(cosine)))
    found = np.einsum("srkcq,nr,nk,nc->snq", entries, *between)
    away = np.abs(found - wanted[:, :, 0, 0])
    return "\n".join(
        f"{side}, {name}: mean {away[s, :, q].mean():.5f}, largest {away[s, :, q].max():.4f}"
        for s, side in enumerate(("air", "glass"))
        for q, name in enumerate(("lost", "coat"))
    )


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--errors", action="store_true", help="print the errors of the table")
    print(errors() if arguments.parse_args().errors else header(), end="")
