"""Adaptive sampling: after the first samples, only noisy tiles get more.

A tile is finished when its noise is at most the level (see `raytracer.film.noise`), or when its
pixels have the maximum number of samples. What is added depends only on the sums, and the sums of a
tile are those of a plain render with as many samples, so the film has the same bytes with any
number of threads.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import UserError, naming
from raytracer.film.film import Crop, Film
from raytracer.film.noise import TileNoise, most_around
from raytracer.warning import warn

if TYPE_CHECKING:
    from raytracer.backends.base import DeviceFilm, ProgressCall

Counts = NDArray[np.int64]  # a number for each tile, (tiles down, tiles across)

AddTo = Callable[["DeviceFilm", int, "ProgressCall | None", int], float]
"""Adds samples to a film, beginning with the number in the last argument; returns the seconds."""

OpenFilm = Callable[[Film], "DeviceFilm"]

TILE = 32  # side of a tile in pixels; its 3,072 channels determine the noise to 3%
RESERVE = 1.05  # factor on the samples that the noise asks for, because its estimate has noise too
BESIDE = 4  # a tile gets a quarter of its neighbours' samples: it may have missed rare light
MIN_SAMPLES = 4  # minimum samples of a pixel: two parts of two, between which the noise is measured


@dataclass(frozen=True)
class Area:
    """A rectangle of tiles with the same number of samples."""

    crop: Crop
    first: int
    count: int

    @property
    def work(self) -> int:
        x0, y0, x1, y1 = self.crop
        return (x1 - x0) * (y1 - y0) * self.count


def areas(shape: tuple[int, int], there: Counts, added: Counts) -> Iterator[Area]:
    """Yield rectangles of tiles that get the same samples; each tile is in one of them."""
    left = added > 0
    down, across = added.shape
    for y, x in zip(*np.nonzero(left), strict=True):
        if not left[y, x]:
            continue
        same = left & (there == there[y, x]) & (added == added[y, x])
        right, bottom = int(x), int(y)
        while right < across and same[y, right]:
            right += 1
        while bottom < down and same[bottom, x:right].all():
            bottom += 1
        left[y:bottom, x:right] = False
        ends = min(right * TILE, shape[1]), min(bottom * TILE, shape[0])
        crop = (int(x) * TILE, int(y) * TILE, *ends)
        yield Area(crop, int(there[y, x]), int(added[y, x]))


class AdaptivePasses:
    """A render whose tiles get at least `samples`, and up to `most`, until their noise is low."""

    def __init__(
        self,
        film: FilmAreas,
        samples: int,
        level: float,
        most: int,
        seconds: float | None = None,
        progress: ProgressCall | None = None,
    ) -> None:
        self._areas, self._samples, self._level = film, samples, level
        self._most, self._seconds = most, seconds
        self._progress = progress
        self._begun = film.there.copy()
        self._tiles: TileNoise | None = None
        self._start = time.perf_counter()
        self._fraction = 0.0

    @property
    def noise(self) -> float | None:
        """Noise of the film after the last pass; None if unknown."""
        return None if self._tiles is None else self._tiles.picture

    def run(self) -> float:
        film = self._areas
        while (added := self._within_time(self._next())).any():
            before, earlier = film.there.copy(), film.host.sums.copy()
            self._pass(added)
            if before.all():
                tiles = TileNoise.of(film.host.sums, earlier, film.there, before, TILE)
                self._tiles = tiles if self._tiles is None else self._tiles.renewed(tiles)
        if self._tiles is not None and self._seconds is None:
            self._warn_of(int((self._tiles.errors > self._level).sum()), self._tiles.picture)
        return film.seconds

    def _warn_of(self, noisy: int, noise: float) -> None:
        if noisy:
            warn(
                f"the noise is {noise:.2g}, and above {self._level:g} in {noisy:,} of "
                f"{self._begun.size:,} tiles, after the {self._areas.host.samples:,} samples per "
                "pixel of max_samples: set a higher noise level or more samples"
            )

    def _next(self) -> Counts:
        there = self._areas.there
        fewest = np.maximum(self._begun + self._samples, MIN_SAMPLES)
        if (there < fewest).any():  # in two parts, between which the noise is measured
            return np.where(there == 0, (fewest + 1) // 2, np.maximum(fewest - there, 0))
        missing = self._missing()
        step = np.maximum(there // 4, 1)  # so that neighbours have the same number
        more = np.ceil(np.minimum(missing, there) / step).astype(np.int64) * step
        return np.clip(more, 0, np.maximum(self._most - there, 0))

    def _missing(self) -> NDArray[np.float64]:
        """Return the estimated samples that tiles still need."""
        there = self._areas.there
        if self._tiles is None:
            return there.astype(np.float64)
        ratio = self._tiles.errors / self._level
        with np.errstate(over="ignore"):  # more than there may be at most
            excess = np.where(ratio > 1, there * (np.square(ratio) * RESERVE - 1), 0.0)
        wanted = np.where(ratio > 1, there, 0) // BESIDE
        beside = np.where(self._tiles.around > self._level, most_around(wanted) - there, 0)
        missing: NDArray[np.float64] = np.maximum(excess, beside)
        return missing

    def _within_time(self, added: Counts) -> Counts:
        """Return the samples for which there is time, at least one per pixel in the first pass."""
        film = self._areas
        if self._seconds is None:
            return added
        if not film.work:
            return np.minimum(added, 1)
        left = self._seconds - (time.perf_counter() - self._start)
        needed = film.work_of(added) * film.seconds / film.work
        share = max(left, 0.0) / max(needed, 1e-9)
        return added if share >= 1 else np.floor(added * share).astype(np.int64)

    def _pass(self, added: Counts) -> None:
        film, missing = self._areas, np.maximum(self._missing(), added)
        before, total = film.work, film.work_of(missing)

        def report(done: float) -> None:
            self._fraction = max(self._fraction, min((film.work + done) / (before + total), 1.0))
            if self._progress is not None:
                self._progress(self._fraction)

        film.expose(added, report)


class FilmAreas:
    """A film to whose tiles different numbers of samples are added. `there` are the samples of the
    tiles, `seconds` the rendering time, and `work` the added samples of all pixels. `offset` is the
    number of a pixel's first sample."""

    def __init__(self, film: DeviceFilm, add: AddTo, opened: OpenFilm, offset: int) -> None:
        self._device_film, self._add, self._opened, self._offset = film, add, opened, offset
        self.host = film.to_host()
        height, width = self.host.sums.shape[:2]
        self._shape = height, width
        self.there = self.host.pixel_counts()[::TILE, ::TILE].astype(np.int64)
        if self.host.counts is not None and not np.array_equal(self._counts(), self.host.counts):
            with naming(self.host.source):
                raise UserError(
                    f"counts: differ within tiles of {TILE}x{TILE} pixels: add to a film of a "
                    "render with a noise level, or render anew"
                )
        self.seconds = 0.0
        self.work = 0

    def work_of(self, added: NDArray[Any]) -> float:
        return float((added * self._pixels()).sum())

    def _pixels(self) -> Counts:
        (height, width), (down, across) = self._shape, self.there.shape
        rows = np.diff([*(TILE * np.arange(down)), height])
        columns = np.diff([*(TILE * np.arange(across)), width])
        return np.multiply.outer(rows, columns)

    def expose(self, added: Counts, report: ProgressCall) -> None:
        """Add samples to tiles, and store the film; report: called with the work of an area."""
        try:
            for area in areas(self._shape, self.there, added):
                self._add_to(area, report)
        finally:
            self._store()

    def expose_all(self, count: int, progress: ProgressCall | None = None) -> float:
        """Add samples to every pixel, and return the seconds of rendering."""
        added = np.full_like(self.there, count)
        total, begun = self.work_of(added), self.work

        def report(work: float) -> None:
            if progress is not None:
                progress((self.work - begun + work) / total)

        self.expose(added, report)
        return self.seconds

    def _add_to(self, area: Area, report: ProgressCall) -> None:
        film, (x0, y0, x1, y1) = self.host, area.crop
        part = film.sums[y0:y1, x0:x1]
        piece = Film(
            np.ascontiguousarray(part), area.first, film.x0 + x0, film.y0 + y0, film.width,
            film.height, backdrop=film.backdrop,
        )  # fmt: skip
        first = area.first + self._offset
        with self._opened(piece) as on_device:
            self.seconds += self._add(
                on_device, area.count, lambda done: report(area.work * done), first
            )
            sums = on_device.to_host().sums
        if sums is not part:
            part[:] = sums
        self.there[y0 // TILE : -(-y1 // TILE), x0 // TILE : -(-x1 // TILE)] += area.count
        self.work += area.work
        film.backdrop = piece.backdrop

    def _store(self) -> None:
        """Store the sums on the device, and the numbers of samples in the film."""
        film = self.host
        film.samples, film.counts = int(self.there.max()), None
        if (self.there != film.samples).any():
            film.counts = self._counts()
        self._device_film.restore(film.sums)

    def _counts(self) -> NDArray[np.uint32]:
        height, width = self._shape
        rows = np.repeat(self.there.astype(np.uint32), TILE, axis=0)[:height]
        return np.repeat(rows, TILE, axis=1)[:, :width].copy()
