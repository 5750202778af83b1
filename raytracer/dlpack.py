"""DLPack capsules of arrays in the memory of a GPU: read, and made of our own memory.

A capsule points to a struct of C that describes an array and has a function, the deleter, that the
consumer calls when it is done (https://dmlc.github.io/dlpack). NumPy reads those of host memory.
"""

from __future__ import annotations

import ctypes
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

CUDA, CUDA_MANAGED = 2, 13
"""Kinds of devices in DLPack: memory of a GPU, and memory that host and GPUs share."""

HOST = (1, 3, 11)
"""Kinds of memory of the host, page-locked or not."""

DEVICES = {7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI", 15: "WebGPU"}
"""Names of other kinds of devices, for messages."""

VERSION = 1, 0
"""The latest version of the struct that is read and made; later minor versions may be read."""

_INTEGER, _UNSIGNED, _FLOAT, _BFLOAT, _COMPLEX, _BOOL = 0, 1, 2, 4, 5, 6
_LETTERS = {_INTEGER: "i", _UNSIGNED: "u", _FLOAT: "f", _COMPLEX: "c", _BOOL: "b"}
_CODES = {letter: code for code, letter in _LETTERS.items()}

_NAMES = {False: b"dltensor", True: b"dltensor_versioned"}
_USED = {False: b"used_dltensor", True: b"used_dltensor_versioned"}
"""Names of capsules by whether the struct has a version; capsules keep the address of a name."""


class _Tensor(ctypes.Structure):
    _fields_ = (
        ("data", ctypes.c_void_p),
        ("device_kind", ctypes.c_int32),
        ("device_number", ctypes.c_int32),
        ("ndim", ctypes.c_int32),
        ("code", ctypes.c_uint8),
        ("bits", ctypes.c_uint8),
        ("lanes", ctypes.c_uint16),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("strides", ctypes.POINTER(ctypes.c_int64)),
        ("byte_offset", ctypes.c_uint64),
    )


_Deleter = ctypes.CFUNCTYPE(None, ctypes.c_void_p)


class _Managed(ctypes.Structure):
    _fields_ = (("tensor", _Tensor), ("context", ctypes.c_void_p), ("deleter", ctypes.c_void_p))


class _Versioned(ctypes.Structure):
    _fields_ = (
        ("major", ctypes.c_uint32),
        ("minor", ctypes.c_uint32),
        ("context", ctypes.c_void_p),
        ("deleter", ctypes.c_void_p),
        ("flags", ctypes.c_uint64),
        ("tensor", _Tensor),
    )


_STRUCTS: dict[bool, type[_Managed] | type[_Versioned]] = {False: _Managed, True: _Versioned}


def _call(name: str, result: Any, *arguments: Any) -> Callable[..., Any]:
    """Return a function of Python's C interface that takes capsules."""
    return ctypes.PYFUNCTYPE(result, *arguments)((name, ctypes.pythonapi))


_is_valid = _call("PyCapsule_IsValid", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_pointer = _call("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.py_object, ctypes.c_char_p)
_rename = _call("PyCapsule_SetName", ctypes.c_int, ctypes.py_object, ctypes.c_char_p)
_new = _call("PyCapsule_New", ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)
# The same for a capsule that is being destroyed, which nothing may refer to again.
_dying_is_valid = _call("PyCapsule_IsValid", ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p)
_dying_pointer = _call("PyCapsule_GetPointer", ctypes.c_void_p, ctypes.c_void_p, ctypes.c_char_p)


class CapsuleError(Exception):
    """A capsule cannot be read; the message continues "the array ..."."""


@dataclass(frozen=True)
class Description:
    """An array in memory: address of the first number, strides in bytes, DLPack kind and number."""

    address: int
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    dtype: np.dtype[Any]
    device: tuple[int, int]


class Owner:
    """What keeps the memory of a capsule: its deleter is called once, when nothing refers to it."""

    def __init__(self, address: int, deleter: int | None) -> None:
        if deleter:
            # Not as the process ends: other libraries may have ended before.
            weakref.finalize(self, _Deleter(deleter), address).atexit = False


def read(capsule: Any) -> tuple[Description, Owner]:
    """Take a capsule over; return the array and what keeps its memory. Raises CapsuleError."""
    versioned = next((v for v, name in _NAMES.items() if _is_valid(capsule, name)), None)
    if versioned is None:
        raise CapsuleError("did not return a DLPack capsule, or returned one that was used before")
    address = _pointer(capsule, _NAMES[versioned])
    managed = _STRUCTS[versioned].from_address(address)
    if isinstance(managed, _Versioned) and managed.major != VERSION[0]:
        raise CapsuleError(
            f"has DLPack version {managed.major}.{managed.minor}; version 1 is supported"
        )
    described = _description(managed.tensor)
    _rename(capsule, _USED[versioned])  # from now on its own end leaves the memory
    return described, Owner(address, managed.deleter)


def _description(tensor: _Tensor) -> Description:
    shape = tuple(tensor.shape[: tensor.ndim]) if tensor.ndim else ()
    dtype = _dtype(tensor.code, tensor.bits, tensor.lanes)
    strides = tuple(tensor.strides[: tensor.ndim]) if tensor.strides and tensor.ndim else None
    return Description(
        (tensor.data or 0) + tensor.byte_offset,
        shape,
        packed_strides(shape, dtype.itemsize)
        if strides is None
        else tuple(stride * dtype.itemsize for stride in strides),
        dtype,
        (tensor.device_kind, tensor.device_number),
    )


def _dtype(code: int, bits: int, lanes: int) -> np.dtype[Any]:
    if code == _BFLOAT:
        raise CapsuleError(f"has dtype bfloat{bits}, which NumPy does not have: give float32")
    letter = _LETTERS.get(code)
    if letter is None or lanes != 1 or bits % 8:
        raise CapsuleError(
            f"has DLPack type code {code} with {bits} bits, which is not supported: give float32"
        )
    try:
        return np.dtype(f"{letter}{bits // 8}")
    except TypeError:
        raise CapsuleError(
            f"has numbers of {bits} bits, which NumPy does not have: give float32"
        ) from None


def packed_strides(shape: tuple[int, ...], itemsize: int) -> tuple[int, ...]:
    """Return the strides of a C-contiguous array, in bytes."""
    strides = [itemsize]
    for size in shape[:0:-1]:
        strides.append(strides[-1] * size)
    return tuple(strides[::-1]) if shape else ()


# what was made and is in use, by address: a struct, its arrays and the owner of the memory
_made: dict[int, tuple[Any, ...]] = {}


def _delete(address: int, made: dict[int, tuple[Any, ...]] = _made) -> None:
    made.pop(address, None)


def _end(
    capsule: int,
    names: tuple[bytes, ...] = tuple(_NAMES.values()),
    is_valid: Callable[..., Any] = _dying_is_valid,
    pointer: Callable[..., Any] = _dying_pointer,
    delete: Callable[[int], None] = _delete,
) -> None:
    """Release the memory of a capsule that nobody took over."""
    for name in names:
        if is_valid(capsule, name):
            delete(pointer(capsule, name))


# Other packages call them to the very end of the process, when this module has lost its names.
_delete_callback = _Deleter(_delete)
_end_callback = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)(_end)
for _callback in (_delete_callback, _end_callback):
    ctypes.pythonapi.Py_IncRef(ctypes.py_object(_callback))


def make(described: Description, owner: object, max_version: tuple[int, int] | None) -> object:
    """Return a capsule of an array; `owner` is kept until the consumer is done."""
    versioned = max_version is not None and max_version[0] >= VERSION[0]
    managed = _STRUCTS[versioned]()
    itemsize = described.dtype.itemsize
    numbers = ctypes.c_int64 * max(len(described.shape), 1)
    shape, strides = numbers(*described.shape), numbers(*(s // itemsize for s in described.strides))
    tensor = managed.tensor
    tensor.data, tensor.ndim = described.address, len(described.shape)
    tensor.device_kind, tensor.device_number = described.device
    tensor.code, tensor.bits, tensor.lanes = _CODES[described.dtype.kind], 8 * itemsize, 1
    tensor.shape, tensor.strides = shape, strides
    managed.deleter = ctypes.cast(_delete_callback, ctypes.c_void_p).value
    if isinstance(managed, _Versioned):
        managed.major, managed.minor = VERSION
    address = ctypes.addressof(managed)
    _made[address] = managed, shape, strides, owner
    return _new(address, _NAMES[versioned], ctypes.cast(_end_callback, ctypes.c_void_p))
