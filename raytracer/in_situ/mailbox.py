"""Mailbox: arrays that a simulation hands to a view, which takes the latest.

Each set of points has three slots in memory that both sides map: the one that was published last,
the one that the reader holds, and a free one. The writer copies into the free one and publishes it
under a lock, which either side holds for some microseconds. It never waits: where the reader has
the lock, the state is published with the next one. Memory grows with the largest number of points,
and not with the number of states.

The two sides are threads of one process or two processes; what differs is their `Link`.
"""

from __future__ import annotations

import fcntl
import os
import pickle
import tempfile
from collections.abc import Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from mmap import mmap
from multiprocessing.connection import Connection
from multiprocessing.reduction import recv_handle, send_handle
from threading import Condition, Lock
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from raytracer.device_array import DeviceArray
from raytracer.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

SLOTS = 3
"""Slots of a set: published, held by the reader, free."""

MAX_SETS = 255
"""Most sets of points."""

NONE = 255
"""Slot of a set of which the reader holds nothing."""

HEAD_BYTES, TABLE_BYTES = 1024, (1 << 16) - 1024
"""Bytes of the head of the control memory (words and held slots), and of the table behind it."""

NUMBER, SIZE, WAITS, TAKEN = range(4)
"""Words of the head: states published, bytes of the table, whether the reader waits to be woken,
number of the state that it took last."""

HELD_FROM = 512
"""Byte of the head where the held slots begin, one byte a set."""

ALIGNMENT = 64
"""Bytes of a cache line: arrays begin there."""

GROWTH = 1.25
"""Factor of room for more points when a set has outgrown its memory."""

PATIENCE = 10.0
"""Seconds in which memory must arrive that the table names."""

Arrays = Mapping[str, "NDArray[Any] | DeviceArray"]
"""Arrays of a set by name. Those of a GPU are handed over as they are, within a process alone."""

DeviceArrays = Mapping[str, Mapping[str, DeviceArray]]
"""Arrays of a GPU, by the names of set and array."""


