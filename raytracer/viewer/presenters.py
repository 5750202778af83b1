"""Presenters: copy a picture of a device to the canvas, on the GPU or through the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from raytracer.errors import RaytracerError

if TYPE_CHECKING:
    from raytracer.backends.base import Device
    from raytracer.viewer.canvas import Canvas


class Presenter(Protocol):
    """Copies pictures to a canvas; the window's context must be current.

    On CUDA the caller must hold the `turn` of the device.
    """

    @property
    def label(self) -> str:
        """How pictures reach the window, for people."""

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Copy a picture to the canvas; the picture may be overwritten afterwards.

        Raises:
            BackendError: the GPU is lost.
            DisplayError: OpenGL has no room for the picture.
        """

    def close(self) -> None:
        """Free all resources."""


class Upload:
    """Uploads pictures of the CPU."""

    label = "texture upload"

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Upload a picture."""
        canvas.fill(picture.pixels)

    def close(self) -> None:
        """Nothing to do."""


class ThroughInterop:
    """Copies pictures of CUDA into the texture of the canvas, on the device.

    Args:
        canvas: the canvas.
        size: of the window in pixels.
        number: of the GPU, as CUDA counts.

    Raises:
        ImportError: cuda-bindings is missing.
        BackendError: the driver refuses the texture.
    """

    label = "CUDA-OpenGL interop"

    def __init__(self, canvas: Canvas, size: tuple[int, int], number: int = 0) -> None:
        self._interop: Any = None
        self._number = number
        self._size = (0, 0)
        self._register(canvas, size)

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Copy a picture on the device."""
        if self._size != picture.size:
            self._register(canvas, picture.size)
        self._interop.copy(picture)

    def _register(self, canvas: Canvas, size: tuple[int, int]) -> None:
        from raytracer.backends.cuda.pictures import Interop

        self.close()
        canvas.allocate(size)
        self._interop, self._size = Interop(canvas.texture, self._number), size

    def close(self) -> None:
        """Unregister the texture."""
        if self._interop is not None:
            self._interop.close()
        self._interop, self._size = None, (0, 0)


class ThroughHost:
    """Copies pictures of CUDA through page-locked memory of the host.

    Args:
        reason: why interop is not used.
        number: of the GPU, as CUDA counts.
    """

    def __init__(self, reason: str, number: int = 0) -> None:
        from raytracer.backends.cuda.pictures import PageLocked

        self.label = f"page-locked memory ({reason})"
        self._memory = PageLocked(number)

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Download and upload a picture."""
        canvas.fill(self._memory.fetch(picture))

    def close(self) -> None:
        """Free the memory."""
        self._memory.close()


class InteropOrHost:
    """Interop until its first failure, then through the host.

    Args and errors as for `ThroughInterop`.
    """

    def __init__(self, canvas: Canvas, size: tuple[int, int], number: int = 0) -> None:
        self._number = number
        self._way: Presenter = ThroughInterop(canvas, size, number)
        self._failed = False

    @property
    def label(self) -> str:
        """Of the current way."""
        return self._way.label

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Copy a picture; raises the errors of the copy through the host."""
        try:
            self._way.present(picture, canvas)
        except RaytracerError as error:
            if self._failed:
                raise
            self._failed = True
            self._way.close()
            reason = f"interop failed: {str(error).partition(';')[0]}"
            self._way = ThroughHost(reason, self._number)
            self._way.present(picture, canvas)

    def close(self) -> None:
        """Free all resources."""
        self._way.close()


def presenter(
    device: Device, canvas: Canvas, size: tuple[int, int], interop: bool = True
) -> Presenter:
    """Return the fastest presenter that works here.

    Args:
        device: of the pictures.
        canvas: of the window.
        size: of the window in pixels.
        interop: False copies pictures of CUDA through the host.
    """
    if not device.shares_display:
        return Upload()
    number = device.number
    if not interop:
        return ThroughHost("interop is turned off", number)
    try:
        return InteropOrHost(canvas, size, number)
    except ImportError:
        return ThroughHost("cuda-bindings is not installed", number)
    except RaytracerError:
        return ThroughHost("no interop: the driver refuses this window's OpenGL", number)
