"""Arrays of the host in page-locked memory, which a GPU writes at the speed of the bus.

A copy to other memory goes through a page-locked buffer, from which the host copies again, into
pages that it may have to map first. To lock pages takes as long as that, so they stay locked: when
neither an array nor a view of it is left, its memory comes back, and is that of a later array.

It is memory of NumPy, locked afterwards: arrays remain valid when the context of the GPU ends.
"""

import ctypes
import weakref
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.driver import PrimaryContext, call
from raytracer.errors import RaytracerError

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
        memory = _aligned(size)
        address = memory.ctypes.data
        try:
            call("cuMemHostRegister", address, size, _PORTABLE)
        except RaytracerError:
            self._is_refused = True
            return False
        self._locked[address] = memory
        self._idle[size].append(memory)
        return True


def _aligned(size: int) -> Memory:
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
    with suppress(RaytracerError), context.active():  # a lost device has unlocked them already
        for address in list(locked):
            _unlock(locked, address)
