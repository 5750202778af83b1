"""Renders one picture with several workers, each of which adds all samples of some parts.

A worker receives the packed scene once and builds its tree. One worker adds all samples of a pixel
in order, so the film is the same to the last bit as from one process.

CPU workers get small tiles. GPU workers get one part each, because the end of every part leaves
most of a GPU idle for a while; a part has bands from all over the picture, so that all parts take
equally long.
"""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import Device, DeviceFilm, DeviceScene, ProgressCall
from raytracer.backends.group import divided
from raytracer.backends.select import select
from raytracer.buffers import SceneBuffers
from raytracer.farm.crew import Crew, in_order
from raytracer.farm.shared import Shared, opened
from raytracer.film.film import Crop, Film
from raytracer.view import View

if TYPE_CHECKING:
    from raytracer.motion_blur import MotionBlur

TILES_PER_WORKER = 8  # tiles for each worker: enough that all end at about the same time
MIN_SIDE, MAX_SIDE = 64, 1024  # sides of a tile in pixels
ALIGNED = 16  # sides of tiles are multiples of this

Sums = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TileOrder:
    buffers: SceneBuffers
    view: View  # of the whole picture
    backend: str
    threads: int  # on the CPU; 0 takes those of the worker
    bands: bool = False  # whether parts are bands, for GPUs, and not tiles
    blur: MotionBlur | None = None  # if the scene moves while the shutter is open


class Part(NamedTuple):
    """A tile, or bands of the same columns from top to bottom, and the samples to add.

    Args:
        crops: x0, y0, x1, y1 of each in pixels, half open.
        first: number of the first sample.
        samples: per pixel.
        sums: of earlier samples, float32 (h, w, 4) for each, or None.
    """

    crops: tuple[Crop, ...]
    first: int
    samples: int
    sums: list[Sums] | None


class Exposed(NamedTuple):
    """A part with its samples."""

    sums: list[Sums]  # float32 (h, w, 4) for each of its rectangles
    device: dict[str, Any]  # description of what rendered it
    seconds: float  # of rendering; on CUDA between device events
    worker: str  # tells workers apart


class TileWorker:
    """The device and scene that a worker makes of an order.

    Raises:
        UserError: there is no such device, or the scene does not fit.
    """

    def __init__(self, order: TileOrder) -> None:
        self.order = order
        self.name = f"{socket.gethostname()} {os.getpid()}"
        self.device: Device = select(order.backend, order.threads)
        tree = self.device.build(order.buffers)
        self.scene: DeviceScene = self.device.scene(order.buffers, tree)

    def expose(self, part: Part) -> Exposed:
        view, crops = self.order.view, part.crops
        x0, _, x1, _ = crops[0]
        y0 = min(top for _, top, _, _ in crops)
        crop = x0, y0, x1, max(bottom for _, _, _, bottom in crops)
        bands = [(top - y0, bottom - y0) for _, top, _, bottom in crops]
        film = Film.blank(view.width, view.height, crop)
        with self.device.film(film) as on_device:
            if part.sums is not None:
                for (begin, end), sums in zip(bands, part.sums, strict=True):
                    film.sums[begin:end] = sums
                on_device.restore(film.sums)
            rows = bands if len(bands) > 1 else None
            if self.order.blur is None:
                seconds = on_device.add(
                    self.scene, view, part.samples, first=part.first, bands=rows
                )
            else:
                seconds = self.order.blur.add(
                    on_device, self.device, self.scene, view, part.samples, first=part.first,
                    bands=rows,
                )  # fmt: skip
            on_device.to_host(bands)
        about = {"name": self.device.name} | self.device.describe()
        return Exposed([film.sums[begin:end] for begin, end in bands], about, seconds, self.name)

    def close(self) -> None:
        self.scene.close()


def expose_part(shared: Shared, part: Part) -> Exposed:
    """Add samples to a part, on a worker."""
    with opened(shared, TileWorker) as worker:
        result: Exposed = worker.expose(part)
    return result


def tiles(crop: Crop, workers: int) -> Iterator[Crop]:
    """Yield the tiles of a rectangle for this number of workers, row by row."""
    x0, y0, x1, y1 = crop
    side = isqrt((x1 - x0) * (y1 - y0) // (TILES_PER_WORKER * workers))
    side = min(max(ceil(side / ALIGNED) * ALIGNED, MIN_SIDE), MAX_SIDE)
    for y in range(y0, y1, side):
        for x in range(x0, x1, side):
            yield x, y, min(x + side, x1), min(y + side, y1)


def spread_bands(crop: Crop, workers: int) -> list[tuple[Crop, ...]]:
    """Return the bands of a rectangle for each GPU: of its whole width, from all over it.

    With fewer bands than workers, some workers get none.
    """
    x0, y0, x1, y1 = crop
    shares = divided(y1 - y0, workers)
    return [tuple((x0, y0 + top, x1, y0 + bottom) for top, bottom in share) for share in shares]


class TileCrew:
    """Adds samples to films by a crew.

    Args:
        crew: the workers.
        order: the scene and the view.
    Attributes:
        devices: descriptions of all devices that have rendered.
        seconds: total rendering time of each worker.
    """

    def __init__(self, crew: Crew, order: TileOrder) -> None:
        self._crew, self._view, self._bands = crew, order.view, order.bands
        self._shared = crew.share(Shared.of(order))
        self.devices: list[dict[str, Any]] = []
        self.seconds: dict[str, float] = {}

    def about(self) -> dict[str, Any]:
        """Return the number of workers and their devices, for the metadata of pictures."""
        return {"count": self._crew.size, "devices": self.devices}

    def add(
        self, film: DeviceFilm, count: int, progress: ProgressCall | None, first: int | None
    ) -> float:
        """Add samples to a film; arguments and result as for `DeviceFilm.add`.

        Raises:
            RaytracerError: a tile could not be rendered.
        """
        start = time.perf_counter()
        host = film.to_host()
        begun = host.samples > 0
        first = host.samples if first is None else first
        if self._bands:
            parts = spread_bands(host.crop, self._crew.size)
        else:
            parts = [(tile,) for tile in tiles(host.crop, self._crew.size)]
        sums = host.sums.copy()

        def part_of(crop: Crop) -> Sums:
            x0, y0, x1, y1 = crop
            return sums[y0 - host.y0 : y1 - host.y0, x0 - host.x0 : x1 - host.x0]

        def before(crops: tuple[Crop, ...]) -> list[Sums] | None:
            return [part_of(crop).copy() for crop in crops] if begun else None

        calls = ((self._shared, Part(crops, first, count, before(crops))) for crops in parts)
        results = in_order(self._crew, expose_part, calls)
        done = 0
        for crops, exposed in zip(parts, results, strict=True):
            for crop, values in zip(crops, exposed.sums, strict=True):
                part_of(crop)[:] = values
                done += values.shape[0] * values.shape[1]
            time_before = self.seconds.get(exposed.worker, 0.0)
            self.seconds[exposed.worker] = time_before + exposed.seconds
            if exposed.device not in self.devices:
                self.devices.append(exposed.device)
            if progress is not None:
                progress(done / (sums.shape[0] * sums.shape[1]))
        film.restore(sums)
        host.samples += count
        host.backdrop = self._view.backdrop
        return time.perf_counter() - start
