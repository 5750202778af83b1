"""Presenter: copies a picture of a device to the canvas, on the GPU or through the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer.backends.base import Device
from raytracer.errors import RaytracerError

if TYPE_CHECKING:
    from raytracer.viewer.canvas import Canvas  # which needs a display


class Presenter:
    """Copies pictures to a canvas; the window's context must be current.

    CUDA pictures use OpenGL interop until its first failure, then page-locked host memory; the
    caller must hold the `turn` of the device. `interop` False always uses the host.
    """

    def __init__(
        self, device: Device, canvas: Canvas, size: tuple[int, int], interop: bool = True
    ) -> None:
        self.label = "texture upload"  # for display
        self._device, self._size = device, (0, 0)
        self._interop: Any = None
        if device.shares_display and interop:
            self._try(self._register, canvas, size)
        elif device.shares_display:
            self._go_through_host("interop is turned off")

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Copy a picture to the canvas; the picture may be overwritten afterwards.

        Raises:
            BackendError: the GPU is lost.
        """
        if self._interop is not None and self._size != picture.size:
            self._try(self._register, canvas, picture.size)
        if self._interop is not None:
            self._try(self._interop.copy, picture)
        if self._interop is None:
            canvas.fill(picture.to_host() if self._device.shares_display else picture.pixels)

    def _register(self, canvas: Canvas, size: tuple[int, int]) -> None:
        from raytracer.backends.cuda.pictures import Interop

        self.close()
        canvas.allocate(size)
        self._interop, self._size = Interop(canvas.texture, self._device.number), size
        self.label = "CUDA-OpenGL interop"

    def _try(self, function: Any, *values: Any) -> None:
        try:
            function(*values)
        except ImportError:
            self._go_through_host("cuda-bindings is not installed")
        except RaytracerError as error:
            self._go_through_host(f"interop failed: {str(error).partition(';')[0]}")

    def _go_through_host(self, reason: str) -> None:
        self.close()
        self.label = f"page-locked memory ({reason})"

    def close(self) -> None:
        if self._interop is not None:
            self._interop.close()
        self._interop = None
