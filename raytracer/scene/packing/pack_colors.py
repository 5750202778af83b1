"""Colours of all sphere sets as one linear array, in the smallest of three forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from raytracer.scene.arrays import blocks
from raytracer.scene.colors import linear_rgb
from raytracer.scene.spheres import DEFAULT_COLOR, SphereSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

UNIFORM, PER_SPHERE, INDEXED = "uniform", "per-sphere", "indexed"
"""Words of the kernels' `ColorMode`."""

_Packed = tuple["NDArray[np.float32]", "NDArray[np.int32]", str]


def pack_colors(sets: Sequence[SphereSet]) -> _Packed:
    """Return linear colours, indices into them and the colour mode.

    Args:
        sets: sphere sets, none of them empty.

    Returns:
        float32 (K, 3) linear, int32 (N,) or (0,), word of `ColorMode`.
    """
    import numpy as np

    if not sets:
        return linear_rgb(np.array([DEFAULT_COLOR])), np.zeros(0, np.int32), UNIFORM
    mode, count, colors = _form(sets)
    if mode == UNIFORM:
        color = linear_rgb(sets[0].color[:1], sets[0].color_space)
        return color, np.zeros(0, np.int32), UNIFORM
    if mode == PER_SPHERE:
        return _per_sphere(sets, count), np.zeros(0, np.int32), PER_SPHERE
    return _indexed(sets, count, colors)


def color_bytes(sets: Sequence[SphereSet]) -> int:
    """Return the bytes of colours and indices that `pack_colors` makes."""
    mode, count, colors = _form(sets)
    return {UNIFORM: 12, PER_SPHERE: 12 * count, INDEXED: 12 * colors + 4 * count}[mode]


def _form(sets: Sequence[SphereSet]) -> tuple[str, int, int]:
    """Return the colour mode, the number of spheres and that of colours in a palette."""
    keys = [_uniform_key(s) for s in sets]
    count = sum(s.count for s in sets)
    colors = sum(len(s.color) if key is None else 1 for key, s in zip(keys, sets, strict=True))
    if len(set(keys)) < 2 and None not in keys:
        return UNIFORM, count, 1
    # Compared in words: three for a colour, one for an index.
    return PER_SPHERE if 3 * count <= 3 * colors + count else INDEXED, count, colors


def _uniform_key(spheres: SphereSet) -> tuple[bytes, str, str] | None:
    """Return what tells the colour of a set of one colour from another's, or None."""
    if len(spheres.color) != 1:
        return None
    return spheres.color.tobytes(), spheres.color.dtype.str, spheres.color_space


def _per_sphere(sets: Sequence[SphereSet], count: int) -> NDArray[np.float32]:
    """Return a colour for every sphere."""
    import numpy as np

    result = np.empty((count, 3), np.float32)
    start = 0
    for spheres in sets:
        rows = result[start : start + spheres.count]
        if spheres.color_id is None and len(spheres.color) == spheres.count:
            linear_rgb(spheres.color, spheres.color_space, out=rows)
        else:
            colors = linear_rgb(spheres.color, spheres.color_space)
            if spheres.color_id is None:
                rows[:] = colors[0]
            else:
                for part in blocks(len(rows)):
                    rows[part] = colors[spheres.color_id[part]]
        start += spheres.count
    return result


def _indexed(sets: Sequence[SphereSet], count: int, colors: int) -> _Packed:
    """Return the colours of all sets one after another, and each sphere's index into them."""
    import numpy as np

    palette = np.empty((colors, 3), np.float32)
    ids = np.empty(count, np.int32)
    start = used = 0
    for spheres in sets:
        size = len(spheres.color)
        linear_rgb(spheres.color, spheres.color_space, out=palette[used : used + size])
        rows = ids[start : start + spheres.count]
        if size == 1:
            rows[:] = used
        elif spheres.color_id is not None:
            np.add(spheres.color_id, used, out=rows)
        else:
            for part in blocks(size):
                rows[part] = np.arange(used + part.start, used + part.stop, dtype=np.int32)
        start += spheres.count
        used += size
    return palette, ids, INDEXED
