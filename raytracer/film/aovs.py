"""Arbitrary output variables (AOVs): their names, channels and values."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError, shown_value, suggestion
from raytracer.settings import UNLIMITED

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.packing.render_space import Space

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


def channels(names: Iterable[str]) -> int:
    return sum(len(AOVS[name]) for name in names)


def check_aovs(names: str | None) -> tuple[str, ...]:
    """Return the names in a comma-separated list, without repeats. Raises UserError: there is no
    output variable of that name."""
    listed = [name.strip().replace("-", "_") for name in (names or "").split(",") if name.strip()]
    for name in listed:
        if name not in AOVS:
            raise UserError(
                f"there is no output variable {shown_value(name)}; {suggestion(name, AOVS)}"
            )
    return tuple(dict.fromkeys(listed))


def means(values: NDArray[np.float32], side: int) -> NDArray[np.float32]:
    """Return the means over squares of `side` x `side` pixels, (h, w, channels)."""
    import numpy as np

    height, width, channels = values.shape
    squares = values.reshape(height // side, side, width // side, side, channels)
    return np.asarray(squares.mean(axis=(1, 3), dtype=np.float32))


def from_hits(name: str, hits: NDArray[np.void], space: Space) -> NDArray[Any]:
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
