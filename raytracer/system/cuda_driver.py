"""Calls of CUDA's driver by ctypes: streams, events and memory of the process's primary contexts;
what its messages mean.

Arrays of other packages may come where no binding is installed, to the CPU backend too.
"""

import ctypes
import sys
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from threading import get_ident
from typing import Any

from raytracer.config.errors import (
    BackendError,
    MemoryNeedError,
    RaytracerError,
    SceneError,
    quote_value,
)

LIBRARY = "nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1"  # file of the driver

LEGACY_STREAM = 1
"""Handle of CUDA's default stream, on which most packages work unless told otherwise."""

_STREAM_NAMES = ("cuda_stream", "ptr", "handle")
"""Where streams of PyTorch and Warp, CuPy, and PyCUDA and Numba have their handle."""


def stream_handle(stream: Any) -> int:
    """Return the handle of a stream; None is CUDA's default stream.

    stream: the handle, an integer; a stream of PyTorch, CuPy, Warp, Numba, PyCUDA or cuda-bindings,
    or an object with `__cuda_stream__`. Raises SceneError: it is none of these.
    """
    if stream is None:
        return LEGACY_STREAM
    handle = stream
    if hasattr(stream, "__cuda_stream__"):
        handle = stream.__cuda_stream__()[1]  # version, handle
    else:
        handle = next((getattr(stream, n) for n in _STREAM_NAMES if hasattr(stream, n)), stream)
    handle = getattr(handle, "value", handle)  # of ctypes
    try:
        number = 0 if handle is None else int(handle)
    except (TypeError, ValueError):
        number = -1
    if isinstance(stream, (bool, str, float)) or number < 0:
        raise SceneError(
            f"stream: {quote_value(stream)} is not a CUDA stream; give its handle, or a stream of "
            "CuPy, PyTorch, Warp or Numba"
        )
    return number or LEGACY_STREAM


# Fragments of the driver's messages (cuGetErrorString), and what to do.
_MEANINGS = {
    "timed out": "the operating system stopped a launch that held the display too long: close "
    "other programs that use the GPU, or render with --backend cpu",
    "no kernel image": "the cubin is for another GPU: clear the cubin cache and try again",
    "busy or unavailable": "another program holds the GPU for itself: stop it and try again",
    "insufficient for": "the NVIDIA driver is too old for this CUDA: update it",
}


NO_DEVICE = 100  # CUDA_ERROR_NO_DEVICE
_STARTS = {
    3: ("initialization error", "CUDA was used before this process was forked: start processes by "
        "'spawn' (multiprocessing.set_start_method)"),
    34: ("is a stub library", "libcuda is the stub of the CUDA toolkit, which serves to link "
         "programs: take its folder (stubs) out of LD_LIBRARY_PATH"),
    NO_DEVICE: ("no CUDA-capable device", "the driver finds no GPU: start a container with it "
                "(docker run --gpus all, apptainer exec --nv), ask the cluster for one "
                "(--gres=gpu:1), and check that CUDA_VISIBLE_DEVICES does not hide it"),
    802: ("system not yet initialized", "the links between the GPUs are not ready: start their "
          "service (systemctl start nvidia-fabricmanager)"),
    803: ("unsupported display driver", "the library of the driver (libcuda) and its kernel module "
          "are of different releases: restart the machine after an update of the driver; in a "
          "container, use the libcuda of the host instead of one in the image"),
    804: ("forward compatibility", "libcuda is one for forward compatibility, which works on GPUs "
          "for data centres alone: take its folder (/usr/local/cuda/compat) out of LD_LIBRARY_PATH "
          "or remove the package cuda-compat, or update the NVIDIA driver of the machine"),
    999: ("unknown error", "a kernel module of the driver is probably not loaded: run `nvidia-smi` "
          "and `sudo modprobe nvidia_uvm`; in a container, pass /dev/nvidia-uvm on; after a "
          "suspension, restart the machine"),
}  # fmt: skip
"""Of the errors of cuInit: a fragment of the driver's message, and what to do."""


def suggest_start_remedy(status: int) -> str:
    """Return what to do if the driver does not start with this status."""
    other = "see whether `nvidia-smi` works, and restart the machine or update the NVIDIA driver"
    return _STARTS.get(status, ("", other))[1]


def explain_driver_error(message: str) -> RaytracerError:
    """Return an error with a remedy for a message of the driver."""
    text = " ".join(message.split())
    if "cuInit" in text:
        status = next((code for code, (part, _) in _STARTS.items() if part in text), 0)
        if status:
            return BackendError(f"CUDA: {suggest_start_remedy(status)} ({text})")
    if "out of memory" in text:
        return MemoryNeedError(
            f"the GPU's memory is full ({text}): stop other programs that use it, render fewer "
            "spheres or a smaller picture, or use --backend cpu"
        )
    for fragment, meaning in _MEANINGS.items():
        if fragment in text:
            return BackendError(f"CUDA: {meaning} ({text})")
    return BackendError(
        f"CUDA failed: {text}; restart the process, and if it happens again, use --backend cpu and "
        "report it with the output of `raytracer devices`"
    )


_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_DISABLE_TIMING, _INTERPROCESS = 2, 4  # CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS
_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL


@cache
def _driver() -> ctypes.CDLL | None:
    """Return the library of the driver, initialised; None without a GPU."""
    try:
        cuda = ctypes.CDLL(LIBRARY)
    except OSError:
        return None
    return None if cuda.cuInit(0) else cuda


