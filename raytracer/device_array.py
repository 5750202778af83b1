"""Arrays in the memory of a GPU, described where they are.

CuPy, PyTorch, JAX, Warp, Numba and PyCUDA describe their arrays by DLPack or by Numba's CUDA array
interface (`__cuda_array_interface__`). Both become a `DeviceArray`, which describes itself in both
ways, so that these packages take ours too. What is asked of CUDA's driver here goes through ctypes:
such an array also comes to the CPU backend, where no binding may be installed.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import cache
from threading import local
from typing import TYPE_CHECKING, Any

import numpy as np

from raytracer import dlpack
from raytracer.errors import BackendError, SceneError, shown, shown_value, type_name

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

LEGACY_STREAM = 1
"""Handle of CUDA's default stream, on which most packages work unless told otherwise."""

NO_STREAM = -1
"""Stream of a DLPack consumer that needs no synchronisation."""

FAR = 16
"""Distance of rows in their widths from which they are copied one by one."""

_STREAM_NAMES = ("cuda_stream", "ptr", "handle")
"""Where streams of PyTorch and Warp, CuPy, and PyCUDA and Numba have their handle."""


def stream_handle(stream: Any, name: str = "stream") -> int:
    """Return the handle of a stream.

    Args:
        stream: the handle, an integer; a stream of PyTorch, CuPy, Warp, Numba, PyCUDA or
            cuda-bindings, or an object with `__cuda_stream__`; None is CUDA's default stream.

    Raises:
        SceneError: it is none of these.
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
            f"{name}: {shown_value(stream)} is not a CUDA stream; give its handle, or a stream of "
            "CuPy, PyTorch, Warp or Numba"
        )
    return number or LEGACY_STREAM


@dataclass(frozen=True, eq=False)
class DeviceArray:
    """An array in the memory of a GPU.

    CuPy, PyTorch, JAX, Warp and Numba take it without a copy: `torch.from_dlpack(array)`,
    `cupy.asarray(array)`; `np.asarray(array)` copies it to the host.

    Args:
        address: of the first number, on the device.
        shape: numbers along each axis.
        strides: bytes from one number to the next, along each axis.
        dtype: type of the numbers.
        device: number of the GPU, or None where no driver tells.
        stream: handle of the stream whose work must end before the array is read; None: none.
        owner: object that keeps the memory.
    """

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    device: int | None = 0
    stream: int | None = None
    owner: object = field(default=None, repr=False)

    @property
    def ndim(self) -> int:
        """Number of axes."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """Number of numbers."""
        return int(np.prod(self.shape, dtype=np.int64))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice) -> DeviceArray:
        """Return some rows where they are."""
        start, stop, step = rows.indices(len(self))
        return replace(
            self,
            address=self.address + start * self.strides[0],
            shape=(len(range(start, stop, step)), *self.shape[1:]),
            strides=(step * self.strides[0], *self.strides[1:]),
        )

    @property
    def is_contiguous(self) -> bool:
        """Whether the numbers follow one another in C order."""
        packed = dlpack.packed_strides(self.shape, self.dtype.itemsize)
        pairs = zip(self.shape, self.strides, packed, strict=True)
        return self.size == 0 or all(n == 1 or own == one for n, own, one in pairs)

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of Numba's CUDA array interface."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": None if self.is_contiguous else self.strides,
            "stream": self.stream,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return kind and number of the device, as DLPack counts."""
        return dlpack.CUDA, self.device or 0

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule.

        Args:
            stream: of the consumer, which waits for this array; -1 leaves that to the consumer.
            max_version: of DLPack that the consumer reads.
            dl_device: kind and number of the device that the consumer wants: this one, or the host.
            copy: True asks for a copy, which there is on the host alone.

        Raises:
            BufferError: a copy on the device, or another device.
        """
        if dl_device is not None and int(dl_device[0]) in dlpack.HOST:
            if copy is False:
                raise BufferError("an array on a GPU comes to the host as a copy")
            return self.to_host().__dlpack__(max_version=max_version)
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("the array is given where it is; copy it yourself")
        if stream != NO_STREAM and self.stream is not None:
            order(stream_handle(stream), self.stream, self.device or 0)
        described = dlpack.Description(
            self.address, self.shape, self.strides, self.dtype, self.__dlpack_device__()
        )
        return dlpack.make(described, self, max_version)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return `to_host`, for NumPy. Raises ValueError: `copy` is False."""
        if copy is False:
            raise ValueError("an array on a GPU comes to the host as a copy")
        return np.asarray(self.to_host(), dtype)

    def to_host(self) -> NDArray[Any]:
        """Return a copy in the memory of the host, when the array is ready.

        Raises:
            BackendError: the driver of the GPU cannot be used.
        """
        if not self.size:
            return np.empty(self.shape, self.dtype)
        if self._is_sparse:
            return self._rows_to_host()
        first, size = self.span()
        memory = np.empty(size, np.uint8)
        with self._complete() as cuda:
            check_status(
                cuda.cuMemcpyDtoH_v2(
                    ctypes.c_void_p(memory.ctypes.data),
                    ctypes.c_uint64(self.address + first),
                    ctypes.c_size_t(memory.size),
                )
            )
        return np.ndarray(self.shape, self.dtype, memory, -first, self.strides)

    @property
    def nbytes(self) -> int:
        """Bytes from the first to the last number in memory."""
        return self.span()[1]

    def span(self) -> tuple[int, int]:
        """Return the first byte, relative to the address, and the number of bytes."""
        if not self.size:
            return 0, 0
        steps = [(n - 1) * stride for n, stride in zip(self.shape, self.strides, strict=True)]
        first = sum(step for step in steps if step < 0)
        return first, sum(step for step in steps if step > 0) + self.dtype.itemsize - first

    @contextmanager
    def _complete(self) -> Iterator[ctypes.CDLL]:
        """Make the context of the GPU current, when the array is ready."""
        with device_context(self.device or 0) as cuda:
            if self.stream is not None:
                check_status(cuda.cuStreamSynchronize(ctypes.c_void_p(self.stream)))
            yield cuda

    @property
    def _is_sparse(self) -> bool:
        """Whether the rows are packed, and far apart: the memory between them is not copied."""
        if not self.ndim:
            return False
        width = self.size // len(self) * self.dtype.itemsize
        return self.strides[0] >= FAR * width and (self.ndim == 1 or self[:1].is_contiguous)

    def _rows_to_host(self) -> NDArray[Any]:
        """Return a copy of rows that are far apart."""
        found = np.empty(self.shape, self.dtype)
        width = found.nbytes // len(found)
        copy = _Copy2D(
            from_kind=_DEVICE, from_address=self.address, from_pitch=self.strides[0],
            to_kind=_HOST, to_address=found.ctypes.data, to_pitch=width,
            width=width, height=len(found),
        )  # fmt: skip
        with self._complete() as cuda:
            check_status(cuda.cuMemcpy2DUnaligned_v2(ctypes.byref(copy)))
        return found

    def copied_to(self, memory: DeviceMemory, stream: int) -> DeviceArray:
        """Queue a copy on a stream, and return it; it is complete when the stream's work is.

        memory: of `nbytes` or more, on the same GPU. stream: its handle.
        """
        address = self.copy_to(memory.address, stream, memory.device)
        return replace(self, address=address, device=memory.device, stream=None, owner=memory)

    def copy_to(self, address: int, stream: int, device: int) -> int:
        """Queue a copy of `nbytes` on a stream; returns where the first number then is.

        address: of the first byte, on the same GPU. stream: handle. device: number of the GPU.
        """
        first, size = self.span()
        if self.stream is not None:
            order(stream, self.stream, device)
        with device_context(device) as cuda:
            check_status(
                cuda.cuMemcpyDtoDAsync_v2(
                    ctypes.c_uint64(address), ctypes.c_uint64(self.address + first),
                    ctypes.c_size_t(size), ctypes.c_void_p(stream),
                )
            )  # fmt: skip
        return address - first


