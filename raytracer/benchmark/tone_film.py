"""Film and settings of `raytracer bench tone`."""

from __future__ import annotations

import numpy as np

from raytracer.film.film import Film
from raytracer.film.tone_settings import ToneSettings

SIZE = (3840, 2160)
SAMPLES = 4


def film(size: tuple[int, int] = SIZE) -> Film:
    """Return a film of log-normal values; a tenth of the pixels is empty."""
    width, height = size
    rng = np.random.default_rng(1)
    sums = rng.standard_normal((height, width, 4), np.float32)
    sums *= 2.0
    sums -= 2.0
    np.exp(sums, out=sums)
    sums *= SAMPLES
    sums[..., 3] = SAMPLES
    sums[rng.random((height, width), np.float32) < 0.1] = 0.0
    return Film(sums, SAMPLES, 0, 0, width, height)


def settings(curve: str, automatic: bool = True) -> ToneSettings:
    """Return the settings for a tone curve."""
    return ToneSettings("auto" if automatic else 0.0, curve, dither=True)
