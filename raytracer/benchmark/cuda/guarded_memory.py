"""Arrays on one GPU with guard bytes behind them, to detect writes out of bounds."""

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda.transfer import staging
from raytracer.benchmark.cuda.timing import Session
from raytracer.errors import RaytracerError

GUARD = 256  # bytes behind each array
POISON = 0xFFFFFFFF  # NaN as a float, implausible as a count


class Memory:
    """Named arrays on the device, each followed by guard bytes, until `with` ends."""

    def __init__(
        self, session: Session, sizes: Mapping[str, int], offsets: Mapping[str, int] | None = None
    ) -> None:
        """Allocate arrays of some bytes by name; raise MemoryNeedError if they do not fit.

        offsets: bytes between an aligned address and the start of an array, by name.
        """
        self._session = session
        self._sizes, self._offsets = dict(sizes), dict(offsets or {})
        self._taken = {
            name: session.driver.mem_alloc(_padded(size) + GUARD + self._offsets.get(name, 0))
            for name, size in sizes.items()
        }

    def address(self, name: str) -> int:
        return int(self._taken[name]) + self._offsets.get(name, 0)

    def upload(self, name: str, array: NDArray[Any]) -> None:
        with self._session.translated():
            staging(self._session.ordinal).to_device(array, self.address(name))

    def download(self, name: str, array: NDArray[Any], begin: int = 0) -> None:
        """Copy into an array of the same size, or of a part from a byte on, and wait."""
        with self._session.translated():
            staging(self._session.ordinal).to_host(self.address(name) + begin, array)

    def poison(self, name: str) -> None:
        """Queue the filling of an array and its guard bytes with POISON."""
        self._session.fill(self.address(name), _padded(self._sizes[name]) + GUARD, POISON)

    def clear(self, name: str) -> None:
        self._session.fill(self.address(name), self._sizes[name], 0)

    def overrun(self, name: str) -> bool:
        """Whether the guard bytes of a poisoned array were overwritten."""
        size = self._sizes[name]
        tail = np.empty(_padded(size) + GUARD - size, np.uint8)
        self.download(name, tail, size)
        return bool((tail != 0xFF).any())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        with suppress(RaytracerError):  # a lost device has freed everything already
            for allocation in self._taken.values():
                allocation.free()


def _padded(size: int) -> int:
    return -(-size // GUARD) * GUARD
