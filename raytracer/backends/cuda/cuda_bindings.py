"""The driver through NVIDIA's cuda-bindings, with names and meaning of PyCUDA's calls.

At the end stands what PyCUDA lacks: graphs, and launches with attributes. As in PyCUDA, a context
must be current, and what is allocated here is released in that context when nothing refers to it.
"""

from __future__ import annotations

import ctypes
import struct
import weakref
from collections.abc import Callable, Sequence
from functools import partial
from threading import Lock
from types import SimpleNamespace
from typing import Any

import numpy as np
from cuda.bindings import driver as cu
from numpy.typing import NDArray

from raytracer.config.errors import BackendError, RaytracerError
from raytracer.system.cuda_driver import explain_driver_error

# Words before address and size of the parameters of a launch, and at the end (cuda.h).
PARAMETERS, PARAMETERS_SIZE, PARAMETERS_END = 1, 2, 0

Sizes = tuple[int, int, int]

Error = RaytracerError  # what calls raise: the messages are for users already


class LogicError(BackendError):
    """A module has no function or variable of a name."""


def _collect_names(kind: Any, prefix: str) -> SimpleNamespace:
    """Return the members of an enumeration by their names in PyCUDA."""
    members = kind.__members__.items()
    return SimpleNamespace(**{name.removeprefix(prefix): member for name, member in members})


device_attribute = _collect_names(cu.CUdevice_attribute, "CU_DEVICE_ATTRIBUTE_")
function_attribute = _collect_names(cu.CUfunction_attribute, "CU_FUNC_ATTRIBUTE_")


def ask(call: Callable[..., tuple[Any, ...]], *arguments: Any) -> Any:
    """Call the driver; return what it gives, a tuple of several values."""
    try:
        status, *values = call(*arguments)
    except RuntimeError as error:
        raise explain_driver_error(f"{call.__name__}: {error}") from error
    if status:
        _, text = cu.cuGetErrorString(status)
        message = f"{call.__name__} failed: {text.decode() if text else status}"
        is_missing = status == cu.CUresult.CUDA_ERROR_NOT_FOUND
        raise LogicError(message) if is_missing else explain_driver_error(message)
    return values[0] if len(values) == 1 else tuple(values)


# device and context


init, get_driver_version = partial(ask, cu.cuInit, 0), partial(ask, cu.cuDriverGetVersion)


class Device:
    """A GPU by number."""

    def __init__(self, ordinal: int) -> None:
        self._device = ask(cu.cuDeviceGet, ordinal)

    @staticmethod
    def count() -> int:
        return int(ask(cu.cuDeviceGetCount))

    def name(self) -> str:
        return _decode_text(ask(cu.cuDeviceGetName, 256, self._device))

    def pci_bus_id(self) -> str:
        return _decode_text(ask(cu.cuDeviceGetPCIBusId, 32, self._device))

    def compute_capability(self) -> tuple[int, int]:
        names = device_attribute
        major, minor = names.COMPUTE_CAPABILITY_MAJOR, names.COMPUTE_CAPABILITY_MINOR
        return self.get_attribute(major), self.get_attribute(minor)

    def get_attribute(self, attribute: Any) -> int:
        return int(ask(cu.cuDeviceGetAttribute, attribute, self._device))

    def retain_primary_context(self) -> Context:
        """Return the primary context, which must be detached once."""
        return Context(self._device)


