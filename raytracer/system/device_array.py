"""Arrays in the memory of a GPU, described where they are.

CuPy, PyTorch, JAX, Warp, Numba and PyCUDA describe their arrays by DLPack or by Numba's CUDA array
interface (`__cuda_array_interface__`). Both become a `DeviceArray`, which describes itself in both
ways, so that these packages take ours too.
"""

from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import Any, Self

import numpy as np
from numpy.typing import DTypeLike, NDArray

from raytracer._native import core
from raytracer.config.errors import SceneError, quote, type_name
from raytracer.system import cuda_driver
from raytracer.system.cuda_driver import LEGACY_STREAM, order_streams, stream_handle

CUDA, CUDA_MANAGED = 2, 13
"""Kinds of devices in DLPack: memory of a GPU, and memory that host and GPUs share."""

HOST = (1, 3, 11)
"""Kinds of memory of the host, page-locked or not."""

VERSION = 1, 0
"""The latest version of DLPack that is read and made; later minor versions may be read."""

_BFLOAT = 4
_LETTERS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # of NumPy, by the codes of DLPack
_CODES = {letter: code for code, letter in _LETTERS.items()}

NO_STREAM = -1
"""Stream of a DLPack consumer that needs no synchronisation."""


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

    def __getitem__(self, rows: slice) -> Self:
        """Return some rows where they are."""
        start, stop, step = rows.indices(len(self))
        return replace(
            self,
            address=self.address + start * self.strides[0],
            shape=(len(range(start, stop, step)), *self.shape[1:]),
            strides=(step * self.strides[0], *self.strides[1:]),
        )

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        """Version 3 of Numba's CUDA array interface."""
        return {
            "shape": self.shape,
            "typestr": self.dtype.str,
            "data": (self.address, False),
            "strides": self.strides,
            "stream": self.stream,
            "version": 3,
        }

    def __dlpack_device__(self) -> tuple[int, int]:
        """Return kind and number of the device, as DLPack counts."""
        return CUDA, self.device or 0

    def __dlpack__(
        self,
        *,
        stream: Any = None,
        max_version: tuple[int, int] | None = None,
        dl_device: tuple[int, int] | None = None,
        copy: bool | None = None,
    ) -> Any:
        """Return a DLPack capsule; arguments as in the array API standard. Raises BufferError: a
        copy on the device, or another device than this and the host."""
        if dl_device is not None and int(dl_device[0]) in HOST:
            if copy is False:
                raise BufferError("an array on a GPU comes to the host as a copy")
            return self.to_host().__dlpack__(max_version=max_version)
        if copy or (dl_device is not None and tuple(dl_device) != self.__dlpack_device__()):
            raise BufferError("the array is given where it is; copy it yourself")
        if stream != NO_STREAM and self.stream is not None:
            order_streams(stream_handle(stream), self.stream, self.device or 0)
        place = self.address, self.shape, self.strides, self.dtype, self.__dlpack_device__()
        return make_capsule(*place, self, max_version)

    def __array__(self, dtype: DTypeLike | None = None, copy: bool | None = None) -> NDArray[Any]:
        """Return `to_host`, for NumPy. Raises ValueError: `copy` is False."""
        if copy is False:
            raise ValueError("an array on a GPU comes to the host as a copy")
        return np.asarray(self.to_host(), dtype)

    def to_host(self) -> NDArray[Any]:
        """Return a copy in the memory of the host, when the array is ready. Raises BackendError:
        the driver of the GPU cannot be used."""
        if not self.size:
            return np.empty(self.shape, self.dtype)
        device = self.device or 0
        if self.stream is not None:
            cuda_driver.synchronize(self.stream, device)
        first, size = self.span()
        memory = np.empty(size, np.uint8)
        cuda_driver.copy_to_host(memory.ctypes.data, self.address + first, size, device)
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


