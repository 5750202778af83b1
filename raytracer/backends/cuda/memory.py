"""Named allocations on a GPU."""

import weakref
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from raytracer.backends.cuda import striped_memory
from raytracer.backends.cuda.driver import PrimaryContext
from raytracer.config.errors import RaytracerError

RECORD_BYTES, COLOR_BYTES = 16, 12  # of a sphere: float4 and three float32


class DeviceMemory:
    """Allocations of one owner; `allocate` needs the device's context active. gpus: over which
    arrays larger than a stripe are striped. held: streams, events and page-locked memory by name,
    with the only references to them: PyCUDA destroys them in their context alone."""

    def __init__(self, context: PrimaryContext, gpus: Sequence[int] = ()) -> None:
        self._context, self._gpus = context, gpus
        self._sizes: dict[str, int] = {}
        self._allocations: dict[str, Any] = {}
        self.held: dict[str, Any] = {}
        # Runs at the latest when the process ends, while the context is still there.
        self._free = weakref.finalize(self, _release, context, self._allocations, self.held)

    @property
    def nbytes(self) -> int:
        return sum(self._sizes.values())

    def allocate(self, name: str, size: int) -> int:
        """The address of memory of that name and size in bytes, which is kept if the size is the
        same; 0 for an empty one."""
        if self._sizes.get(name) != size:
            self._sizes.pop(name, None)
            if old := self._allocations.pop(name, None):
                old.free()
            if self._gpus and size > striped_memory.STRIPE:
                self._allocations[name] = striped_memory.StripedAllocation(size, self._gpus)
            elif size:
                self._allocations[name] = self._context.driver.mem_alloc(size)
            self._sizes[name] = size
        return self.address(name)

    def free(self, *names: str) -> None:
        """Give memory back; the context is active, and no kernel uses it."""
        for name in names:
            self.allocate(name, 0)

    def rename(self, name: str, other: str) -> None:
        """Give an allocation another name, in place of what had it."""
        self.free(other)
        self._allocations[other], self._sizes[other] = (
            self._allocations.pop(name), self._sizes.pop(name)
        )  # fmt: skip

    def size(self, name: str) -> int:
        """Return the bytes of an allocation; 0 of none."""
        return self._sizes.get(name, 0)

    def address(self, name: str) -> int:
        """Return the address of an allocation; 0 of an empty one."""
        return int(self._allocations.get(name, 0))

    def close(self) -> None:
        """Free everything; may be called twice."""
        with self._context.lock:  # freeing waits for the GPU
            _release(self._context, self._allocations, self.held)
        self._sizes.clear()


def _release(context: PrimaryContext, allocations: dict[str, Any], held: dict[str, Any]) -> None:
    if allocations or held:
        with suppress(RaytracerError), context.activate():  # a lost device has freed everything
            while allocations:
                allocations.popitem()[1].free()
            held.clear()
