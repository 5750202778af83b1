"""Arbitrary output variables (AOVs): their names, channels and values."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from raytracer.config.errors import UserError, quote_value, suggest
from raytracer.model.settings import UNLIMITED
from raytracer.system.layout import struct_dtype
from raytracer.system.memory import HITS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.film.film import Film
    from raytracer.model.render_space import Space
    from raytracer.packing.view import View

AOVS = {
    "depth": "Z",
    "normal": "XYZ",
    "albedo": "RGB",
    "id": "I",
    "position": "XYZ",
    "samples": "I",
    "denoising_albedo": "RGB",
    "denoising_normal": "XYZ",
}
"""Output variables and the names of their channels in OpenEXR."""

INTEGERS = ("id", "samples")  # output variables of type uint32; the others are float32

GUIDES = {"denoising_albedo": "albedo", "denoising_normal": "normal"}
"""Guides of the denoiser, and the output variables whose means they are."""

GUIDE_RAYS = 2  # rays of a guide along each side of a pixel, so that edges are smooth


def count_channels(names: Iterable[str]) -> int:
    return sum(len(AOVS[name]) for name in names)


def check_aovs(names: str | None) -> tuple[str, ...]:
    """Return the names in a comma-separated list, without repeats. Raises UserError: there is no
    output variable of that name."""
    listed = [name.strip().replace("-", "_") for name in (names or "").split(",") if name.strip()]
    for name in listed:
        if name not in AOVS:
            raise UserError(
                f"there is no output variable {quote_value(name)}; {suggest(name, AOVS)}"
            )
    return tuple(dict.fromkeys(listed))


def trace_aovs(
    film: Film, sources: Mapping[str, str], first_hits: Callable[[View], NDArray[np.void]],
    view: View, space: Space, fine: int = 1,
) -> dict[str, NDArray[Any]]:  # fmt: skip
    """Return output variables of the pixels of a film by name; sources: those they are made of.

    They are made in strips: hits take four times their memory. Guides of a denoiser are means over
    the pixels of a picture that is `fine` times as large.
    """
    import numpy as np

    aovs: dict[str, NDArray[Any]] = {}
    x0, y0, x1, y1 = (end * fine for end in film.crop)
    view = view if fine == 1 else view.with_size(film.width * fine, film.height * fine)
    rows = max(HITS // (struct_dtype("FirstHit").itemsize * (x1 - x0) * fine), 1) * fine
    for y in range(y0, y1 if sources else y0, rows):
        hits = first_hits(view.with_crop((x0, y, x1, min(y + rows, y1))))
        for name, source in sources.items():
            strip = compute_aov(source, hits, space)
            if fine > 1:
                squares = strip.reshape(len(strip) // fine, fine, -1, fine, strip.shape[2])
                strip = squares.mean(axis=(1, 3), dtype=np.float32)
            if name not in aovs:
                aovs[name] = np.empty(((y1 - y0) // fine, *strip.shape[1:]), strip.dtype)
            aovs[name][(y - y0) // fine : (y - y0 + rows) // fine] = strip
    return aovs


def compute_aov(name: str, hits: NDArray[np.void], space: Space) -> NDArray[Any]:
    """Return an output variable, (h, w) or (h, w, 3), of first hits, (h, w) `FirstHit`, in scene
    space. Without a hit it is 0, but depth infinity and id 2**32 - 1."""
    import numpy as np

    values: NDArray[Any] = np.ascontiguousarray(hits[name])
    no_hit = hits["depth"] >= UNLIMITED  # the ground has no id, but a depth
    if name == "depth":
        values[no_hit] = 0.0
        values = (values.astype(np.float64) * space.scale).astype(np.float32)
        values[no_hit] = np.inf
    elif name == "position":
        values = (values.astype(np.float64) * space.scale + space.center).astype(np.float32)
        values[no_hit] = 0.0
    return values
