"""Renders for a time: in passes that at most double the samples of a film.

All pixels get the same samples. The film is the same as from one render with as many samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from raytracer.settings import MAX_SAMPLES

if TYPE_CHECKING:
    from raytracer.backends.base import DeviceFilm, ProgressCall

Add = Callable[[int, "ProgressCall | None"], float]  # adds samples, returns seconds


def add_in_passes(
    film: DeviceFilm, add: Add, seconds: float, progress: ProgressCall | None = None
) -> float:
    """Add as many samples per pixel as `seconds` allow, at least one; return the seconds."""
    begun, start = film.samples, time.perf_counter()
    spent = per_sample = fraction = 0.0

    def report(_: float) -> None:
        nonlocal fraction
        fraction = max(fraction, min((time.perf_counter() - start) / seconds, 1.0))
        assert progress is not None
        progress(fraction)

    while True:
        count = 1
        if film.samples > begun:
            left = seconds - (time.perf_counter() - start)
            count = min(film.samples, int(left / max(per_sample, 1e-9)))
        count = min(count, MAX_SAMPLES - film.samples)
        if count <= 0:
            return spent
        taken = add(count, progress and report)
        spent, per_sample = spent + taken, taken / count
