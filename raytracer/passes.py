"""Renders in passes: for a time, or with pictures in between.

All pixels get the same samples. For a time, each pass doubles the samples of a film; earlier and
new samples are independent, so their difference measures the noise. The film is the same as from
one render with as many samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raytracer.film.noise import noise_of
from raytracer.settings import MAX_SAMPLES

if TYPE_CHECKING:
    from raytracer.backends.base import DeviceFilm, ProgressCall

Add = Callable[[int, "ProgressCall | None"], float]  # adds samples, returns seconds
SHOWN_EVERY = 5.0  # seconds between two pictures


class Passes:
    """A render in passes: `samples` per pixel, or as many as `seconds` allow, at least one.

    show: called after passes, at most every `SHOWN_EVERY` seconds, but not after the last.
    noise: of the film after the last pass; None if unknown.
    """

    def __init__(
        self,
        film: DeviceFilm,
        add: Add,
        samples: int,
        seconds: float | None = None,
        progress: ProgressCall | None = None,
        show: Callable[[], None] | None = None,
    ) -> None:
        self._film, self._add, self._samples, self._seconds = film, add, samples, seconds
        self._progress, self._show = progress, show
        self.noise: float | None = None
        self._begun = film.samples
        self._start = time.perf_counter()
        self._shown = -SHOWN_EVERY
        self._spent = 0.0
        self._per_sample = 0.0
        self._fraction = 0.0

    @property
    def _added(self) -> int:
        return self._film.samples - self._begun

    @property
    def _elapsed(self) -> float:
        return time.perf_counter() - self._start

    def run(self) -> float:
        """Render and return the seconds, without those of the pictures in between."""
        while count := self._next():
            before = self._film.samples
            earlier = self._state() if before and self._seconds is not None else None
            self._pass(count)
            if earlier is not None and self._film.samples > before:
                self.noise = noise_of(self._film.to_host(), *earlier)
        return self._spent

    def _state(self) -> tuple[NDArray[np.float32], int | NDArray[np.uint32]]:
        film = self._film.to_host()
        return film.sums.copy(), film.samples if film.counts is None else film.counts.copy()

    def _next(self) -> int:
        """Return the samples of the next pass; 0 at the end."""
        added = self._added
        if self._seconds is None:
            return self._samples - added
        left = (self._seconds - self._elapsed) / max(self._per_sample, 1e-9)
        count = min(max(self._film.samples, 1), int(left)) if added else 1
        return max(min(count, MAX_SAMPLES - self._film.samples), 0)

    def _pass(self, count: int) -> None:
        """Add samples, in parts if pictures are shown; the sums do not depend on the parts."""
        end = self._film.samples + count
        while (left := end - self._film.samples) > 0:
            part = left
            if self._show is not None:
                fits = int(SHOWN_EVERY / self._per_sample) if self._per_sample else 1
                part = min(left, max(fits, 1))
            seconds = self._add(part, self._report(part))
            self._spent += seconds
            self._per_sample = seconds / part
            is_due = self._elapsed - self._shown >= SHOWN_EVERY
            if self._show is not None and end > self._film.samples and is_due:
                self._show()
                self._shown = self._elapsed

    def _report(self, count: int) -> ProgressCall | None:
        progress, added = self._progress, self._added
        if progress is None:
            return None

        def report(done: float) -> None:
            share = (added + done * count) / self._samples
            share = share if self._seconds is None else self._elapsed / self._seconds
            self._fraction = max(self._fraction, min(share, 1.0))
            progress(self._fraction)

        return report