class Memory:
    """Memory that another process can map too; no file of any folder, so that none is left.

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


def _unnamed() -> int:
    """Return the descriptor of an unnamed file."""
    if hasattr(os, "memfd_create"):
        return os.memfd_create("raytracer")
    with tempfile.TemporaryFile() as file:
        return os.dup(file.fileno())


class Part(NamedTuple):
    """An array of a slot."""

    name: str
    dtype: str
    shape: tuple[int, ...]
    start: int  # byte of the slot


class Entry(NamedTuple):
    """A set in the table: where its published arrays are."""

    name: str
    place: int  # among the sets
    generation: int  # of its memory
    capacity: int  # bytes of a slot
    slot: int
    parts: tuple[Part, ...]
    values: Mapping[str, Any]  # what is no array


class State(NamedTuple):
    """A published state."""

    number: int  # from 1
    # Arrays and other values of each set by its name; they stay as they are until the next one is
    # taken.
    sets: Mapping[str, tuple[Mapping[str, Any], Mapping[str, Any]]]
    about: Mapping[str, Any]  # of the whole state

    def copied(self) -> State:
        """Return the state with arrays of its own."""
        sets = {name: (_copied(arrays), values) for name, (arrays, values) in self.sets.items()}
        return self._replace(sets=sets)


def _copied(arrays: Mapping[str, Any]) -> dict[str, Any]:
    """Return copies; nothing writes to arrays of a GPU."""
    return {k: v if isinstance(v, DeviceArray) else v.copy() for k, v in arrays.items()}


class Link(Protocol):
    """What the writer knows of the reader."""

    def try_lock(self) -> bool:
        """Lock the control memory, or return False at once."""

    def unlock(self) -> None:
        """Unlock it."""

    def share(self, index: int, generation: int, memory: Memory) -> None:
        """Hand memory of a set to the reader."""

    def hand(self, there: DeviceArrays) -> None:
        """Hand the arrays of a GPU to the reader, while the control memory is locked."""

    def wake(self) -> None:
        """Wake the reader."""


@dataclass(eq=False)
class _Set:
    """A set of the writer."""

    index: int
    generation: int = 0
    memory: Memory | None = None
    capacity: int = 0
    slot: int = NONE  # published
    written: int = NONE  # to be published
    parts: tuple[Part, ...] = ()
    values: Mapping[str, Any] = field(default_factory=dict)
    there: Mapping[str, DeviceArray] = field(default_factory=dict)
    shapes: Any = None  # of the latest arrays, of which `parts` are
    targets: dict[int, list[NDArray[Any]]] = field(default_factory=dict)  # by slot, of `parts`


class Writer:
    """The side of the simulation; it is used by one thread.

    Args:
        control: memory of `HEAD_BYTES + TABLE_BYTES`, all zero.
        link: to the reader.
    """

    def __init__(self, control: Memory, link: Link) -> None:
        self._control, self._link = control, link
        self._words = control.bytes[:HELD_FROM].view(np.int64)
        self._held = control.bytes[HELD_FROM:HEAD_BYTES]
        self._held[:] = NONE
        self._table = control.bytes[HEAD_BYTES:]
        self._sets: dict[str, _Set] = {}

    @property
    def is_taken(self) -> bool:
        """Whether the reader has taken the state that was published last."""
        return bool(self._words[TAKEN] >= self._words[NUMBER])

    @property
    def nbytes(self) -> int:
        """Bytes of memory for all sets."""
        return sum(SLOTS * each.capacity for each in self._sets.values())

    def write(self, name: str, arrays: Arrays, values: Mapping[str, Any]) -> None:
        """Copy the arrays of a set into its free slot, to be published.

        Raises:
            UserError: there are too many sets, or there is no room.
        """
        kept = self._sets.get(name)
        if kept is None:
            kept = self._add(name)
        here, there = dict[str, Any](), dict[str, DeviceArray]()
        for key, array in arrays.items():
            if isinstance(array, DeviceArray):
                there[key] = array
            else:
                here[key] = array
        shapes = [(key, array.dtype, array.shape) for key, array in here.items()]
        if shapes != kept.shapes:
            self._lay_out(kept, shapes)
        held = self._held[kept.index]
        slot = next(each for each in range(SLOTS) if each != kept.slot and each != held)
        for target, array in zip(self._targets(kept, slot), here.values(), strict=True):
            target[...] = array
        kept.written, kept.values, kept.there = slot, values, there

    def publish(self, about: Mapping[str, Any]) -> bool:
        """Publish what was written, with the sets of before; False if the reader is looking.

        Raises:
            UserError: names and values take too much room.
        """
        entries = [
            Entry(name, each.index, each.generation, each.capacity, each.written, each.parts,
                  each.values)
            for name, each in self._sets.items() if each.written != NONE
        ]  # fmt: skip
        table = pickle.dumps((entries, dict(about)), pickle.HIGHEST_PROTOCOL)
        if len(table) > TABLE_BYTES:
            raise UserError(
                f"log_points: names and single colours of all sets take {len(table):,} bytes; at "
                f"most {TABLE_BYTES:,}: give colours as an array (N, 3)"
            )
        if not self._link.try_lock():
            return False
        try:
            self._table[: len(table)] = np.frombuffer(table, np.uint8)
            self._words[SIZE] = len(table)
            self._link.hand({name: each.there for name, each in self._sets.items() if each.there})
            self._words[NUMBER] += 1
            waits, self._words[WAITS] = self._words[WAITS], 0
        finally:
            self._link.unlock()
        for each in self._sets.values():
            each.slot = each.written
        if waits:
            self._link.wake()
        return True

    def _add(self, name: str) -> _Set:
        if len(self._sets) >= MAX_SETS:
            raise UserError(f"log_points: at most {MAX_SETS} names; log several sets as one")
        self._sets[name] = kept = _Set(len(self._sets))
        return kept

    def _lay_out(
        self, kept: _Set, shapes: list[tuple[str, np.dtype[Any], tuple[int, ...]]]
    ) -> None:
        """Find room for arrays of other shapes than those before."""
        parts, start = [], 0
        for name, dtype, shape in shapes:
            parts.append(Part(name, dtype.str, shape, start))
            count = int(np.prod(shape, dtype=np.int64)) * dtype.itemsize
            start += -(-count // ALIGNMENT) * ALIGNMENT
        if start > kept.capacity or kept.memory is None:
            room = start if kept.memory is None else int(start * GROWTH)
            capacity = max(-(-room // ALIGNMENT) * ALIGNMENT, ALIGNMENT)
            kept.memory, kept.capacity = Memory(SLOTS * capacity), capacity  # or nothing changes
            kept.generation += 1
            kept.slot = kept.written = NONE  # of the memory before
            self._link.share(kept.index, kept.generation, kept.memory)
        kept.shapes, kept.parts = shapes, tuple(parts)
        kept.targets = {}

    @staticmethod
    def _targets(kept: _Set, slot: int) -> list[NDArray[Any]]:
        if slot not in kept.targets:
            assert kept.memory is not None
            start = slot * kept.capacity
            slots = kept.memory.bytes[start : start + kept.capacity]
            kept.targets[slot] = [array_of(slots, part) for part in kept.parts]
        return kept.targets[slot]


def array_of(slot: NDArray[np.uint8], part: Part) -> NDArray[Any]:
    """Return an array of a slot, without a copy."""
    dtype = np.dtype(part.dtype)
    size = int(np.prod(part.shape, dtype=np.int64)) * dtype.itemsize
    return slot[part.start : part.start + size].view(dtype).reshape(part.shape)


class Reader:
    """The side of the view. Threads may use it; one of them takes states."""

    def __init__(self, control: Memory, lock: ReaderLock) -> None:
        self._control, self._lock = control, lock
        self._words = control.bytes[:HELD_FROM].view(np.int64)
        self._held = control.bytes[HELD_FROM:HEAD_BYTES]
        self._memories: dict[tuple[int, int], Memory] = {}
        self._arrived = Condition()
        self.there: DeviceArrays = {}
        """Arrays of a GPU in the state that was published last."""
        self.on_change: Callable[[], None] = _nothing
        """Called, by another thread, when there is a state after `awaits` returned False."""

    def add(self, index: int, generation: int, memory: Memory) -> None:
        """Take memory of a set that the writer shares."""
        with self._arrived:
            self._memories[index, generation] = memory
            self._arrived.notify_all()

    @property
    def number(self) -> int:
        """Number of the state that was published last; 0 before the first."""
        return int(self._words[NUMBER])

    def awaits(self) -> bool:
        """Return whether there is a state that was not taken yet; without one, be woken by it."""
        with self._locked():
            is_there = bool(self._words[NUMBER] > self._words[TAKEN])
            self._words[WAITS] = not is_there
        return is_there

    def take(self) -> State:
        """Return the state that was published last, and release the one before."""
        with self._locked():
            number = int(self._words[NUMBER])
            table = bytes(self._control.bytes[HEAD_BYTES : HEAD_BYTES + int(self._words[SIZE])])
            entries, about = pickle.loads(table)
            for entry in entries:
                self._held[entry.place] = entry.slot
            self._words[TAKEN], there = number, self.there
        sets = {entry.name: self._arrays(entry, there.get(entry.name, {})) for entry in entries}
        return State(number, sets, about)

    def _arrays(
        self, entry: Entry, there: Mapping[str, DeviceArray]
    ) -> tuple[dict[str, Any], Mapping[str, Any]]:
        key = entry.place, entry.generation
        with self._arrived:
            self._arrived.wait_for(lambda: key in self._memories, PATIENCE)
            memory = self._memories[key]
            for other in [each for each in self._memories if each[0] == key[0] and each < key]:
                del self._memories[other]
        start = entry.slot * entry.capacity
        slot = memory.bytes[start : start + entry.capacity]
        here = {part.name: array_of(slot, part) for part in entry.parts}
        return {**here, **there}, entry.values

    @contextmanager
    def _locked(self) -> Iterator[None]:
        self._lock.lock()
        try:
            yield
        finally:
            self._lock.unlock()


class ReaderLock(Protocol):
    """The lock of the control memory, for the reader, who may wait for it."""

    def lock(self) -> None:
        """Wait for the lock."""

    def unlock(self) -> None:
        """Unlock it."""


class FileLock:
    """A lock among processes; the system releases it when its holder ends."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._threads = Lock()  # a process has the lock as a whole

    def try_lock(self) -> bool:
        """Lock, or return False at once."""
        if not self._threads.acquire(blocking=False):
            return False
        try:
            fcntl.lockf(self._descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self._threads.release()
            return False
        return True

    def lock(self) -> None:
        """Wait for the lock."""
        self._threads.acquire()
        fcntl.lockf(self._descriptor, fcntl.LOCK_EX)

    def unlock(self) -> None:
        """Unlock it."""
        fcntl.lockf(self._descriptor, fcntl.LOCK_UN)
        self._threads.release()


class ProcessLink(FileLock):
    """The link to a reader in another process."""

    def __init__(self, control: Memory, connection: Connection, pid: int) -> None:
        super().__init__(control.descriptor)
        self._connection, self._pid = connection, pid

    def share(self, index: int, generation: int, memory: Memory) -> None:
        """Send the descriptor of memory."""
        with suppress(OSError):  # the reader has ended
            self._connection.send(("memory", index, generation, memory.size))
            send_handle(self._connection, memory.descriptor, self._pid)

    def hand(self, there: DeviceArrays) -> None:
        """Do nothing: arrays of a GPU come to the host for another process."""

    def wake(self) -> None:
        """Send a message; the reader waits for one at a time, so that none is held up."""
        with suppress(OSError):
            self._connection.send(("wake",))


def receive_memory(connection: Connection, size: int) -> Memory:
    """Return memory whose descriptor follows in a connection."""
    return Memory(size, recv_handle(connection))


class ThreadLink:
    """The link to a reader in another thread of this process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.reader: Reader | None = None

    def try_lock(self) -> bool:
        """Lock, or return False at once."""
        return self._lock.acquire(blocking=False)

    def lock(self) -> None:
        """Wait for the lock."""
        self._lock.acquire()

    def unlock(self) -> None:
        """Unlock it."""
        self._lock.release()

    def share(self, index: int, generation: int, memory: Memory) -> None:
        """Hand memory to the reader."""
        assert self.reader is not None
        self.reader.add(index, generation, memory)

    def hand(self, there: DeviceArrays) -> None:
        """Give the arrays to the reader."""
        assert self.reader is not None
        self.reader.there = there

    def wake(self) -> None:
        """Call the reader; what it does then takes microseconds."""
        assert self.reader is not None
        self.reader.on_change()


def control_memory() -> Memory:
    """Return the control memory of a mailbox."""
    return Memory(HEAD_BYTES + TABLE_BYTES)


def _nothing() -> None:
    """Nothing is followed yet."""
