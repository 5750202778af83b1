"""Bands of a picture that one GPU renders side by side, of which others render the rest.

A launch ends when its last warps end; by then most of the GPU waits. With a launch for each tile
that wait comes as often. The bands of a part are therefore launched on several streams, and the
wait comes once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda import launch
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.kernel import RenderKernel
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.scene import CudaScene, picture_of
from raytracer.backends.cuda.transfer import staging
from raytracer.view import View

PIXEL_BYTES = 16
"""Bytes of the sums of a pixel."""


class CudaBands:
    """Sums of some rows of a picture, in memory that is used again for the next ones."""

    def __init__(self, number: int) -> None:
        self._number = number
        self._context = primary_context(number)
        self._memory = DeviceMemory(self._context)

    def expose(
        self,
        scene: CudaScene,
        view: View,
        bands: Sequence[tuple[int, int]],
        before: Sequence[NDArray[np.float32]] | None = None,
    ) -> tuple[float, list[NDArray[np.float32]]]:
        """Add the samples of a view to some rows of it.

        Args:
            scene: of the same device.
            view: with crop, first sample and number of samples.
            bands: rows from the upper edge of the crop, half open; their ends are multiples of 4,
                or the lower edge.
            before: sums of the samples before, float32 (rows, width, 4) for each band; None: zero.

        Returns:
            Seconds between device events; the sums of each band.
        """
        scene.check(view)
        kernel = scene.kernel(view)
        x0, y0, x1, y1 = view.crop
        row = (x1 - x0) * PIXEL_BYTES
        after = [np.empty((end - begin, x1 - x0, 4), np.float32) for begin, end in bands]
        with self._context.lock, self._context.active():
            scene.fill(kernel, view)
            copies = staging(self._number)
            sums = self._memory.allocate("sums", (y1 - y0) * row)
            if before is None:
                words = (y1 - y0) * row // 4
                self._context.driver.memset_d32_async(sums, 0, words, copies.stream)
            else:
                for (begin, _), band in zip(bands, before, strict=True):
                    copies.to_device(np.ascontiguousarray(band), sums + begin * row)
            seconds = self._launch(kernel, scene, view, bands, sums)
            for (begin, _), band in zip(bands, after, strict=True):
                copies.to_host(sums + begin * row, band)
        return seconds, after

    def _launch(
        self, kernel: RenderKernel, scene: CudaScene, view: View,
        bands: Sequence[tuple[int, int]], sums: int,
    ) -> float:  # fmt: skip
        """Run all launches, group by group, and return their seconds."""
        picture = picture_of(view)
        arguments = scene.arguments(view, picture, sums)
        seconds = 0.0
        for group in launch.side_by_side(picture, bands, scene.pacer):
            launches = [[(piece.arguments(arguments), piece) for piece in band] for band in group]
            taken = kernel.launch_together(launches)
            work = sum(piece.tiles * piece.sample_count for band in group for piece in band)
            scene.pacer.record(work * picture.tile_pixels // launch.GROUP, taken / launch.GROUP)
            seconds += taken
        return seconds

    def close(self) -> None:
        self._memory.close()
