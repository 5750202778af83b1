"""Copies of pictures in host memory, for front ends without a window."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.base import Device


class Copier:
    def __init__(self, device: Device) -> None:
        self._device = device
        self._memory: Any = None

    def copied(self, picture: Any) -> NDArray[np.uint8]:
        """Return a copy of a device's picture, uint8 (h, w, 4)."""
        pixels: NDArray[np.uint8]
        if not self._device.shares_display:
            pixels = picture.pixels.copy()
            return pixels
        with self._device.turn():
            if self._memory is None:
                from raytracer.backends.cuda.pictures import PageLocked

                self._memory = PageLocked(self._device.number)
            pixels = self._memory.fetch(picture).copy()
        return pixels

    def close(self) -> None:
        if self._memory is not None:
            self._memory.close()
            self._memory = None
