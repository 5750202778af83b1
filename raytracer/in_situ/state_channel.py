"""Channel of states: states of a simulation that a view reads where they are.

The writer copies the arrays of a set into a block of memory that both sides map, on the host or on
a GPU, and sends the state, which names the blocks of all sets. The reader keeps the state that came
last. A block is written again when nothing on the reader's side holds an array in it any more, so
memory does not grow with the number of states. Nobody waits: while all blocks of a set are in use,
it is left out.

The two sides are threads of one process, or two processes.
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple
from weakref import WeakValueDictionary, finalize

import numpy as np

from raytracer.in_situ.memory import GpuMemory, HostMemory, MappedMemory
from raytracer.system.cuda_driver import LEGACY_STREAM
from raytracer.system.device_array import DeviceArray, packed_strides

MAX_BLOCKS = 8
"""Most blocks of a set: about five are written, sent, taken, shown, or shown before."""

ALIGNMENT = 256  # bytes in whose multiples arrays begin: some lines of a cache
GROWTH = 1.25  # factor of room for more points when a set has outgrown a block

Send = Callable[..., None]
"""Sends a message to the other side: its kind, and its content."""


class ArrayPart(NamedTuple):
    """An array in a block."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int  # byte of the block where the first number is


class PointSetEntry(NamedTuple):
    """A set of points in a state."""

    blocks: dict[
        int, list[ArrayPart]
    ]  # by number: of its arrays on the host, and of those on a GPU
    values: Mapping[str, Any]  # what is no array


class State(NamedTuple):
    """A published state."""

    # Arrays and other values of each set by its name; an array holds its memory.
    sets: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]
    about: Mapping[str, Any]  # of the whole state


