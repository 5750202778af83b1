"""Tone curves in float64, written from their sources and not from the kernels.

All take and give linear sRGB, (..., 3), before clipping to 0..1.
"""

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]
WEIGHTS = np.array([0.2126, 0.7152, 0.0722])  # ITU-R BT.709


def srgb_encode(linear: ArrayLike) -> Array:
    """IEC 61966-2-1, clipped to 0..1."""
    x = np.clip(np.asarray(linear, np.float64), 0.0, 1.0)
    return np.asarray(np.where(x <= 0.0031308, 12.92 * x, 1.055 * x ** (1 / 2.4) - 0.055))


def srgb_decode(code: ArrayLike) -> Array:
    """Its inverse."""
    x = np.asarray(code, np.float64)
    return np.asarray(np.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4))


def reinhard(color: Array, white: float = 4.0) -> Array:
    """Reinhard, Stark, Shirley, Ferwerda 2002, eq. 4, with colours scaled by luminance."""
    light = color @ WEIGHTS
    display = light * (1.0 + light / white**2) / (1.0 + light)
    return np.asarray(color * (display / light)[..., None])


def aces(color: Array) -> Array:
    """Stephen Hill's fit, as published in BakingLab's ACES.hlsl."""
    into = np.array(
        [[0.59719, 0.35458, 0.04823], [0.07600, 0.90834, 0.01566], [0.02840, 0.13383, 0.83777]]
    )
    back = np.array(
        [
            [1.60475, -0.53108, -0.07367],
            [-0.10208, 1.10813, -0.00605],
            [-0.00327, -0.07276, 1.07602],
        ]
    )
    v = color @ into.T
    fit = (v * (v + 0.0245786) - 0.000090537) / (v * (0.983729 * v + 0.4329510) + 0.238081)
    return np.asarray(fit @ back.T)


def agx(color: Array) -> Array:
    """Benjamin Wrensch's fit, from his article "Minimal AgX Implementation"; its columns."""
    into = np.array(
        [
            [0.842479062253094, 0.0423282422610123, 0.0423756549057051],
            [0.0784335999999992, 0.878468636469772, 0.0784336],
            [0.0792237451477643, 0.0791661274605434, 0.879142973793104],
        ]
    )
    back = np.array(
        [
            [1.19687900512017, -0.0528968517574562, -0.0529716355144438],
            [-0.0980208811401368, 1.15190312990417, -0.0980434501171241],
            [-0.0990297440797205, -0.0989611768448433, 1.15107367264116],
        ]
    )
    low, high = -12.47393, 4.026069
    stops = np.clip(np.log2(np.maximum(color @ into, 1e-10)), low, high)
    x = (stops - low) / (high - low)
    curve = np.polyval([15.5, -40.14, 31.96, -6.868, 0.4298, 0.1191, -0.00232], x)
    return np.asarray(np.clip(curve @ back, 0.0, 1.0) ** 2.2)


REFERENCES: dict[str, Callable[[Array], Array]] = {
    "linear": lambda color: color,
    "reinhard": reinhard,
    "aces": aces,
    "agx": agx,
}
