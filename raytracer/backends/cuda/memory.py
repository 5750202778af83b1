"""Named allocations on a GPU."""

from __future__ import annotations

import weakref
from typing import Any

from raytracer.backends.cuda.context import PrimaryContext, release


class DeviceMemory:
    """Allocations of one owner; `allocate` needs the device's context active."""

    def __init__(self, context: PrimaryContext) -> None:
        self._context = context
        self._sizes: dict[str, int] = {}
        self._allocations: dict[str, Any] = {}
        # Runs at the latest when the process ends, while the context is still there.
        self._free = weakref.finalize(self, release, context, self._allocations)

    @property
    def nbytes(self) -> int:
        return sum(self._sizes.values())

    def allocate(self, name: str, size: int) -> int:
        """The address of device memory of that name and size in bytes; 0 for an empty one.

        Memory of the same name is used again if the size is the same, else given back.
        """
        if self._sizes.get(name) != size:
            self._sizes.pop(name, None)
            if old := self._allocations.pop(name, None):
                old.free()
            if size:
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
        with self._context.lock:  # freeing waits for the GPU
            release(self._context, self._allocations)
        self._sizes.clear()
