"""Kernels on a device: loading, layout check, constant memory, launches."""

from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.driver import PrimaryContext, get_primary_context
from raytracer.backends.cuda.kernel_selection import IMAGES
from raytracer.backends.cuda.launch import Group, count_blocks
from raytracer.backends.cuda.transfer import NON_BLOCKING, get_staging
from raytracer.backends.kernel_sources import Kernel, read_production_kernel
from raytracer.config.errors import BackendError, UserError
from raytracer.system import layout

MAX_GRIDS = 64  # of a kernel that are kept: numbers of particles may change with each update


def load_module(context: PrimaryContext, kernel: Kernel, cubin: Cubin | None = None) -> Any:
    """Return the module of a kernel, compiled if necessary, whose structs are those of the
    extension. The context is active."""
    code = (cubin or compiler.load_cubin(kernel.translation_unit, context.arch)).code
    module = context.driver.module_from_buffer(code)
    address, size = module.get_global("layout_table")
    table = np.empty(size // 4, np.int32)
    context.driver.memcpy_dtoh(table, address)
    check_layout(table.tolist(), layout.load_layout(), kernel.place)
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
        self.kernel, self._context = kernel, get_primary_context(ordinal)
        self.stream = get_staging(ordinal).stream  # of copies
        self._written: dict[str, bytes] = {}  # constant memory by symbol
        self.module = load_module(self._context, kernel, cubin)
        self.function = self.module.get_function(entry)
        self.function.prepare([f"{layout.struct_dtype(struct).itemsize}s"])
        self.grid = lru_cache(MAX_GRIDS)(self._grid)  # its arithmetic takes as long as a launch

    def _grid(self, **axes: int) -> tuple[int, int, int]:
        """Return the grid for some sizes."""
        return self.kernel.configure_launch(axes, self._context.multiprocessors).grid

    def launch(self, grid: tuple[int, int, int], arguments: NDArray[np.void], stream: Any) -> None:
        """Queue a launch. arguments: structured (1,), of the struct."""
        self.function.prepared_async_call(grid, self.kernel.block, stream, arguments.tobytes())

    def set_tables(self, **tables: NDArray[Any]) -> None:
        """Fill constant memory by symbols, but tables with the values that they have: only this
        object writes there. Raises UserError where there are too many entries."""
        for symbol, table in tables.items():
            address, size = self.module.get_global(symbol)
            if table.nbytes > size:
                raise UserError(
                    f"the scene has {len(table)} {NOUNS[symbol]} and the CUDA backend takes at "
                    f"most {size // table.itemsize}: merge some, or render with --backend cpu"
                )
            content = table.tobytes()
            if content and self._written.get(symbol) != content:
                self._context.driver.memcpy_htod_async(address, content, self.stream)
                self._written[symbol] = content


@cache
def load_pass(
    ordinal: int, entry: str, struct: str, name: str = "", has_images: bool = False
) -> Pass:
    """Return the production kernel of that entry, loaded once; struct: name of its arguments; name:
    of the kernel, by default the entry; has_images: for scenes with periodic images."""
    kernel, context = read_production_kernel(name or entry), get_primary_context(ordinal)
    macros = IMAGES if has_images else None
    cubin = compiler.load_cubin(kernel.translation_unit, context.arch, macros=macros)
    with context.activate():
        return Pass(ordinal, kernel, entry, struct, cubin)


ENTRY = "render"
# Pixels of a tile, one to a thread of a warp; kernels/cuda numbers its tiles by rows of these.
TILE = layout.kernel_constant("kWarpTileWidth"), layout.kernel_constant("kWarpTileHeight")
NOUNS = {"c_lights": "lights", "c_materials": "materials", "c_large": "large spheres"}
"""What is in tables of constant memory, by symbol."""
SIDES = 8
"""Streams of launches that run side by side: the thread blocks of the next ones wait there."""

SPHERES = "c_spheres"  # optional; holds the spheres of scenes small enough

production = cache(
    read_production_kernel
)  # returns a kernel of PRODUCTION by name; its file is read once


def load_cubin(
    kernel: Kernel, missing: tuple[str, ...], arch: str, has_images: bool = False
) -> tuple[Cubin, tuple[str, ...]]:
    """Return machine code of a kernel, and the features that it is without: none where the variant
    is not at hand and cannot be compiled."""
    source, images = kernel.translation_unit, IMAGES if has_images else {}
    if missing:
        with suppress(BackendError):
            return compiler.load_cubin(
                source, arch, macros=make_macros_without(missing) | images
            ), missing
    return compiler.load_cubin(source, arch, macros=images or None), ()


def check_supported(kernel: Kernel, arch: str) -> None:
    if not kernel.admits(arch):
        needs = ", ".join(map(str, kernel.needs))
        raise BackendError(f"{kernel.place} needs {needs}; this GPU is {arch}")


def make_macros_without(missing: tuple[str, ...]) -> dict[str, str]:
    return dict.fromkeys(missing, "0")


class RenderKernel(Pass):
    """A render kernel on a device."""

    def __init__(
        self, ordinal: int, kernel: Kernel, missing: tuple[str, ...] = (), has_images: bool = False
    ) -> None:
        """Load a kernel, without features of `FEATURES`; compile it if necessary."""
        context = get_primary_context(ordinal)
        check_supported(kernel, context.arch)
        cubin, self.missing = load_cubin(kernel, missing, context.arch, has_images)
        self._compiler = cubin.compiler
        # To ask the driver for a missing symbol is an error of its own.
        self._lists_spheres = SPHERES.encode() in cubin.code
        with context.activate() as driver:
            super().__init__(ordinal, kernel, ENTRY, "RenderArgs", cubin)
            self._events = driver.Event(), driver.Event()
            self._sides: list[tuple[Any, Any]] = []

    def describe(self) -> dict[str, Any]:
        """Return the resources of the kernel on this device, for records."""
        with self._context.activate():
            return {
                "kernel": self.kernel.label,
                "compiler": self._compiler,
                "registers": int(self.function.num_regs),
                "local_bytes": int(self.function.local_size_bytes),
                "shared_bytes": int(self.function.shared_size_bytes),
            }

    def set_spheres(self, address: int, size: int) -> None:
        """Put records in leaf order, which are on the device, into constant memory if they fit
        there; the kernel knows by its sphere count."""
        if self._lists_spheres:
            constant, room = self.module.get_global(SPHERES)
            if 0 < size <= room:
                self._context.driver.memcpy_dtod_async(constant, address, size, self.stream)

    def render(self, arguments: NDArray[np.void], group: Group) -> float:
        """Run the launches of bands on several streams, those of a band in order, and wait for all.

        Bands have no pixels in common. A single one is launched on the stream of the copies.
        arguments: RenderArgs (1,) without tiles and samples. group: the launches of each band.
        Returns the seconds on the device from the first start to the last end.
        """
        (start, end), driver = self._events, self._context.driver
        start.record(self.stream)  # after constants and sums, which are written on this stream
        while len(group) > 1 and len(self._sides) < SIDES:
            self._sides.append((driver.Stream(NON_BLOCKING), driver.Event()))
        sides = self._sides if len(group) > 1 else []
        for stream, _ in sides:
            stream.wait_for_event(start)
        streams = [stream for stream, _ in sides] or [self.stream]
        for slices in zip(*group, strict=True):
            for piece, stream in zip(slices, cycle(streams), strict=False):
                grid = count_blocks(piece.tiles, self.kernel.threads), 1, 1
                words = piece.make_arguments(arguments)
                self.function.prepared_async_call(grid, self.kernel.block, stream, words)
        for stream, done in sides:
            done.record(stream)
            self.stream.wait_for_event(done)
        end.record(self.stream)
        end.synchronize()
        return float(end.time_since(start)) * 1e-3


render_kernel = cache(RenderKernel)
"""Returns a kernel on a device, loaded once; arguments as of `RenderKernel`."""
