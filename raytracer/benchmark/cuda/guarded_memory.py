"""Arrays on one GPU with guard bytes behind them, to detect writes out of bounds."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Self

from numpy.typing import NDArray

from raytracer.backends.cuda.check import translated
from raytracer.backends.cuda.transfer import staging
from raytracer.benchmark.cuda.session import Session

GUARD = 256  # bytes behind each array
POISON = 0xFFFFFFFF  # NaN as a float, implausible as a count


class Memory:
    """Named arrays on the device, each followed by guard bytes; must be closed."""

    def __init__(
        self, session: Session, sizes: Mapping[str, int], offsets: Mapping[str, int] | None = None
    ) -> None:
        """Allocate arrays of some bytes by name; raise MemoryNeedError if they do not fit.

        offsets: bytes between an aligned address and the start of an array, by name.
        """
        self._session = session
        self._sizes, self._offsets = dict(sizes), dict(offsets or {})
        self._taken: dict[str, Any] = {}
        try:
            with translated(session.driver):
                for name, size in sizes.items():
                    room = _padded(size) + GUARD + self._offsets.get(name, 0)
                    self._taken[name] = session.driver.mem_alloc(room)
        except BaseException:
            self.close()
            raise

    def address(self, name: str) -> int:
        return int(self._taken[name]) + self._offsets.get(name, 0)

    def upload(self, name: str, array: NDArray[Any]) -> None:
        staging(self._session.ordinal).to_device(array, self.address(name))

    def download(self, name: str, array: NDArray[Any], begin: int = 0) -> None:
        """Copy into an array of the same size, or of a part from a byte on, and wait."""
        with translated(self._session.driver):
            staging(self._session.ordinal).to_host(self.address(name) + begin, array)

    def poison(self, name: str) -> None:
        """Queue the filling of an array and its guard bytes with POISON."""
        self._session.fill(self.address(name), _padded(self._sizes[name]) + GUARD, POISON)

    def clear(self, name: str) -> None:
        self._session.fill(self.address(name), self._sizes[name], 0)

    def overrun(self, name: str) -> bool:
        """Whether the guard bytes of a poisoned array were overwritten."""
        import numpy as np

        size = self._sizes[name]
        tail = np.empty(_padded(size) + GUARD - size, np.uint8)
        self.download(name, tail, size)
        return bool((tail != 0xFF).any())

    def close(self) -> None:
        while self._taken:
            with suppress(self._session.driver.Error):
                self._taken.popitem()[1].free()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _padded(size: int) -> int:
    return -(-size // GUARD) * GUARD
