"""Colours and opacities of a set, from arguments to arrays."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError, counted, shown_value
from raytracer.scene.arrays import Where, as_array, extremes, first_not_finite, floats
from raytracer.scene.colors import DEFAULT_COLOR, color_numbers, out_of_range, parse_rgba

Opacity = float | NDArray[np.float32] | None


class SetColors(NamedTuple):
    """Colours of a set: (1, 3), (N, 3), or a palette (K, 3) for ids, int32 (N,); uint8 in 0..255 or
    floating point in 0..1; and the opacity of the alpha channel, one or float32 (N,), or None."""

    rows: NDArray[Any]
    ids: NDArray[np.int32] | None = None
    opacity: Opacity = None


def colors_of(color: Any, color_id: Any, color_space: str, count: int, where: Where) -> SetColors:
    """Return the colours of a set; arguments as for `SphereSet`."""
    if color is None and color_id is None:
        return SetColors(np.array([DEFAULT_COLOR], np.float32))
    if not isinstance(color, (str, list, tuple)):
        color = as_array(color, "color", where)
        if color.dtype.kind in "UO":  # names, or mixed rows
            color = color.tolist()
    if color_id is not None:
        rows = _rows(color, color_space, where)
        ids = _ids(color_id, count, len(rows), where)
    elif isinstance(color, str):
        rows, ids = np.array([_rgba(color, color_space, where)]), None
    elif isinstance(color, list | tuple) and any(isinstance(item, str) for item in color):
        keys = [each if isinstance(each, str) else row for row, each in enumerate(color)]
        row_of = {key: row for row, key in enumerate(keys)}  # names may repeat
        rows = np.array([_rgba(color[row], color_space, where, row) for row in row_of.values()])
        place = dict(zip(row_of, range(len(row_of)), strict=True))
        ids = np.array([place[key] for key in keys], np.int32)
        _check_count(len(ids), count, where)
    else:
        rows, ids = _rows(color, color_space, where), None
        if np.ndim(color) != 1 or not len(rows):
            _check_count(len(rows), count, where)
    opacity: Opacity = None
    top = 255.0 if rows.dtype == np.uint8 else 1.0
    if rows.shape[1] == 4 and (rows[:, 3] < top).any():
        alpha = (rows[:, 3] / top).astype(np.float32)
        opacity = float(alpha[0]) if len(rows) == 1 else alpha if ids is None else alpha[ids]
    return SetColors(rows[:, :3], ids, opacity)


def opacities_of(value: Any, count: int, where: Where) -> float | NDArray[np.float32]:
    """Return opacities from 0 to 1 as one number, or as float32 (N,)."""
    array = floats(value, "opacity", where)
    if array.ndim > 1 or (array.ndim == 1 and len(array) != count):
        raise where.wrong("opacity", f"has shape {array.shape} for {counted(count, where.noun)}")
    good = (array >= 0.0) & (array <= 1.0)
    if not good.all():
        row = int(np.argmin(good.ravel()))
        raise where.wrong(
            "opacity", f"of {where.noun} {row} is {array.ravel()[row]:g}; it must be from 0 to 1"
        )
    return float(array) if array.ndim == 0 else np.ascontiguousarray(array, np.float32)


def _check_count(colors: int, count: int, where: Where) -> None:
    if colors != count:
        raise where.wrong("color", f"has {colors} colours for {count} {where.noun}s")


def _rgba(color: Any, color_space: str, where: Where, row: int | None = None) -> tuple[float, ...]:
    """Return the numbers of one colour, which may be that of a row of a list."""
    if isinstance(color, str) and color_space == "linear":
        raise where.wrong("color", f"{shown_value(color)} is sRGB, but color_space is linear")
    try:
        return parse_rgba(color)
    except SceneError as error:
        place = "" if row is None else f"colour {row} is none: "
        raise where.wrong("color", f"{place}{error}") from None


def _rows(color: Any, color_space: str, where: Where) -> NDArray[Any]:
    """Return colours (K, 3) or with alpha (K, 4), as uint8 or floating point in range."""
    array = color if isinstance(color, np.ndarray) else floats(color, "color", where)
    if array.ndim == 1 and array.size:
        array = array[None]
    if array.size == 0:
        array = array.reshape(0, 3)
    if array.ndim != 2 or array.shape[1] not in (3, 4):
        raise where.wrong("color", f"has shape {np.shape(color)}; colours are (3,) or (N, 3)")
    if array.dtype.kind in "iu":  # from an array: lists are floats by now
        return color_numbers(array, partial(where.wrong, "color"))
    array = floats(array, "color", where)
    bad = first_not_finite(array)
    if bad is not None:
        raise where.wrong("color", f"colour {bad} is not finite")
    top = 1.0 if color_space == "srgb" else np.inf
    least, most = extremes(array)
    if least < 0.0 or most > top:
        first = int(np.argmax(((array < 0.0) | (array > top)).any(axis=1)))
        numbers = array[first].tolist()
        raise where.wrong(
            "color",
            f"colour {first} is ({', '.join(f'{v:g}' for v in numbers)}); {out_of_range(numbers)}, "
            "or in arrays of uint8 from 0 to 255",
        )
    return array


def _ids(value: Any, count: int, colors: int, where: Where) -> NDArray[np.int32]:
    ids = as_array(value, "color_id", where)
    if ids.dtype.kind not in "iu" and ids.size:
        raise where.wrong("color_id", f"holds {ids.dtype} values, not integers")
    if ids.shape != (count,):
        raise where.wrong("color_id", f"has shape {ids.shape} for {count} {where.noun}s")
    if count and (int(ids.min()) < 0 or int(ids.max()) >= colors):
        raise where.wrong("color_id", f"has an index outside the palette of {colors} colours")
    return np.ascontiguousarray(ids, np.int32)
