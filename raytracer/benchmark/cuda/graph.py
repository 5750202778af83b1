"""CUDA graphs: work captured from a stream and replayed by one call, without launch overhead.

PyCUDA does not support graphs; the driver is called through ctypes (CUDA driver API, "Stream
Management" and "Graph Management").
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from types import TracebackType
from typing import Any, Self

from raytracer.errors import BackendError

RELAXED = 2  # CU_STREAM_CAPTURE_MODE_RELAXED: does not restrict other threads


class Graph:
    """Work captured from a stream; must be closed."""

    def __init__(self, stream: int, work: Callable[[], Any], library: Any = None) -> None:
        """Capture work.

        Args:
            stream: handle of a stream, not the default stream.
            work: queues the work on the stream.
            library: replaces the driver library, in tests.

        Raises:
            BackendError: the work cannot be captured.
        """
        self._driver = library or driver_library()
        self._stream = ctypes.c_void_p(stream)
        self._graph, self._ready = ctypes.c_void_p(), ctypes.c_void_p()
        self._ask("cuStreamBeginCapture_v2", self._stream, ctypes.c_int(RELAXED))
        try:
            work()
        finally:  # a capturing stream would refuse all other work
            status = self._driver.cuStreamEndCapture(self._stream, ctypes.byref(self._graph))
        if status:
            raise BackendError(f"this work cannot be captured into a graph (error {status})")
        try:
            zero = ctypes.c_ulonglong(0)
            ready = ctypes.byref(self._ready)
            self._ask("cuGraphInstantiateWithFlags", ready, self._graph, zero)
        except BaseException:
            self.close()
            raise

    def launch(self) -> None:
        """Queue one replay."""
        self._ask("cuGraphLaunch", self._ready, self._stream)

    def close(self) -> None:
        """Release the graph."""
        if self._ready.value:
            self._driver.cuGraphExecDestroy(self._ready)
        if self._graph.value:
            self._driver.cuGraphDestroy(self._graph)
        self._ready, self._graph = ctypes.c_void_p(), ctypes.c_void_p()

    def _ask(self, name: str, *arguments: Any) -> None:
        if status := getattr(self._driver, name)(*arguments):
            raise BackendError(f"CUDA graphs: {name} failed (error {status})")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.close()


@cache
def driver_library() -> Any:
    """Return the driver library; raise BackendError without one."""
    try:
        return ctypes.CDLL("libcuda.so.1")
    except OSError as error:
        raise BackendError(f"the driver's library cannot be loaded ({error})") from error
