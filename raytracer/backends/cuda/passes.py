"""Kernels with one struct of arguments."""

from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.check import check_layout, check_supported
from raytracer.backends.cuda.context import PrimaryContext, primary_context
from raytracer.variants import Kernel, product

MAX_GRIDS = 64  # of a kernel that are kept: numbers of particles may change with each update


def load_module(context: PrimaryContext, kernel: Kernel, cubin: Cubin | None = None) -> Any:
    """Return the module of a kernel, compiled if necessary, whose structs are those of the
    extension. The context is active."""
    check_supported(kernel, context.arch)
    code = (cubin or compiler.load(kernel.translation_unit, context.arch)).code
    module = context.driver.module_from_buffer(code)
    address, size = module.get_global("layout_table")
    table = np.empty(size // 4, np.int32)
    context.driver.memcpy_dtoh(table, address)
    check_layout(table.tolist(), layout.table(), kernel.place)
    return module


class Pass:
    """A kernel on a device; its context must be active."""

    def __init__(
        self, ordinal: int, kernel: Kernel, entry: str, struct: str, cubin: Cubin | None = None
    ) -> None:
        """Load the function `entry`, whose argument is a struct of that name."""
        self.kernel, self._context = kernel, primary_context(ordinal)
        self.module = load_module(self._context, kernel, cubin)
        self.function = self.module.get_function(entry)
        self.function.prepare([f"{layout.dtype(struct).itemsize}s"])
        self.grid = lru_cache(MAX_GRIDS)(self._grid)  # its arithmetic takes as long as a launch

    def _grid(self, **axes: int) -> tuple[int, int, int]:
        """Return the grid for some sizes."""
        return self.kernel.launch(axes, self._context.multiprocessors).grid

    def launch(self, grid: tuple[int, int, int], arguments: NDArray[np.void], stream: Any) -> None:
        """Queue a launch. arguments: structured (1,), of the struct."""
        self.function.prepared_async_call(grid, self.kernel.block, stream, arguments.tobytes())


@cache
def loaded(ordinal: int, entry: str, struct: str) -> Pass:
    """Return the production kernel of that entry, loaded once; struct: name of its arguments."""
    with primary_context(ordinal).active():
        return Pass(ordinal, product(entry), entry, struct)
