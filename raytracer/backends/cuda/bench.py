"""Runs the bench's kernels on one GPU: memory with guards, launches, times between events."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda import tensor_map
from raytracer.backends.cuda.context import primary_context, translated
from raytracer.backends.cuda.graph import Graph
from raytracer.backends.cuda.probe import device_details, why_not
from raytracer.backends.cuda.transfer import staging
from raytracer.errors import BackendError, RaytracerError

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from raytracer.variants import Variant

Enqueue = Callable[[], Any]
Matrix = tuple[int, tuple[int, int], str]  # address, rows and columns, type

GUARD = 256  # bytes after each array that no kernel may touch
POISON = 0xFFFFFFFF  # NaN as a float, and no plausible count
SCRATCH = 256 << 20  # bytes written to flush the L2 cache and to let the host run ahead
SHORT = 20e-6  # seconds: shorter kernels are replayed from a graph, or queued behind other work
BATCH = 32
# Numbers of the driver's header, for releases of PyCUDA that lack the names.
OPTIN_SHARED, MAX_DYNAMIC_SHARED = 97, 8


class RefusedError(RaytracerError):
    """A kernel that this device cannot run; the sentence says why."""


class SizeError(RefusedError):
    """Sizes that this kernel cannot take; it can run others."""


class Session:
    """One GPU, its context current: `with Session() as session`. Raises BackendError."""

    def __init__(self, ordinal: int = 0) -> None:
        """Find the GPU of that number."""
        if reason := why_not(ordinal):
            raise BackendError(f"the kernels cannot run here: {reason}")
        self.ordinal = ordinal
        self._context = primary_context(ordinal)
        self.driver = self._context.driver
        self.arch = compiler.architecture(self._context.device.compute_capability())
        self._open = ExitStack()
        self._scratch: Any = None
        self._events: list[Any] = []
        self._unrecorded: list[Enqueue] = []  # work that no graph can hold

    def __enter__(self) -> Self:
        self._open.enter_context(self._context.active())
        self.stream = staging(self.ordinal).stream
        names = self.driver.device_attribute
        read = self._context.device.get_attribute
        self.multiprocessors = int(read(names.MULTIPROCESSOR_COUNT))
        self.l2_bytes = int(read(names.L2_CACHE_SIZE))
        optin = getattr(names, "MAX_SHARED_MEMORY_PER_BLOCK_OPTIN", None) or names(OPTIN_SHARED)
        self.shared_limit = int(read(optin))
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        if self._scratch is not None:
            with suppress(self.driver.Error):
                self._scratch.free()
            self._scratch = None
        self._open.__exit__(kind, error, at)  # what PyCUDA raised becomes a sentence

    def describe(self) -> dict[str, Any]:
        """Name, architecture, memory and driver of the GPU, for records."""
        about = device_details(self.ordinal)
        return {k: v for k, v in about.items() if k != "memory_free"} | {"l2_bytes": self.l2_bytes}

    @property
    def bus_id(self) -> str:
        """Where the GPU sits, as NVML asks for it."""
        return str(self._context.device.pci_bus_id())

    def free_memory(self) -> int:
        """Bytes free on the device."""
        return int(self.driver.mem_get_info()[0])

    def total_memory(self) -> int:
        """Bytes of the device's memory."""
        return int(self.driver.mem_get_info()[1])

    def fill(self, address: int, nbytes: int, word: int) -> None:
        """Queue the filling of memory (a multiple of 4 bytes) with a 32-bit word."""
        self.driver.memset_d32_async(address, word, nbytes // 4, self.stream)

    def flush(self) -> None:
        """Queue a write that leaves nothing of earlier data in the L2 cache."""
        if self._scratch is None:
            self._scratch = self.driver.mem_alloc(max(SCRATCH, 4 * self.l2_bytes))
        self.fill(int(self._scratch), max(SCRATCH, 4 * self.l2_bytes), 0)

    def wait(self) -> None:
        """Wait for all that is queued; faults of kernels come out here as BackendError."""
        with translated(self.driver):
            self.stream.synchronize()

    def cold(self, launch: Enqueue, count: int, flush: bool) -> list[float]:
        """Seconds of `count` launches, each by itself; `flush` empties the L2 cache before each."""
        events = self._pairs(count)
        self.flush()  # the host queues ahead while this runs
        for start, end in events:
            if flush:
                self.flush()
            start.record(self.stream)
            launch()
            end.record(self.stream)
        self.wait()
        return [float(end.time_since(start)) * 1e-3 for start, end in events]

    def hot(self, launch: Enqueue, count: int, lead: int) -> float:
        """Seconds a launch, of `count` back to back; `lead` fillers queue before them."""
        ((start, end),) = self._pairs(1)
        for _ in range(lead):
            self.flush()
        launch()
        start.record(self.stream)
        for _ in range(count):
            launch()
        end.record(self.stream)
        self.wait()
        return float(end.time_since(start)) * 1e-3 / count

    def replayed(self, launch: Enqueue, count: int, times: int) -> list[float]:
        """Seconds a launch, `times` over, of `count` recorded into a graph and replayed.

        Raises BackendError for work that cannot be recorded.
        """

        def work() -> None:
            for _ in range(count):
                launch()

        with Graph(self.stream.handle, work) as graph:
            graph.launch()
            samples = [self.hot(graph.launch, 1, 1) / count for _ in range(times)]
            self.wait()
        return samples

    def short(self, launch: Enqueue) -> list[float]:
        """Samples of a kernel that ends before the host could launch the next."""
        if launch not in self._unrecorded:
            try:
                return self.replayed(launch, BATCH, 8)
            except BackendError:
                self._unrecorded.append(launch)
        return [self.hot(launch, BATCH, 5) for _ in range(8)]

    def turn(
        self, launch: Enqueue, mode: str, seconds: float, estimate: float, flush: bool
    ) -> list[float]:
        """Samples for about so many seconds; mode "cold", "hot" or "sustained"."""
        if mode == "cold":
            count = max(1, min(16, int(seconds / estimate)))
            return self.cold(launch, count, flush)
        if estimate < SHORT:
            return self.short(launch)
        batch = max(1, min(1000, int(2e-3 / estimate)))
        rounds = max(1, min(50, int(seconds / (batch * estimate))))
        return [self.hot(launch, batch, 0) for _ in range(rounds)]

    def profiled(self, launch: Enqueue) -> None:
        """One launch between the marks that profilers look for."""
        self.driver.start_profiler()
        launch()
        self.wait()
        self.driver.stop_profiler()

    def _pairs(self, count: int) -> list[tuple[Any, Any]]:
        while len(self._events) < count:
            self._events.append((self.driver.Event(), self.driver.Event()))
        return self._events[:count]


class Memory:
    """Named arrays on the device, each followed by a guard; close it."""

    def __init__(self, session: Session, sizes: Mapping[str, int]) -> None:
        """Allocate; sizes in bytes by name. Raises MemoryNeedError where they do not fit."""
        self._session = session
        self._sizes = dict(sizes)
        self._taken: dict[str, Any] = {}
        try:
            with translated(session.driver):
                for name, size in sizes.items():
                    self._taken[name] = session.driver.mem_alloc(_padded(size) + GUARD)
        except BaseException:
            self.close()
            raise

    def address(self, name: str) -> int:
        """Where an array begins."""
        return int(self._taken[name])

    def upload(self, name: str, array: NDArray[Any]) -> None:
        """Queue a copy to the device."""
        staging(self._session.ordinal).to_device(array, self.address(name))

    def download(self, name: str, array: NDArray[Any]) -> None:
        """Copy into an array of the same size, and wait."""
        with translated(self._session.driver):
            staging(self._session.ordinal).to_host(self.address(name), array)

    def poison(self, name: str) -> None:
        """Fill an array and its guard with what no kernel writes."""
        self._session.fill(self.address(name), _padded(self._sizes[name]) + GUARD, POISON)

    def clear(self, name: str) -> None:
        """Queue the filling of an array with zeros."""
        self._session.fill(self.address(name), self._sizes[name], 0)

    def overrun(self, name: str) -> bool:
        """Whether something was written behind a poisoned array."""
        import numpy as np

        size = self._sizes[name]
        tail = np.empty(_padded(size) + GUARD - size, np.uint8)
        with translated(self._session.driver):
            staging(self._session.ordinal).to_host(self.address(name) + size, tail)
        return bool((tail != 0xFF).any())

    def close(self) -> None:
        """Give the memory back."""
        while self._taken:
            with suppress(self._session.driver.Error):
                self._taken.popitem()[1].free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Kernel:
    """One variant, compiled with given macros and loaded."""

    def __init__(
        self,
        session: Session,
        variant: Variant,
        macros: Mapping[str, str],
        root: Path | None = None,
        shipped: bool = True,
    ) -> None:
        """Load it, compiling if need be; raises RefusedError where the device cannot run it."""
        if not variant.admits(session.arch):
            needs = ", ".join(map(str, variant.needs))
            raise RefusedError(f"needs {needs}; this GPU is {session.arch}")
        source = Path(str(variant.path))
        cubin = compiler.load(source, session.arch, root, shipped=shipped, macros=macros)
        self.variant, self._session, self._log = variant, session, cubin.log
        with translated(session.driver):
            self._module = session.driver.module_from_buffer(cubin.code)
            self._functions = [self._entry(name) for name in variant.entries]

    def _entry(self, name: str) -> Any:
        try:
            return self._module.get_function(name)
        except self._session.driver.LogicError:
            raise RefusedError(f'has no entry: extern "C" __global__ void {name}(…)') from None

    def resources(self) -> dict[str, int]:
        """Registers a thread and static shared bytes, the most of any step; bytes spilled."""
        return {
            "registers": max(int(each.num_regs) for each in self._functions),
            "shared": self._static(),
            "spilled": spilled(self._log),
        }

    def _static(self) -> int:
        return max(int(each.shared_size_bytes) for each in self._functions)

    def fill_constants(self, inputs: Mapping[str, tuple[int, int]]) -> None:
        """Copy the inputs that the header names into constant memory.

        inputs: address on the device and bytes by name. Raises RefusedError where the kernel has
        no such array, or one of another size.
        """
        for name in self.variant.constant.split():
            if name not in inputs:
                raise RefusedError(f"constant: there is no input {name!r}")
            address, nbytes = inputs[name]
            place = self._constant(f"c_{name}", nbytes)
            driver = self._session.driver
            with translated(driver):
                driver.memcpy_dtod_async(place, address, nbytes, self._session.stream)

    def fill_maps(self, matrices: Mapping[str, Matrix]) -> None:
        """Make the tensor maps that the header asks for, and copy them into constant memory.

        Not passed as arguments: PyCUDA packs those without the gaps that their alignment needs.
        matrices: address, shape and type by name. Raises SizeError where a matrix has no map.
        """
        for asked in self.variant.maps:
            if asked.array not in matrices:
                raise RefusedError(f"maps: there is no matrix {asked.array!r}")
            address, shape, dtype = matrices[asked.array]
            box = asked.rows, asked.cols
            try:
                made = tensor_map.encode(address, shape, dtype, box, asked.swizzle)
            except tensor_map.PitchError as error:
                raise SizeError(f"{asked.array}: {error}") from error
            place = self._constant(asked.constant, tensor_map.BYTES)
            with translated(self._session.driver):
                self._session.driver.memcpy_htod(place, made)

    def _constant(self, name: str, nbytes: int) -> Any:
        """Where an array of constant memory lies; it must have that size."""
        driver = self._session.driver
        with translated(driver):
            try:
                place, room = self._module.get_global(name)
            except driver.LogicError:
                raise RefusedError(f"has no __constant__ {name}") from None
        if nbytes != room:
            raise RefusedError(f"{name} has {room} bytes, and {nbytes} are to go there")
        return place

    def bind(self, axes: Mapping[str, int], pointers: list[int], sizes: tuple[int, ...]) -> Enqueue:
        """A function that queues one launch of each step.

        Raises RefusedError for too much shared memory, MemoryNeedError for too much scratch.
        """
        launch = self.variant.launch(axes, self._session.multiprocessors)
        static = self._static()
        if launch.shared + static > self._session.shared_limit:
            limit = self._session.shared_limit
            raise RefusedError(f"needs {launch.shared + static} bytes of shared memory of {limit}")
        driver, stream = self._session.driver, self._session.stream
        with translated(driver):
            scratch = [driver.mem_alloc(launch.scratch)] if launch.scratch else []
            addresses = [*pointers, *map(int, scratch)]
            for function in self._functions:
                if launch.shared > 48 << 10:
                    names = driver.function_attribute
                    key = getattr(names, "MAX_DYNAMIC_SHARED_SIZE_BYTES", None)
                    function.set_attribute(key or names(MAX_DYNAMIC_SHARED), launch.shared)
                function.prepare(["P"] * len(addresses) + ["q"] * len(sizes))
        block, arguments, steps = self.variant.block, (*addresses, *sizes), self._functions

        def enqueue(_held: Any = scratch) -> None:  # the memory lives as long as the function
            for function in steps:
                function.prepared_async_call(
                    launch.grid, block, stream, *arguments, shared_size=launch.shared
                )

        return enqueue


def spilled(log: str) -> int:
    """Bytes spilled, from what the assembler said."""
    return sum(int(size) for size in re.findall(r"(\d+) bytes spill", log))


def _padded(size: int) -> int:
    return -(-size // GUARD) * GUARD
