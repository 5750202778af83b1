"""Render kernels on a device: loading, layout check, constant memory, launches."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.cache import Cubin
from raytracer.backends.cuda.check import check_supported
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.kernel_selection import PATHS, PRODUCTION, THREADS, every_variant
from raytracer.backends.cuda.launch import Group, blocks
from raytracer.backends.cuda.passes import Pass
from raytracer.backends.cuda.tone import DENOISE_DRAFT
from raytracer.backends.cuda.transfer import NON_BLOCKING, staging
from raytracer.errors import BackendError, UserError
from raytracer.resources import thread_count
from raytracer.variants import Kernel, product

ENTRY = "render"
# Pixels of a tile, one to a thread of a warp; kernels/cuda numbers its tiles by rows of these.
TILE = layout.constant("kWarpTileWidth"), layout.constant("kWarpTileHeight")
NOUNS = {"c_lights": "lights", "c_materials": "materials", "c_large": "large spheres"}
"""What is in tables of constant memory, by symbol."""
CONSTANT_BYTES = 64 << 10  # what CUDA has of it on every GPU
SIDES = 8
"""Streams of launches that run side by side: the thread blocks of the next ones wait there."""

IMAGES = {"RT_IMAGES": "1"}
"""Macros of kernels of scenes with periodic images, which are compiled when one is rendered."""
OF_IMAGES = (THREADS, PATHS, "first_hits")  # kernels of such scenes

SPHERES = "c_spheres"  # optional; holds the spheres of scenes small enough


production = cache(product)  # returns a kernel of PRODUCTION by name; its file is read once


@cache
def compile_production(ordinal: int) -> None:
    """Compile the kernels of all pictures and drafts that are not at hand, side by side, once."""
    arch = primary_context(ordinal).arch
    compiler.version()  # asked for once, not by every thread
    names = reversed(PRODUCTION)  # the longest first: they begin when the others do
    jobs = [(production(name), missing) for name in names for missing in every_variant(name)]
    jobs.append((product(DENOISE_DRAFT), ()))
    with ThreadPoolExecutor(min(len(jobs), thread_count())) as pool:
        list(pool.map(lambda job: _cubin(job[0], job[1], arch), jobs))


def _cubin(
    kernel: Kernel, missing: tuple[str, ...], arch: str, has_images: bool = False
) -> tuple[Cubin, tuple[str, ...]]:
    """Return machine code of a kernel, and the features that it is without: none where the variant
    is not at hand and cannot be compiled."""
    source, images = kernel.translation_unit, IMAGES if has_images else {}
    if missing:
        with suppress(BackendError):
            return compiler.load(source, arch, macros=macros_without(missing) | images), missing
    return compiler.load(source, arch, macros=images or None), ()


def macros_without(missing: tuple[str, ...]) -> dict[str, str]:
    return dict.fromkeys(missing, "0")


class RenderKernel:
    """A kernel on a device, whose context must be active in the methods."""

    def __init__(
        self, ordinal: int, kernel: Kernel, missing: tuple[str, ...] = (), has_images: bool = False
    ) -> None:
        """Load a kernel, without features of `FEATURES`; compile it if necessary."""
        self._context = primary_context(ordinal)
        check_supported(kernel, self._context.arch)
        self.kernel = kernel
        self.stream = staging(ordinal).stream
        self._written: dict[int, bytes] = {}  # constant memory by address
        cubin, self.missing = _cubin(kernel, missing, self._context.arch, has_images)
        self._compiler = cubin.compiler
        # To ask the driver for a missing symbol is an error of its own.
        self._lists_spheres = SPHERES.encode() in cubin.code
        with self._context.active() as driver:
            self._pass = Pass(ordinal, kernel, ENTRY, "RenderArgs", cubin)
            self._events = driver.Event(), driver.Event()
            self._sides: list[tuple[Any, Any]] = []

    def describe(self) -> dict[str, Any]:
        """Return the resources of the kernel on this device, for records."""
        function = self._pass.function
        with self._context.active():
            return {
                "kernel": self.kernel.label,
                "compiler": self._compiler,
                "registers": int(function.num_regs),
                "local_bytes": int(function.local_size_bytes),
                "shared_bytes": int(function.shared_size_bytes),
            }

    def set_tables(self, **tables: NDArray[Any]) -> None:
        """Fill constant memory by symbols. Raises UserError where there are too many entries."""
        for symbol, table in tables.items():
            address, size = self._pass.module.get_global(symbol)
            if table.nbytes > size:
                raise UserError(
                    f"the scene has {len(table)} {NOUNS[symbol]} and the CUDA backend takes at "
                    f"most {size // table.itemsize}: merge some, or render with --backend cpu"
                )
            self._write(address, table)

    def set_spheres(self, spheres: NDArray[Any]) -> None:
        """Put the spheres (float32 (N, 4), leaf order) into constant memory if they fit there; the
        kernel knows by its sphere count."""
        if not self._lists_spheres:
            return
        address, size = self._pass.module.get_global(SPHERES)
        if spheres.nbytes <= size:
            self._write(address, spheres)

    def copy_spheres(self, address: int, size: int) -> None:
        """Do what `set_spheres` does, with spheres that are on the device."""
        if self._lists_spheres:
            constant, room = self._pass.module.get_global(SPHERES)
            if size <= room:
                self._written.pop(constant, None)
                self._context.driver.memcpy_dtod_async(constant, address, size, self.stream)

    def launch(self, arguments: NDArray[np.void], group: Group) -> float:
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
                grid = blocks(piece.tiles, self.kernel.threads), 1, 1
                words = piece.arguments(arguments)
                self._pass.function.prepared_async_call(grid, self.kernel.block, stream, words)
        for stream, done in sides:
            done.record(stream)
            self.stream.wait_for_event(done)
        end.record(self.stream)
        end.synchronize()
        return float(end.time_since(start)) * 1e-3

    def _write(self, address: int, table: NDArray[Any]) -> None:
        """Fill a table, unless it has these values already; only this object writes there."""
        content = table.tobytes()
        if content and self._written.get(address) != content:
            self._context.driver.memcpy_htod_async(address, content, self.stream)
            self._written[address] = content


render_kernel = cache(RenderKernel)
"""Returns a kernel on a device, loaded once; arguments as of `RenderKernel`."""


@cache
def query_kernel(ordinal: int, entry: str, has_capsules: bool, has_images: bool) -> Pass:
    """Return the kernel of an entry, `first_hits` or `exposure`, loaded once."""
    context = primary_context(ordinal)
    kernel = product(f"{entry}_capsules" if has_capsules else entry)
    macros = IMAGES if has_images else None
    code = compiler.load(kernel.translation_unit, context.arch, macros=macros)
    with context.active():
        return Pass(ordinal, kernel, entry, "RenderArgs", code)
