"""One GPU of the bench: timing with events, guarded arrays, clock and power."""

import subprocess
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.driver import (
    call,
    get_primary_context,
    load_bindings,
    translate_errors,
)
from raytracer.backends.cuda.probe import explain_missing
from raytracer.backends.cuda.transfer import get_staging
from raytracer.benchmark.record import Ceilings, Clock
from raytracer.config.errors import BackendError, RaytracerError

Enqueue = Callable[[], Any]

SCRATCH = 256 << 20  # bytes written to flush the L2 cache and to keep the queue busy
SHORT = 20e-6  # seconds; shorter kernels are replayed from a graph, or queued behind other work
BATCH = 32
GUARD = 256  # bytes before and behind each array, to detect writes out of bounds
POISON = 0xFFFFFFFF  # NaN as a float, implausible as a count

QUERY = "clocks.sm,power.draw,clocks_throttle_reasons.active"  # of nvidia-smi
TIMEOUT = 10.0  # seconds
# Bits of the throttle reasons, without idle and settings of the user (nvml.h).
REASONS = {
    0x4: "power limit", 0x8: "hardware slowdown", 0x20: "thermal limit",
    0x40: "hardware thermal limit", 0x80: "power brake",
}  # fmt: skip


class RefusedError(RaytracerError):
    """The device cannot run a kernel."""


class SizeError(RefusedError):
    """A kernel does not support these sizes."""


