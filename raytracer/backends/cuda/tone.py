"""Tone mapping on a GPU: the histogram of a film in device memory, and its picture."""

from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.driver import get_primary_context
from raytracer.backends.cuda.kernel import load_pass
from raytracer.backends.cuda.memory import DeviceMemory
from raytracer.backends.cuda.transfer import get_staging
from raytracer.backends.kernel_sources import read_production_kernel
from raytracer.config.tone_settings import ToneSettings
from raytracer.film.film import Film, check_bits, empty_histogram, tone_arguments
from raytracer.system import layout

PASSES = ("film_histogram", "tone")
"""The passes of every picture, by the names of their kernels: histogram and picture."""

DENOISE_DRAFT = "denoise_draft"
"""The pass of drafts with ambient occlusion, loaded with the first of them."""


@cache
def compile_passes(ordinal: int) -> None:
    """Begin to compile the passes of every picture, once in a process, beside the first kernel. An
    error is raised again where a pass is loaded."""
    arch = get_primary_context(ordinal).arch
    compiler.describe_compiler()  # asked for once, not by every thread
    pool = ThreadPoolExecutor(len(PASSES))
    for name in PASSES:
        pool.submit(compiler.load_cubin, read_production_kernel(name).translation_unit, arch)
    pool.shutdown(wait=False)


class ToneKernels:
    """The passes of tone mapping on one device, whose context is active in the methods. A picture
    takes two launches with automatic exposure or statistics, and one without."""

    def __init__(self, ordinal: int) -> None:
        """Load the kernels, compile them if necessary, and allocate their memory."""
        self._context = get_primary_context(ordinal)
        self.stream = get_staging(ordinal).stream
        self._ordinal = ordinal
        self._memory = DeviceMemory(self._context)
        with self._context.activate() as driver:
            for name in PASSES:
                load_pass(ordinal, name, "ToneArgs")
            scratch_bytes = layout.kernel_constant("kHistogramScratchBytes")
            sizes = {
                "histogram": layout.struct_dtype("FilmHistogram").itemsize,
                "scratch": scratch_bytes,
            }
            for name, size in sizes.items():
                address = self._memory.allocate(name, size)
                driver.memset_d32_async(address, 0, size // 4, self.stream)
            self.stream.synchronize()  # another stream may use it first
        self.histogram, self.scratch = map(self._memory.address, sizes)

    def develop(
        self, film: Film, film_address: int, settings: ToneSettings, out_address: int, *,
        bits: int = 8, statistics: bool = False, neighbor_weight: float = 0.0,
    ) -> None:  # fmt: skip
        """Queue the picture of a film.

        film_address: of its sums, float4 (height, width), aligned to 16 bytes. out_address: of the
        picture, uint8 or uint16 RGBA, aligned to a pixel. statistics: measure the film also if the
        exposure is not automatic, and count clipped and black pixels.
        """
        check_bits(bits, settings)
        assert bits == 8 or not neighbor_weight, "the kernel smooths pictures of 8 bits alone"
        args = tone_arguments(film, settings, bits, neighbor_weight)
        args["film"], args["out"], args["scratch"] = film_address, out_address, self.scratch
        with_histogram = statistics or settings.automatic
        args["histogram"] = self.histogram if with_histogram else 0
        if with_histogram:
            self.launch("film_histogram", args)
        self.launch("tone", args)

    def denoise_draft(self, film_address: int, planes: int, width: int, height: int) -> None:
        """Queue the kernel that filters a draft's ambient light and adds it to the film's sums."""
        args = np.zeros(1, layout.struct_dtype("ToneArgs"))
        args["film"], args["out"] = film_address, planes
        args["width"], args["height"] = width, height
        self.launch(DENOISE_DRAFT, args)

    def launch(self, entry: str, args: NDArray[np.void]) -> None:
        """Queue one pass; args: structured (1,), ToneArgs, with addresses."""
        width, height = int(args["width"][0]), int(args["height"][0])
        kernel = load_pass(self._ordinal, entry, "ToneArgs")
        grid = kernel.grid(width=width, height=height, n=width * height)
        kernel.launch(grid, args, self.stream)

    def read_histogram(self) -> NDArray[np.void]:
        """Return the histogram of the last film, structured (1,)."""
        histogram = empty_histogram()
        get_staging(self._ordinal).to_host(self.histogram, histogram)
        return histogram


tone_kernels = cache(ToneKernels)  # returns the kernels of a device, which are loaded once
