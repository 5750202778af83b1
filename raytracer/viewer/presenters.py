"""From a device's picture to the canvas: on the device, or by way of the host."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

from raytracer.errors import RaytracerError

if TYPE_CHECKING:
    from raytracer.backends.base import Device
    from raytracer.viewer.canvas import Canvas


class Presenter(Protocol):
    """Brings pictures to a canvas; the window's context must be current.

    On CUDA its methods are called by who holds the device's `turn`.
    """

    @property
    def label(self) -> str:
        """How pictures come to the window, for people."""

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Bring a picture to the canvas; it may be painted over afterwards.

        Raises BackendError if the GPU is lost, DisplayError where the canvas cannot take it.
        """

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
    """Pictures of CUDA, copied on the device into the canvas's texture."""

    label = "CUDA-OpenGL interop"

    def __init__(self, canvas: Canvas, size: tuple[int, int], number: int = 0) -> None:
        """Try whether it can be done; raises ImportError or BackendError.

        number: of the device that the pictures are on, as CUDA counts.
        """
        self._interop: Any = None
        self._number = number
        self._size = (0, 0)
        self._register(canvas, size)

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Copy it within the device."""
        if self._size != picture.size:
            self._register(canvas, picture.size)
        self._interop.copy(picture)

    def _register(self, canvas: Canvas, size: tuple[int, int]) -> None:
        from raytracer.backends.cuda.pictures import Interop

        self.close()
        canvas.allocate(size)
        self._interop, self._size = Interop(canvas.texture, self._number), size

    def close(self) -> None:
        """Take the registration back."""
        if self._interop is not None:
            self._interop.close()
        self._interop, self._size = None, (0, 0)


class ThroughHost:
    """Pictures of CUDA, by way of page-locked memory."""

    def __init__(self, reason: str, number: int = 0) -> None:
        """reason: why there is no interop. number: of the device, as CUDA counts."""
        from raytracer.backends.cuda.pictures import PageLocked

        self.label = f"page-locked memory ({reason})"
        self._memory = PageLocked(number)

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Fetch and upload it."""
        canvas.fill(self._memory.fetch(picture))

    def close(self) -> None:
        """Give the memory back."""
        self._memory.close()


class InteropOrHost:
    """Interop as long as it works, and by way of the host from its first failure on."""

    def __init__(self, canvas: Canvas, size: tuple[int, int], number: int = 0) -> None:
        """Try interop; raises ImportError or BackendError. number: of the device."""
        self._number = number
        self._way: Presenter = ThroughInterop(canvas, size, number)
        self._failed = False

    @property
    def label(self) -> str:
        """Of the way that is taken now."""
        return self._way.label

    def present(self, picture: Any, canvas: Canvas) -> None:
        """Copy the picture; raises what the way by the host raises."""
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
        """Give everything back."""
        self._way.close()


def presenter(
    device: Device, canvas: Canvas, size: tuple[int, int], interop: bool = True
) -> Presenter:
    """The best way that works here.

    size: of the window in pixels. interop: False goes by way of the host on CUDA.
    """
    if not device.shares_display:
        return Upload()
    number = device.number
    if not interop:
        return ThroughHost("interop is turned off", number)
    try:
        return InteropOrHost(canvas, size, number)
    except ImportError:
        return ThroughHost("PyCUDA was built without OpenGL", number)
    except RaytracerError:
        return ThroughHost("no interop: the driver refuses this window's OpenGL", number)