def device_array(value: Any, name: str = "", stream: Any = None) -> DeviceArray | None:
    """Return the description of an array on a GPU, which is not copied, or None of anything else.
    DLPack comes first: it says how streams wait.

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
    for read in (_describe_dlpack, _describe_interface):
        try:
            if (found := read(value, stream, place)) is not None:
                return found
        except SceneError:
            raise
        except Exception as error:  # whatever a foreign object raises
            problem = error
    if problem is not None:
        text = quote(str(problem).split("\n")[0], 200)
        raise SceneError(f"{place}the {type_name(value)} cannot be read as an array: {text}")
    return None


def to_host_array(value: Any, name: str = "") -> Any:
    """Return a copy of an array on a GPU in the memory of the host, and anything else as it is;
    objects of the host with DLPack become arrays of NumPy, without a copy. Raises SceneError: as
    for `device_array`, or its package does not copy it from its device."""
    if (found := device_array(value, name)) is not None:
        return found.to_host()
    kind = _device_kind(value)
    if kind is None:
        return value
    with suppress(Exception):  # whatever a foreign object raises
        if hasattr(value, "__array__"):
            return np.asarray(value)
        if kind in HOST:
            return np.from_dlpack(value)
    if kind in HOST:
        return value
    place = f"{name}: " if name else ""
    raise SceneError(f"{place}is on a device of DLPack type {kind}: copy it to the host first")


def _device_kind(value: Any) -> int | None:
    """Return the kind of device of an object with `__dlpack__`, or None where it tells none."""
    try:
        return int(value.__dlpack_device__()[0]) if hasattr(value, "__dlpack__") else None
    except Exception:  # of several devices, or of none
        return None


def _describe_dlpack(value: Any, stream: Any, place: str) -> DeviceArray | None:
    """Return what an object with `__dlpack__` describes, or None where it lies on no GPU."""
    if _device_kind(value) not in (CUDA, CUDA_MANAGED):
        return None
    handle = stream_handle(stream)
    try:
        capsule = value.__dlpack__(stream=handle, max_version=VERSION)
    except TypeError:  # before version 1
        capsule = value.__dlpack__(stream=handle)
    try:
        address, shape, strides, *kind, _, number, owner = core().read_dlpack(capsule)
    except TypeError:
        raise SceneError(
            f"{place}did not return a DLPack capsule, or returned one that was used before"
        ) from None
    dtype = _dtype(place, *kind)
    strides = tuple(stride * dtype.itemsize for stride in strides)
    return DeviceArray(address, shape, strides, dtype, number, None, owner)


def _dtype(place: str, code: int, bits: int, lanes: int) -> np.dtype[Any]:
    with suppress(KeyError, TypeError):
        if lanes == 1 and bits % 8 == 0:
            return np.dtype(f"{_LETTERS[code]}{bits // 8}")
    kind = f"bfloat{bits}" if code == _BFLOAT else f"of DLPack code {code} with {bits} bits"
    raise SceneError(f"{place}has dtype {kind}, which NumPy does not have: give float32")


def make_capsule(
    address: int, shape: tuple[int, ...], strides: tuple[int, ...], dtype: np.dtype[Any],
    device: tuple[int, int], owner: object, max_version: tuple[int, int] | None,
) -> object:  # fmt: skip
    """Return a DLPack capsule of memory, which keeps its owner until the consumer is done. device:
    its kind and number. max_version: of DLPack that the consumer reads."""
    size = dtype.itemsize
    steps = [stride // size for stride in strides]
    made = core().make_dlpack(address, shape, steps, _CODES[dtype.kind], 8 * size, device, owner)
    return made.__dlpack__(max_version=max_version)


def packed_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array, in bytes."""
    strides = [itemsize]
    for size in shape[:0:-1]:
        strides.append(strides[-1] * size)
    return tuple(strides[::-1]) if shape else ()


def _describe_interface(value: Any, stream: Any, place: str) -> DeviceArray | None:
    """Return what a `__cuda_array_interface__` of version 2 or 3 describes, or None without."""
    interface = getattr(value, "__cuda_array_interface__", None)
    if interface is None:
        return None
    if interface.get("mask") is not None:
        raise SceneError(f"{place}has a mask: give an array without one")
    dtype = np.dtype(interface["typestr"])
    if dtype.kind == "V" or not dtype.isnative:
        raise SceneError(f"{place}has dtype {dtype.str}: give an array of float32")
    shape = tuple(int(n) for n in interface["shape"])
    strides = interface.get("strides")
    if strides is None:
        strides = packed_strides(shape, dtype.itemsize)
    strides = tuple(int(each) for each in strides)
    if len(strides) != len(shape) or min(shape, default=0) < 0:
        raise SceneError(f"{place}shape {shape} and strides {strides} do not describe an array")
    address, own = int(interface["data"][0] or 0), interface.get("stream")
    try:
        device = cuda_driver.find_device(address) if 0 not in shape else 0
    except ValueError:
        raise SceneError(f"{place}its address is not in the memory of a GPU") from None
    handle = None if own is None else int(own) or LEGACY_STREAM
    return DeviceArray(address, shape, strides, dtype, device, handle, value)
