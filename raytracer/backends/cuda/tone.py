"""Films in device memory become pictures there; nothing but the picture and a Tally leaves it."""

from __future__ import annotations

import weakref
from contextlib import suppress
from functools import cache
from typing import TYPE_CHECKING, Any

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.context import PrimaryContext, primary_context
from raytracer.backends.cuda.passes import Pass
from raytracer.backends.cuda.transfer import staging
from raytracer.errors import RaytracerError
from raytracer.film import tone
from raytracer.variants import product

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.film.film import Backdrop
    from raytracer.film.tone_settings import ToneSettings

ENTRIES = ("film_statistics", "tone")  # names of the kernels


class ToneKernels:
    """Both passes on one device; their methods need its context active.

    Two launches for an automatic exposure with statistics, one without either.
    """

    def __init__(self, ordinal: int) -> None:
        """Load the kernels, compiling them if need be, and take their memory."""
        self._context = primary_context(ordinal)
        self.stream = staging(ordinal).stream
        self._copies = staging(ordinal)
        device = self._context.device
        self.arch = compiler.architecture(device.compute_capability())
        names = self._context.driver.device_attribute
        self.multiprocessors = int(device.get_attribute(names.MULTIPROCESSOR_COUNT))
        with self._context.active() as driver:
            self.passes = {
                name: Pass(driver, self.arch, product(name), name, "ToneArgs") for name in ENTRIES
            }
            self._grids: dict[tuple[str, int, int], tuple[int, int, int]] = {}
            scratch_bytes = layout.constant("kStatisticsScratchBytes")
            sizes = layout.dtype("FilmStatistics").itemsize, scratch_bytes
            self._memory = [driver.mem_alloc(size) for size in sizes]
            self.tally, self.scratch = map(int, self._memory)
            for memory, size in zip(self._memory, sizes, strict=True):
                driver.memset_d32_async(int(memory), 0, size // 4, self.stream)
            self.stream.synchronize()  # other streams may be the first to use it
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
    ) -> None:
        """Queue the picture of a film.

        film_address: float4 sums, row 0 on top, aligned to 16 bytes. samples: that they hold.
        out_address: of uint8 or uint16 RGBA, aligned to a pixel; row 0 on top.
        stream: of PyCUDA; the backend's own by default.
        place, backdrop, picture_height: as for `tone.arguments`.
        statistics: measure even if the exposure is given, and count in the picture; `read_tally`
            then tells. Work on two streams must not overlap: there is one tally.
        """
        tone.check_bits(bits, settings)
        shape = height, width
        args = tone.arguments(shape, samples, settings, bits, place, backdrop, picture_height)
        args["film"], args["out"], args["scratch"] = film_address, out_address, self.scratch
        measured = statistics or settings.automatic
        args["statistics"] = self.tally if measured else 0
        if measured:
            self.launch("film_statistics", args, stream)
        self.launch("tone", args, stream)

    def launch(self, entry: str, args: NDArray[np.void], stream: Any = None) -> None:
        """Queue one pass. args: structured (1,), ToneArgs, with addresses."""
        width, height = int(args["width"][0]), int(args["height"][0])
        key = entry, width, height
        grid = self._grids.get(key)
        if grid is None:  # 0.1 ms of arithmetic on the host, as long as the kernel takes
            axes = {"width": width, "height": height, "n": width * height}
            grid = self.passes[entry].kernel.launch(axes, self.multiprocessors).grid
            self._grids[key] = grid
        self.passes[entry].launch(grid, args, stream or self.stream)

    def read_tally(self, stream: Any = None) -> NDArray[np.void]:
        """The tally of the last film, structured (1,); waits for `stream`."""
        if stream is not None:
            stream.synchronize()
        found = tone.new_tally()
        self._copies.to_host(self.tally, found)
        return found


def _release(context: PrimaryContext, memory: list[Any]) -> None:
    with suppress(RaytracerError), context.active():
        while memory:
            memory.pop().free()


@cache
def tone_kernels(ordinal: int) -> ToneKernels:
    """The kernels of a device, loaded once."""
    return ToneKernels(ordinal)
