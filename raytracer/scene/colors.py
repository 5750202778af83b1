"""Parsing of colours, and conversion to linear light."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from raytracer.arguments import items, real
from raytracer.errors import SceneError, UserError, nearest, shown, shown_value
from raytracer.warning import warn

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

RGB = tuple[float, float, float]
Color = str | Sequence[float]

DEFAULT_COLOR = (0.8, 0.8, 0.8)

COLOR_SPACES = ("srgb", "linear")

OPACITY = "give `opacity` instead"  # remedy in the warning that an alpha below 1 is ignored

_NUMBER = re.compile(r"\d{0,9}\.?\d{1,30}", re.ASCII)


def parse_color(value: Any) -> RGB:
    """Return a colour as three floats in 0..1, in the colour space in which it was written.

    Args:
        value: "#rgb", "#rrggbb", a name of CSS or matplotlib ("crimson", "tab:blue", "C0", "k"), a
            grey from "0" (black) to "1" (white), "rgb(255, 128, 0)", "1, 0.5, 0", three numbers in
            0..1, or an array of uint8. A fourth number or pair of digits is the alpha; below 1 it
            is ignored, with a warning.
    """
    if isinstance(value, str):
        return _parse_text(value.strip())
    top = 255.0 if str(getattr(value, "dtype", "")) == "uint8" else 1.0
    try:
        parts = [real(number, "") / top for number in items(value, "")]
    except SceneError:
        parts = []
    if len(parts) not in (3, 4):
        raise SceneError(
            f"{shown_value(value)} is not a colour; "
            "write '#rrggbb', a colour name of CSS or matplotlib, or three numbers from 0 to 1"
        )
    if not all(0.0 <= v <= 1.0 for v in parts):
        raise SceneError(f"{shown_value(value)} is not a colour; {out_of_range(parts)}")
    if parts[3:] and parts[3] < 1.0:
        warn(f"the alpha of the colour {shown_value(value)} is ignored; {OPACITY}")
    return (parts[0], parts[1], parts[2])


def out_of_range(parts: Sequence[float]) -> str:
    """Return the message about numbers beyond 0 to 1, with a remedy."""
    wholes = [round(part) for part in parts[:3] if part % 1 == 0 and 0 <= part <= 255]
    way = f"; write bytes as 'rgb({', '.join(map(str, wholes))})'" if len(wholes) == 3 else ""
    return f"its numbers must be from 0 to 1{way}"


def _parse_numbers(text: str) -> RGB:
    """Parse three numbers from 0 to 1, "1, 0.5, 0", or from 0 to 255, "rgb(255, 128, 0)"."""
    in_bytes = text.lower().startswith("rgb(") and text.endswith(")")
    inner, top = (text[4:-1], 255.0) if in_bytes else (text.strip("[]()"), 1.0)
    try:
        red, green, blue = (float(part) / top for part in inner.split(","))
    except ValueError:
        raise SceneError(
            f"'{shown(text)}' is not a colour; write three numbers, '1,0.5,0' or 'rgb(255,128,0)'"
        ) from None
    if not all(0.0 <= part <= 1.0 for part in (red, green, blue)):
        hint = "" if in_bytes else ", or in rgb() from 0 to 255"
        raise SceneError(
            f"'{shown(text)}' is not a colour; its numbers must be from 0 to {top:g}{hint}"
        )
    return (red, green, blue)


def _parse_text(text: str) -> RGB:
    digits = text[1:]
    if text.startswith("#"):
        if len(digits) in (3, 4, 6, 8) and all(c in "0123456789abcdefABCDEF" for c in digits):
            step = 1 + len(digits) // 6
            pairs = [digits[i : i + step] * (3 - step) for i in range(0, len(digits), step)]
            red, green, blue, *alpha = (int(p, 16) / 255.0 for p in pairs)
            if alpha and alpha[0] < 1.0:
                warn(f"the alpha of the colour '{shown(text)}' is ignored; {OPACITY}")
            return (red, green, blue)
        raise SceneError(f"'{shown(text)}' is not a colour; write '#rgb' or '#rrggbb'")
    if _NUMBER.fullmatch(text):
        grey = float(text)
        if grey > 1.0:
            raise SceneError(f"'{shown(text)}' is not a colour; a grey goes from '0' to '1'")
        return (grey, grey, grey)
    if "," in text:
        return _parse_numbers(text)
    from raytracer.scene.color_names import digits_of, known

    if code := digits_of(text):
        return _parse_text(code)
    near = nearest(text, known())  # the list of all names would be long
    hint = f"did you mean '{near}'?" if near else "write '#rrggbb', or a name of CSS or matplotlib"
    raise SceneError(f"there is no colour named '{shown(text)}'; {hint}")


def color_numbers(
    values: NDArray[Any], wrong: Callable[[str], UserError]
) -> NDArray[np.uint8] | NDArray[np.floating[Any]]:
    """Return the colours of an array or of a file's columns as uint8 or in 0..1.

    uint8 are bytes. Other numbers go from 0 to 1, so that the integer 1 is full; if any number is
    above 1, all are bytes, and whole. Numbers in lists written by people are never bytes.

    Args:
        values: (K, 3 or 4).
    """
    import numpy as np

    from raytracer.scene.arrays import blocks

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
    for rows in blocks(len(values)):
        fractions = (values[rows] % 1 > 0).any(axis=1)
        if fractions.any():
            row = rows.start + int(np.argmax(fractions))
            shown_row = ", ".join(f"{part:g}" for part in values[row])
            raise wrong(
                f"colour {row} is ({shown_row}), and another number is above 1: give colours "
                "from 0 to 1, or as whole numbers from 0 to 255"
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


def linear_rgb(
    color: Any, color_space: str = "srgb", out: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Convert colours to linear float32 (K, 3), into `out` if given; all conversions happen here.

    color: (K, 3), uint8 in 0..255 or floating point in 0..1, in a colour space.
    """
    import numpy as np

    from raytracer.scene.arrays import each_block

    values = np.asarray(color)
    result = np.empty(values.shape, np.float32) if out is None else out
    if values.dtype == np.uint8:
        levels = np.arange(256) / 255.0
        table = (levels if color_space == "linear" else srgb_to_linear(levels)).astype(np.float32)

        def convert(rows: slice) -> None:
            np.take(table, values[rows], out=result[rows], mode="clip")
    else:

        def convert(rows: slice) -> None:
            block = values[rows]
            result[rows] = block if color_space == "linear" else srgb_to_linear(block)

    each_block(len(values), convert)
    return result
