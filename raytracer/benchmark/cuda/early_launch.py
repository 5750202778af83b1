"""Programmatic dependent launch: a kernel starts while the kernel ahead in its stream still runs.

PyCUDA has no launch attributes; the driver is called through ctypes (CUDA driver API,
`cuLaunchKernelEx`). The kernel waits by itself before it touches memory
(kernels/ladders/matmul_bf16/early_launch.cuh).
"""

from __future__ import annotations

import ctypes
from typing import Any

from raytracer.benchmark.cuda.graph import driver_library
from raytracer.errors import BackendError

SERIALIZATION = 6  # CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION
CLUSTER = 4  # CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION
MAX_DYNAMIC_SHARED = 8  # CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES


class _Attribute(ctypes.Structure):
    """CUlaunchAttribute; the value is a union of 64 bytes."""

    _fields_ = (
        ("key", ctypes.c_int),
        ("padding", ctypes.c_int),
        ("value", ctypes.c_uint),  # or the first of several
        ("rest", ctypes.c_uint * 15),
    )


class _Configuration(ctypes.Structure):
    """CUlaunchConfig."""

    _fields_ = (
        ("grid", ctypes.c_uint * 3),
        ("block", ctypes.c_uint * 3),
        ("shared", ctypes.c_uint),
        ("stream", ctypes.c_void_p),
        ("attributes", ctypes.POINTER(_Attribute)),
        ("count", ctypes.c_uint),
    )


class Prepared:
    """A launch with its arguments; may be queued any number of times."""

    def __init__(self, driver: Any, function: ctypes.c_void_p, sizes: tuple[int, int, int],
                 arguments: bytes, early: bool, cluster: int = 0) -> None:  # fmt: skip
        """Remember blocks, threads of a block, bytes of dynamic shared memory, and arguments."""
        blocks, threads, shared = sizes
        self._driver, self._function = driver, function
        wanted = [_Attribute(SERIALIZATION, 0, 1)] * early + [_cluster(cluster)] * (cluster > 0)
        self._attributes = (_Attribute * len(wanted))(*wanted)
        self._arguments = ctypes.create_string_buffer(arguments, len(arguments))
        self._pointers = (ctypes.c_void_p * 1)(ctypes.addressof(self._arguments))
        one = ctypes.c_uint * 3
        self._configuration = _Configuration(
            one(blocks, 1, 1), one(threads, 1, 1), shared, None, self._attributes, len(wanted),
        )  # fmt: skip

    def launch(self, stream: int) -> None:
        """Queue the kernel; raise BackendError if the driver refuses it."""
        self._configuration.stream = stream
        _ask(
            self._driver, "cuLaunchKernelEx", ctypes.byref(self._configuration), self._function,
            self._pointers, None,
        )  # fmt: skip


class EarlyLaunch:
    """A kernel with one argument, a struct passed by value."""

    def __init__(self, code: bytes, name: str, library: Any = None) -> None:
        """Load the kernel into the current context.

        Args:
            code: of the module.
            name: of the entry.
            library: replaces the driver library, in tests.
        """
        self._driver = library or driver_library()
        module, self._function = ctypes.c_void_p(), ctypes.c_void_p()
        self._shared = 0  # bytes that blocks may have: as many as any launch needs
        _ask(self._driver, "cuModuleLoadData", ctypes.byref(module), code)
        _ask(
            self._driver, "cuModuleGetFunction", ctypes.byref(self._function), module,
            name.encode(),
        )  # fmt: skip

    def prepare(
        self,
        blocks: int,
        threads: int,
        shared: int,
        arguments: bytes,
        early: bool = True,
        cluster: int = 0,
    ) -> Prepared:
        """Return a launch.

        Args:
            blocks: of the grid.
            threads: of a block.
            shared: bytes of dynamic shared memory.
            arguments: the struct.
            early: whether it may start before the kernel ahead has ended.
            cluster: blocks of a cluster; 0: as the kernel was compiled.
        """
        self._allow(shared)
        sizes = blocks, threads, shared
        return Prepared(self._driver, self._function, sizes, arguments, early, cluster)

    def clusters(self, blocks: int, threads: int, shared: int) -> int:
        """Return how many clusters the device runs at once.

        Args:
            blocks: of a cluster.
            threads: of a block.
            shared: bytes of dynamic shared memory of a block.
        """
        self._allow(shared)
        one, found = ctypes.c_uint * 3, ctypes.c_int()
        attribute = ctypes.pointer(_cluster(blocks))
        configuration = _Configuration(
            one(blocks, 1, 1), one(threads, 1, 1), shared, None, attribute, 1,
        )  # fmt: skip
        _ask(
            self._driver, "cuOccupancyMaxActiveClusters", ctypes.byref(found), self._function,
            ctypes.byref(configuration),
        )  # fmt: skip
        return found.value

    def _allow(self, shared: int) -> None:
        """Let blocks have some bytes of shared memory; launches that were prepared keep theirs."""
        self._shared = max(self._shared, shared)
        key, size = ctypes.c_int(MAX_DYNAMIC_SHARED), ctypes.c_int(self._shared)
        _ask(self._driver, "cuFuncSetAttribute", self._function, key, size)


def _cluster(blocks: int) -> _Attribute:
    """Return the attribute for clusters of some blocks in a row."""
    attribute = _Attribute(CLUSTER, 0, blocks)
    attribute.rest[0] = attribute.rest[1] = 1
    return attribute


def _ask(driver: Any, name: str, *arguments: Any) -> None:
    if status := getattr(driver, name)(*arguments):
        raise BackendError(f"early launch: {name} failed (error {status})")
