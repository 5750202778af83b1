"""Presenter: copies a picture of a device to the canvas, on the GPU or through the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.backends.base import Device
from raytracer.config.errors import RaytracerError

if TYPE_CHECKING:
    from raytracer.viewer.canvas import Canvas  # which needs a display


class Presenter:
    """Copies pictures to a canvas; the window's context must be current.

    CUDA pictures use OpenGL interop until its first failure, then page-locked host memory; the
    caller must hold the `turn` of the device. `interop` False always uses the host.
    """

    def __init__(self, device: Device, canvas: Canvas, interop: bool = True) -> None:
        self.label = "texture upload"  # for display
        self._device, self._canvas, self._size = device, canvas, (0, 0)
        self._interop: Any = None
        self._fails = "" if interop else "interop is turned off"  # why, or ""

    def present(self, picture: Any) -> None:
        """Copy a picture to the canvas. Raises BackendError if the GPU is lost."""
        if not self._device.has_own_memory:
            self._canvas.fill(picture.pixels)
            return
        if not self._fails:
            try:
                self._copy(picture)
                return
            except ImportError:
                self._fails = "cuda-bindings is not installed"
            except RaytracerError as error:
                self._fails = f"interop failed: {str(error).partition(';')[0]}"
            self.close()
        self.label = f"page-locked memory ({self._fails})"
        self._canvas.fill(picture.to_host())

    def _copy(self, picture: Any) -> None:
        from raytracer.backends.cuda.pictures import Interop

        if self._size != picture.size:
            self.close()
            self._canvas.allocate(picture.size)
            self._interop = Interop(self._canvas.texture, self._device.number)
            self._size, self.label = picture.size, "CUDA-OpenGL interop"
        self._interop.copy(picture)

    def close(self) -> None:
        if self._interop is not None:
            self._interop.close()
        self._interop = None
