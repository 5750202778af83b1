"""Writes kernels/shade/ggx_albedo.h: how much light a rough surface reflects after one bounce.

For GGX with Smith's height-correlated masking, a Fresnel factor F0 + (F90 - F0)(1 - h . o)^5 and a
viewer at cosine mu, one bounce reflects F0 (E - B) + F90 B, where, with directions drawn from the
normals that the viewer sees (Heitz 2018), E is the mean of G2 / G1 and B that of
(1 - h . o)^5 G2 / G1.

    python docs/research/ggx_albedo.py > kernels/shade/ggx_albedo.h
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

SIZE = 32
"""Entries along each side: square root of the cosine, and roughness."""

POINTS = 1 << 14


def albedo(mu: float, alpha: float) -> tuple[float, float]:
    """Return E and B for a cosine and a width of the normals' distribution, by a lattice."""
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
    return float(share.mean()), float((share * np.clip(1.0 - cosine, 0.0, 1.0) ** 5).mean())


def table() -> NDArray[np.float64]:
    """Return E and B, float64 (SIZE roughnesses, SIZE roots of cosines, 2)."""
    steps = np.linspace(0.0, 1.0, SIZE)
    return np.array([[albedo(max(x * x, 1e-5), max(r * r, 1e-3)) for x in steps] for r in steps])


def interpolated(entries: NDArray[np.float64], mu: Any, row: int) -> NDArray[np.float64]:
    """Return a row of the table at cosines, as the kernels interpolate it, float64 (n, 2)."""
    x = np.sqrt(mu) * (SIZE - 1)
    i = np.minimum(x.astype(int), SIZE - 2)
    part = (x - i)[:, None]
    return np.asarray(entries[row, i] * (1.0 - part) + entries[row, i + 1] * part)


def averages(entries: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the means over cosine-distributed viewers, float64 (SIZE, 2)."""
    mu = np.sqrt((np.arange(20000) + 0.5) / 20000)
    return np.array([interpolated(entries, mu, row).mean(axis=0) for row in range(SIZE)])


def header() -> str:
    """Return the text of the header."""
    entries = table()
    lines = [
        "// How much light GGX reflects after one bounce, by roughness and by the square root of",
        "// the cosine to the viewer: pairs of the albedo with a Fresnel factor of 1, and with one",
        "// of (1 - cosine)^5; and their averages over the hemisphere, by roughness. Written by",
        "// docs/research/ggx_albedo.py.",
        "#pragma once",
        '#include "../core/compat.h"',
        "",
        "// clang-format off",
        "namespace RT_NS {",
        "",
        f"constexpr int kAlbedoSize = {SIZE};",
        "",
        "RT_TABLE float kGgxAlbedo[2 * kAlbedoSize * kAlbedoSize] = {",
    ]
    for row in entries:
        values = [f"{value:.5f}f" for value in row.ravel()]
        lines += ["  " + ", ".join(values[k : k + 12]) + "," for k in range(0, len(values), 12)]
    lines += ["};", "", "RT_TABLE float kGgxAverageAlbedo[2 * kAlbedoSize] = {"]
    values = [f"{value:.5f}f" for value in averages(entries).ravel()]
    lines += ["  " + ", ".join(values[k : k + 12]) + "," for k in range(0, len(values), 12)]
    return "\n".join([*lines, "};", "", "}  // namespace RT_NS", "// clang-format on", ""])


if __name__ == "__main__":
    print(header(), end="")
