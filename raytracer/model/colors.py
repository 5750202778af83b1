"""Parsing of colours, and conversion to linear light."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from raytracer.config.arguments import check_items, check_real
from raytracer.config.errors import SceneError, UserError, find_nearest_name, quote, quote_value
from raytracer.config.warning import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RGB = tuple[float, float, float]
RGBA = tuple[float, float, float, float]
Color = str | Sequence[float]

DEFAULT_COLOR = (0.8, 0.8, 0.8)

COLOR_SPACES = ("srgb", "linear")

OPACITY = "give `opacity` instead"  # remedy in the warning that an alpha below 1 is ignored

# matplotlib's default colour cycle, "C0" to "C9" and again from "C10", after the palette
# "Tableau 10"; "tab:" before a name of it.
CYCLE = {
    "blue": "#1f77b4", "orange": "#ff7f0e", "green": "#2ca02c", "red": "#d62728",
    "purple": "#9467bd", "brown": "#8c564b", "pink": "#e377c2", "gray": "#7f7f7f",
    "olive": "#bcbd22", "cyan": "#17becf",
}  # fmt: skip

# Names that matplotlib has too mean the colour of CSS, except for single letters: `g` is CSS
# `green`; `c`, `m` and `y` are darker than cyan, magenta and yellow.
_SHORT = {
    "b": "#0000ff", "g": "#008000", "r": "#ff0000", "c": "#00bfbf", "m": "#bf00bf",
    "y": "#bfbf00", "k": "#000000", "w": "#ffffff", "tab:grey": CYCLE["gray"],
    **{f"tab:{name}": digits for name, digits in CYCLE.items()},
}  # fmt: skip

_IN_CYCLE = re.compile(r"c(\d{1,9})", re.ASCII)
_NUMBER = re.compile(r"\d{0,9}\.?\d{1,30}", re.ASCII)


def parse_color(value: Any) -> RGB:
    """Return a colour as `parse_rgba` does, without its alpha; below 1 that is told."""
    *rgb, alpha = parse_rgba(value)
    if alpha < 1.0:
        warn(f"the alpha of the colour {quote_value(value)} is ignored; {OPACITY}")
    return (rgb[0], rgb[1], rgb[2])


def parse_rgba(value: Any) -> RGBA:
    """Return a colour and its alpha in 0..1, in the colour space in which it was written.

    Args:
        value: "#rgb", "#rrggbb", a name of CSS or matplotlib ("crimson", "tab:blue", "C0", "k"), a
            grey from "0" (black) to "1" (white), "rgb(255, 128, 0)", "1, 0.5, 0", three numbers in
            0..1, or an array of uint8. A fourth number or pair of digits is the alpha, which is 1
            otherwise.
    """
    if isinstance(value, str):
        return _parse_text(value.strip())
    top = 255.0 if str(getattr(value, "dtype", "")) == "uint8" else 1.0
    try:
        numbers = [check_real(number, "") for number in check_items(value, "")]
    except SceneError:
        numbers = []
    return _scale_to_unit(numbers, top, value)


def _scale_to_unit(numbers: Sequence[float], top: float, value: Any) -> RGBA:
    """Return the numbers, from 0 to `top`, of a colour that was written as `value`, in 0..1."""
    parts = [number / top for number in numbers]
    if len(parts) not in (3, 4):
        raise SceneError(
            f"{quote_value(value)} is not a colour; "
            "write '#rrggbb', a colour name of CSS or matplotlib, or three numbers from 0 to 1"
        )
    if not all(0.0 <= v <= 1.0 for v in parts):
        problem = (
            explain_out_of_range(parts) if top == 1.0 else f"its numbers must be from 0 to {top:g}"
        )
        raise SceneError(f"{quote_value(value)} is not a colour; {problem}")
    red, green, blue, alpha = (*parts, 1.0)[:4]
    return red, green, blue, alpha


def explain_out_of_range(parts: Sequence[float]) -> str:
    """Return the message about numbers beyond 0 to 1, with a remedy."""
    wholes = [round(part) for part in parts[:3] if part % 1 == 0 and 0 <= part <= 255]
    way = f"; write bytes as 'rgb({', '.join(map(str, wholes))})'" if len(wholes) == 3 else ""
    return f"its numbers must be from 0 to 1{way}"


def _parse_text(text: str) -> RGBA:
    digits = text[1:]
    if text.startswith("#"):
        if len(digits) in (3, 4, 6, 8) and all(c in "0123456789abcdefABCDEF" for c in digits):
            step = 1 + len(digits) // 6
            pairs = [digits[i : i + step] * (3 - step) for i in range(0, len(digits), step)]
            return _scale_to_unit([int(pair, 16) for pair in pairs], 255.0, text)
        raise SceneError(f"'{quote(text)}' is not a colour; write '#rgb' or '#rrggbb'")
    if _NUMBER.fullmatch(text):
        grey = float(text)
        if grey > 1.0:
            raise SceneError(f"'{quote(text)}' is not a colour; a grey goes from '0' to '1'")
        return (grey, grey, grey, 1.0)
    if "," in text:  # "1, 0.5, 0", or "rgb(255, 128, 0)"
        in_bytes = text.lower().startswith("rgb(") and text.endswith(")")
        inner, top = (text[4:-1], 255.0) if in_bytes else (text.strip("[]()"), 1.0)
        try:
            return _scale_to_unit([float(part) for part in inner.split(",")], top, text)
        except ValueError:
            return _scale_to_unit([], top, text)
    if code := _find_digits(text.lower()):
        return _parse_text(code)
    from PIL.ImageColor import colormap

    # the list of all names would be long
    near = find_nearest_name(text, [*colormap, *(name for name in _SHORT if ":" in name)])
    hint = f"did you mean '{near}'?" if near else "write '#rrggbb', or a name of CSS or matplotlib"
    raise SceneError(f"there is no colour named '{quote(text)}'; {hint}")


def _find_digits(name: str) -> str | None:
    """Return "#rrggbb" of a colour name, or None."""
    if digits := _SHORT.get(name):
        return digits
    if place := _IN_CYCLE.fullmatch(name):
        return list(CYCLE.values())[int(place[1]) % len(CYCLE)]
    from PIL.ImageColor import colormap  # late: a tenth of the time of a small render

    css = colormap.get(name)  # Pillow caches looked-up names as tuples
    return "#{:02x}{:02x}{:02x}".format(*css) if isinstance(css, tuple) else css


def check_color_numbers(
    values: NDArray[Any], wrong: Callable[[str], UserError]
) -> NDArray[np.uint8] | NDArray[np.floating[Any]]:
    """Return the colours of an array or of a file's columns, (K, 3 or 4), as uint8 or in 0..1.
    Numbers other than uint8 go from 0 to 1; if one is above 1, all are bytes, and whole. Numbers in
    lists written by people are never bytes."""
    import numpy as np

    from raytracer.model.arrays import split_rows

    if values.dtype == np.uint8 or not values.size:
        return values
    of_integers = values.dtype.kind in "iu"
    most = np.nanmax(values)
    if (of_integers or most > 1) and (np.nanmin(values) < 0 or most > 255):
        raise wrong("give colours from 0 to 1, or as whole numbers from 0 to 255")
    if of_integers:
        codes = values.astype(np.uint8)
        return codes * np.uint8(255) if most <= 1 else codes
    if not most > 1:
        return values
    if any((values[rows] % 1 > 0).any() for rows in split_rows(len(values))):
        raise wrong(
            "some numbers are above 1, and others fractions: give colours from 0 to 1, or as whole "
            "numbers from 0 to 255"
        )
    return values / 255.0


def srgb_to_linear(values: Any) -> NDArray[np.float64]:
    """Convert sRGB values in 0..1 to linear light, float64, by the curve of IEC 61966-2-1."""
    import numpy as np

    v = np.asarray(values, np.float64)
    return np.where(v <= 0.04045, v / 12.92, ((v + 0.055) / 1.055) ** 2.4)


def linear_to_srgb(values: Any) -> NDArray[np.float64]:
    """Convert linear light to sRGB values, float64: the inverse of `srgb_to_linear`."""
    import numpy as np

    v = np.clip(np.asarray(values, np.float64), 0.0, 1.0)
    return np.where(v <= 0.0031308, v * 12.92, 1.055 * v ** (1.0 / 2.4) - 0.055)


def linear_rgb(color: Any, color_space: str = "srgb") -> NDArray[np.float32]:
    """Convert colours (K, 3), uint8 in 0..255 or floating point in 0..1, to linear float32; all
    conversions happen here."""
    import numpy as np

    from raytracer.model.arrays import for_each_block

    values = np.asarray(color)
    result = np.empty(values.shape, np.float32)
    if values.dtype == np.uint8:
        levels = np.arange(256) / 255.0
        table = (levels if color_space == "linear" else srgb_to_linear(levels)).astype(np.float32)

        def convert(rows: slice) -> None:
            np.take(table, values[rows], out=result[rows], mode="clip")
    else:

        def convert(rows: slice) -> None:
            block = values[rows]
            result[rows] = block if color_space == "linear" else srgb_to_linear(block)

    for_each_block(len(values), convert)
    return result