class DeviceStream:
    """A stream of its own, which does not wait for the default one. device: number of the GPU."""

    def __init__(self, device: int) -> None:
        stream = ctypes.c_void_p()
        with device_context(device) as cuda:
            check_status(cuda.cuStreamCreate(ctypes.byref(stream), _NON_BLOCKING))
        weakref.finalize(self, cuda.cuStreamDestroy_v2, stream).atexit = False
        self.handle = stream.value or 0
        self._device = device

    def synchronize(self) -> None:
        """Wait on the host."""
        with device_context(self._device) as cuda:
            check_status(cuda.cuStreamSynchronize(ctypes.c_void_p(self.handle)))


class DeviceMemory:
    """Bytes in the memory of a GPU, which are freed with the object.

    Raises:
        BackendError: there is no room, or the driver cannot be used.
    """

    def __init__(self, size: int, device: int) -> None:
        self.size, self.device, self.address = size, device, 0
        address = ctypes.c_uint64()
        with device_context(device) as cuda:
            check_status(cuda.cuMemAlloc_v2(ctypes.byref(address), ctypes.c_size_t(max(size, 1))))
        self.address = address.value

    def __del__(self) -> None:
        if self.address:
            with suppress(Exception), device_context(self.device) as cuda:
                cuda.cuMemFree_v2(ctypes.c_uint64(self.address))


