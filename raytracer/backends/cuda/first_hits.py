"""First hits on the device, for the film's arbitrary output variables."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from raytracer import layout
from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.launch import blocks
from raytracer.backends.cuda.passes import Pass
from raytracer.backends.cuda.transfer import staging
from raytracer.variants import product
from raytracer.view import View

ENTRY = "first_hits"
NAMES = {False: "first_hits", True: "first_hits_capsules"}
"""Of the kernels, by whether there are capsules."""


class FirstHits:
    """The kernel on one device; its methods need the context active."""

    def __init__(self, ordinal: int, has_capsules: bool) -> None:
        self._context = primary_context(ordinal)
        self._copies = staging(ordinal)
        arch = compiler.architecture(self._context.device.compute_capability())
        with self._context.active() as driver:
            self._pass = Pass(driver, arch, product(NAMES[has_capsules]), ENTRY, "RenderArgs")

    def find(
        self, arguments: NDArray[np.void], large: NDArray[np.void], view: View
    ) -> NDArray[np.void]:
        """Return the first hits of a view's pixels, structured (h, w), FirstHit.

        arguments: structured (1,), RenderArgs, of the scene, with the tiles of the view.
        large: structured (G,), LargeSphere. view: with the filter "point".
        """
        x0, y0, x1, y1 = view.crop
        hits = np.empty((y1 - y0, x1 - x0), layout.dtype("FirstHit"))
        driver = self._context.driver
        tables = (("c_camera", view.camera), ("c_large", large), ("c_frame", view.frame))
        for symbol, table in tables:
            if len(table):
                address, _ = self._pass.module.get_global(symbol)
                driver.memcpy_htod_async(address, table.tobytes(), self._copies.stream)
        memory = driver.mem_alloc(hits.nbytes)
        try:
            arguments = arguments.copy()
            arguments["film"] = int(memory)
            grid = blocks(int(arguments["tile_end"][0]), self._pass.kernel.threads), 1, 1
            self._pass.launch(grid, arguments, self._copies.stream)
            self._copies.to_host(int(memory), hits)
        finally:
            memory.free()
        return hits


first_hits = cache(FirstHits)
"""Returns the kernel of a device, loaded once; arguments as of `FirstHits`."""
