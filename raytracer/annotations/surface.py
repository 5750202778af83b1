"""The sphere and depth that several rays per pixel hit first, for outlines, fog and hidden lines.

They are computed strip by strip, to save memory.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import ceil
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.projection import Projection
from raytracer.backends.base import DeviceScene
from raytracer.film.film import Crop
from raytracer.packing.view import View
from raytracer.system.layout import kernel_constant, struct_dtype
from raytracer.system.memory import MIB

STRIP = 32 * MIB  # bytes of the first hits of a strip
FINEST, COARSEST = 4, 2  # maximum and minimum of rays per pixel and axis
EXTENT_RAYS = 256  # maximum number of rays along a side of the picture for its range of depths
SMALL = 1 << 19  # pixels of pictures with most rays; 16 times as many have one fewer

NONE = kernel_constant("kNoSphere")


@dataclass(frozen=True)
class Strip:
    """The first hits of some rows of pixels, with a margin."""

    y0: int  # rows of the whole picture, half open
    y1: int
    fine: int  # rays per pixel and axis
    id: NDArray[np.uint32]  # number of the sphere, (h, w); `NONE` without a hit
    hits: NDArray[np.void] | None  # structured, (h, w); None: depths are not asked for
    projection: Projection
    x: int  # number of the first ray in a row, counted over the whole picture
    y: int  # number of the first row of rays
    inner: tuple[slice, slice]  # the rays of the pixels, without the margin

    @cached_property
    def depth(self) -> NDArray[np.float32]:
        """Depth along the view, render space, float32 (h, w); infinity without a hit."""
        return self.depth_at(...)

    def depth_at(self, rays: Any) -> NDArray[np.float32]:
        """Return `depth` of some rays, an index."""
        assert self.hits is not None
        origin, forward = self.projection.origin, self.projection.forward
        position: NDArray[np.float32] = self.hits["position"][rays] - origin.astype(np.float32)
        return np.where(
            self.id[rays] == NONE, np.float32(np.inf), position @ forward.astype(np.float32)
        )

    def rays_at(
        self, points: NDArray[np.float64]
    ) -> tuple[NDArray[np.bool_], tuple[NDArray[np.int64], NDArray[np.int64]]]:
        """Return which points (N, 2), in pixels, are in the strip, and their rows and columns."""
        rays = np.floor(points * self.fine).astype(np.int64) - (self.x, self.y)
        rows, columns = self.id.shape
        inside = (rays >= 0).all(axis=1) & (rays[:, 0] < columns) & (rays[:, 1] < rows)
        x, y = rays[inside].T
        return inside, (y, x)

    def count_rays(self, rays: NDArray[np.bool_]) -> NDArray[np.uint8]:
        """Return how many rays of each pixel are among some, uint8 (y1 - y0, w)."""
        part, steps = rays[self.inner].view(np.uint8), range(self.fine)
        rows: Any = sum(part[i :: self.fine] for i in steps)
        return np.asarray(sum(rows[:, i :: self.fine] for i in steps))

    def pixels(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Return the means over the rays of each pixel, float32 (y1 - y0, w)."""
        part = values[self.inner]
        rows, columns = part.shape[0] // self.fine, part.shape[1] // self.fine
        blocks = part.reshape(rows, self.fine, columns, self.fine)
        return np.asarray(blocks.mean(axis=(1, 3), dtype=np.float32))


def rays_per_axis(width: int, height: int) -> int:
    """Return the number of rays per pixel and axis; large pictures get fewer."""
    pixels = width * height
    return max(FINEST - (pixels > SMALL) - (pixels > 16 * SMALL), COARSEST)


def trace_strips(
    scene: DeviceScene, view: View, projection: Projection, crop: Crop, fine: int, margin: float,
    has_depth: bool = True,
) -> Iterator[Strip]:  # fmt: skip
    """Yield the first hits of a crop of a picture, from top to bottom: `fine` rays per pixel and
    axis, with a margin in pixels; without depths rays take two thirds of the time."""
    x0, y0, x1, y1 = crop
    width, height = view.width * fine, view.height * fine
    fine_view = view.with_size(width, height)
    wide = ceil(margin * fine)
    left, right = max(x0 * fine - wide, 0), min(x1 * fine + wide, width)
    rows = max(STRIP // (struct_dtype("FirstHit").itemsize * fine * fine * max(x1 - x0, 1)), 1)
    for top in range(y0, y1, rows):
        bottom = min(top + rows, y1)
        above, below = max(top * fine - wide, 0), min(bottom * fine + wide, height)
        part = fine_view.with_crop((left, above, right, below))
        hits = scene.trace_first_hits(part) if has_depth else None
        numbers = scene.trace_first_ids(part) if hits is None else np.ascontiguousarray(hits["id"])
        inner = (
            slice(top * fine - above, bottom * fine - above),
            slice(x0 * fine - left, x1 * fine - left),
        )
        yield Strip(top, bottom, fine, numbers, hits, projection, left, above, inner)


def find_depth_range(scene: DeviceScene, view: View, projection: Projection) -> tuple[float, float]:
    """Return the minimum and maximum depth in the picture, render space; 0 and 1 if it is empty."""
    factor = min(EXTENT_RAYS / max(view.size), 1.0)
    width, height = (max(round(length * factor), 1) for length in view.size)
    small = view.with_size(width, height)
    near, far = np.inf, -np.inf
    for strip in trace_strips(scene, small, projection, small.crop, 1, 0.0):
        depths = strip.depth[np.isfinite(strip.depth)]
        if len(depths):
            near, far = min(near, float(depths.min())), max(far, float(depths.max()))
    return (near, far) if near <= far else (0.0, 1.0)
