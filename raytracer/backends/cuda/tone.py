"""Tone mapping on a GPU: the histogram of a film in device memory, and its picture."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.context import PrimaryContext, primary_context
from raytracer.backends.cuda.passes import Pass
from raytracer.backends.cuda.transfer import staging
from raytracer.errors import RaytracerError
from raytracer.film.film import check_bits, empty_histogram, tone_arguments
from raytracer.variants import product

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.film.film import Backdrop
    from raytracer.film.tone_settings import ToneSettings

PASSES = ("film_histogram", "tone")
"""The passes of every picture, by the names of their kernels: histogram and picture."""

DENOISE_DRAFT = "denoise_draft"
"""The pass of drafts with ambient occlusion, loaded with the first of them."""


_compiled: set[int] = set()  # devices whose passes were compiled or are being


@contextmanager
def compiling_passes(ordinal: int) -> Iterator[None]:
    """Compile the passes of every picture while the block compiles its kernel.

    This happens once in a process. An error is raised again where a pass is loaded.
    """
    if ordinal in _compiled:
        yield
        return
    _compiled.add(ordinal)
    arch = compiler.architecture(primary_context(ordinal).device.compute_capability())
    compiler.version()  # asked for once, not by every thread
    with ThreadPoolExecutor(len(PASSES)) as pool:
        for name in PASSES:
            pool.submit(compiler.load, product(name).translation_unit, arch)
        yield


class ToneKernels:
    """The passes of tone mapping on one device; its context must be active in their methods.

    A picture takes two launches with automatic exposure or statistics, and one without.

    Args:
        ordinal: number of the device.
    """

    def __init__(self, ordinal: int) -> None:
        """Load the kernels, compile them if necessary, and allocate their memory."""
        self._context = primary_context(ordinal)
        self.stream = staging(ordinal).stream
        self._copies = staging(ordinal)
        device = self._context.device
        self.arch = compiler.architecture(device.compute_capability())
        names = self._context.driver.device_attribute
        self.multiprocessors = int(device.get_attribute(names.MULTIPROCESSOR_COUNT))
        with self._context.active() as driver:
            self._passes: dict[str, Pass] = {}
            for name in PASSES:
                self._pass(name)
            self._grids: dict[tuple[str, int, int], tuple[int, int, int]] = {}
            scratch_bytes = layout.constant("kHistogramScratchBytes")
            sizes = layout.dtype("FilmHistogram").itemsize, scratch_bytes
            self._memory = [driver.mem_alloc(size) for size in sizes]
            self.histogram, self.scratch = map(int, self._memory)
            for memory, size in zip(self._memory, sizes, strict=True):
                driver.memset_d32_async(int(memory), 0, size // 4, self.stream)
            self.stream.synchronize()  # another stream may use it first
        weakref.finalize(self, _release, self._context, self._memory)

    def develop(
        self,
        film_address: int,
        samples: int,
        width: int,
        height: int,
        settings: ToneSettings,
        out_address: int,
        stream: Any = None,
        *,
        bits: int = 8,
        place: tuple[int, int] = (0, 0),
        statistics: bool = False,
        backdrop: Backdrop | None = None,
        picture_height: int = 0,
        neighbor_weight: float = 0.0,
    ) -> None:
        """Queue the picture of a film.

        Work on two streams must not overlap, because there is one histogram.

        Args:
            film_address: of the sums, float4 (height, width), row 0 on top, aligned to 16 bytes.
            samples: per pixel, in the sums.
            width, height: of the film in pixels.
            settings: exposure and tone curve.
            out_address: of the picture, uint8 or uint16 RGBA (height, width), row 0 on top,
                aligned to a pixel.
            stream: of the binding; None takes the backend's own.
            bits: 8 or 16 per channel.
            place: as for `tone_arguments`.
            statistics: measure the film also if the exposure is not automatic, and count clipped
                and black pixels, for `read_histogram`.
            backdrop, picture_height, neighbor_weight: as for `tone_arguments`; with
                `neighbor_weight` 8 bits alone.

        Raises:
            UserError: another number of bits, or dither with 16.
        """
        check_bits(bits, settings)
        assert bits == 8 or not neighbor_weight, "the kernel smooths pictures of 8 bits alone"
        shape = height, width
        args = tone_arguments(
            shape, samples, settings, bits, place, backdrop, picture_height, neighbor_weight
        )
        args["film"], args["out"], args["scratch"] = film_address, out_address, self.scratch
        with_histogram = statistics or settings.automatic
        args["histogram"] = self.histogram if with_histogram else 0
        if with_histogram:
            self.launch("film_histogram", args, stream)
        self.launch("tone", args, stream)

    def denoise_draft(self, film_address: int, planes: int, width: int, height: int) -> None:
        """Queue the filter of a draft's ambient light, which is added to the sums.

        Args:
            film_address: of the sums, as for `develop`.
            planes: address of what the draft kept of its surfaces.
            width, height: of the film in pixels.
        """
        import numpy as np

        args = np.zeros(1, layout.dtype("ToneArgs"))
        args["film"], args["out"], args["width"], args["height"] = (
            film_address,
            planes,
            width,
            height,
        )
        self.launch(DENOISE_DRAFT, args)

    def launch(self, entry: str, args: NDArray[np.void], stream: Any = None) -> None:
        """Queue one pass.

        Args:
            entry: name of the pass.
            args: structured (1,), ToneArgs, with addresses.
            stream: of the binding; None takes the backend's own.
        """
        width, height = int(args["width"][0]), int(args["height"][0])
        key = entry, width, height
        grid = self._grids.get(key)
        if grid is None:  # its arithmetic takes 0.1 ms, as long as the kernel
            axes = {"width": width, "height": height, "n": width * height}
            grid = self._pass(entry).kernel.launch(axes, self.multiprocessors).grid
            self._grids[key] = grid
        self._pass(entry).launch(grid, args, stream or self.stream)

    def _pass(self, name: str) -> Pass:
        """Return a pass, which is loaded when it is asked for first."""
        if name not in self._passes:
            driver = self._context.driver
            self._passes[name] = Pass(driver, self.arch, product(name), name, "ToneArgs")
        return self._passes[name]

    def read_histogram(self, stream: Any = None) -> NDArray[np.void]:
        """Return the histogram of the last film, structured (1,); waits for `stream`."""
        if stream is not None:
            stream.synchronize()
        histogram = empty_histogram()
        self._copies.to_host(self.histogram, histogram)
        return histogram


def _release(context: PrimaryContext, memory: list[Any]) -> None:
    with suppress(RaytracerError), context.active():
        while memory:
            memory.pop().free()


@cache
def tone_kernels(ordinal: int) -> ToneKernels:
    """Return the kernels of a device, which are loaded once."""
    return ToneKernels(ordinal)
