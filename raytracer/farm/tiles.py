"""One picture by a crew of workers: tiles of it, each with all of its samples.

A worker takes the packed scene once and builds its tree. The samples of a pixel are added by one
worker in their order, to the sums that are there already, so that the film has the bytes of one
process.
"""

from __future__ import annotations

import hashlib
import os
import socket
import time
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil, isqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.select import select
from raytracer.errors import RaytracerError
from raytracer.farm.crew import Crew, in_order
from raytracer.farm.shared import Shared, opened
from raytracer.film.film import Film

if TYPE_CHECKING:
    from raytracer.backends.base import Device, DeviceFilm, DeviceScene, ProgressCall
    from raytracer.buffers import SceneBuffers
    from raytracer.film.film import Crop
    from raytracer.view import View

A_WORKER = 8
"""Tiles for each worker: enough that all end at about the same time."""

SHORTEST, LONGEST = 64, 1024
"""Sides of a tile in pixels."""

ALIGNED = 16
"""Sides of tiles are multiples of this."""

Sums = NDArray[np.float32]


@dataclass(frozen=True, eq=False)
class TileOrder:
    """What a worker needs to render any tile.

    Args:
        buffers: the packed scene.
        view: of the whole picture.
        backend: by name.
        threads: on the CPU; 0 takes those of the worker.
    """

    buffers: SceneBuffers
    view: View
    backend: str
    threads: int


class Part(NamedTuple):
    """A tile, and the samples to add to it.

    Args:
        crop: x0, y0, x1, y1 in pixels, half open.
        first: number of the first sample.
        samples: per pixel.
        sums: those of samples before, float32 (h, w, 4), or None.
    """

    crop: Crop
    first: int
    samples: int
    sums: Sums | None


class Exposed(NamedTuple):
    """A tile with its samples.

    Args:
        sums: float32 (h, w, 4).
        digest: of their bytes.
        device: description of what rendered it.
        seconds: of rendering; on CUDA between device events.
        worker: tells workers apart.
    """

    sums: Sums
    digest: str
    device: dict[str, Any]
    seconds: float
    worker: str


class TileWorker:
    """What a worker makes of an order.

    Raises:
        UserError: there is no such device, or it cannot hold the scene.
    """

    def __init__(self, order: TileOrder) -> None:
        self.order = order
        self.name = f"{socket.gethostname()} {os.getpid()}"
        self.device: Device = select(order.backend, order.threads)
        tree = self.device.build(order.buffers)
        self.scene: DeviceScene = self.device.scene(order.buffers, tree)

    def expose(self, part: Part) -> Exposed:
        """Add samples to a tile."""
        view = self.order.view
        film = Film.blank(view.width, view.height, part.crop)
        if part.sums is not None:
            film.sums[:] = part.sums
            film.samples = part.first
        with self.device.film(film) as on_device:
            seconds = on_device.add(self.scene, view, part.samples, first=part.first)
            sums = on_device.to_host().sums
        about = {"name": self.device.name} | self.device.describe()
        return Exposed(sums, digest_of(sums), about, seconds, self.name)

    def close(self) -> None:
        """Release the device's memory."""
        self.scene.close()


def expose_tile(shared: Shared, part: Part) -> Exposed:
    """Add samples to a tile; the call that a worker makes."""
    with opened(shared, TileWorker) as worker:
        result: Exposed = worker.expose(part)
    return result


def digest_of(sums: Sums) -> str:
    """Return the digest of sums, hexadecimal."""
    return hashlib.blake2b(np.ascontiguousarray(sums).tobytes(), digest_size=16).hexdigest()


def tiles(crop: Crop, workers: int) -> Iterator[Crop]:
    """Yield the tiles of a rectangle, row by row.

    Args:
        crop: x0, y0, x1, y1 in pixels, half open.
        workers: how many share them.
    """
    x0, y0, x1, y1 = crop
    side = isqrt((x1 - x0) * (y1 - y0) // (A_WORKER * workers))
    side = min(max(ceil(side / ALIGNED) * ALIGNED, SHORTEST), LONGEST)
    for y in range(y0, y1, side):
        for x in range(x0, x1, side):
            yield x, y, min(x + side, x1), min(y + side, y1)


class TileCrew:
    """Adds samples to films by a crew.

    Args:
        crew: the workers.
        order: the scene and the view.

    Attributes:
        devices: descriptions of what has rendered, each once.
        seconds: of rendering by each worker, in all.
    """

    def __init__(self, crew: Crew, order: TileOrder) -> None:
        self._crew, self._view = crew, order.view
        self._shared = crew.share(Shared.of(order))
        self.devices: list[dict[str, Any]] = []
        self.seconds: dict[str, float] = {}

    def about(self) -> dict[str, Any]:
        """Return the number of workers and their devices, for the metadata of pictures."""
        return {"count": self._crew.size, "devices": self.devices}

    def add(
        self, film: DeviceFilm, count: int, progress: ProgressCall | None, first: int | None
    ) -> float:
        """Add samples to a film; arguments and result are those of `DeviceFilm.add`.

        Raises:
            RaytracerError: a tile has changed on its way, or could not be rendered.
        """
        start = time.perf_counter()
        host = film.to_host()
        begun = host.samples > 0
        first = host.samples if first is None else first
        crops = list(tiles(host.crop, self._crew.size))
        sums = host.sums.copy()

        def part_of(crop: Crop) -> Sums:
            x0, y0, x1, y1 = crop
            return sums[y0 - host.y0 : y1 - host.y0, x0 - host.x0 : x1 - host.x0]

        calls = (
            (self._shared, Part(crop, first, count, part_of(crop).copy() if begun else None))
            for crop in crops
        )
        results = in_order(self._crew, expose_tile, calls)
        for done, (crop, tile) in enumerate(zip(crops, results, strict=True), 1):
            if digest_of(tile.sums) != tile.digest:
                raise RaytracerError(
                    f"workers: the tile {crop} has changed on its way from the worker: render again"
                )
            part_of(crop)[:] = tile.sums
            self.seconds[tile.worker] = self.seconds.get(tile.worker, 0.0) + tile.seconds
            if tile.device not in self.devices:
                self.devices.append(tile.device)
            if progress is not None:
                progress(done / len(crops))
        film.restore(sums)
        host.samples += count
        host.backdrop = self._view.backdrop
        return time.perf_counter() - start
