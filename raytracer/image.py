"""The picture that a render gives: linear array, PNG, metadata."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from raytracer import output, png, tone
from raytracer._version import __version__
from raytracer.errors import UserError

if TYPE_CHECKING:
    from pathlib import Path

    from raytracer.film import Film


@dataclass
class Image:
    """A rendered picture.

    film: sums of linear radiance; hand it to `render(..., film=)` to add samples.
    transparent: whether the alpha channel is kept in the PNG.
    timings: seconds of each stage.
    metadata: what made it; saved in the PNG.
    threads: for encoding; 0 takes every core that the process may use.
    """

    film: Film
    transparent: bool = False
    timings: dict[str, float] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    threads: int = 0

    @cached_property
    def array(self) -> NDArray[np.float32]:
        """The linear picture, float32 (h, w, 4): RGB premultiplied by coverage, and coverage."""
        return self.film.mean()

    def to_uint8(self) -> NDArray[np.uint8]:
        """The picture as uint8 sRGB: (h, w, 3), or (h, w, 4) if the background is transparent."""
        return self._pixels(8).astype(np.uint8, copy=False)

    def to_uint16(self) -> NDArray[np.uint16]:
        """The same with 16 bits a channel."""
        return self._pixels(16).astype(np.uint16, copy=False)

    def save(self, path: str | Path, bits: int = 8) -> Path:
        """Write a PNG of 8 or 16 bits a channel under a temporary name, then rename it.

        Returns the path. Raises OutputError if the file cannot be written.
        """
        if bits not in (8, 16):
            raise UserError(f"a PNG has 8 or 16 bits a channel, not {bits}: use bits=8 or bits=16")
        target = output.check_picture(path)
        start = time.perf_counter()
        pixels = self._pixels(bits)
        self.timings["tone"] = time.perf_counter() - start
        start = time.perf_counter()
        output.write(target, self._encode(pixels))
        self.timings["write"] = time.perf_counter() - start
        return target

    def _pixels(self, bits: int) -> tone.Pixels:
        pixels = tone.encode(self.film, bits, self.threads)
        return pixels if self.transparent else pixels[..., :3]

    def _encode(self, pixels: tone.Pixels) -> bytes:
        """The bytes of a PNG file."""
        # The file cannot hold how long it took to write itself.
        stages = {k: v for k, v in self.timings.items() if k not in ("write", "total")}
        known = stages | {"total_before_write": sum(stages.values())}
        text = {
            "Software": f"raytracer {__version__}",
            png.KEY: json.dumps(self.metadata | {"timings": known}),
        }
        return png.encode(pixels, text, self.threads)

    def _repr_png_(self) -> bytes:
        """What Jupyter shows."""
        return self._encode(self._pixels(8))