def check_status(status: int) -> None:
    """Raise BackendError for the status of a failed call."""
    if status:
        text = ctypes.c_char_p()
        cuda = _driver()
        if cuda is not None:
            cuda.cuGetErrorString(status, ctypes.byref(text))
        raise BackendError(
            f"the CUDA driver cannot use an array on a GPU: {(text.value or b'?').decode()}"
        )


@cache
def _primary_context(device: int) -> ctypes.c_void_p:
    """Return the primary context of a GPU, which is kept as long as the process runs."""
    cuda, context, number = _driver(), ctypes.c_void_p(), ctypes.c_int()
    assert cuda is not None
    check_status(cuda.cuDeviceGet(ctypes.byref(number), device))
    check_status(cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), number))
    return context


@contextmanager
def device_context(device: int) -> Iterator[ctypes.CDLL]:
    """Make the primary context of a GPU current."""
    cuda = _driver()
    if cuda is None:
        raise BackendError(
            "an array is on a GPU, but there is no CUDA driver: see `raytracer devices`"
        )
    check_status(cuda.cuCtxPushCurrent_v2(_primary_context(device)))
    try:
        yield cuda
    finally:
        cuda.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


def _call(device: int, name: str, *arguments: Any) -> None:
    """Call the driver in the primary context of a GPU."""
    with device_context(device) as cuda:
        check_status(getattr(cuda, name)(*arguments))


def find_device(address: int) -> int | None:
    """Return the number of the GPU in whose memory an address is; None without a driver. Raises
    ValueError: it is in the memory of none."""
    if (cuda := _driver()) is None:
        return None
    number = ctypes.c_int()
    if cuda.cuPointerGetAttribute(ctypes.byref(number), _DEVICE_ORDINAL, ctypes.c_uint64(address)):
        raise ValueError
    return number.value


def copy_to_host(target: int, address: int, size: int, device: int) -> None:
    """Copy bytes of a GPU, and wait. target: address on the host. device: number of the GPU."""
    place, source, count = ctypes.c_void_p(target), ctypes.c_uint64(address), ctypes.c_size_t(size)
    _call(device, "cuMemcpyDtoH_v2", place, source, count)


def copy_on_device(target: int, address: int, size: int, device: int, stream: int) -> None:
    """Queue a copy of bytes within the memory of a GPU. stream: handle."""
    place, source, count = ctypes.c_uint64(target), ctypes.c_uint64(address), ctypes.c_size_t(size)
    _call(device, "cuMemcpyDtoDAsync_v2", place, source, count, ctypes.c_void_p(stream))


def synchronize(stream: int, device: int) -> None:
    """Wait for the work of a stream. stream: handle. device: number of the GPU."""
    _call(device, "cuStreamSynchronize", ctypes.c_void_p(stream))


class Fence:
    """A point in the work of streams that other work waits for: an event of CUDA.

    In a capture, recording and waiting become nodes of the graph: each launch of the graph waits
    for what was recorded last before the launch, and moves the fence: work that is queued after the
    launch waits for the node that records it, whether that has begun or not.
    """

    def __init__(
        self, device: int, event: ctypes.c_void_p | None = None, *, shared: bool = False
    ) -> None:
        """Create the event, of another process if one is given; until it is recorded, nothing
        waits. shared: whether another process may use it."""
        self.handle = event or ctypes.c_void_p()
        with device_context(device) as cuda:
            if event is None:
                flags = _DISABLE_TIMING | (_INTERPROCESS if shared else 0)
                check_status(cuda.cuEventCreate(ctypes.byref(self.handle), flags))
        weakref.finalize(self, cuda.cuEventDestroy_v2, self.handle).atexit = False
        self._cuda = cuda

    def record(self, stream: int, *, in_graph: bool = False) -> None:
        """Move the fence behind all work of a stream; in_graph: the stream is captured."""
        check_status(
            self._cuda.cuEventRecordWithFlags(
                self.handle, ctypes.c_void_p(stream), _EXTERNAL if in_graph else 0
            )
        )

    def wait(self, stream: int, *, in_graph: bool = False) -> None:
        """Let the later work of a stream wait for the fence; in_graph: the stream is captured."""
        check_status(
            self._cuda.cuStreamWaitEvent(
                ctypes.c_void_p(stream), self.handle, _EXTERNAL if in_graph else 0
            )
        )

    def synchronize(self) -> None:
        """Wait on the host."""
        check_status(self._cuda.cuEventSynchronize(self.handle))


def is_captured(stream: int, device: int) -> bool:
    """Return whether work that is queued on a stream becomes part of a CUDA graph."""
    if stream <= 2:  # handles of default streams, which cannot be captured
        return False
    status = ctypes.c_int()
    _call(device, "cuStreamIsCapturing", ctypes.c_void_p(stream), ctypes.byref(status))
    return status.value != 0


def order_streams(later: int, earlier: int, device: int) -> None:
    """Let what is queued on stream `later` of a GPU from now on wait for all of `earlier`."""
    if later == earlier:
        return
    with device_context(device):
        fence = _fence(device, get_ident())
        fence.record(earlier)
        fence.wait(later)


@cache
def _fence(device: int, thread: int) -> Fence:
    """Return the fence of a thread on a device: another thread's would be recorded anew."""
    return Fence(device)
