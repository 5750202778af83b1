"""The bench over a stand-in driver: launches call NumPy, so that checks and races run anywhere."""

from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.fake_cuda import FakeDriver

# Views of a launch's vectors a, b, c (n,) and n itself.
Compute = Callable[[NDArray[Any], NDArray[Any], NDArray[Any], int], None]


class BenchDriver(FakeDriver):
    """A driver whose every kernel is `compute`, with the bench's further calls."""

    device_attribute = SimpleNamespace(
        KERNEL_EXEC_TIMEOUT=1,
        MULTIPROCESSOR_COUNT=2,
        L2_CACHE_SIZE=3,
        MAX_SHARED_MEMORY_PER_BLOCK_OPTIN=4,
    )

    def __init__(self, compute: Compute) -> None:
        super().__init__({}, lambda *_: None, 16 << 20)
        self.compute = compute

    def Device(self, ordinal: int) -> Any:  # noqa: N802
        """One GPU of compute capability 9.0 with a small L2 cache."""
        device = super().Device(ordinal)
        known = {1: 0, 2: 132, 3: 1024, 4: 227 << 10}
        device.get_attribute = known.__getitem__
        device.pci_bus_id = lambda: "0000:00:00.0"
        return device

    def _launch(self, grid: Any, block: Any, _stream: Any, *arguments: Any, **more: Any) -> None:
        assert self.depth
        assert len(grid) == 3
        assert len(block) == 3
        assert min(grid) >= 1
        assert list(more) == ["shared_size"]
        if len(arguments) == 2:
            return  # the multiply-adds of kernels/ladders/ceiling: nothing to see
        a, b, c, n = arguments
        self.launches += 1
        first, second = (self.view(each, 4 * n).view(np.float32) for each in (a, b))
        self.compute(first, second, self.view(c, 4 * n + 4).view(np.float32), n)

    def Graph(self, _stream: Any, work: Callable[[], None]) -> Any:  # noqa: N802
        """Work that is done again by each launch."""
        return SimpleNamespace(launch=work)

    def start_profiler(self) -> None:
        """Marks where a profiler begins."""

    def stop_profiler(self) -> None:
        """Marks where it ends."""
