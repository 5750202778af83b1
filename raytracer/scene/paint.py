"""Colours of all sphere sets as one linear array, in the smallest of three forms."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .colors import linear_rgb
from .spheres import DEFAULT_COLOR, SphereSet

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ONE_COLOR, COLOR_PER_SPHERE, INDEXED_COLOR = range(3)
"""`Frame.color_mode`."""

_Packed = tuple["NDArray[np.float32]", "NDArray[np.int32]", int]


def pack_colors(sets: Sequence[SphereSet]) -> _Packed:
    """Return linear colours, indices into them and the colour mode.

    Args:
        sets: sphere sets, none of them empty.

    Returns:
        float32 (K, 3) linear, int32 (N,) or (0,), `Frame.color_mode`.
    """
    import numpy as np

    if not sets:
        return linear_rgb(np.array([DEFAULT_COLOR])), np.zeros(0, np.int32), ONE_COLOR
    uniform = {key for s in sets if (key := _uniform_key(s)) is not None}
    if len(uniform) == 1 and all(_uniform_key(s) is not None for s in sets):
        color = linear_rgb(sets[0].color[:1], sets[0].color_space)
        return color, np.zeros(0, np.int32), ONE_COLOR
    count = sum(s.count for s in sets)
    colors = sum(1 if _uniform_key(s) is not None else len(s.color) for s in sets)
    # Compared in words: three a colour, one an index.
    if 3 * count <= 3 * colors + count:
        return _per_sphere(sets, count), np.zeros(0, np.int32), COLOR_PER_SPHERE
    return _indexed(sets, count, colors)


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
            rows[:] = colors[0 if spheres.color_id is None else spheres.color_id]
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
            rows[:] = np.arange(used, used + size, dtype=np.int32)
        start += spheres.count
        used += size
    return palette, ids, INDEXED_COLOR
