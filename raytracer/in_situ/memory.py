"""Memory of the host or of a GPU that the processes of a simulation and of its view share."""

import ctypes
import os
import tempfile
from collections.abc import Mapping
from contextlib import suppress
from mmap import mmap
from typing import Any, NamedTuple

from raytracer.config.errors import BackendError, UserError
from raytracer.system.cuda_driver import (
    Fence,
    check_status,
    copy_on_device,
    device_context,
    order_streams,
)
from raytracer.system.device_array import DeviceArray

HANDLE_BYTES = 64  # bytes of the handle of memory or an event for another process

ALIGNMENT = 2 << 20
"""Bytes in whose multiples memory is shared: less would share what lies beside it, too."""

_LAZY_PEER_ACCESS = 1  # CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS


class _Handle(ctypes.Structure):
    """CUipcMemHandle or CUipcEventHandle."""

    _fields_ = (("content", ctypes.c_char * HANDLE_BYTES),)


class SharedHandle(NamedTuple):
    """What another process needs to map memory."""

    size: int
    device: int
    memory: bytes
    event: bytes


class HostMemory:
    """Memory of the host; it is anonymous, so no file is left behind. descriptor: of the memory of
    another process; None makes new memory. Raises UserError: there is no room."""

    device = None

    def __init__(self, size: int, descriptor: int | None = None) -> None:
        self.size, self.descriptor = size, descriptor
        try:
            if self.descriptor is None:
                self.descriptor = _make_unnamed_file()
                os.ftruncate(self.descriptor, size)
            self._map = mmap(self.descriptor, size)
        except OSError as error:
            self.close_descriptor()
            raise UserError(
                f"live: {size >> 20} MiB of shared memory cannot be had ({error.strerror}): log "
                "fewer points, or fewer sets"
            ) from None

    def close_descriptor(self) -> None:
        """Close the descriptor, which serves to share the memory alone."""
        if self.descriptor is not None:
            os.close(self.descriptor)
            self.descriptor = None

    def bytes(self) -> Any:
        """Return a buffer of the bytes, which arrays in it hold."""
        return (ctypes.c_ubyte * self.size).from_buffer(self._map)


def _make_unnamed_file() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("raytracer")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class _GpuBlock:
    """Memory of a GPU, and an event behind the latest copy into it."""

    release = ""  # function of the driver that takes the address at the end
    complete: Fence

    def __init__(self, size: int, device: int) -> None:
        self.size, self.device, self._address = size, device, ctypes.c_uint64()

    @property
    def address(self) -> int:
        """Of the first byte, in this process."""
        return self._address.value

    def wait(self) -> None:
        """Wait on the host until the latest copy is complete."""
        with device_context(self.device):
            self.complete.synchronize()

    def __del__(self) -> None:
        if self._address.value:
            with suppress(Exception), device_context(self.device) as cuda:
                getattr(cuda, self.release)(self._address)


class GpuMemory(_GpuBlock):
    """Memory of a GPU into which this process copies. Raises BackendError: there is no room, or the
    driver cannot be used."""

    release = "cuMemFree_v2"

    def __init__(self, size: int, device: int) -> None:
        super().__init__(-(-size // ALIGNMENT) * ALIGNMENT, device)
        with device_context(device) as cuda:
            check_status(
                cuda.cuMemAlloc_v2(ctypes.byref(self._address), ctypes.c_size_t(self.size))
            )
        try:
            self.complete = Fence(device, shared=True)
        except BackendError:  # without events for other processes: it serves in this one
            self.complete = Fence(device)

    def handle(self) -> SharedHandle:
        """Return what `MappedMemory` takes in another process. Raises BackendError: processes
        cannot share memory of this GPU on this system."""
        memory, event = _Handle(), _Handle()
        with device_context(self.device) as cuda:
            check_status(cuda.cuIpcGetMemHandle(ctypes.byref(memory), self._address))
            check_status(cuda.cuIpcGetEventHandle(ctypes.byref(event), self.complete.handle))
        return SharedHandle(self.size, self.device, bytes(memory), bytes(event))

    def write(self, starts: Mapping[int, DeviceArray], stream: int) -> None:
        """Queue copies of arrays, with the gaps between their numbers, and the event behind them;
        `starts` has them by the byte where they begin here."""
        for start, array in starts.items():
            first, size = array.span()
            if array.stream is not None:
                order_streams(stream, array.stream, self.device)
            copy_on_device(self.address + start, array.address + first, size, self.device, stream)
        with device_context(self.device):
            self.complete.record(stream)


def is_shareable(device: int) -> bool:
    """Return whether processes can share memory of a GPU on this system."""
    try:
        GpuMemory(1, device).handle()
    except BackendError:
        return False
    return True


class MappedMemory(_GpuBlock):
    """Memory of a GPU that another process shares. Raises BackendError: it cannot be mapped."""

    release = "cuIpcCloseMemHandle"

    def __init__(self, handle: SharedHandle) -> None:
        super().__init__(handle.size, handle.device)
        with device_context(self.device) as cuda:
            memory, event = map(_Handle.from_buffer_copy, (handle.memory, handle.event))
            check_status(
                cuda.cuIpcOpenMemHandle_v2(ctypes.byref(self._address), memory, _LAZY_PEER_ACCESS)
            )
            opened = ctypes.c_void_p()
            check_status(cuda.cuIpcOpenEventHandle(ctypes.byref(opened), event))
        self.complete = Fence(self.device, opened)
