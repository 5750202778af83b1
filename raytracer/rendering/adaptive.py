"""Adaptive sampling: after the first samples, only noisy tiles get more; or passes for a time.

A tile is finished when its noise is at most the level (see `raytracer.film.noise`), or when its
pixels have the maximum number of samples. What is added depends only on the sums, and the sums of a
tile are those of a plain render with as many samples, so the film has the same bytes with any
number of threads.
"""

import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import Device, DeviceFilm, ProgressCall
from raytracer.config.errors import UserError, prefix_errors
from raytracer.config.warning import warn
from raytracer.film.film import Crop, Film
from raytracer.film.noise import TileNoise, max_over_neighbors

Counts = NDArray[np.int64]  # a number for each tile, (tiles down, tiles across)

AddTo = Callable[[DeviceFilm, int, ProgressCall | None, int], float]
"""Adds samples to a film, beginning with the number in the last argument; returns the seconds."""

TILE = 32  # side of a tile in pixels; its 3,072 channels determine the noise to 3%
RESERVE = 1.05  # factor on the samples that the noise asks for, because its estimate has noise too
BESIDE = 4  # a tile gets a quarter of its neighbours' samples: it may have missed rare light
MIN_SAMPLES = 4  # minimum samples of a pixel: two parts of two, between which the noise is measured


def iterate_areas(
    shape: tuple[int, int], there: Counts, added: Counts
) -> Iterator[tuple[slice, slice, Crop]]:
    """Yield rectangles of tiles that get the same samples, each tile in one of them: rows and
    columns of tiles, and the crop of the film."""
    left = added > 0
    down, across = added.shape
    for y, x in zip(*map(np.ndarray.tolist, np.nonzero(left)), strict=True):
        if not left[y, x]:
            continue
        same = left & (there == there[y, x]) & (added == added[y, x])
        right, bottom = x, y
        while right < across and same[y, right]:
            right += 1
        while bottom < down and same[bottom, x:right].all():
            bottom += 1
        left[y:bottom, x:right] = False
        ends = min(right * TILE, shape[1]), min(bottom * TILE, shape[0])
        yield slice(y, bottom), slice(x, right), (x * TILE, y * TILE, *ends)


class FilmAreas:
    """A film to whose tiles different numbers of samples are added. `there` are the samples of the
    tiles, `seconds` the rendering time, and `work` the added samples of all pixels. `offset` is the
    number of a pixel's first sample."""

    def __init__(self, film: DeviceFilm, add: AddTo, device: Device, offset: int) -> None:
        self._device_film, self._add, self._device, self._offset = film, add, device, offset
        self.host = film.to_host()
        height, width = self.host.sums.shape[:2]
        self._shape = height, width
        self.there = self.host.pixel_counts()[::TILE, ::TILE].astype(np.int64)
        if self.host.counts is not None and not np.array_equal(self._counts(), self.host.counts):
            with prefix_errors(self.host.source):
                raise UserError(
                    f"counts: differ within tiles of {TILE}x{TILE} pixels: add to a film of a "
                    "render with a noise level, or render anew"
                )
        self.seconds = 0.0
        self.work = 0

    def estimate_work(self, added: NDArray[Any]) -> float:
        return float((added * self._pixels()).sum())

    def _pixels(self) -> Counts:
        (height, width), (down, across) = self._shape, self.there.shape
        rows = np.diff([*(TILE * np.arange(down)), height])
        columns = np.diff([*(TILE * np.arange(across)), width])
        return np.multiply.outer(rows, columns)

    def accumulate(self, added: Counts | int, progress: ProgressCall | None = None) -> float:
        """Add samples to tiles, and store the film; return the seconds of rendering."""
        added = np.broadcast_to(added, self.there.shape)
        total, begun = self.estimate_work(added), self.work

        def report(done: float) -> None:
            if progress is not None:
                progress((self.work - begun + done) / total)

        try:
            for rows, columns, crop in iterate_areas(self._shape, self.there, added):
                self._add_to(crop, int(added[rows, columns][0, 0]), rows, columns, report)
        finally:
            self._store()
        return self.seconds

    def _add_to(
        self, crop: Crop, count: int, rows: slice, columns: slice, report: ProgressCall
    ) -> None:
        film, (x0, y0, x1, y1), there = self.host, crop, self.there[rows, columns]
        part, first = film.sums[y0:y1, x0:x1], int(there[0, 0])
        piece = Film(
            np.ascontiguousarray(part), first, film.x0 + x0, film.y0 + y0, film.width, film.height,
            backdrop=film.backdrop,
        )  # fmt: skip
        work = part[..., 0].size * count
        with self._device.film(piece) as on_device:
            self.seconds += self._add(
                on_device, count, lambda done: report(work * done), first + self._offset
            )
            sums = on_device.to_host().sums
        if sums is not part:
            part[:] = sums
        there += count
        self.work += work
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