def device_array(value: Any, name: str = "", stream: Any = None) -> DeviceArray | None:
    """Return the description of an array on a GPU, or None of anything else.

    Nothing is copied. An object that gives DLPack and the CUDA array interface is read by DLPack,
    which says how streams wait.

    Args:
        value: an object with `__dlpack__` or `__cuda_array_interface__`.
        name: of the argument, for messages.
        stream: on which the array will be read, as for `stream_handle`; its owner makes this
            stream wait for what it has queued.

    Raises:
        SceneError: the array cannot be read: it has a mask, or a type that NumPy lacks.
    """
    if isinstance(value, (DeviceArray, np.ndarray)):
        return value if isinstance(value, DeviceArray) else None
    place = f"{name}: " if name else ""
    problem: Exception | None = None
    for read in (_by_dlpack, _by_interface):
        try:
            if (found := read(value, stream, place)) is not None:
                return found
        except SceneError:
            raise
        except Exception as error:  # whatever a foreign object raises
            problem = error
    if problem is not None:
        text = shown(str(problem).split("\n")[0], 200)
        raise SceneError(f"{place}the {type_name(value)} cannot be read as an array: {text}")
    return None


def on_host(value: Any, name: str = "") -> Any:
    """Return a copy of an array on a GPU in the memory of the host, and anything else as it is.

    Objects of the host with DLPack become arrays of NumPy, without a copy.

    Raises:
        SceneError: as for `device_array`, or the array lies on another device, from which its
            package does not copy it.
    """
    if (found := device_array(value, name)) is not None:
        return found.to_host()
    kind = _device_kind(value)
    if kind is None:
        return value
    ways: list[Callable[[Any], Any]] = [np.asarray] if hasattr(value, "__array__") else []
    ways += [np.from_dlpack] if kind in dlpack.HOST else []
    for way in ways:
        with suppress(Exception):  # whatever a foreign object raises
            return way(value)
    if kind in dlpack.HOST:
        return value
    device = dlpack.DEVICES.get(kind, f"DLPack type {kind}")
    place = f"{name}: " if name else ""
    raise SceneError(f"{place}is on a {device} device: copy it to the host first")


def _device_kind(value: Any) -> int | None:
    """Return the kind of device of an object with `__dlpack__`, or None where it tells none."""
    try:
        return int(value.__dlpack_device__()[0]) if hasattr(value, "__dlpack__") else None
    except Exception:  # of several devices, or of none
        return None


