"""Renders in passes: for a time, or with pictures in between.

All pixels get the same samples. For a time, each pass at most doubles the samples of a film. The
film is the same as from one render with as many samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from raytracer.settings import MAX_SAMPLES

if TYPE_CHECKING:
    from raytracer.backends.base import DeviceFilm, ProgressCall

Add = Callable[[int, "ProgressCall | None"], float]  # adds samples, returns seconds
SHOWN_EVERY = 5.0  # seconds between two pictures


def add_in_passes(
    film: DeviceFilm,
    add: Add,
    samples: int,
    seconds: float | None = None,
    progress: ProgressCall | None = None,
    show: Callable[[], None] | None = None,
) -> float:
    """Add `samples` per pixel to a film, or as many as `seconds` allow, at least one; return the
    seconds, without those of the pictures in between.

    show: called after passes, at most every `SHOWN_EVERY` seconds, but not after the last.
    """
    begun, start, shown = film.samples, time.perf_counter(), -SHOWN_EVERY
    spent = per_sample = fraction = 0.0

    def report(done: float) -> None:
        nonlocal fraction
        share = (added + done * count) / samples
        if seconds is not None:
            share = (time.perf_counter() - start) / seconds
        fraction = max(fraction, min(share, 1.0))
        assert progress is not None
        progress(fraction)

    while True:
        added, elapsed = film.samples - begun, time.perf_counter() - start
        count = samples - added
        if seconds is not None:
            fits = int((seconds - elapsed) / max(per_sample, 1e-9))
            count = min(max(film.samples, 1), fits) if added else 1
            count = min(count, MAX_SAMPLES - film.samples)
        if count <= 0:
            return spent
        if show is not None:
            if added and elapsed - shown >= SHOWN_EVERY:
                show()
                shown = time.perf_counter() - start
            count = min(count, max(int(SHOWN_EVERY / per_sample) if per_sample else 1, 1))
        taken = add(count, progress and report)
        spent, per_sample = spent + taken, taken / count
