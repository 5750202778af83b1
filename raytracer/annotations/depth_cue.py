"""Depth cue: distant spheres fade into a colour."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.surface import Strip


def fading(
    strip: Strip, near: float, far: float, strength: float, transparent: bool
) -> NDArray[np.float32]:
    """Return the share of the fade colour in each pixel of a strip, float32 (h, w).

    It grows from 0 at depth `near` to `strength` at `far` (render space). An opaque background
    keeps its colour: a pixel that shows part of it fades less.
    """
    seen = np.isfinite(strip.depth)
    depth = np.where(seen, strip.depth, np.float32(near))
    part = np.clip((depth - near) / max(far - near, 1e-30), 0.0, 1.0).astype(np.float32)
    mean = strip.pixels(part * np.float32(strength))
    if transparent:
        covered = strip.pixels(seen.astype(np.float32))
        mean = np.divide(mean, covered, out=mean, where=covered > 0.0)
    return mean
