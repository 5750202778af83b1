"""From a backend's picture to the canvas: on the device, or by way of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from raytracer.errors import RaytracerError
from raytracer.viewer.canvas import Canvas, PixelBuffer

if TYPE_CHECKING:
    from raytracer.backends.base import Backend


class Presenter(Protocol):
    """Brings pictures to a canvas; the window's context must be current.

    On CUDA its methods are called by who holds the backend's `turn`.
    """

    label: str

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Bring a picture to the canvas; it may be painted over afterwards."""

    def close(self) -> None:
        """Give everything back."""


class Upload:
    """Pictures of the CPU."""

    label = "texture upload"

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Upload it."""
        canvas.fill(picture.pixels)

    def close(self) -> None:
        """Nothing to do."""


class ThroughInterop:
    """Pictures of CUDA, copied on the device into a pixel-buffer object."""

    label = "CUDA-OpenGL interop"

    def __init__(self, nbytes: int) -> None:
        """Try whether it can be done; raises ImportError or BackendError.

        nbytes: of the first pictures.
        """
        self._buffer: PixelBuffer | None = None
        self._interop: Any = None
        self._take(nbytes)

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Copy it within the device."""
        if self._buffer is None or self._buffer.nbytes < picture.nbytes:
            self._take(picture.nbytes)
        assert self._buffer is not None
        self._interop.copy(picture)
        canvas.fill_from(self._buffer.name, picture.size)

    def _take(self, nbytes: int) -> None:
        from raytracer.backends.cuda.pictures import Interop

        self.close()
        self._buffer = PixelBuffer(nbytes)
        self._interop = Interop(self._buffer.name)

    def close(self) -> None:
        """Take the registration back, then delete the buffer."""
        if self._interop is not None:
            self._interop.close()
        if self._buffer is not None:
            self._buffer.close()
        self._interop = self._buffer = None


class ThroughHost:
    """Pictures of CUDA, by way of page-locked memory."""

    def __init__(self, reason: str) -> None:
        """reason: why there is no interop."""
        from raytracer.backends.cuda.pictures import PageLocked

        self.label = f"page-locked memory ({reason})"
        self._memory = PageLocked()

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Fetch and upload it."""
        canvas.fill(self._memory.fetch(picture))

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()


def presenter(backend: Backend, size: tuple[int, int], interop: bool = True) -> Presenter:
    """The best way that works here.

    size: of the window in pixels. interop: False goes by way of the host on CUDA.
    """
    if backend.name != "cuda":
        return Upload()
    if not interop:
        return ThroughHost("interop is turned off")
    try:
        return ThroughInterop(4 * size[0] * size[1])
    except ImportError:
        return ThroughHost("PyCUDA was built without OpenGL")
    except RaytracerError:
        return ThroughHost("no interop: the driver refuses this window's OpenGL")
