"""Kernels with one struct of arguments."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.check import check_layout, check_supported
from raytracer.backends.cuda.context import primary_context
from raytracer.variants import Kernel, product


def load_module(driver: Any, arch: str, kernel: Kernel, cubin: Cubin | None = None) -> Any:
    """Return the module of a kernel, whose structs are those of the extension.

    Without machine code, the kernel is compiled if necessary.
    """
    check_supported(kernel, arch)
    code = (cubin or compiler.load(kernel.translation_unit, arch)).code
    module = driver.module_from_buffer(code)
    address, size = module.get_global("layout_table")
    table = np.empty(size // 4, np.int32)
    driver.memcpy_dtoh(table, address)
    check_layout(table.tolist(), layout.table(), kernel.place)
    return module


class Pass:
    """A kernel on a device; its context must be active."""

    def __init__(
        self, driver: Any, arch: str, kernel: Kernel, entry: str, struct: str,
        cubin: Cubin | None = None,
    ) -> None:  # fmt: skip
        """Load the function `entry`, whose argument is a struct of that name."""
        self.kernel = kernel
        self.module = load_module(driver, arch, kernel, cubin)
        self.function = self.module.get_function(entry)
        self.function.prepare([f"{layout.dtype(struct).itemsize}s"])

    def launch(self, grid: tuple[int, int, int], arguments: NDArray[np.void], stream: Any) -> None:
        """Queue a launch. arguments: structured (1,), of the struct."""
        self.function.prepared_async_call(grid, self.kernel.block, stream, arguments.tobytes())


@cache
def loaded(ordinal: int, entry: str, struct: str) -> tuple[Pass, int]:
    """Return the production kernel of that entry and its device's number of multiprocessors.

    It is loaded once. struct: name of that of its arguments.
    """
    context = primary_context(ordinal)
    arch = compiler.architecture(context.device.compute_capability())
    attribute = context.driver.device_attribute.MULTIPROCESSOR_COUNT
    with context.active() as driver:
        kernel = Pass(driver, arch, product(entry), entry, struct)
    return kernel, int(context.device.get_attribute(attribute))
