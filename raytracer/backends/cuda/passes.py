"""A kernel that is launched by itself, with one struct of arguments: loaded and checked."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.check import check_layout
from raytracer.errors import BackendError
from raytracer.variants import Variant, discover

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Pass:
    """The last variant of an operation that the device admits; its context must be active."""

    def __init__(self, driver: Any, arch: str, operation: str, struct: str) -> None:
        """Load it, compiling if need be.

        arch: "sm_90a". operation: its folder, and the name of its entry. struct: of its arguments.
        Raises BackendError if no variant supports the device.
        """
        import numpy as np

        self.variant: Variant = _variant(operation, arch)
        cubin = compiler.load(Path(str(self.variant.path)), arch)
        self.module = driver.module_from_buffer(cubin.code)
        address, size = self.module.get_global("layout_table")
        found = np.empty(size // 4, np.int32)
        driver.memcpy_dtoh(found, address)
        check_layout(found.tolist(), layout.table(), self.variant.place)
        self._function = self.module.get_function(operation)
        self._function.prepare([f"{layout.dtype(struct).itemsize}s"])

    def launch(self, grid: tuple[int, ...], arguments: NDArray[np.void], stream: Any) -> None:
        """Queue it. arguments: structured (1,), of the struct."""
        self._function.prepared_async_call(grid, self.variant.block, stream, arguments.tobytes())


def _variant(operation: str, arch: str) -> Variant:
    """The last variant that the architecture admits."""
    able = [variant for variant in discover(operation) if variant.admits(arch)]
    if not able:
        raise BackendError(f"no {operation} kernel supports {arch}")
    return able[-1]
