"""Device memory that is striped over several GPUs: one range of addresses, which all of them use.

Physical memory of the GPUs in turn is mapped into the range by the driver's virtual memory
management, so that kernels need no change and reads are spread evenly over the links.
"""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from itertools import permutations
from typing import Any

from raytracer.backends.cuda.driver import call, get_primary_context, load_bindings
from raytracer.config.errors import RaytracerError

STRIPE = 32 << 20
"""Bytes of one GPU in a row: few calls of the driver, and many stripes in any scene of that size.
Smaller arrays are not striped."""

_PAIRS = {
    "ACCESS": "access to the memory of GPU {}, which takes NVLink, or PCIe with peer access "
    "(`nvidia-smi topo -p2p r`)",
    "NATIVE_ATOMIC": "atomic operations in the memory of GPU {}, which takes NVLink (`nvidia-smi "
    "topo -p2p a`)",
}
"""What each GPU must have of each other one, by the driver's attributes of pairs."""


class StripedAllocation:
    """Memory in stripes on several GPUs in turn; `int` gives its address."""

    def __init__(self, size: int, gpus: Sequence[int]) -> None:
        """Map at least `size` bytes of the GPUs with these numbers. Raises MemoryNeedError: one of
        them is full."""
        self._gpus, self._mapped = tuple(gpus), 0
        unit = max(map(_read_granularity, gpus))
        self._size = _round_up(size, unit)
        self._stripe = _round_up(STRIPE, unit)
        self._address = int(call("cuMemAddressReserve", self._size, 0, 0, 0))
        try:
            self._map()
        except BaseException:
            self.free()
            raise

    def _map(self) -> None:
        while self._mapped < self._size:
            gpu = self._gpus[self._mapped // self._stripe % len(self._gpus)]
            size = min(self._stripe, self._size - self._mapped)
            handle = call("cuMemCreate", size, _make_properties(gpu), 0)
            try:
                call("cuMemMap", self._address + self._mapped, size, 0, handle, 0)
            finally:
                call("cuMemRelease", handle)  # what is mapped stays until it is unmapped
            self._mapped += size
        rights = [_make_access(gpu) for gpu in sorted(set(self._gpus))]
        call("cuMemSetAccess", self._address, self._size, rights, len(rights))

    def __int__(self) -> int:
        return self._address

    def free(self) -> None:
        """Release it, after all work of the GPUs; may be called twice."""
        size, self._size = self._size, 0
        if not size:
            return
        for gpu in sorted(set(self._gpus)):  # to unmap does not wait, as to free memory does
            with suppress(RaytracerError), get_primary_context(gpu).activate():
                call("cuCtxSynchronize")
        if self._mapped:
            call("cuMemUnmap", self._address, self._mapped)
        call("cuMemAddressFree", self._address, size)


def compute_share(size: int, count: int) -> int:
    """Return the bytes of an array that is striped over `count` GPUs on the first one, which has
    the most; of a small one, that is not striped, all."""
    stripes = -(-size // STRIPE)
    return size if stripes < 2 else -(-stripes // count) * STRIPE


def explain_missing(gpus: Sequence[int]) -> str:
    """Return why memory cannot be striped over GPUs; empty if it can."""
    cu = load_bindings().cu
    devices = {gpu: call("cuDeviceGet", gpu) for gpu in sorted(set(gpus))}
    managed = "CU_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED"
    for gpu, device in devices.items():
        if not call("cuDeviceGetAttribute", getattr(cu.CUdevice_attribute, managed), device):
            return f"GPU {gpu}, or its driver, has no virtual memory management"
    for gpu, other in permutations(devices, 2):
        for attribute, words in _PAIRS.items():
            name = f"CU_DEVICE_P2P_ATTRIBUTE_{attribute}_SUPPORTED"
            kind = getattr(cu.CUdevice_P2PAttribute, name)
            if not call("cuDeviceGetP2PAttribute", kind, devices[gpu], devices[other]):
                return f"GPU {gpu} has no {words.format(other)}"
    return ""


def _round_up(size: int, unit: int) -> int:
    return -(-size // unit) * unit


def _make_location(gpu: int) -> Any:
    cu = load_bindings().cu
    location = cu.CUmemLocation()
    location.type, location.id = cu.CUmemLocationType.CU_MEM_LOCATION_TYPE_DEVICE, gpu
    return location


def _make_properties(gpu: int) -> Any:
    cu = load_bindings().cu
    properties = cu.CUmemAllocationProp()
    properties.type = cu.CUmemAllocationType.CU_MEM_ALLOCATION_TYPE_PINNED
    properties.location = _make_location(gpu)
    return properties


def _make_access(gpu: int) -> Any:
    cu = load_bindings().cu
    access = cu.CUmemAccessDesc()
    access.location = _make_location(gpu)
    access.flags = cu.CUmemAccess_flags.CU_MEM_ACCESS_FLAGS_PROT_READWRITE
    return access


@cache
def _read_granularity(gpu: int) -> int:
    """Return the bytes of which sizes of physical memory are multiples."""
    least = load_bindings().cu.CUmemAllocationGranularity_flags.CU_MEM_ALLOC_GRANULARITY_MINIMUM
    return int(call("cuMemGetAllocationGranularity", _make_properties(gpu), least))
