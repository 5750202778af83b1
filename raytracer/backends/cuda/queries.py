"""Questions to a scene on the device that are no pictures: first hits, and exposures of spheres."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from raytracer.backends.cuda import compile as compiler
from raytracer.backends.cuda.context import primary_context
from raytracer.backends.cuda.kernel import IMAGES
from raytracer.backends.cuda.launch import blocks
from raytracer.backends.cuda.passes import Pass
from raytracer.backends.cuda.transfer import staging
from raytracer.variants.discovery import product
from raytracer.view import View


class Query:
    """A kernel on one device; its methods need the context active."""

    def __init__(
        self, ordinal: int, entry: str, has_capsules: bool, has_images: bool = False
    ) -> None:
        """Load the kernel of that entry, `first_hits` or `exposure`."""
        self._context = primary_context(ordinal)
        self._copies = staging(ordinal)
        kernel = product(f"{entry}_capsules" if has_capsules else entry)
        code = None
        if has_images:
            code = compiler.load(kernel.translation_unit, self._context.arch, macros=IMAGES)
        with self._context.active():
            self._pass = Pass(ordinal, kernel, entry, "RenderArgs", code)

    def ask(
        self,
        arguments: NDArray[np.void],
        large: NDArray[np.void],
        view: View,
        warps: int,
        answers: NDArray[np.void],
    ) -> NDArray[np.void]:
        """Fill an array with the answers, one struct each, and return it."""
        driver = self._context.driver
        tables = (("c_camera", view.camera), ("c_large", large), ("c_frame", view.frame))
        for symbol, table in tables:
            if len(table):
                address, _ = self._pass.module.get_global(symbol)
                driver.memcpy_htod_async(address, table.tobytes(), self._copies.stream)
        memory = driver.mem_alloc(answers.nbytes)
        try:
            arguments = arguments.copy()
            arguments["film"] = int(memory)
            grid = blocks(warps, self._pass.kernel.threads), 1, 1
            self._pass.launch(grid, arguments, self._copies.stream)
            self._copies.to_host(int(memory), answers)
        finally:
            memory.free()
        return answers


query = cache(Query)  # returns the kernel of a device, loaded once; arguments as of `Query`
