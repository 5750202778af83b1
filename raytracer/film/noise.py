"""The noise of a film, estimated from two parts of its samples."""

from __future__ import annotations

from math import sqrt
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from raytracer.film.film import Film


def noise_of(film: Film, earlier: NDArray[np.float32], samples: int) -> float:
    """Return the standard error of a film, relative to its light.

    It is the root mean square of the standard errors of all channels of the pixels in which a
    sphere was hit, divided by the mean of these channels, in linear light. The means of the
    earlier and of the later samples differ by noise alone, so that their difference has the
    variance of both means together. Samples that are spread evenly are less noisy than this says.

    Args:
        film: with all samples.
        earlier: its sums when it had fewer, float32 (h, w, 4).
        samples: how many these were, at least 1.

    Returns:
        The noise; 0 where nothing was hit.
    """
    later = film.samples - samples
    variance, light, count = 0.0, 0.0, 0
    for before, after in zip(earlier, film.sums, strict=True):  # a row needs little memory
        use = (after[:, 3] > 0) & np.isfinite(after).all(axis=-1)
        first, both = before[use, :3].astype(np.float64), after[use, :3].astype(np.float64)
        variance += float(np.square(first / samples - (both - first) / later).sum())
        light += float(both.sum()) / film.samples
        count += both.size
    if light <= 0:
        return 0.0
    share = samples * later / film.samples**2  # of the mean's variance in that of the difference
    return sqrt(share * variance / count) / (light / count)
