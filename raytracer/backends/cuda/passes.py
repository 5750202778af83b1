"""Kernels with one struct of arguments."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.check import check_layout, check_supported
from raytracer.variants import Kernel


class Pass:
    """A kernel on a device; its context must be active."""

    def __init__(
        self, driver: Any, arch: str, kernel: Kernel, entry: str, struct: str,
        cubin: Cubin | None = None,
    ) -> None:  # fmt: skip
        """Load the function `entry`, whose argument is a struct of that name.

        Without machine code, the kernel is compiled if necessary.
        """
        check_supported(kernel, arch)
        self.kernel = kernel
        code = (cubin or compiler.load(kernel.translation_unit, arch)).code
        self.module = driver.module_from_buffer(code)
        address, size = self.module.get_global("layout_table")
        table = np.empty(size // 4, np.int32)
        driver.memcpy_dtoh(table, address)
        check_layout(table.tolist(), layout.table(), kernel.place)
        self.function = self.module.get_function(entry)
        self.function.prepare([f"{layout.dtype(struct).itemsize}s"])

    def launch(self, grid: tuple[int, int, int], arguments: NDArray[np.void], stream: Any) -> None:
        """Queue a launch. arguments: structured (1,), of the struct."""
        self.function.prepared_async_call(grid, self.kernel.block, stream, arguments.tobytes())
