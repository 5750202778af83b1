"""Copies between NumPy arrays and device memory, through two page-locked buffers in turn.

The bus reads page-locked memory at full speed and while the host fills the other buffer. Locking
the user's own arrays would take longer than the copy. Arrays that are made here (`fetch`) are
page-locked themselves: their pages stay locked, and when neither an array nor a view of it is left,
its memory is that of a later array. It is memory of NumPy: arrays remain valid when the context of
the GPU ends.
"""

import ctypes
import weakref
from contextlib import suppress
from functools import cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from raytracer.backends.cuda.driver import PrimaryContext, call, get_primary_context
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.config.errors import RaytracerError
from raytracer.system.device_array import DeviceArray

MIN_BYTES = 64 << 10
"""Bytes of the smallest array: the host copies fewer in the time that the pool takes."""

MAX_ARRAYS = 8
"""Arrays of one size that are locked: a loop refers to two, and a movie with its writer to four.
Callers who collect pictures get ordinary memory for the others."""

MAX_BYTES = 256 << 20  # bytes that are locked: eight pictures of 3840x2160 with 8 bits

PAGE = 64 << 10
"""Bytes of the largest pages of a host: arrays share none, because no page is locked twice."""

_PORTABLE = 1  # CU_MEMHOSTREGISTER_PORTABLE: locked for all contexts

Memory = NDArray[np.uint8]


class PageLockedPool:
    """Page-locked memory for one device, whose context is active and its lock held in `empty`."""

    def __init__(self, context: PrimaryContext) -> None:
        """Lock nothing yet."""
        self._idle: dict[int, list[Memory]] = {}  # by the sizes that were asked for
        self._locked: dict[int, Memory] = {}  # by address, idle or in use
        self._is_refused = False  # whether the driver cannot lock memory
        weakref.finalize(self, _unlock_all, context, self._locked)

    def empty(self, size: int) -> Memory | None:
        """Return an array, not initialised, or None for ordinary memory: for small arrays, for the
        first one of a size, which is not worth the locking, and beyond MAX_ARRAYS and MAX_BYTES."""
        if size < MIN_BYTES or self._is_refused:
            return None
        is_first = size not in self._idle
        idle = self._idle.setdefault(size, [])
        if not idle and (is_first or not self._lock(size)):
            return None
        memory = idle.pop()
        # All views refer to this object; they may outlive the array that is returned.
        owner = (ctypes.c_ubyte * size).from_buffer(memory.data)
        weakref.finalize(owner, idle.append, memory).atexit = False
        return np.frombuffer(memoryview(owner), np.uint8)

    def _lock(self, size: int) -> bool:
        """Lock memory for another array, if there is room; returns whether it is there."""
        sizes = [memory.size for memory in self._locked.values()]
        if sizes.count(size) >= MAX_ARRAYS:
            return False
        excess = sum(sizes) + size - MAX_BYTES
        for idle in self._idle.values():
            while excess > 0 and idle:
                memory = idle.pop()
                excess -= memory.size
                _unlock(self._locked, memory.ctypes.data)
        if excess > 0:
            return False
        memory = _allocate_aligned(size)
        address = memory.ctypes.data
        try:
            call("cuMemHostRegister", address, size, _PORTABLE)
        except RaytracerError:
            self._is_refused = True
            return False
        self._locked[address] = memory
        self._idle[size].append(memory)
        return True


def _allocate_aligned(size: int) -> Memory:
    """Return memory whose pages have nothing else."""
    memory = np.empty((-(-size // PAGE) + 1) * PAGE, np.uint8)
    start = -memory.ctypes.data % PAGE
    return memory[start : start + size]


def _unlock(locked: dict[int, Memory], address: int) -> None:
    """Unlock the pages of an array, which stays valid; the context is active."""
    del locked[address]
    call("cuMemHostUnregister", address)


def _unlock_all(context: PrimaryContext, locked: dict[int, Memory]) -> None:
    """Unlock all arrays, also when the process ends."""
    if not locked:
        return
    with suppress(RaytracerError), context.activate():  # a lost device has unlocked them already
        for address in list(locked):
            _unlock(locked, address)


CHUNK = 2 << 20  # bytes: a tenth of a millisecond on the bus, far above the cost of a call
PART = 1 << 30  # bytes of a copy within device memory
NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING: does not wait for others' work on the default stream


class Staging:
    """A stream and the page-locked buffers for its copies; the context must be active."""

    def __init__(self, context: PrimaryContext) -> None:
        self._driver, self._pool = context.driver, PageLockedPool(context)
        with context.activate() as driver:
            self.stream = driver.Stream(NON_BLOCKING)
            self._slots = [
                (driver.pagelocked_empty(CHUNK, np.uint8), driver.Event()) for _ in range(2)
            ]

    def to_device(self, array: NDArray[Any], address: int) -> None:
        """Queue a copy of a contiguous array to device memory; the array may be changed at once."""
        source = view_bytes(array)
        for index, start in enumerate(range(0, source.size, CHUNK)):
            part = source[start : start + CHUNK]
            host, event = self._slots[index % 2]
            event.synchronize()  # the copy that used this buffer last must have left it
            host[: part.size] = part
            self._driver.memcpy_htod_async(address + start, host[: part.size], self.stream)
            event.record(self.stream)

    def to_host(self, address: int, array: NDArray[Any]) -> None:
        """Copy device memory into an array, and wait for it; arguments as for `to_device`."""
        target = view_bytes(array)
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
def get_staging(ordinal: int) -> Staging:
    """Return the buffers of a device, one set for all callers, because page-locking is slow."""
    return Staging(get_primary_context(ordinal))


def upload(number: int, array: NDArray[Any]) -> DeviceArray:
    """Return a copy of a C-contiguous array in the memory of a GPU."""
    context = get_primary_context(number)
    memory = DeviceMemory(context)
    with context.lock, context.activate():
        address = memory.allocate("array", array.nbytes)
        get_staging(number).to_device(array, address)
        get_staging(number).stream.synchronize()
    return DeviceArray(address, array.shape, array.strides, array.dtype, number, None, memory)


def _drain(host: Any, event: Any, part: NDArray[np.uint8]) -> None:
    event.synchronize()
    part[:] = host[: part.size]


def view_bytes(array: NDArray[Any]) -> NDArray[np.uint8]:
    """The same memory as bytes, flat. array: C-contiguous, or a ValueError is raised."""
    if not array.flags.c_contiguous:
        raise ValueError("the array must be C-contiguous")
    return array.reshape(-1).view(np.uint8)
