"""Device memory that is striped over several GPUs: one range of addresses, which all of them use.

Physical memory of the GPUs in turn is mapped into the range by the driver's virtual memory
management, so that kernels need no change and reads are spread evenly over the links. PyCUDA lacks
these calls: they are made through ctypes, with either binding.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import permutations
from typing import Any

from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.driver import call
from raytracer.errors import RaytracerError

STRIPE = 32 << 20
"""Bytes of one GPU in a row: few calls of the driver, and many stripes in any scene of that size.
Smaller arrays are not striped."""

# Values of cuda.h.
_PINNED, _DEVICE, _READ_WRITE, _MINIMUM = 1, 1, 3, 0
_VIRTUAL_MEMORY = 102  # CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED
_PEER_ACCESS, _PEER_ATOMICS = 2, 3  # CU_DEVICE_P2P_ATTRIBUTE_


class _Location(ctypes.Structure):
    """CUmemLocation."""

    _fields_ = (("kind", ctypes.c_int), ("number", ctypes.c_int))


class _Properties(ctypes.Structure):
    """CUmemAllocationProp."""

    _fields_ = (
        ("kind", ctypes.c_int), ("handles", ctypes.c_int), ("location", _Location),
        ("windows", ctypes.c_void_p), ("flags", ctypes.c_ubyte * 8),
    )  # fmt: skip


class _Access(ctypes.Structure):
    """CUmemAccessDesc."""

    _fields_ = (("location", _Location), ("flags", ctypes.c_int))


class StripedAllocation:
    """Memory in stripes on several GPUs in turn; `int` gives its address."""

    def __init__(self, size: int, gpus: Sequence[int]) -> None:
        """Map at least `size` bytes of the GPUs with these numbers. Raises MemoryNeedError: one of
        them is full."""
        self._gpus, self._mapped = tuple(gpus), 0
        unit = max(map(_granularity, gpus))
        self._size = _rounded(size, unit)
        address = ctypes.c_uint64()
        self._stripe = _rounded(STRIPE, unit)
        call(
            "cuMemAddressReserve", ctypes.byref(address), ctypes.c_size_t(self._size),
            ctypes.c_size_t(0), ctypes.c_uint64(0), ctypes.c_uint64(0),
        )  # fmt: skip
        self._address = address.value
        try:
            self._map()
        except BaseException:
            self.free()
            raise

    def _map(self) -> None:
        """Map a stripe after the other, and let all GPUs use them."""
        while self._mapped < self._size:
            gpu = self._gpus[self._mapped // self._stripe % len(self._gpus)]
            size = min(self._stripe, self._size - self._mapped)
            handle = ctypes.c_uint64()
            call(
                "cuMemCreate", ctypes.byref(handle), ctypes.c_size_t(size),
                ctypes.byref(_properties(gpu)), ctypes.c_uint64(0),
            )  # fmt: skip
            try:
                call(
                    "cuMemMap", ctypes.c_uint64(self._address + self._mapped),
                    ctypes.c_size_t(size), ctypes.c_size_t(0), handle, ctypes.c_uint64(0),
                )  # fmt: skip
            finally:
                call("cuMemRelease", handle)  # what is mapped stays until it is unmapped
            self._mapped += size
        numbers = sorted(set(self._gpus))
        rights = (_Access * len(numbers))(*(_Access(_location(n), _READ_WRITE) for n in numbers))
        call(
            "cuMemSetAccess", ctypes.c_uint64(self._address), ctypes.c_size_t(self._size),
            rights, ctypes.c_size_t(len(numbers)),
        )  # fmt: skip

    def __int__(self) -> int:
        return self._address

    def free(self) -> None:
        """Release it, after all work of the GPUs; may be called twice."""
        size, self._size = self._size, 0
        if not size:
            return
        for gpu in sorted(set(self._gpus)):  # to unmap does not wait, as to free memory does
            with suppress(RaytracerError), primary_context(gpu).active():
                call("cuCtxSynchronize")
        address = ctypes.c_uint64(self._address)
        if self._mapped:
            call("cuMemUnmap", address, ctypes.c_size_t(self._mapped))
        call("cuMemAddressFree", address, ctypes.c_size_t(size))


def share(size: int, count: int) -> int:
    """Return the bytes of an array that is striped over `count` GPUs on the first one, which has
    the most; of a small one, that is not striped, all."""
    stripes = -(-size // STRIPE)
    return size if stripes < 2 else -(-stripes // count) * STRIPE


def why_not(gpus: Sequence[int]) -> str:
    """Return why memory cannot be striped over GPUs; empty if it can."""
    for gpu in gpus:
        if not _asked("cuDeviceGetAttribute", _VIRTUAL_MEMORY, _device(gpu)):
            return f"GPU {gpu}, or its driver, has no virtual memory management"
    for gpu, other in permutations(sorted(set(gpus)), 2):
        pair = _device(gpu), _device(other)
        if not _asked("cuDeviceGetP2PAttribute", _PEER_ACCESS, *pair):
            return (
                f"GPU {gpu} has no access to the memory of GPU {other}, which takes NVLink, or "
                "PCIe with peer access (`nvidia-smi topo -p2p r`)"
            )
        if not _asked("cuDeviceGetP2PAttribute", _PEER_ATOMICS, *pair):
            return (
                f"GPU {gpu} has no atomic operations in the memory of GPU {other}, which takes "
                "NVLink (`nvidia-smi topo -p2p a`)"
            )
    return ""


def _rounded(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _location(gpu: int) -> _Location:
    return _Location(_DEVICE, gpu)


def _properties(gpu: int) -> _Properties:
    return _Properties(_PINNED, 0, _location(gpu))


@cache
def _granularity(gpu: int) -> int:
    """Return the bytes of which sizes of physical memory are multiples."""
    return _asked_size("cuMemGetAllocationGranularity", ctypes.byref(_properties(gpu)), _MINIMUM)


def _asked_size(name: str, *arguments: Any) -> int:
    found = ctypes.c_size_t()
    call(name, ctypes.byref(found), *arguments)
    return found.value


def _asked(name: str, *arguments: int) -> int:
    """Return the integer that a call gives."""
    found = ctypes.c_int()
    call(name, ctypes.byref(found), *arguments)
    return found.value


def _device(gpu: int) -> int:
    return _asked("cuDeviceGet", gpu)
