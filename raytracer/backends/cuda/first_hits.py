"""First hits on the device, for the film's arbitrary output variables."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.launch import blocks
from raytracer.backends.cuda.passes import Pass
from raytracer.backends.cuda.transfer import staging
from raytracer.variants import product

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

NAME = "first_hits"


class FirstHits:
    """The kernel on one device; its methods need the context active."""

    def __init__(self, ordinal: int) -> None:
        """Load it, compiling it if need be."""
        self._context = primary_context(ordinal)
        self._copies = staging(ordinal)
        arch = compiler.architecture(self._context.device.compute_capability())
        with self._context.active() as driver:
            self._pass = Pass(driver, arch, product(NAME), NAME, "RenderArgs")

    def find(
        self,
        arguments: NDArray[np.void],
        camera: NDArray[np.void],
        large: NDArray[np.void],
        frame: NDArray[np.void],
    ) -> NDArray[np.void]:
        """First hits of a frame's pixels, structured (h, w), FirstHit.

        arguments: structured (1,), RenderArgs, of the scene, with the tiles of the frame.
        camera, large: structured (1,), Camera, and (G,), LargeSphere.
        frame: with the filter "point".
        """
        import numpy as np

        crop = frame[0]
        shape = int(crop["y1"] - crop["y0"]), int(crop["x1"] - crop["x0"])
        found = np.empty(shape, layout.dtype("FirstHit"))
        driver = self._context.driver
        for symbol, table in (("c_camera", camera), ("c_large", large), ("c_frame", frame)):
            if not len(table):
                continue
            address, _ = self._pass.module.get_global(symbol)
            driver.memcpy_htod_async(address, table.tobytes(), self._copies.stream)
        memory = driver.mem_alloc(found.nbytes)
        try:
            arguments = arguments.copy()
            arguments["film"] = int(memory)
            grid = blocks(int(arguments["tile_end"][0]), self._pass.kernel.threads), 1
            self._pass.launch(grid, arguments, self._copies.stream)
            self._copies.to_host(int(memory), found)
        finally:
            memory.free()
        return found


@cache
def first_hits(ordinal: int) -> FirstHits:
    """The kernel of a device, loaded once."""
    return FirstHits(ordinal)
