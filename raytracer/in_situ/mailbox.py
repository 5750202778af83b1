"""Mailbox: arrays that a simulation hands to a view, which takes the latest.

Each set of points has three slots in memory that both sides map, on the host and, for arrays of a
GPU, on that: the one that was published last, the one that the reader holds, and a free one. The
writer copies into the free one and publishes it under a lock, which either side holds for some
microseconds. It never waits: where the reader has the lock, the state is published with the next
one. Memory grows with the largest number of points, and not with the number of states.

The two sides are threads of one process, which share a `Control`, or two processes.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from mmap import mmap
from threading import Condition, Lock
from typing import Any, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from raytracer.cuda_driver import LEGACY_STREAM
from raytracer.device_array import DeviceArray, packed_strides
from raytracer.errors import UserError
from raytracer.in_situ.copies import Copies
from raytracer.in_situ.gpu_memory import GpuMemory, MappedMemory

SLOTS = 3  # slots of a set: published, held by the reader, free
MAX_SETS = 255  # most sets of points
NONE = 255  # slot of a set of which the reader holds nothing

HEAD_BYTES, TABLE_BYTES = 1024, (1 << 16) - 1024
"""Bytes of the head of the control memory (words and held slots), and of the table behind it."""

NUMBER, SIZE, WAITS, TAKEN, BEFORE = range(5)
"""Words of the head: states published, bytes of the table, whether the reader waits to be woken,
number of the state that it took last, and of the one before."""

HELD_FROM = 512  # byte of the head where the held slots begin, one byte a set
ALIGNMENT = 256  # bytes in whose multiples arrays begin: some lines of a cache
GROWTH = 1.25  # factor of room for more points when a set has outgrown its memory
PATIENCE = 10.0  # seconds in which memory must arrive that the table names

Arrays = Mapping[str, "NDArray[Any] | DeviceArray"]
"""Arrays of a set by name."""


class Memory:
    """Shared memory that another process can map; it is anonymous, so no file is left behind.

    Raises:
        UserError: there is no room.
    """

    def __init__(self, size: int, descriptor: int | None = None) -> None:
        self.size = size
        try:
            self.descriptor = _unnamed() if descriptor is None else descriptor
            if descriptor is None:
                os.ftruncate(self.descriptor, size)
            self.bytes = np.frombuffer(mmap(self.descriptor, size), np.uint8)
        except OSError as error:
            raise UserError(
                f"live: {size >> 20} MiB of shared memory cannot be had ({error.strerror}): log "
                "fewer points"
            ) from None

    def __del__(self) -> None:
        with suppress(OSError, AttributeError):
            os.close(self.descriptor)


class Control(Memory):
    """The control memory: words and held slots of the head, and the table behind it.

    It is a lock too, among threads and processes; the system releases it when its holder ends.
    """

    def __init__(self, descriptor: int | None = None) -> None:
        super().__init__(HEAD_BYTES + TABLE_BYTES, descriptor)
        self.words = self.bytes[:HELD_FROM].view(np.int64)
        self.held = self.bytes[HELD_FROM:HEAD_BYTES]
        self.table = self.bytes[HEAD_BYTES:]
        self._threads = Lock()  # a process has the lock as a whole

    def try_lock(self) -> bool:
        """Lock, or return False at once."""
        if not self._threads.acquire(blocking=False):
            return False
        try:
            fcntl.lockf(self.descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._threads.release()
            return False
        return True

    def __enter__(self) -> None:
        self._threads.acquire()
        fcntl.lockf(self.descriptor, fcntl.LOCK_EX)

    def __exit__(self, *_: object) -> None:
        self.unlock()

    def unlock(self) -> None:
        fcntl.lockf(self.descriptor, fcntl.LOCK_UN)
        self._threads.release()


def _unnamed() -> int:
    if hasattr(os, "memfd_create"):
        return os.memfd_create("raytracer")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


AnyMemory: TypeAlias = Memory | GpuMemory | MappedMemory
"""Memory of a set, on the host or on a GPU, of this process or of another one."""


class Part(NamedTuple):
    """An array of a slot."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    strides: tuple[int, ...]
    start: int  # byte of the slot where the first number is


class Place(NamedTuple):
    """Where the arrays of a set are, on the host or on a GPU."""

    on_gpu: bool
    generation: int  # of the memory
    capacity: int  # bytes of a slot
    parts: tuple[Part, ...]


class Entry(NamedTuple):
    """A set in the table: where its published arrays are."""

    name: str
    number: int  # of the set, from 0
    slot: int
    places: tuple[Place, ...]
    values: Mapping[str, Any]  # what is no array


class State(NamedTuple):
    """A published state."""

    number: int  # from 1
    # Arrays and other values of each set by its name; they stay as they are until the next one is
    # taken.
    sets: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]
    about: Mapping[str, Any]  # of the whole state

    def copied(self, copies: Copies) -> State:
        """Return the state with arrays of its own."""
        sets = {
            name: (copies.of(name, arrays), values) for name, (arrays, values) in self.sets.items()
        }
        return self._replace(sets=sets)


