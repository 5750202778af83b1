"""Bloom: light that the lens spreads around bright places, before the tone curve.

Each pixel keeps most of its light and spreads the rest as a sum of Gaussians. At the edges the
picture is mirrored, so that the sum of all pixels does not change.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from raytracer.film.film import Film

Pixels = NDArray[np.float32]

GLOWS = ((1 / 360, 0.4), (1 / 90, 0.3), (1 / 30, 0.2), (1 / 10, 0.1))
"""Standard deviations in heights of the full picture, and shares of the spread light."""

ROWS = 720  # for which bloom is computed, about; the narrowest Gaussian has two pixels


def add_bloom(film: Film, amount: float) -> Film:
    """Return a copy of a film with bloom; amount: share of the light that is spread, 0 to 1.

    An opaque background counts as light; over a transparent one, the glow has coverage too. Pixels
    that are not finite are unchanged and spread no light.
    """
    light = film.sums if film.backdrop is None else film.sums[..., :3]
    finite = np.isfinite(light).all(axis=-1, keepdims=True)
    source = np.where(finite, light, np.float32(0))
    with np.errstate(over="ignore", invalid="ignore"):  # of light near the largest number
        glow = spread_light(source, film.height)
        if film.backdrop is None:
            glow[..., 3] = np.maximum(glow[..., 3], film.sums[..., 3])
        mixed = light + np.float32(amount) * (glow - source)
    result = film.copy()
    result.sums[..., : light.shape[-1]] = np.where(finite, mixed, light)
    return result


def spread_light(light: Pixels, height: int) -> Pixels:
    """Spread light (h, w, channels) by all Gaussians, whose widths are parts of the picture's
    height."""
    step = max(height // ROWS, 1)
    coarse = _downsample(light, step)
    rows, columns = coarse.shape[:2]
    gain = _gaussian_spectrum(2 * rows, 2 * columns, height / step)
    result = np.empty_like(light)
    for channel in range(light.shape[-1]):
        plane = np.pad(coarse[..., channel], ((0, rows), (0, columns)), mode="symmetric")
        wide = np.fft.irfft2(np.fft.rfft2(plane) * gain, plane.shape)[:rows, :columns]
        whole = _upsample(np.maximum(wide, 0), step, light.shape[:2])
        # Enlarging keeps the sum but for rows and columns that are no whole step.
        total = whole.sum(dtype=np.float64)
        share = light[..., channel].sum(dtype=np.float64) / total if total > 0 else 0.0
        result[..., channel] = whole * share
    return result


def _gaussian_spectrum(rows: int, columns: int, height: float) -> NDArray[np.float32]:
    """Return the Fourier transform of the Gaussians, (rows, columns // 2 + 1)."""
    y, x = np.fft.fftfreq(rows)[:, None], np.fft.rfftfreq(columns)[None, :]
    gain = np.zeros((rows, columns // 2 + 1))
    for sigma, weight in GLOWS:
        a, b = (np.exp(-2 * (np.pi * sigma * height * axis) ** 2) for axis in (y, x))
        gain += weight * a * b
    return gain.astype(np.float32)


def _downsample(light: Pixels, step: int) -> Pixels:
    """Return means over squares of `step` pixels; the last of a row or column may be narrower."""
    if step == 1:
        return light
    rows, columns = (-side % step for side in light.shape[:2])
    padded = np.pad(light, ((0, rows), (0, columns), (0, 0)), mode="symmetric")
    shape = padded.shape[0] // step, step, padded.shape[1] // step, step, padded.shape[2]
    return np.asarray(padded.reshape(shape).mean(axis=(1, 3)))


def _upsample(plane: NDArray[np.floating], step: int, shape: tuple[int, int]) -> Pixels:
    """Interpolate a reduced plane linearly to full size."""
    for axis in (0, 1):
        plane = np.moveaxis(_along(np.moveaxis(plane, axis, 0), step, shape[axis]), 0, axis)
    return plane.astype(np.float32, copy=False)


def _along(plane: NDArray[np.floating], step: int, size: int) -> NDArray[np.floating]:
    if step == 1:
        return plane
    place = np.clip((np.arange(size) + 0.5) / step - 0.5, 0, len(plane) - 1)
    low = np.minimum(place.astype(np.intp), max(len(plane) - 2, 0))
    high = np.minimum(low + 1, len(plane) - 1)
    part = (place - low).astype(plane.dtype)[:, None]
    return np.asarray(plane[low] * (1 - part) + plane[high] * part)
