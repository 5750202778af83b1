"""DLPack capsules of arrays in the memory of a GPU: read, and made of our own memory.

A capsule points to a struct of C that describes an array (https://dmlc.github.io/dlpack); nanobind
reads and writes it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from raytracer._native import core

CUDA, CUDA_MANAGED = 2, 13
"""Kinds of devices in DLPack: memory of a GPU, and memory that host and GPUs share."""

HOST = (1, 3, 11)
"""Kinds of memory of the host, page-locked or not."""

DEVICES = {7: "Vulkan", 8: "Metal", 10: "ROCm", 14: "oneAPI", 15: "WebGPU"}
"""Names of other kinds of devices, for messages."""

VERSION = 1, 0
"""The latest version of the struct that is read and made; later minor versions may be read."""

_BFLOAT = 4
_LETTERS = {0: "i", 1: "u", 2: "f", 5: "c", 6: "b"}  # of NumPy, by the codes of DLPack
_CODES = {letter: code for code, letter in _LETTERS.items()}


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


def read(capsule: Any) -> tuple[Description, object]:
    """Take a capsule over; return the array and what keeps its memory. Raises CapsuleError."""
    try:
        address, shape, strides, code, bits, lanes, *device, owner = core().read_dlpack(capsule)
    except TypeError:
        raise CapsuleError(
            "did not return a DLPack capsule, or returned one that was used before"
        ) from None
    dtype = _dtype(code, bits, lanes)
    steps = tuple(stride * dtype.itemsize for stride in strides)
    return Description(address, shape, steps, dtype, (device[0], device[1])), owner


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


def make(described: Description, owner: object, max_version: tuple[int, int] | None) -> object:
    """Return a capsule of an array; `owner` is kept until the consumer is done."""
    dtype = described.dtype
    strides = [stride // dtype.itemsize for stride in described.strides]
    made = core().make_dlpack(
        described.address, described.shape, strides, _CODES[dtype.kind], 8 * dtype.itemsize,
        described.device, owner,
    )  # fmt: skip
    return made.__dlpack__(max_version=max_version)
