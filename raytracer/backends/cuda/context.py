"""The device's primary context, which PyTorch, CuPy and the CUDA runtime use as well.

One is retained for each device and kept for the life of the process: PyCUDA leaves a released
primary context on the driver's stack, and retaining it again costs a quarter of a second.
"""

import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import cache, cached_property
from threading import RLock
from typing import Any

from raytracer.backends.cuda import driver as binding
from raytracer.backends.cuda.check import translated
from raytracer.backends.cuda.compile import architecture


class PrimaryContext:
    """The primary context of one device; everything that talks to the device runs in `active`."""

    def __init__(self, ordinal: int) -> None:
        """Retain the context of the device with that number. Raises BackendError."""
        self.driver = binding.load()
        # Held while kernels are launched and waited for: constant memory belongs to one render.
        self.lock = RLock()
        with translated(self.driver):
            self.device = self.driver.Device(ordinal)
            self._context = self.device.retain_primary_context()
        # At the end of the process: PyCUDA's own destructor would detach the context instead of
        # releasing it, which the driver refuses for a primary one.
        weakref.finalize(self, self._context.detach)

    @cached_property
    def arch(self) -> str:
        """The architecture that kernels are compiled for."""
        return architecture(self.device.compute_capability())

    @cached_property
    def multiprocessors(self) -> int:
        attribute = self.driver.device_attribute.MULTIPROCESSOR_COUNT
        return int(self.device.get_attribute(attribute))

    @contextmanager
    def active(self) -> Iterator[Any]:
        """Make the context current for this thread, and put back what was; gives the binding.
        Exceptions of the driver leave it as BackendError or MemoryNeedError."""
        with translated(self.driver):
            self._context.push()
            try:
                yield self.driver
            finally:
                self._context.pop()

    def memory(self) -> tuple[int, int]:
        """Bytes of device memory that are free, and all there are."""
        with self.active() as driver:
            free, total = driver.mem_get_info()
        return int(free), int(total)


@cache
def primary_context(ordinal: int) -> PrimaryContext:
    """Return the context of a device by its number, one for all callers."""
    return PrimaryContext(ordinal)


@cache
def connect(ordinal: int, other: int) -> None:
    """Let a device copy from the memory of another one without the host, if the hardware can."""
    if ordinal == other:
        return
    context, peer = primary_context(ordinal), primary_context(other)
    with context.active() as driver, suppress(driver.Error):  # or another library has done it
        context._context.enable_peer_access(peer._context)
