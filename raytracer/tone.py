"""From the linear film to sRGB integers."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import UserError
from raytracer.resources import thread_count

if TYPE_CHECKING:
    from raytracer.film import Film

Pixels = NDArray[np.uint8] | NDArray[np.uint16]


def encode(film: Film, bits: int = 8, threads: int = 0) -> Pixels:
    """Encode a film by the curve of IEC 61966-2-1.

    film: sums and their number of samples.
    bits: 8 or 16.
    Returns uint8 or uint16 (h, w, 4), sRGB with straight (not premultiplied) alpha.
    """
    from raytracer import _core

    if bits not in (8, 16):
        raise UserError(f"a PNG has 8 or 16 bits a channel, not {bits}: use bits=8 or bits=16")
    out = np.empty(film.sums.shape, np.uint8 if bits == 8 else np.uint16)
    _core.encode_srgb(film.sums, max(film.samples, 1), out, thread_count(threads))
    return out
