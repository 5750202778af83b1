"""A stand-in driver for the bench, whose kernels are functions of the CPU."""

import ctypes
import shutil
from collections.abc import Callable
from itertools import count
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np

from support.fake_cuda import FakeDriver

NUMBERS = count()  # of copies of libraries: none is written twice


class BenchFakeDriver(FakeDriver):
    """A driver with the bench's further calls, and memory of some bytes."""

    device_attribute = SimpleNamespace(
        **vars(FakeDriver.device_attribute), L2_CACHE_SIZE=3, MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=4
    )

    def __init__(self, memory: int = 16 << 20) -> None:
        super().__init__({}, lambda *_: None, memory)

    def Device(self, ordinal: int) -> Any:  # noqa: N802
        """One GPU of compute capability 9.0 with a small L2 cache."""
        device = super().Device(ordinal)
        known = {1: 0, 2: 132, 3: 1024, 4: 227 << 10}
        device.get_attribute = known.__getitem__
        device.pci_bus_id = lambda: "0000:00:00.0"
        return device

    def Graph(self, _stream: Any, work: Callable[[], None]) -> Any:  # noqa: N802
        """Work that is done again by each launch."""
        return SimpleNamespace(launch=work)


class CompiledDriver(BenchFakeDriver):
    """A driver whose every kernel is a library of the CPU; modules have variables of their own."""

    def __init__(self, library: Path, folder: Path) -> None:
        super().__init__(64 << 20)
        self._library, self._folder = library, folder

    def module_from_buffer(self, _code: bytes) -> Any:
        assert self.depth
        path = self._folder / f"module{next(NUMBERS)}.so"
        shutil.copyfile(self._library, path)
        built = ctypes.CDLL(str(path))

        def launch(grid: Any, block: Any, _stream: Any, *arguments: Any, **_more: Any) -> None:
            self.launches += 1
            count_of_arrays = len(formats[0].replace("q", ""))
            base = self.memory.ctypes.data
            given = [
                base + each if number < count_of_arrays else each
                for number, each in enumerate(arguments)
            ]
            built.go(*grid[:2], block[0], (ctypes.c_uint64 * 16)(*given))

        formats: list[str] = [""]

        def prepare(parts: list[str]) -> None:
            formats[0] = "".join(parts)

        function = SimpleNamespace(
            num_regs=40, local_size_bytes=0, shared_size_bytes=0, prepare=prepare,
            prepared_async_call=launch,
        )  # fmt: skip
        return SimpleNamespace(get_function=lambda _: function, get_global=self._global)


def aligned_memory(driver: FakeDriver) -> None:
    """Give a driver memory whose addresses are aligned on the host as on a device."""
    room = np.full(driver.memory.size + 256, 0xCD, np.uint8)
    begin = -room.ctypes.data % 256
    room[begin : begin + driver.memory.size] = driver.memory
    driver.memory = room[begin : begin + driver.memory.size]
