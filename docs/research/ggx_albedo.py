"""Writes kernels/shade/ggx_albedo.h: how much light a rough surface reflects after one bounce.

For GGX with Smith's height-correlated masking, a Fresnel factor F0 + (F90 - F0)(1 - h . o)^5 and a
viewer at cosine mu, one bounce reflects F0 (E - B) + F90 B, where, with directions drawn from the
normals that the viewer sees (Heitz 2018), E is the mean of G2 / G1 and B that of
(1 - h . o)^5 G2 / G1.

Below a coat with a Fresnel factor R0 + (1 - R0) G(c), G(c) = (1 - c)^5, that light counts by the
lesser of the shares 1 - R that the coat lets through for viewer and light. It loses E and B times
R of the viewer, and (1 - R0) times the means of (G(light) - G(viewer)) G2 / G1, where positive,
and of the same times (1 - h . o)^5. These are two tables more, with their averages, and the
averages of G(viewer) E and G(viewer) B.

    python docs/research/ggx_albedo.py > kernels/shade/ggx_albedo.h
"""

from __future__ import annotations

import textwrap
from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 32
"""Entries along each side: square root of the cosine, and roughness."""

POINTS = 1 << 14


def schlick(cosine: Any) -> Any:
    """Return the part of Schlick's Fresnel factor that depends on the cosine."""
    return np.clip(1.0 - cosine, 0.0, 1.0) ** 5


def albedo(mu: float, alpha: float) -> tuple[float, float, float, float]:
    """Return E and B for a cosine and a width of the normals' distribution, by a lattice.

    Then what a coat takes of each beyond its share for the viewer.
    """
    index = np.arange(POINTS)
    u, v = (index + 0.5) / POINTS, (index * 0.6180339887498949 + 0.5) % 1.0
    view = np.array([np.sqrt(max(0.0, 1.0 - mu * mu)), 0.0, mu])
    stretched = view * [alpha, alpha, 1.0]
    stretched /= np.linalg.norm(stretched)
    z = (1.0 - u) * (1.0 + stretched[2]) - stretched[2]
    across = np.sqrt(np.clip(1.0 - z * z, 0.0, 1.0))
    cap = np.stack([across * np.cos(2 * np.pi * v), across * np.sin(2 * np.pi * v), z])
    half = (cap + stretched[:, None]) * np.array([[alpha], [alpha], [1.0]])
    half /= np.linalg.norm(half, axis=0)
    cosine = view @ half
    out = (2.0 * cosine * half - view[:, None])[2]
    seen = out > 0.0
    out = np.where(seen, out, 1.0)
    view_root = np.sqrt(alpha**2 + (1 - alpha**2) * mu**2)
    out_root = np.sqrt(alpha**2 + (1 - alpha**2) * out**2)
    share = np.where(seen, (mu + view_root) * out / (mu * out_root + out * view_root), 0.0)
    grazing = share * schlick(cosine)
    coat = np.maximum(schlick(out) - schlick(mu), 0.0)
    each = share, grazing, share * coat, grazing * coat
    e, b, coated_e, coated_b = (float(values.mean()) for values in each)
    return e, b, coated_e, coated_b


def table() -> NDArray[np.float64]:
    """Return E, B and what a coat takes, float64 (SIZE roughnesses, SIZE roots of cosines, 4)."""
    steps = np.linspace(0.0, 1.0, SIZE)
    return np.array([[albedo(max(x * x, 1e-5), max(r * r, 1e-3)) for x in steps] for r in steps])


def interpolated(entries: NDArray[np.float64], mu: Any, row: int) -> NDArray[np.float64]:
    """Return a row of the table at cosines, as the kernels interpolate it, float64 (n, 4)."""
    x = np.sqrt(mu) * (SIZE - 1)
    i = np.minimum(x.astype(int), SIZE - 2)
    part = (x - i)[:, None]
    return np.asarray(entries[row, i] * (1.0 - part) + entries[row, i + 1] * part)


def averages(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means over cosine-distributed viewers, float64 (SIZE, 6).

    The last two are of the first two times G.
    """
    mu = np.sqrt((np.arange(20000) + 0.5) / 20000)
    rows = np.array([interpolated(entries, mu, row) for row in range(SIZE)])
    rows = np.concatenate([rows, rows[..., :2] * schlick(mu)[:, None]], axis=2)
    return np.asarray(rows.mean(axis=1))


def header() -> str:
    """Return the text of the header."""
    entries = table()
    means = averages(entries)
    lines = [
        "// How much light GGX reflects after one bounce, by roughness and by the square root of",
        "// the cosine to the viewer: pairs of the albedo with a Fresnel factor of 1, and with one",
        "// of (1 - cosine)^5; and their averages over the hemisphere, by roughness. Then the same",
        "// of what a coat takes of that light beyond its share for the viewer, and the averages",
        "// of the first pairs times (1 - cosine to the viewer)^5. Written by",
        "// docs/research/ggx_albedo.py.",
        "#pragma once",
        '#include "../core/compat.h"',
        "",
        "// clang-format off",
        "namespace RT_NS {",
        "",
        f"constexpr int kAlbedoSize = {SIZE};",
        "",
    ]
    grid, row = "2 * kAlbedoSize * kAlbedoSize", "2 * kAlbedoSize"
    lines += [*_array("kGgxAlbedo", grid, entries[..., :2]), ""]
    lines += [*_array("kGgxAverageAlbedo", row, means[:, :2]), ""]
    lines += [*_array("kGgxCoated", grid, entries[..., 2:]), ""]
    lines += [*_array("kGgxAverageCoated", row, means[:, 2:4]), ""]
    lines += [*_array("kGgxAverageGrazing", row, means[:, 4:]), ""]
    return "\n".join([*lines, "}  // namespace RT_NS", "// clang-format on", ""])


def _array(name: str, size: str, entries: NDArray[np.float64]) -> list[str]:
    values = (f"{value:.5f}".rstrip("0").rstrip(".") for value in entries.ravel())
    text = ", ".join(value.removeprefix("0") or "0" for value in values)
    lines = textwrap.wrap(text + ",", 118)
    return [f"RT_TABLE float {name}[{size}] = {{", *("  " + line for line in lines), "};"]


if __name__ == "__main__":
    print(header(), end="")
