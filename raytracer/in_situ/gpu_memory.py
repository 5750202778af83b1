"""Memory of a GPU that the processes of a simulation and of its view share."""

import ctypes
from collections.abc import Mapping
from contextlib import suppress
from typing import NamedTuple

from raytracer.cuda_driver import DeviceMemory, Fence, check_status, device_context
from raytracer.device_array import DeviceArray
from raytracer.errors import BackendError

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


class GpuMemory:
    """Memory of a GPU into which one side copies, and an event behind the latest copy.

    Args:
        size: bytes.
        device: number of the GPU.

    Raises:
        BackendError: there is no room, or the driver cannot be used.
    """

    def __init__(self, size: int, device: int) -> None:
        self.size, self.device = -(-size // ALIGNMENT) * ALIGNMENT, device
        self._memory = DeviceMemory(self.size, device)
        self.address = self._memory.address
        try:
            self.complete = Fence(device, shared=True)
        except BackendError:  # without events for other processes: it serves in this one
            self.complete = Fence(device)

    def handle(self) -> SharedHandle:
        """Return what `MappedMemory` takes in another process.

        Raises:
            BackendError: processes cannot share memory of this GPU on this system.
        """
        memory, event = _Handle(), _Handle()
        with device_context(self.device) as cuda:
            check_status(
                cuda.cuIpcGetMemHandle(ctypes.byref(memory), ctypes.c_uint64(self.address))
            )
            check_status(cuda.cuIpcGetEventHandle(ctypes.byref(event), self.complete.handle))
        return SharedHandle(self.size, self.device, bytes(memory), bytes(event))

    def write(self, starts: Mapping[int, DeviceArray], stream: int) -> None:
        """Queue copies of arrays, with the gaps between their numbers, and the event behind them.

        Args:
            starts: arrays on this GPU by the byte where their memory begins here.
            stream: handle of the one on which they are complete.
        """
        for start, array in starts.items():
            array.copy_to(self.address + start, stream, self.device)
        with device_context(self.device):
            self.complete.record(stream)


class MappedMemory:
    """Memory of a GPU that another process shares.

    Raises:
        BackendError: this process cannot map it.
    """

    def __init__(self, handle: SharedHandle) -> None:
        self.size, self.device = handle.size, handle.device
        self._address = ctypes.c_uint64()
        with device_context(self.device) as cuda:
            memory, event = map(_Handle.from_buffer_copy, (handle.memory, handle.event))
            check_status(
                cuda.cuIpcOpenMemHandle_v2(ctypes.byref(self._address), memory, _LAZY_PEER_ACCESS)
            )
            opened = ctypes.c_void_p()
            check_status(cuda.cuIpcOpenEventHandle(ctypes.byref(opened), event))
        self.complete = Fence(self.device, opened)

    @property
    def address(self) -> int:
        """Of the first byte, in this process."""
        return self._address.value

    def __del__(self) -> None:
        if self._address.value:
            with suppress(Exception), device_context(self.device) as cuda:
                cuda.cuIpcCloseMemHandle(self._address)
