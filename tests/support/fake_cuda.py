"""A stand-in for a binding of the driver: enough to run the CUDA backend's own logic anywhere.

Device memory is one array; a launch calls a Python function. Everything that a driver would refuse
without a current context fails an assertion here.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from threading import local
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.kernel import flatten
from raytracer.system import layout

ALIGNMENT = 256

# memory, symbols (name -> address, size), grid, block and argument bytes of a launch
Kernel = Callable[["FakeDriver", tuple[int, ...], tuple[int, ...], bytes], None]


@contextmanager
def cleared(*caches: Any) -> Iterator[None]:
    """Forget what functions have kept, before a block and after it."""
    for each in caches:
        each.cache_clear()
    yield
    for each in caches:
        each.cache_clear()


class FakeDriver:
    """The calls of a binding that the backend makes.

    symbols: size in bytes of each global of the module but the table of layouts. kernel: what a
    launch does. memory: bytes of device memory.
    """

    device_attribute = SimpleNamespace(KERNEL_EXEC_TIMEOUT=1, MULTIPROCESSOR_COUNT=2)

    class Error(Exception):
        """Base of the driver's exceptions."""

    class LogicError(Error):
        """A call that makes no sense, an unknown symbol among others."""

    def __init__(self, symbols: dict[str, int], kernel: Kernel, memory: int = 1 << 20) -> None:
        self.memory = np.full(memory, 0xCD, np.uint8)  # a pattern that no test mistakes for zeros
        self.kernel = kernel
        self._contexts = local()  # how many each thread has
        self.live: dict[int, int] = {}
        self.launches = 0
        self.streams = 100
        self.waits: list[tuple[int, int | None]] = []  # a stream, and the one that it waits for
        self.seconds_per_launch = 1e-4
        self.fail_launch = ""
        self._top = ALIGNMENT
        table = np.array(flatten(layout.load_layout()), np.int32)
        symbols = {**symbols, "layout_table": table.nbytes}
        self.symbols = {name: (self._take(size), size) for name, size in symbols.items()}
        self.view(*self.symbols["layout_table"])[:] = table.view(np.uint8)

    def view(self, address: int, size: int) -> NDArray[np.uint8]:
        """Device memory, as a kernel sees it."""
        assert 0 < address <= address + size <= self.memory.size
        return self.memory[address : address + size]

    def _take(self, size: int) -> int:
        address = self._top
        self._top += -(-size // ALIGNMENT) * ALIGNMENT
        return address

    # device and context

    def Device(self, _ordinal: int) -> Any:  # noqa: N802
        """One GPU of compute capability 9.0."""
        return SimpleNamespace(
            compute_capability=lambda: (9, 0),
            name=lambda: "Fake GPU",
            get_attribute=lambda attribute: 0 if attribute == 1 else 132,
            retain_primary_context=lambda: SimpleNamespace(
                push=self._push,
                pop=self._pop,
                detach=lambda: None,
                enable_peer_access=self._enable_peer_access,
            ),
        )

    @property
    def depth(self) -> int:
        return int(getattr(self._contexts, "count", 0))

    def _push(self) -> None:
        self._contexts.count = self.depth + 1

    def _pop(self) -> None:
        assert self.depth > 0
        self._contexts.count = self.depth - 1

    def _enable_peer_access(self, _peer: Any) -> None:
        assert self.depth
        raise self.LogicError("cuCtxEnablePeerAccess failed: peer access is already enabled")

    def get_driver_version(self) -> int:
        return 13000

    # memory

    def mem_get_info(self) -> tuple[int, int]:
        assert self.depth
        return self.memory.size - self._top, self.memory.size

    def mem_alloc(self, size: int) -> FakeAllocation:
        """Memory that is never handed out twice, so that use after free shows."""
        assert self.depth
        assert size > 0
        if self._top + size > self.memory.size:
            raise self.Error("cuMemAlloc failed: out of memory")
        allocation = FakeAllocation(self, self._take(size))
        self.live[allocation.address] = size
        return allocation

    def pagelocked_empty(self, size: int, dtype: Any) -> NDArray[Any]:
        assert self.depth
        return np.empty(size, dtype)

    def memcpy_htod_async(self, address: int, source: Any, _stream: Any) -> None:
        assert self.depth
        data = np.frombuffer(source, np.uint8)
        self.view(address, data.size)[:] = data

    def memcpy_dtoh_async(self, target: NDArray[np.uint8], address: int, _stream: Any) -> None:
        assert self.depth
        target[:] = self.view(address, target.size)

    def memcpy_dtod_async(self, target: int, source: int, size: int, _stream: Any) -> None:
        """Copy at once, of any device."""
        assert self.depth
        self.view(target, size)[:] = self.view(source, size)

    def memcpy_dtoh(self, target: NDArray[Any], address: int) -> None:
        self.memcpy_dtoh_async(target.view(np.uint8), address, None)

    def memset_d32_async(self, address: int, value: int, count: int, _stream: Any) -> None:
        assert self.depth
        self.view(address, count * 4).view(np.uint32)[:] = value

    # streams, events, modules

    def Stream(self, _flags: int) -> Any:  # noqa: N802
        """A stream without delay."""
        self.streams += 1
        handle = self.streams
        return SimpleNamespace(
            synchronize=lambda: None,
            wait_for_event=lambda event: self.waits.append((handle, event.stream)),
            handle=handle,
        )

    def Event(self) -> Any:  # noqa: N802
        """An event; any two are a launch apart."""
        event = SimpleNamespace(
            synchronize=lambda: None,
            time_since=lambda _start: self.seconds_per_launch * 1e3,
            stream=None,
        )
        event.record = lambda stream: setattr(event, "stream", stream.handle)
        return event

    def module_from_buffer(self, _code: bytes) -> Any:
        """The module with the given symbols, and one kernel."""
        assert self.depth
        function = SimpleNamespace(
            num_regs=40,
            local_size_bytes=0,
            shared_size_bytes=0,
            prepare=lambda _formats: None,
            prepared_async_call=self._launch,
        )
        return SimpleNamespace(get_function=lambda _: function, get_global=self._global)

    def _global(self, name: str) -> tuple[int, int]:
        if name not in self.symbols:
            raise self.LogicError("cuModuleGetGlobal failed: named symbol not found")
        return self.symbols[name]

    def _launch(
        self, grid: tuple[int, ...], block: tuple[int, ...], _stream: Any, arguments: bytes
    ) -> None:
        assert self.depth
        assert len(grid) == len(block) == 3
        if self.fail_launch:
            raise self.Error(f"cuLaunchKernel failed: {self.fail_launch}")
        self.launches += 1
        self.kernel(self, grid, block, arguments)


class FakeAllocation:
    """Device memory that must be freed once, in the context."""

    def __init__(self, driver: FakeDriver, address: int) -> None:
        self._driver = driver
        self.address = address

    def __int__(self) -> int:
        return self.address

    def free(self) -> None:
        assert self._driver.depth
        del self._driver.live[self.address]
