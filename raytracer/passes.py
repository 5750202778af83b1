"""Renders in passes: until the noise or the time is reached, with pictures in between.

Passes double the samples of a film. The samples before and those of a pass are independent, so
that their difference tells the noise; the film is that of one long render with as many samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from math import ceil
from typing import TYPE_CHECKING

from raytracer.film.noise import noise_of
from raytracer.settings import MAX_SAMPLES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.backends.base import DeviceFilm, ProgressCall

Add = Callable[[int, "ProgressCall | None"], float]
"""Adds samples to the film of a render and returns the seconds."""

MOST_ADDED = 1 << 16
"""Most samples per pixel that are added to reach a noise level: noise that does not fall by then
comes from rare light, and the time would double again and again."""

RESERVE = 1.05
"""Samples that are added in proportion to what the noise asks for: the estimate has noise too."""

SHOWN_EVERY = 5.0
"""Seconds between two pictures; small beside the time of a render that needs them."""


@dataclass(frozen=True)
class Goal:
    """When a picture is done: at the first of its limits.

    Args:
        samples: per pixel to add; with a noise level the fewest. With a time alone it is ignored.
        noise: level of `noise_of`.
        seconds: of rendering; one sample is added in any case.
    """

    samples: int
    noise: float | None = None
    seconds: float | None = None

    @property
    def is_open(self) -> bool:
        """Whether the number of samples is not known before."""
        return self.noise is not None or self.seconds is not None


class Passes:
    """A render in passes.

    Args:
        film: to add samples to.
        add: adds samples to it.
        goal: when it is done.
        progress: called with the fraction done, as far as it is known.
        show: called after passes, at most every `SHOWN_EVERY` seconds, but not after the last.

    Attributes:
        noise: of the film after the last pass; None if it is not known.
    """

    def __init__(
        self,
        film: DeviceFilm,
        add: Add,
        goal: Goal,
        progress: ProgressCall | None = None,
        show: Callable[[], None] | None = None,
    ) -> None:
        self._film, self._add, self._goal = film, add, goal
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
            earlier = self._sums() if before and self._goal.is_open else None
            self._pass(count)
            if earlier is not None and self._film.samples > before:
                self.noise = noise_of(self._film.to_host(), earlier, before)
        return self._spent

    def _sums(self) -> NDArray[np.float32]:
        return self._film.to_host().sums.copy()

    def _next(self) -> int:
        """Return the samples of the next pass; 0 at the end."""
        goal, added = self._goal, self._added
        if not goal.is_open:
            return goal.samples - added
        count = max(self._film.samples, 1)
        if goal.noise is not None:
            count = min(self._for_noise(goal.noise), MOST_ADDED - added)
        if goal.seconds is not None:
            left = (goal.seconds - self._elapsed) / max(self._per_sample, 1e-9)
            count = min(count, int(left)) if added else 1
        return max(min(count, MAX_SAMPLES - self._film.samples), 0)

    def _for_noise(self, level: float) -> int:
        """Return the samples that are missing for a noise level, at most as many as there are."""
        fewest, there = max(self._goal.samples, 2 if not self._begun else 1), self._film.samples
        if not there:
            return max(fewest // 2, 1)
        if self._added < fewest:
            return min(fewest - self._added, there)
        if self.noise is None:
            return there
        if self.noise <= level:
            return 0
        missing = ceil(there * min((self.noise / level) ** 2 * RESERVE, 2)) - there
        return max(missing, there // 8, 1)

    def _pass(self, count: int) -> None:
        """Add samples, in parts if pictures are shown; the sums do not depend on the cut."""
        end = self._film.samples + count
        while (left := end - self._film.samples) > 0:
            part = left
            if self._show is not None:
                fits = int(SHOWN_EVERY / self._per_sample) if self._per_sample else 1
                part = min(left, max(fits, 1))
            seconds = self._add(part, self._report(part))
            self._spent += seconds
            self._per_sample = seconds / part
            if self._show is not None and end - self._film.samples > 0:
                self._show_now_and_then(self._show)

    def _show_now_and_then(self, show: Callable[[], None]) -> None:
        if self._elapsed - self._shown >= SHOWN_EVERY:
            show()
            self._shown = self._elapsed

    def _report(self, count: int) -> ProgressCall | None:
        """Return a function that reports the progress of a pass of so many samples."""
        progress, added = self._progress, self._added
        if progress is None:
            return None

        def report(done: float) -> None:
            self._fraction = max(self._fraction, self._share(added + done * count))
            progress(self._fraction)

        return report

    def _share(self, added: float) -> float:
        """Return the fraction done when so many samples are added, as far as it is known."""
        goal, share = self._goal, 0.0
        if goal.seconds is not None:
            share = self._elapsed / goal.seconds
        if goal.noise is not None:
            wanted = self._film.samples * ((self.noise or 0.0) / goal.noise) ** 2
            share = max(share, added / max(wanted, goal.samples, 2))
        if not goal.is_open:
            share = added / goal.samples
        return min(share, 1.0)