class AdaptiveSampler:
    """Adds samples to a film until its tiles have at most a noise level, or for some seconds.

    areas: of the film. samples: at least as many for each pixel, with a level. level: None adds to
    all tiles alike, in passes that at most double them. most: samples of a pixel.
    """

    def __init__(
        self, areas: FilmAreas, samples: int, level: float | None, most: int,
        seconds: float | None = None, progress: ProgressCall | None = None,
    ) -> None:  # fmt: skip
        self._areas, self._level, self._most = areas, level, most
        self._seconds, self._progress = seconds, progress
        self._fewest = np.maximum(areas.there + samples, MIN_SAMPLES)
        self._tiles: TileNoise | None = None
        self._start = time.perf_counter()
        self._fraction = 0.0

    @property
    def noise(self) -> float | None:
        """Noise of the film after the last pass; None if unknown."""
        return None if self._tiles is None else self._tiles.picture

    def run(self) -> float:
        """Add the samples, and return the seconds of rendering."""
        film = self._areas
        while (added := self._limit_to_time(self._next())).any():
            before = film.there.copy()
            is_measured = self._level is not None and before.all()
            earlier = film.host.sums.copy() if is_measured else film.host.sums
            self._pass(added)
            if is_measured:
                tiles = TileNoise.of(film.host.sums, earlier, film.there, before, TILE)
                self._tiles = tiles if self._tiles is None else self._tiles.replace_measured(tiles)
        if self._tiles is not None and self._level is not None and self._seconds is None:
            noisy = int((self._tiles.errors > self._level).sum())
            if noisy:
                warn(
                    f"the noise is {self._tiles.picture:.2g}, and above {self._level:g} in "
                    f"{noisy:,} of {film.there.size:,} tiles, after the {film.host.samples:,} "
                    "samples per pixel of max_samples: set a higher noise level or more samples"
                )
        return film.seconds

    def _next(self) -> Counts:
        there, fewest = self._areas.there, self._fewest
        if self._level is None:
            added = np.maximum(there, 1)
        elif (there < fewest).any():  # in two parts, between which the noise is measured
            return np.where(there == 0, (fewest + 1) // 2, np.maximum(fewest - there, 0))
        else:
            step = np.maximum(there // 4, 1)  # so that neighbours have the same number
            wanted = np.minimum(self._missing(self._level), there)
            added = np.ceil(wanted / step).astype(np.int64) * step
        return np.clip(added, 0, np.maximum(self._most - there, 0))

    def _missing(self, level: float) -> NDArray[np.float64]:
        """Return the estimated samples that tiles still need."""
        there = self._areas.there
        if self._tiles is None:
            return there.astype(np.float64)
        ratio = self._tiles.errors / level
        with np.errstate(over="ignore"):  # more than there may be at most
            excess = np.where(ratio > 1, there * (np.square(ratio) * RESERVE - 1), 0.0)
        wanted = np.where(ratio > 1, there, 0) // BESIDE
        beside = np.where(self._tiles.around > level, max_over_neighbors(wanted) - there, 0)
        return np.maximum(excess, beside)

    def _limit_to_time(self, added: Counts) -> Counts:
        """Return the samples for which there is time, at least one per pixel in the first pass."""
        film = self._areas
        if self._seconds is None:
            return added
        if not film.work:
            return np.minimum(added, 1)
        left = self._seconds - (time.perf_counter() - self._start)
        needed = film.estimate_work(added) * film.seconds / film.work
        share = max(left, 0.0) / max(needed, 1e-9)
        return added if share >= 1 else np.floor(added * share).astype(np.int64)

    def _pass(self, added: Counts) -> None:
        film, now, total = self._areas, self._areas.estimate_work(added), 0.0
        before = film.work
        if self._level is not None:
            total = before + film.estimate_work(np.maximum(self._missing(self._level), added))

        def report(done: float) -> None:
            if total:
                fraction = (before + done * now) / total
            else:
                fraction = (time.perf_counter() - self._start) / (self._seconds or 1.0)
            self._fraction = max(self._fraction, min(fraction, 1.0))
            if self._progress is not None:
                self._progress(self._fraction)

        film.accumulate(added, report)
