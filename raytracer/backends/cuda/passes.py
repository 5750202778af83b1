"""Kernels with one struct of arguments."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.check import check_layout, check_supported
from raytracer.variants import Kernel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Pass:
    """A kernel on a device; its context must be active."""

    def __init__(self, driver: Any, arch: str, kernel: Kernel, entry: str, struct: str) -> None:
        """Load the kernel, and compile it if necessary.

        Args:
            driver: the binding.
            arch: of the device, for example "sm_90a".
            kernel: the kernel.
            entry: name of its function.
            struct: name of the struct of its arguments.

        Raises:
            BackendError: the kernel does not support the device.
        """
        import numpy as np

        check_supported(kernel, arch)
        self.kernel = kernel
        cubin = compiler.load(self.kernel.translation_unit, arch)
        self.module = driver.module_from_buffer(cubin.code)
        address, size = self.module.get_global("layout_table")
        table = np.empty(size // 4, np.int32)
        driver.memcpy_dtoh(table, address)
        check_layout(table.tolist(), layout.table(), self.kernel.place)
        self._function = self.module.get_function(entry)
        self._function.prepare([f"{layout.dtype(struct).itemsize}s"])

    def launch(self, grid: tuple[int, int, int], arguments: NDArray[np.void], stream: Any) -> None:
        """Queue a launch.

        Args:
            grid: blocks in x, y and z.
            arguments: structured (1,), of the struct.
            stream: of the binding.
        """
        self._function.prepared_async_call(grid, self.kernel.block, stream, arguments.tobytes())