@dataclass(eq=False)
class _Room:
    """Memory of the arrays of a set, on the host or on a GPU, and where they are in a slot."""

    generation: int = 0  # of the memory
    memory: Memory | GpuMemory | None = None
    capacity: int = 0  # bytes of a slot
    shapes: Any = field(default_factory=list)  # of the latest arrays, of which `parts` are
    parts: tuple[Part, ...] = ()
    starts: Sequence[int] = ()  # byte of a slot where the memory of each array begins
    targets: dict[int, list[NDArray[Any]]] = field(default_factory=dict)  # by slot, on the host

    def lay_out(self, arrays: Sequence[tuple[str, Any]]) -> bool:
        """Find room for arrays of other shapes than those before; whether memory is new."""
        on_gpu = any(isinstance(array, DeviceArray) for _, array in arrays)
        parts, starts, end = list[Part](), list[int](), 0
        for name, array in arrays:
            first, size = array.span() if on_gpu else (0, array.nbytes)
            strides = array.strides if on_gpu else packed_strides(array.shape, array.itemsize)
            parts.append(Part(name, array.dtype.str, array.shape, strides, end - first))
            starts.append(end)
            end += -(-size // ALIGNMENT) * ALIGNMENT
        is_new = end > self.capacity or self.memory is None
        if is_new:
            room = end if self.memory is None else int(end * GROWTH)
            capacity = max(-(-room // ALIGNMENT) * ALIGNMENT, ALIGNMENT)
            size = SLOTS * capacity
            memory = GpuMemory(size, arrays[0][1].device or 0) if on_gpu else Memory(size)
            self.memory, self.capacity = memory, capacity  # or nothing changes
            self.generation += 1
        self.parts, self.starts, self.targets = tuple(parts), starts, {}
        return is_new

    def write(self, slot: int, arrays: Sequence[Any], stream: int) -> None:
        """Copy arrays into a slot; stream: on which those of a GPU are complete."""
        if not arrays:
            return
        start = slot * self.capacity
        if isinstance(self.memory, GpuMemory):
            starts = (start + each for each in self.starts)
            self.memory.write(dict(zip(starts, arrays, strict=True)), stream)
        elif self.memory is not None:
            if slot not in self.targets:
                self.targets[slot] = [array_of(self.memory, start, part) for part in self.parts]
            for target, array in zip(self.targets[slot], arrays, strict=True):
                target[...] = array


@dataclass(eq=False)
class _Set:
    index: int
    slot: int = NONE  # published
    entry: Entry | None = None  # to be published
    host: _Room = field(default_factory=_Room)
    gpu: _Room = field(default_factory=_Room)


class Writer:
    """The side of the simulation; it is used by one thread.

    Args:
        control: that both sides share.
        share: hands memory of a set and generation to the reader.
        wake: wakes the reader.
    """

    def __init__(
        self, control: Control, share: Callable[[int, int, Memory | GpuMemory], None],
        wake: Callable[[], None],
    ) -> None:  # fmt: skip
        self._control, self._share, self._wake = control, share, wake
        self._words = control.words
        control.held[:] = NONE
        self._sets: dict[str, _Set] = {}
        # Memory of a GPU that was outgrown, with the last state in it: it is freed after the
        # reader, which maps it.
        self._outgrown: list[tuple[int, GpuMemory]] = []

    @property
    def is_taken(self) -> bool:
        """Whether the reader has taken the state that was published last."""
        return bool(self._words[TAKEN] >= self._words[NUMBER])

    @property
    def nbytes(self) -> int:
        """Bytes of memory for all sets."""
        return sum(
            SLOTS * room.capacity for each in self._sets.values() for room in (each.host, each.gpu)
        )

    def write(
        self, name: str, arrays: Arrays, values: Mapping[str, Any], stream: int = LEGACY_STREAM
    ) -> None:
        """Copy the arrays of a set into its free slot, to be published.

        Args:
            name: of the set.
            arrays: those of a GPU are all on the same one.
            values: what is no array.
            stream: handle of the one on which arrays of a GPU are complete; they are copied there.

        Raises:
            UserError: there are too many sets, or there is no room.
            BackendError: the driver of the GPU cannot be used.
        """
        if name not in self._sets and len(self._sets) >= MAX_SETS:
            raise UserError(f"log_points: at most {MAX_SETS} names; log several sets as one")
        kept = self._sets.setdefault(name, _Set(len(self._sets)))
        here, there = list[tuple[str, Any]](), list[tuple[str, Any]]()
        for key, array in arrays.items():
            (there if isinstance(array, DeviceArray) else here).append((key, array))
        self._find_room(kept.index, kept.host, here, [(k, a.dtype, a.shape) for k, a in here])
        shapes = [(k, a.dtype, a.shape, a.strides) for k, a in there]
        self._find_room(kept.index, kept.gpu, there, shapes)
        held = self._control.held[kept.index]
        slot = next(each for each in range(SLOTS) if each != kept.slot and each != held)
        kept.host.write(slot, [array for _, array in here], stream)
        kept.gpu.write(slot, [array for _, array in there], stream)
        places = tuple(
            Place(room is kept.gpu, room.generation, room.capacity, room.parts)
            for room in (kept.host, kept.gpu)
            if room.parts
        )
        kept.entry = Entry(name, kept.index, slot, places, values)

    def _find_room(
        self, index: int, room: _Room, arrays: Sequence[tuple[str, Any]], shapes: object
    ) -> None:
        """Find room for the arrays of a set, unless they have the shapes of those before."""
        if shapes == room.shapes:
            return
        before = room.memory
        if room.lay_out(arrays):
            assert room.memory is not None
            room.shapes = None
            if isinstance(before, GpuMemory):
                self._outgrown.append((int(self._words[NUMBER]), before))
            try:
                self._share(index, room.generation, room.memory)
            except BaseException:
                room.memory, room.capacity = None, 0  # the next state gets another
                raise
        room.shapes = shapes

    def publish(self, about: Mapping[str, Any]) -> bool:
        """Publish what was written, with the sets of before; False if the reader is looking.

        Raises:
            UserError: names and values take too much room.
        """
        entries = [each.entry for each in self._sets.values() if each.entry is not None]
        table = pickle.dumps((entries, dict(about)), pickle.HIGHEST_PROTOCOL)
        if len(table) > TABLE_BYTES:
            raise UserError(
                f"log_points: names and single colours of all sets take {len(table):,} bytes; at "
                f"most {TABLE_BYTES:,}: give colours as an array (N, 3)"
            )
        if not self._control.try_lock():
            return False
        try:
            self._control.table[: len(table)] = np.frombuffer(table, np.uint8)
            self._words[SIZE] = len(table)
            self._words[NUMBER] += 1
            waits, self._words[WAITS] = self._words[WAITS], 0
        finally:
            self._control.unlock()
        for entry in entries:
            self._sets[entry.name].slot = entry.slot
        self._outgrown = [each for each in self._outgrown if each[0] >= self._words[BEFORE]]
        if waits:
            self._wake()
        return True


def array_of(memory: Memory, start: int, part: Part) -> NDArray[Any]:
    """Return an array of the host, without a copy; start: byte of its slot in memory."""
    return np.ndarray(
        part.shape, np.dtype(part.dtype), memory.bytes, start + part.start, part.strides
    )


class Reader:
    """The side of the view. Threads may use it; one of them takes states."""

    def __init__(self, control: Control) -> None:
        self._control, self._words = control, control.words
        self._memories: dict[tuple[int, bool, int], AnyMemory] = {}
        self._arrived = Condition()
        self.on_change: Callable[[], None] = lambda: None
        """Called, by another thread, when there is a state after `awaits` returned False."""

    def add(self, index: int, generation: int, memory: AnyMemory) -> None:
        """Take memory of a set that the writer shares."""
        with self._arrived:
            self._memories[index, not isinstance(memory, Memory), generation] = memory
            self._arrived.notify_all()

    @property
    def number(self) -> int:
        """Number of the state that was published last; 0 before the first."""
        return int(self._words[NUMBER])

    def awaits(self) -> bool:
        """Return whether there is a new state; if not, request a wake-up for the next one."""
        with self._control:
            is_there = bool(self._words[NUMBER] > self._words[TAKEN])
            self._words[WAITS] = not is_there
        return is_there

    def take(self) -> State:
        """Return the state that was published last, and release the one before."""
        with self._control:
            number = int(self._words[NUMBER])
            entries, about = pickle.loads(bytes(self._control.table[: int(self._words[SIZE])]))
            for entry in entries:
                self._control.held[entry.number] = entry.slot
            self._words[BEFORE], self._words[TAKEN] = self._words[TAKEN], number
        sets = {entry.name: (self._arrays(entry), entry.values) for entry in entries}
        return State(number, sets, about)

    def _arrays(self, entry: Entry) -> dict[str, Any]:
        arrays = dict[str, Any]()
        for place in entry.places:
            memory = self._memory(entry.number, place.on_gpu, place.generation)
            start = entry.slot * place.capacity
            for part in place.parts:
                if isinstance(memory, Memory):
                    arrays[part.name] = array_of(memory, start, part)
                else:
                    arrays[part.name] = DeviceArray(
                        memory.address + start + part.start, part.shape, part.strides,
                        np.dtype(part.dtype), memory.device, None, memory,
                    )  # fmt: skip
        return arrays

    def _memory(self, index: int, on_gpu: bool, generation: int) -> AnyMemory:
        """Return memory of a set when it has arrived, and forget what was before it."""
        key = index, on_gpu, generation
        with self._arrived:
            if not self._arrived.wait_for(lambda: key in self._memories, PATIENCE):
                raise UserError("live: an array of the simulation has not arrived: log it again")
            memory = self._memories[key]
            for other in [each for each in self._memories if each[:2] == key[:2] and each < key]:
                del self._memories[other]
        return memory


def mailbox() -> tuple[Writer, Reader]:
    """Return both sides of a mailbox in this process."""
    control = Control()
    reader = Reader(control)
    return Writer(control, reader.add, lambda: reader.on_change()), reader
