"""Copies between NumPy arrays and device memory, through two page-locked buffers in turn.

The bus reads page-locked memory at full speed and while the host fills the other buffer. Locking
the user's own arrays would take longer than the copy. Arrays that are made here (`fetch`) are
page-locked themselves, because their memory is used again.
"""

from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from raytracer.backends.cuda.context import PrimaryContext, primary_context
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.page_locked import PageLockedPool
from raytracer.device_array import DeviceArray

CHUNK = 2 << 20  # bytes: a tenth of a millisecond on the bus, far above the cost of a call
PART = 1 << 30  # bytes of a copy within device memory
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: does not wait for others' work on the default stream


class Staging:
    """A stream and the page-locked buffers for its copies; the context must be active."""

    def __init__(self, context: PrimaryContext) -> None:
        self._driver, self._pool = context.driver, PageLockedPool(context)
        with context.active() as driver:
            self.stream = driver.Stream(NON_BLOCKING)
            self._slots = [
                (driver.pagelocked_empty(CHUNK, np.uint8), driver.Event()) for _ in range(2)
            ]

    def to_device(self, array: NDArray[Any], address: int) -> None:
        """Queue a copy of a contiguous array to device memory; the array may be changed at once."""
        source = as_bytes(array)
        for index, start in enumerate(range(0, source.size, CHUNK)):
            part = source[start : start + CHUNK]
            host, event = self._slots[index % 2]
            event.synchronize()  # the copy that used this buffer last must have left it
            host[: part.size] = part
            self._driver.memcpy_htod_async(address + start, host[: part.size], self.stream)
            event.record(self.stream)

    def to_host(self, address: int, array: NDArray[Any]) -> None:
        """Copy device memory into an array, and wait for it; arguments as for `to_device`."""
        target = as_bytes(array)
        arriving: tuple[Any, Any, NDArray[np.uint8]] | None = None
        for index, start in enumerate(range(0, target.size, CHUNK)):
            part = target[start : start + CHUNK]
            host, event = self._slots[index % 2]
            self._driver.memcpy_dtoh_async(host[: part.size], address + start, self.stream)
            event.record(self.stream)
            if arriving is not None:
                _drain(*arriving)
            arriving = host, event, part
        if arriving is not None:
            _drain(*arriving)

    def fetch(self, address: int, shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
        """Return a copy of device memory, page-locked where `PageLockedPool` has room, and wait for
        it. The lock of the context is held."""
        size = prod(shape) * np.dtype(dtype).itemsize
        array = self._pool.empty(size)
        if array is None:
            array = np.empty(size, np.uint8)
            self.to_host(address, array)
        else:
            self._driver.memcpy_dtoh_async(array, address, self.stream)
            self.stream.synchronize()
        return array.view(dtype).reshape(shape)


def copy_within(driver: Any, target: int, source: int, size: int, stream: Any) -> None:
    """Queue a copy between addresses of device memory, in parts: PyCUDA counts 32 bits of bytes."""
    for start in range(0, size, PART):
        part = min(PART, size - start)
        driver.memcpy_dtod_async(target + start, source + start, part, stream)


@cache
def staging(ordinal: int) -> Staging:
    """Return the buffers of a device, one set for all callers, because page-locking is slow."""
    return Staging(primary_context(ordinal))


def upload(number: int, array: NDArray[Any]) -> DeviceArray:
    """Return a copy of a C-contiguous array in the memory of a GPU."""
    context = primary_context(number)
    memory = DeviceMemory(context)
    with context.lock, context.active():
        address = memory.allocate("array", array.nbytes)
        staging(number).to_device(array, address)
        staging(number).stream.synchronize()
    return DeviceArray(address, array.shape, array.strides, array.dtype, number, None, memory)


def _drain(host: Any, event: Any, part: NDArray[np.uint8]) -> None:
    event.synchronize()
    part[:] = host[: part.size]


def as_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The same memory as bytes, flat. array: C-contiguous, or a ValueError is raised."""
    if not array.flags.c_contiguous:
        raise ValueError("the array must be C-contiguous")
    return array.reshape(-1).view(np.uint8)