class Session:
    """A GPU with its context current inside of `with Session() as session`."""

    def __init__(self, ordinal: int = 0) -> None:
        """Find a GPU by number; raise BackendError if it cannot be used."""
        if reason := explain_missing(ordinal):
            raise BackendError(f"the kernels cannot run here: {reason}")
        self.driver = load_bindings()
        self.ordinal, self._context = ordinal, get_primary_context(ordinal)
        self.arch, self.multiprocessors = self._context.arch, self._context.multiprocessors
        self._open = ExitStack()
        self._scratch: Any = None
        self.resets_lines = True  # see `flush`
        self.ceilings: Ceilings = {}

    def __enter__(self) -> Self:
        self._open.enter_context(self._context.activate())
        self.stream = get_staging(self.ordinal).stream
        device, names = self.driver.Device(self.ordinal), self.driver.device_attribute
        self.bus_id = str(device.pci_bus_id())  # as nvidia-smi takes it
        self.l2_bytes = int(device.get_attribute(names.L2_CACHE_SIZE))
        self.shared_limit = int(device.get_attribute(names.MAX_SHARED_MEMORY_PER_BLOCK_OPTIN))
        return self

    def __exit__(self, *error: Any) -> None:
        if self._scratch is not None:
            with suppress(RaytracerError):
                self._scratch.free()
            self._scratch = None
        self._open.__exit__(*error)  # translates exceptions of the driver

    def fill(self, address: int, nbytes: int, word: int) -> None:
        """Queue the filling of memory with a 32-bit word; `nbytes` is a multiple of 4."""
        self.driver.memset_d32_async(address, word, nbytes // 4, self.stream)

    def flush(self) -> None:
        """Queue a write that evicts all earlier data from the L2 cache; lines that a kernel asked
        the cache to keep become ordinary ones first."""
        if self.resets_lines:
            try:
                call("cuCtxResetPersistingL2Cache")
            except RaytracerError:  # without cuda-bindings, or on a GPU that keeps no lines
                self.resets_lines = False
        self.fill(*self.scratch(), 0)

    def scratch(self) -> tuple[int, int]:
        """Return address and bytes of memory larger than the L2 cache, for anything queued."""
        size = max(SCRATCH, 4 * self.l2_bytes)
        if self._scratch is None:
            self._scratch = self.driver.mem_alloc(size)
        return int(self._scratch), size

    def wait(self) -> None:
        """Wait for all queued work; raise BackendError for faults of kernels."""
        with self.translated():
            self.stream.synchronize()

    def translated(self) -> AbstractContextManager[None]:
        """Translate exceptions of the binding that has the stream and its copies."""
        return translate_errors(self._context.driver)

    def cold(
        self, launch: Enqueue, count: int, flush: bool, before: Enqueue = lambda: None
    ) -> list[float]:
        """Return seconds of launches one by one; flush: the L2 cache before each; before: queued
        before each."""
        events = [(self.driver.Event(), self.driver.Event()) for _ in range(count)]
        self.flush()  # the host queues launches while this runs
        for start, end in events:
            before()
            if flush:
                self.flush()
            start.record(self.stream)
            launch()
            end.record(self.stream)
        self.wait()
        return [float(end.time_since(start)) * 1e-3 for start, end in events]

    def hot(self, launch: Enqueue, count: int, lead: int) -> float:
        """Return seconds per launch of `count` launches in a row, queued behind `lead` flushes."""
        start, end = self.driver.Event(), self.driver.Event()
        for _ in range(lead):
            self.flush()
        launch()
        start.record(self.stream)
        for _ in range(count):
            launch()
        end.record(self.stream)
        self.wait()
        return float(end.time_since(start)) * 1e-3 / count

    def recorded(self, launch: Enqueue, count: int) -> Enqueue:
        """Return a function that queues a graph of `count` launches; raise BackendError if the work
        cannot be captured."""

        def work() -> None:
            for _ in range(count):
                launch()

        replay: Enqueue = self.driver.Graph(self.stream, work).launch
        replay()
        return replay

    def sampler(
        self, launch: Enqueue, mode: str, flush: bool, before: Enqueue = lambda: None
    ) -> Callable[[float], list[float]]:
        """Return a function that takes samples in a mode for about as many seconds as it is given;
        flush, before: of cold launches, as for `cold`."""
        (first,) = self.cold(launch, 1, False)  # includes lazy loading
        again = self.cold(launch, 3, False) if first < 0.2 else [first]
        estimate = max(min(again), 1e-6)
        if mode == "cold":
            return lambda seconds: self.cold(
                launch, max(1, min(16, int(seconds / estimate))), flush, before
            )
        if estimate < SHORT:
            try:
                graph = self.recorded(launch, BATCH)
            except BackendError:
                return lambda _: [self.hot(launch, BATCH, 5) for _ in range(8)]
            return lambda _: [self.hot(graph, 1, 1) / BATCH for _ in range(8)]
        batch = max(1, min(1000, int(2e-3 / estimate)))
        turn = batch * estimate
        return lambda seconds: [
            self.hot(launch, batch, 0) for _ in range(max(1, min(50, int(seconds / turn))))
        ]

    def profiled(self, launch: Enqueue) -> None:
        """Launch once to load everything, and once between the marks of the profiler API."""
        launch()
        self.wait()
        call("cuProfilerStart")
        launch()
        self.wait()
        call("cuProfilerStop")


class Memory:
    """Named arrays on the device, each between guard bytes, until `with` ends."""

    def __init__(
        self, session: Session, sizes: Mapping[str, int], offsets: Mapping[str, int] | None = None,
        others: "Memory | None" = None,
    ) -> None:  # fmt: skip
        """Allocate arrays of some bytes by name; raise MemoryNeedError if they do not fit.

        offsets: bytes between an aligned address and the start of an array, by name. others: has
        the arrays of other names.
        """
        self._session, self._sizes, self._offsets = session, sizes, offsets or {}
        self._others = others
        self._taken = {name: session.driver.mem_alloc(self._room(name)) for name in sizes}

    def _room(self, name: str) -> int:
        """Return the bytes of an array with its offset and guards, a multiple of 4."""
        size = self._sizes[name] + self._offsets.get(name, 0)
        return (-(-size // GUARD) + 2) * GUARD

    def _start(self, name: str) -> int:
        """Return the bytes between the allocation of an array and its start."""
        return GUARD + self._offsets.get(name, 0)

    def address(self, name: str) -> int:
        if self._others is not None and name not in self._sizes:
            return self._others.address(name)
        return int(self._taken[name]) + self._start(name)

    def upload(self, name: str, array: NDArray[Any]) -> None:
        with self._session.translated():
            get_staging(self._session.ordinal).to_device(array, self.address(name))

    def download(self, name: str, array: NDArray[Any], begin: int = 0) -> None:
        """Copy into an array of the same size, or of a part from a byte on, and wait."""
        with self._session.translated():
            get_staging(self._session.ordinal).to_host(self.address(name) + begin, array)

    def poison(self, name: str) -> None:
        """Queue the filling of an array and its guard bytes with POISON."""
        self._session.fill(int(self._taken[name]), self._room(name), POISON)

    def clear(self, name: str) -> None:
        if self._others is not None and name not in self._sizes:
            self._others.clear(name)
        else:
            self._session.fill(self.address(name), self._sizes[name], 0)

    def swap(self, name: str, other: "Memory") -> None:
        """Queue the exchange of the values of an array with those of another memory."""
        session, size = self._session, self._sizes[name]
        scratch, room = session.scratch()
        copy = session.driver.memcpy_dtod_async
        for begin in range(0, size, room):
            one, two = self.address(name) + begin, other.address(name) + begin
            nbytes = min(room, size - begin)
            copy(scratch, one, nbytes, session.stream)
            copy(one, two, nbytes, session.stream)
            copy(two, scratch, nbytes, session.stream)

    def overrun(self, name: str) -> str:
        """Return where guard bytes of an array, poisoned before it was filled, were overwritten:
        "before the start of", "past the end of", or ""."""
        start, size = self._start(name), self._sizes[name]
        head = np.empty(start, np.uint8)
        self.download(name, head, -start)
        tail = np.empty(self._room(name) - start - size, np.uint8)
        self.download(name, tail, size)
        if (head != 0xFF).any():
            return "before the start of"
        return "past the end of" if (tail != 0xFF).any() else ""

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(RaytracerError):  # a lost device has freed everything already
            for allocation in self._taken.values():
                allocation.free()


def clock(bus_id: str) -> Clock:
    """Return what the driver tells of the last sampling period; {} without nvidia-smi.

    bus_id: PCI address, like "0000:3B:00.0".
    """
    command = ["nvidia-smi", f"--id={bus_id}", f"--query-gpu={QUERY}"]
    found: Clock = {}
    with suppress(OSError, subprocess.SubprocessError, ValueError):
        done = subprocess.run(
            [*command, "--format=csv,noheader,nounits"],
            capture_output=True, text=True, check=True, timeout=TIMEOUT,
        )  # fmt: skip
        sm, watts, active = map(str.strip, done.stdout.split(","))
        found["sm_mhz"] = int(sm)
        found["watts"] = round(float(watts))
        reasons = int(active, 16)
        found["held_back_by"] = [name for bit, name in REASONS.items() if reasons & bit]
    return found
