"""Colour ramps of the generators; all colours are sRGB."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

# Black-body colours by temperature in kelvin: the usual chromaticities of stars, with both ends
# desaturated. Interpolation is linear in log temperature.
STARS = (
    (2600.0, "#ffab73"), (3600.0, "#ffc596"), (4800.0, "#ffdcbc"), (5900.0, "#fff3e6"),
    (7300.0, "#f4f3ff"), (10000.0, "#cfdcff"), (20000.0, "#a4c0ff"), (40000.0, "#8fb2ff"),
)  # fmt: skip


def rgb(text: str) -> tuple[int, int, int]:
    value = int(text[1:], 16)
    return value >> 16, value >> 8 & 255, value & 255


def ramp(value: ArrayLike, stops: Sequence[tuple[float, str]]) -> NDArray[np.uint8]:
    """Return colours along a piecewise linear ramp.

    value: (N,); stops: (position, "#rrggbb") in ascending order; values beyond the ends are clipped
    returns: (N, 3) uint8
    """
    at = np.asarray(value, np.float64)
    positions = [p for p, _ in stops]
    channels = np.array([rgb(c) for _, c in stops], np.float64)
    out = np.empty((*at.shape, 3), np.uint8)
    for i in range(3):
        out[..., i] = np.interp(at, positions, channels[:, i]) + 0.5
    return out


def star_color(kelvin: ArrayLike) -> NDArray[np.uint8]:
    """Return the colours of stars, (N, 3) uint8, for temperatures (N,)."""
    return ramp(np.log(kelvin), [(float(np.log(t)), c) for t, c in STARS])