class Context:
    """The primary context of a device."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._context = ask(cu.cuDevicePrimaryCtxRetain, device)

    def push(self) -> None:
        ask(cu.cuCtxPushCurrent, self._context)

    def pop(self) -> None:
        ask(cu.cuCtxPopCurrent)

    def enable_peer_access(self, peer: Context) -> None:
        """Let the current context, which is this one, use the memory of another device."""
        ask(cu.cuCtxEnablePeerAccess, peer._context, 0)

    def detach(self) -> None:
        ask(cu.cuDevicePrimaryCtxRelease, self._device)


def _end_with(owner: Any, destroy: Callable[..., Any], handle: Any) -> weakref.finalize[..., Any]:
    """Destroy a handle, in the context that is current now, when `owner` is gone; not when the
    process ends, which destroys the context too."""
    end = weakref.finalize(owner, _destroy, ask(cu.cuCtxGetCurrent), destroy, handle)
    end.atexit = False
    return end


def _destroy(context: Any, destroy: Callable[..., Any], handle: Any) -> None:
    if any(cu.cuCtxPushCurrent(context)):
        return  # the context is gone, and with it all that was allocated there
    destroy(handle)
    cu.cuCtxPopCurrent()


# memory


mem_get_info = partial(ask, cu.cuMemGetInfo)


class Allocation:
    """Device memory; `int` gives its address."""

    def __init__(self, size: int) -> None:
        self._address = ask(cu.cuMemAlloc, size)
        self._end = _end_with(self, cu.cuMemFree, self._address)

    def __int__(self) -> int:
        return int(self._address)

    def free(self) -> None:
        """Release it; may be called twice."""
        if self._end.detach():
            ask(cu.cuMemFree, self._address)


mem_alloc = Allocation


def pagelocked_empty(count: int, dtype: Any) -> NDArray[Any]:
    size = count * np.dtype(dtype).itemsize
    address = ask(cu.cuMemHostAlloc, size, 0)
    memory = (ctypes.c_ubyte * size).from_address(int(address))
    _end_with(memory, cu.cuMemFreeHost, address)  # the array refers to `memory`
    return np.frombuffer(memory, dtype)


def _copy(call: Callable[..., Any], array: int) -> Callable[..., None]:
    """Return PyCUDA's form of a copy: the size is that of an array, the first or second argument,
    and a stream may follow."""

    def copy(target: Any, source: Any, *streams: Any) -> None:
        size = memoryview((target, source)[array]).nbytes
        ask(call, target, source, size, *(each.handle for each in streams))

    return copy


memcpy_htod, memcpy_htod_async = _copy(cu.cuMemcpyHtoD, 1), _copy(cu.cuMemcpyHtoDAsync, 1)
memcpy_dtoh, memcpy_dtoh_async = _copy(cu.cuMemcpyDtoH, 0), _copy(cu.cuMemcpyDtoHAsync, 0)


def memcpy_dtod_async(target: int, source: int, size: int, stream: Any) -> None:
    ask(cu.cuMemcpyDtoDAsync, target, source, size, stream.handle)


def memset_d32_async(address: int, word: int, count: int, stream: Any) -> None:
    ask(cu.cuMemsetD32Async, address, word, count, stream.handle)


# streams and events


class Stream:
    """A queue of work."""

    def __init__(self, flags: int) -> None:
        self.handle = ask(cu.cuStreamCreate, flags)
        _end_with(self, cu.cuStreamDestroy, self.handle)

    def synchronize(self) -> None:
        ask(cu.cuStreamSynchronize, self.handle)

    def wait_for_event(self, event: Event) -> None:
        ask(cu.cuStreamWaitEvent, self.handle, event.handle, 0)


class Event:
    """A mark in a queue, with its time."""

    def __init__(self) -> None:
        self.handle = ask(cu.cuEventCreate, 0)
        _end_with(self, cu.cuEventDestroy, self.handle)

    def record(self, stream: Stream) -> None:
        ask(cu.cuEventRecord, self.handle, stream.handle)

    def synchronize(self) -> None:
        ask(cu.cuEventSynchronize, self.handle)

    def time_since(self, start: Event) -> float:
        return float(ask(cu.cuEventElapsedTime, start.handle, self.handle))


# modules and launches


class Module:
    """Machine code, loaded."""

    def __init__(self, code: bytes) -> None:
        self.handle = ask(cu.cuModuleLoadData, code)
        _end_with(self, cu.cuModuleUnload, self.handle)

    def get_function(self, name: str) -> Function:
        return Function(self, name)

    def get_global(self, name: str) -> tuple[int, int]:
        address, size = ask(cu.cuModuleGetGlobal, self.handle, name.encode())
        return int(address), int(size)


module_from_buffer = Module


def _make_attribute(name: str) -> property:
    kind = getattr(function_attribute, name)
    return property(lambda function: int(ask(cu.cuFuncGetAttribute, kind, function.handle)))


class Function:
    """A kernel of a module."""

    def __init__(self, module: Module, name: str) -> None:
        self._module = module  # stays loaded
        self.handle = ask(cu.cuModuleGetFunction, module.handle, name.encode())
        self._lock = Lock()  # the driver reads the parameters without Python's own lock

    num_regs = _make_attribute("NUM_REGS")
    local_size_bytes = _make_attribute("LOCAL_SIZE_BYTES")
    shared_size_bytes = _make_attribute("SHARED_SIZE_BYTES")

    def set_attribute(self, attribute: Any, value: int) -> None:
        ask(cu.cuFuncSetAttribute, self.handle, attribute, value)

    def prepare(self, formats: Sequence[str]) -> None:
        """Set the types of the parameters, in the letters of `struct`; the driver takes all of them
        from one block of memory, which is kept."""
        self._layout = struct.Struct("".join(formats))
        self._block = ctypes.create_string_buffer(self._layout.size)
        self._size = ctypes.c_size_t(self._layout.size)
        place, size = ctypes.addressof(self._block), ctypes.addressof(self._size)
        words = PARAMETERS, place, PARAMETERS_SIZE, size, PARAMETERS_END
        self._words = (ctypes.c_void_p * 5)(*words)

    def prepared_async_call(
        self, grid: Sizes, block: Sizes, stream: Stream, *arguments: Any, shared_size: int = 0
    ) -> None:
        """Queue a launch; the driver copies the parameters before it returns."""
        place = shared_size, stream.handle, None, ctypes.addressof(self._words)
        with self._lock:
            self._layout.pack_into(self._block, 0, *arguments)
            ask(cu.cuLaunchKernel, self.handle, *grid, *block, *place)


# what PyCUDA lacks; streams may be PyCUDA's


class Graph:
    """Work captured from a stream, which is replayed there."""

    def __init__(self, stream: Any, work: Callable[[], Any]) -> None:
        """Capture the work that a function queues on a stream."""
        self._stream = stream.handle
        # RELAXED does not restrict other threads.
        mode = cu.CUstreamCaptureMode.CU_STREAM_CAPTURE_MODE_RELAXED
        ask(cu.cuStreamBeginCapture, self._stream, mode)
        try:
            work()
        except BaseException:
            # A capturing stream would refuse all other work.
            status, begun = cu.cuStreamEndCapture(self._stream)
            if not status:
                cu.cuGraphDestroy(begun)
            raise
        graph = ask(cu.cuStreamEndCapture, self._stream)
        try:
            self._ready = ask(cu.cuGraphInstantiate, graph, 0)
        finally:
            cu.cuGraphDestroy(graph)
        _end_with(self, cu.cuGraphExecDestroy, self._ready)

    def launch(self) -> None:
        ask(cu.cuGraphLaunch, self._ready, self._stream)


class Launch:
    """A launch of a function with one parameter, a struct; may be queued any number of times."""

    def __init__(
        self, function: Function, sizes: Sizes, argument: bytes, early: bool = False
    ) -> None:
        """Remember blocks, threads, bytes of dynamic shared memory, and the struct; early: whether
        it may start before the kernel ahead has ended (programmatic dependent launch)."""
        self._function = function
        self._argument = ctypes.create_string_buffer(argument, len(argument))
        self._pointers = (ctypes.c_void_p * 1)(ctypes.addressof(self._argument))
        self._configuration = cu.CUlaunchConfig()
        made, attributes = self._configuration, []
        made.gridDimX, made.blockDimX, made.sharedMemBytes = sizes
        made.gridDimY = made.gridDimZ = made.blockDimY = made.blockDimZ = 1
        if early:
            names = cu.CUlaunchAttributeID
            attributes.append(cu.CUlaunchAttribute())
            attributes[-1].id = names.CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
            attributes[-1].value.programmaticStreamSerializationAllowed = 1
        made.attrs, made.numAttrs = attributes, len(attributes)

    def queue(self, stream: Any) -> None:
        self._configuration.hStream = stream.handle
        ask(
            cu.cuLaunchKernelEx, self._configuration, self._function.handle,
            ctypes.addressof(self._pointers), 0,
        )  # fmt: skip


def _decode_text(text: bytes) -> str:
    return text.split(b"\0")[0].decode()