def _by_dlpack(value: Any, stream: Any, place: str) -> DeviceArray | None:
    """Return what an object with `__dlpack__` describes, or None where it lies on no GPU."""
    if _device_kind(value) not in (dlpack.CUDA, dlpack.CUDA_MANAGED):
        return None
    handle = stream_handle(stream)
    try:
        capsule = value.__dlpack__(stream=handle, max_version=dlpack.VERSION)
    except TypeError:  # before version 1
        capsule = value.__dlpack__(stream=handle)
    try:
        found, owner = dlpack.read(capsule)
    except dlpack.CapsuleError as error:
        raise SceneError(f"{place}{error}") from None
    return DeviceArray(
        found.address, found.shape, found.strides, found.dtype, found.device[1], None, owner
    )


def _by_interface(value: Any, stream: Any, place: str) -> DeviceArray | None:
    """Return what a `__cuda_array_interface__` of version 2 or 3 describes, or None without."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        return None
    if interface.get("mask") is not None:
        raise SceneError(f"{place}has a mask: give an array without one")
    dtype = np.dtype(interface["typestr"])
    if dtype.kind == "V" or not dtype.isnative:
        problem = "contains records" if dtype.kind == "V" else "does not have native byte order"
        raise SceneError(f"{place}{problem}: give an array of float32")
    shape = tuple(int(n) for n in interface["shape"])
    given = interface.get("strides")
    strides = (
        dlpack.packed_strides(shape, dtype.itemsize)
        if given is None
        else tuple(int(each) for each in given)
    )
    if len(strides) != len(shape) or min(shape, default=0) < 0:
        raise SceneError(f"{place}shape {shape} and strides {strides} do not describe an array")
    address, own = int(interface["data"][0] or 0), interface.get("stream")
    device = _device_of(address, place) if 0 not in shape else 0
    handle = None if own is None else int(own) or LEGACY_STREAM
    return DeviceArray(address, shape, strides, dtype, device, handle, value)


# calls of CUDA's driver

_DEVICE_ORDINAL = 9  # CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL
_DISABLE_TIMING, _INTERPROCESS = 2, 4  # CU_EVENT_DISABLE_TIMING, CU_EVENT_INTERPROCESS
_NON_BLOCKING = 1  # CU_STREAM_NON_BLOCKING
_EXTERNAL = 1  # CU_EVENT_RECORD_EXTERNAL and CU_EVENT_WAIT_EXTERNAL
_HOST, _DEVICE = 1, 2  # CU_MEMORYTYPE_HOST, CU_MEMORYTYPE_DEVICE
_events = local()


class _Copy2D(ctypes.Structure):
    """CUDA_MEMCPY2D."""

    _fields_ = (
        ("from_x", ctypes.c_size_t), ("from_y", ctypes.c_size_t), ("from_kind", ctypes.c_int),
        ("from_host", ctypes.c_void_p), ("from_address", ctypes.c_uint64),
        ("from_array", ctypes.c_void_p), ("from_pitch", ctypes.c_size_t),
        ("to_x", ctypes.c_size_t), ("to_y", ctypes.c_size_t), ("to_kind", ctypes.c_int),
        ("to_address", ctypes.c_void_p), ("to_device", ctypes.c_uint64),
        ("to_array", ctypes.c_void_p), ("to_pitch", ctypes.c_size_t),
        ("width", ctypes.c_size_t), ("height", ctypes.c_size_t),
    )  # fmt: skip


@cache
def _driver() -> ctypes.CDLL | None:
    """Return the library of the driver, initialised; None without a GPU."""
    try:
        cuda = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    return None if cuda.cuInit(0) else cuda


def check_status(status: int) -> None:
    if status:
        text = ctypes.c_char_p()
        cuda = _driver()
        if cuda is not None:
            cuda.cuGetErrorString(status, ctypes.byref(text))
        raise BackendError(
            f"the CUDA driver cannot use an array on a GPU: {(text.value or b'?').decode()}"
        )


def _device_of(address: int, place: str) -> int | None:
    """Return the number of the GPU in whose memory an address is; None without a driver."""
    if (cuda := _driver()) is None:
        return None
    number = ctypes.c_int()
    if cuda.cuPointerGetAttribute(ctypes.byref(number), _DEVICE_ORDINAL, ctypes.c_uint64(address)):
        raise SceneError(f"{place}its address is not in the memory of a GPU")
    return number.value


@cache
def _primary(device: int) -> ctypes.c_void_p:
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
    check_status(cuda.cuCtxPushCurrent_v2(_primary(device)))
    try:
        yield cuda
    finally:
        cuda.cuCtxPopCurrent_v2(ctypes.byref(ctypes.c_void_p()))


def order(later: int, earlier: int, device: int) -> None:
    """Let the work that is queued on a stream from now on wait for all of another stream.

    Args:
        later, earlier: handles of streams of the device.
        device: number of the GPU.
    """
    if later == earlier:
        return
    with device_context(device) as cuda:
        event = _event(cuda, device)
        check_status(cuda.cuEventRecord(event, ctypes.c_void_p(earlier)))
        check_status(cuda.cuStreamWaitEvent(ctypes.c_void_p(later), event, 0))


class Fence:
    """A point in the work of streams that other work waits for: an event of CUDA.

    In a capture, recording and waiting become nodes of the graph: each launch of the graph records
    the fence anew, for work outside of it, and waits for what was recorded last before the launch.

    The context of the device must be active in the methods.
    """

    def __init__(
        self, device: int, event: ctypes.c_void_p | None = None, *, shared: bool = False
    ) -> None:
        """Create the event; until it is recorded, nothing waits.

        Args:
            device: number of the GPU.
            event: one of another process; None makes one.
            shared: whether another process may use it.
        """
        self._event = event or ctypes.c_void_p()
        with device_context(device) as cuda:
            if event is None:
                flags = _DISABLE_TIMING | (_INTERPROCESS if shared else 0)
                check_status(cuda.cuEventCreate(ctypes.byref(self._event), flags))
        weakref.finalize(self, cuda.cuEventDestroy_v2, self._event).atexit = False
        self._cuda = cuda

    @property
    def handle(self) -> ctypes.c_void_p:
        """Of the event."""
        return self._event

    def record(self, stream: int, *, in_graph: bool = False) -> None:
        """Move the fence behind all work of a stream; in_graph: the stream is captured."""
        check_status(
            self._cuda.cuEventRecordWithFlags(
                self._event, ctypes.c_void_p(stream), _EXTERNAL if in_graph else 0
            )
        )

    def wait(self, stream: int, *, in_graph: bool = False) -> None:
        """Let the later work of a stream wait for the fence; in_graph: the stream is captured."""
        check_status(
            self._cuda.cuStreamWaitEvent(
                ctypes.c_void_p(stream), self._event, _EXTERNAL if in_graph else 0
            )
        )

    def synchronize(self) -> None:
        """Wait on the host."""
        check_status(self._cuda.cuEventSynchronize(self._event))


def is_captured(stream: int, device: int) -> bool:
    """Return whether work that is queued on a stream becomes part of a CUDA graph."""
    if stream <= 2:  # handles of default streams, which cannot be captured
        return False
    status = ctypes.c_int()
    with device_context(device) as cuda:
        check_status(cuda.cuStreamIsCapturing(ctypes.c_void_p(stream), ctypes.byref(status)))
    return status.value != 0


def _event(cuda: ctypes.CDLL, device: int) -> ctypes.c_void_p:
    """Return the event of this thread on a device: another thread's would be recorded anew."""
    events: dict[int, ctypes.c_void_p] = _events.__dict__.setdefault("by_device", {})
    if device not in events:
        event = ctypes.c_void_p()
        check_status(cuda.cuEventCreate(ctypes.byref(event), _DISABLE_TIMING))
        events[device] = event
    return events[device]
