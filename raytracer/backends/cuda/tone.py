"""Films in device memory become pictures there; nothing but the picture and a Tally leaves it."""

from __future__ import annotations

import weakref
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer import layout, tone
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.check import check_layout
from raytracer.backends.cuda.context import PrimaryContext, primary_context
from raytracer.backends.cuda.transfer import staging
from raytracer.errors import BackendError, RaytracerError
from raytracer.variants import Variant, discover

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.tone import ToneSettings

SCRATCH_BYTES = 1 << 17  # kernels/tone/tally.h holds its scratch against this
MOST_BLOCKS = 4096  # the same: parts of that many blocks
ENTRIES = ("tally", "tone")  # the histogram pass, the picture pass


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
            loaded = {entry: self._load(driver, entry) for entry in ENTRIES}
            self.variants = {entry: variant for entry, (variant, _, _) in loaded.items()}
            self._functions = {entry: function for entry, (_, _, function) in loaded.items()}
            self._modules = [module for _, module, _ in loaded.values()]
            self._memory = [
                driver.mem_alloc(layout.dtype("Tally").itemsize),
                driver.mem_alloc(SCRATCH_BYTES),
            ]
            self.tally, self._scratch = map(int, self._memory)
            driver.memset_d32_async(self._scratch, 0, SCRATCH_BYTES // 4, self.stream)
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
    ) -> None:
        """Queue the picture of a film.

        film_address: float4 sums, row 0 on top, aligned to 16 bytes. samples: that they hold.
        out_address: of uint8 or uint16 RGBA, aligned to a pixel; row 0 on top.
        stream: of PyCUDA; the backend's own by default. place: as for `tone.arguments`.
        statistics: measure even if the exposure is given, and count in the picture; `read_tally`
            then tells. Work on two streams must not overlap: there is one tally.
        """
        tone.check_bits(bits, settings)
        args = tone.arguments((height, width), samples, settings, bits, place)
        args["film"], args["out"], args["scratch"] = film_address, out_address, self._scratch
        measured = statistics or settings.automatic
        args["tally"] = self.tally if measured else 0
        if measured:
            self.launch("tally", args, stream)
        self.launch("tone", args, stream)

    def launch(self, entry: str, args: NDArray[np.void], stream: Any = None) -> None:
        """Queue one pass. args: structured (1,), ToneArgs, with addresses."""
        variant = self.variants[entry]
        width, height = int(args["width"][0]), int(args["height"][0])
        axes = {"width": width, "height": height, "n": width * height}
        grid = variant.launch(axes, self.multiprocessors).grid
        self._functions[entry].prepared_async_call(
            grid, variant.block, stream or self.stream, args.tobytes()
        )

    def read_tally(self, stream: Any = None) -> NDArray[np.void]:
        """The tally of the last film, structured (1,); waits for `stream`."""
        if stream is not None:
            stream.synchronize()
        found = tone.new_tally()
        self._copies.to_host(self.tally, found)
        return found

    def _load(self, driver: Any, entry: str) -> tuple[Variant, Any, Any]:
        variant = _variant(entry, self.arch)
        cubin = compiler.load(Path(str(variant.path)), self.arch)
        module = driver.module_from_buffer(cubin.code)
        check_layout(
            _layout_table(driver, module), layout.table(), f"kernels/{entry}/{variant.label}.cu"
        )
        function = module.get_function(entry)
        function.prepare([f"{layout.dtype('ToneArgs').itemsize}s"])
        return variant, module, function


def _variant(entry: str, arch: str) -> Variant:
    """The last variant that the architecture admits."""
    able = [variant for variant in discover(entry) if variant.admits(arch)]
    if not able:
        raise BackendError(f"no {entry} kernel supports {arch}")
    return able[-1]


def _layout_table(driver: Any, module: Any) -> list[int]:
    import numpy as np

    address, size = module.get_global("layout_table")
    found = np.empty(size // 4, np.int32)
    driver.memcpy_dtoh(found, address)
    return [int(number) for number in found]


def _release(context: PrimaryContext, memory: list[Any]) -> None:
    with suppress(RaytracerError), context.active():
        while memory:
            memory.pop().free()


@cache
def tone_kernels(ordinal: int) -> ToneKernels:
    """The kernels of a device, loaded once."""
    return ToneKernels(ordinal)