class StateWriter:
    """The side of the simulation; it is used by one thread. It sends "memory", a number and what
    takes the place of the memory with this number; or "state", its number, the `PointSetEntry`
    of each set by name, and what is said of the whole state. look: takes what the reader has
    sent."""

    def __init__(self, send: Send, look: Callable[[], None]) -> None:
        self._send, self._look = send, look
        self._memories = dict[int, HostMemory | GpuMemory]()
        self._own = dict[tuple[str, bool], list[int]]()  # blocks of a set, on the host or a GPU
        self._busy = set[int]()  # blocks that are written, or of which the reader has arrays
        # Memory of a GPU that was replaced, until the reader has closed it.
        self._outgrown = dict[int, GpuMemory]()
        self._entries, self._new = dict[str, PointSetEntry](), dict[str, PointSetEntry]()
        self.published = self._taken = 0  # numbers of states

    @property
    def is_taken(self) -> bool:
        """Whether the reader has taken the state that was published last."""
        self._look()
        return self._taken >= self.published

    @property
    def has_new(self) -> bool:
        """Whether something was written and not published."""
        return bool(self._new)

    def receive(self, kind: str, number: int) -> None:
        """Take a message of the reader: a state is "taken", or a block "free"."""
        if kind == "taken":
            self._taken = number
        else:
            self._outgrown.pop(number, None)
            self._busy.discard(number)

    def write(
        self, name: str, arrays: Mapping[str, Any], values: Mapping[str, Any],
        stream: int = LEGACY_STREAM,
    ) -> bool:  # fmt: skip
        """Copy the arrays of a set, to be published; False: all its blocks are in use. arrays: of
        NumPy, or `DeviceArray` of one GPU, which are complete and copied on the stream. values:
        what is no array. Raises UserError: there is no room; BackendError: of the driver."""
        self._look()
        if name in self._new:  # nobody has seen it
            self._busy.difference_update(self._new.pop(name).blocks)
        blocks = dict[int, list[ArrayPart]]()
        for on_gpu in (False, True):
            group = {k: a for k, a in arrays.items() if isinstance(a, DeviceArray) is on_gpu}
            if group:
                copied = self._copy_arrays((name, on_gpu), group, stream)
                if copied is None:
                    return False
                blocks[copied[0]] = copied[1]
        self._busy |= blocks.keys()
        self._new[name] = PointSetEntry(blocks, values)
        return True

    def publish(self, about: Mapping[str, Any]) -> None:
        """Publish what was written, if anything was, with the sets of before."""
        if not self.has_new:
            return
        self._entries |= self._new
        self._new = {}
        self.published += 1
        self._send("state", self.published, dict(self._entries), dict(about))

    def _copy_arrays(
        self, key: tuple[str, bool], arrays: Mapping[str, Any], stream: int
    ) -> tuple[int, list[ArrayPart]] | None:
        """Copy arrays into a block of a set, and return its number and what is in it."""
        parts, starts, end = list[ArrayPart](), list[int](), 0
        for name, array in arrays.items():
            first, size = array.span() if key[1] else (0, array.nbytes)
            strides = array.strides if key[1] else packed_strides(array.shape, array.itemsize)
            parts.append(ArrayPart(name, array.dtype.str, array.shape, strides, end - first))
            starts.append(end)
            end += -(-size // ALIGNMENT) * ALIGNMENT
        device = next(iter(arrays.values())).device or 0 if key[1] else None
        number = self._find_block(key, max(end, ALIGNMENT), device)
        if number is None:
            return None
        memory = self._memories[number]
        if isinstance(memory, GpuMemory):
            memory.write(dict(zip(starts, arrays.values(), strict=True)), stream)
        else:
            there = memory.bytes()
            for part in parts:
                map_array(there, part)[...] = arrays[part.name]
        return number, parts

    def _find_block(self, key: tuple[str, bool], size: int, device: int | None) -> int | None:
        """Return the number of a free block of a set with `size` bytes; None: all are in use."""
        own = self._own.setdefault(key, [])
        free = [number for number in own if number not in self._busy]
        for number in free:
            memory = self._memories[number]
            if memory.size >= size and memory.device == device:
                return number
        if len(own) - len(free) >= MAX_BLOCKS:
            return None
        room = int(GROWTH * size) if own else size
        new = HostMemory(room) if device is None else GpuMemory(room, device)
        number = free[0] if free else len(self._memories)
        self._send("memory", number, new)
        before = self._memories.get(number)
        if isinstance(before, GpuMemory):
            self._outgrown[number] = before
        self._memories[number] = new
        if not free:
            own.append(number)
        return number


def map_array(memory: Any, part: ArrayPart) -> Any:
    """Return an array of the host, without a copy; memory: the bytes of its block."""
    return np.ndarray(part.shape, np.dtype(part.dtype), memory, part.start, part.strides)


class _Use:
    """The use of a block on a GPU, which arrays in it hold."""

    def __init__(self, memory: GpuMemory | MappedMemory) -> None:
        self.memory = memory


class StateReader:
    """The side of the view. Threads may use it; one of them takes states. From any thread, at any
    time, it sends "taken" and the number of a state, or "free" and that of a block."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._memories = dict[int, HostMemory | GpuMemory | MappedMemory]()
        self._uses: WeakValueDictionary[int, Any] = WeakValueDictionary()
        self._latest: tuple[int, Mapping[str, PointSetEntry], Mapping[str, Any], dict[int, Any]]
        self._latest = 0, {}, {}, {}  # with what arrays in its blocks hold, by block
        self._taken = 0
        self.on_change: Callable[[], None] = lambda: None
        """Called by another thread when there is a state."""

    @property
    def number(self) -> int:
        """Number of the state that came last; 0 before the first."""
        return self._latest[0]

    @property
    def has_newer(self) -> bool:
        """Whether a state came after the one that was taken last."""
        return self.number > self._taken

    def receive(self, kind: str, number: int, *content: Any) -> None:
        """Take a message of the writer, in one thread; memory may be a `MappedMemory`."""
        if kind == "memory":
            self._memories[number] = content[0]
            return
        entries, about = content
        uses = {block: self._use(block) for entry in entries.values() for block in entry.blocks}
        self._latest = number, entries, about, uses
        self.on_change()

    def _use(self, block: int) -> Any:
        """Return what arrays in a block hold; its end frees the block."""
        use = self._uses.get(block)
        if use is None:
            memory = self._memories[block]
            use = memory.bytes() if isinstance(memory, HostMemory) else _Use(memory)
            finalize(use, self._send, "free", block).atexit = False
            self._uses[block] = use
        return use

    def take(self) -> State:
        """Return the state that came last, whose arrays are complete."""
        number, entries, about, uses = self._latest
        sets = {name: (_map_arrays(entry, uses), entry.values) for name, entry in entries.items()}
        self._taken = number
        self._send("taken", number)
        return State(sets, about)


def _map_arrays(entry: PointSetEntry, uses: Mapping[int, Any]) -> dict[str, Any]:
    arrays = dict[str, Any]()
    for number, parts in entry.blocks.items():
        use = uses[number]
        if not isinstance(use, _Use):
            arrays |= {part.name: map_array(use, part) for part in parts}
            continue
        use.memory.wait()
        for name, dtype, shape, strides, start in parts:
            address, device = use.memory.address + start, use.memory.device
            arrays[name] = DeviceArray(address, shape, strides, np.dtype(dtype), device, None, use)
    return arrays


def make_channel() -> tuple[StateWriter, StateReader]:
    """Return both sides of a channel in this process."""

    def send(kind: str, number: int, *content: Any) -> None:
        if kind == "memory" and isinstance(content[0], HostMemory):
            content[0].close_descriptor()
        reader.receive(kind, number, *content)

    writer = StateWriter(send, lambda: None)
    reader = StateReader(writer.receive)
    return writer, reader
