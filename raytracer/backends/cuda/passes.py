"""Kernels with one struct of arguments."""

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.driver import PrimaryContext, primary_context
from raytracer.backends.cuda.kernel_selection import IMAGES
from raytracer.errors import BackendError
from raytracer.variants import Kernel, product

MAX_GRIDS = 64  # of a kernel that are kept: numbers of particles may change with each update


def load_module(context: PrimaryContext, kernel: Kernel, cubin: Cubin | None = None) -> Any:
    """Return the module of a kernel, compiled if necessary, whose structs are those of the
    extension. The context is active."""
    code = (cubin or compiler.load(kernel.translation_unit, context.arch)).code
    module = context.driver.module_from_buffer(code)
    address, size = module.get_global("layout_table")
    table = np.empty(size // 4, np.int32)
    context.driver.memcpy_dtoh(table, address)
    check_layout(table.tolist(), layout.table(), kernel.place)
    return module


UNLISTED = ("ImageLattice",)
"""Structs of kernels that not all of them know; their numbers have four bytes each."""


def flatten(table: "layout.Table") -> list[int]:
    """Return a table in the form of kernels/core/layout.h: size of each struct, field offsets."""
    return [
        number
        for name, (size, fields) in table.items()
        if name not in UNLISTED
        for number in (size, *(offset for _, _, _, offset in fields))
    ]


def check_layout(kernel_table: Sequence[int], table: "layout.Table", kernel: str) -> None:
    """Refuse a kernel whose struct layout differs from that of the extension."""
    if list(kernel_table) != flatten(table):
        raise BackendError(
            f"{kernel} and the compiled extension lay out structs differently: they come from "
            "different versions; reinstall the package, so that both are built from the same "
            "sources"
        )


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
def loaded(ordinal: int, entry: str, struct: str, name: str = "", has_images: bool = False) -> Pass:
    """Return the production kernel of that entry, loaded once; struct: name of its arguments; name:
    of the kernel, by default the entry; has_images: for scenes with periodic images."""
    kernel, context = product(name or entry), primary_context(ordinal)
    macros = IMAGES if has_images else None
    cubin = compiler.load(kernel.translation_unit, context.arch, macros=macros)
    with context.active():
        return Pass(ordinal, kernel, entry, struct, cubin)
