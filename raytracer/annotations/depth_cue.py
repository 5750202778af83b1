"""Depth cue: how far the colour of each pixel fades."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.surface import Strip
from raytracer.drawing.shapes import RGB
from raytracer.scene.colors import linear_to_srgb, srgb_to_linear


def fading(
    strip: Strip, near: float, far: float, strength: float, transparent: bool
) -> NDArray[np.float32]:
    """Return the part of the colour that is mixed into each pixel of a strip, float32 (h, w).

    It grows from 0 to `strength` between two depths in render space. The background keeps its
    colour; where it is not transparent, a pixel that shows some of it fades in proportion.
    """
    seen = np.isfinite(strip.depth)
    depth = np.where(seen, strip.depth, np.float32(near))
    part = np.clip((depth - near) / max(far - near, 1e-30), 0.0, 1.0).astype(np.float32)
    mean = strip.pixels(part * np.float32(strength))
    if transparent:
        covered = strip.pixels(seen.astype(np.float32))
        mean = np.divide(mean, covered, out=mean, where=covered > 0.0)
    return mean


def row_colors(bottom: RGB, top: RGB, rows: tuple[int, int], height: int) -> NDArray[np.float32]:
    """Return sRGB in 0..1 of the rows of a background, float32 (rows, 3).

    bottom, top: sRGB of both edges; between them linear light changes evenly. rows: half open.
    """
    part = 1.0 - (np.arange(*rows)[:, None] + 0.5) / height
    low, high = srgb_to_linear([bottom, top])
    return linear_to_srgb(low + part * (high - low)).astype(np.float32)
