"""The font of annotations: sizes of texts, exponents and indices."""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from PIL.ImageFont import FreeTypeFont

FONT = Path(__file__).parent / "fonts" / "SourceSansPro-Regular.ttf"

FAMILY = "Source Sans Pro"

CAP_HEIGHT = 0.66  # height of a capital letter, in font sizes
RAISED = 0.42  # height of the baseline of an exponent above that of the text, in font sizes
LOWERED = -0.15  # the same of an index
SMALL = 0.68  # size of exponents and indices, in font sizes of the text

_STYLED = {
    letter: (plain, SMALL, rise)
    for letters, plains, rise in (
        ("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿ", "0123456789+−=()n", RAISED),
        ("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎", "0123456789+−=()", LOWERED),
    )
    for letter, plain in zip(letters, plains, strict=True)
}
_NUMBER = re.compile(r"(-?)(inf|nan|\d[\d.,]*)(?:e([+-]?\d+))?")
_EXPONENT = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")


class Run(NamedTuple):
    """A part of a line with one size and baseline; scale and rise in font sizes, x in pixels from
    the start of the line."""

    text: str
    scale: float
    rise: float
    x: float


MIN_SIZE = 1.0  # minimum size of letters in pixels per em of the library


@lru_cache(maxsize=32)
def font(pixels: float) -> FreeTypeFont:
    """Return the font at a size in pixels per em, at least `MIN_SIZE`."""
    from PIL import ImageFont

    return ImageFont.truetype(FONT, max(pixels, MIN_SIZE))


def runs(text: str, size: float) -> list[Run]:
    """Return the parts of a line; exponents (⁻³) and indices (₂) are small and shifted."""
    laid, x = [], 0.0
    styled = (_STYLED.get(letter, (letter, 1.0, 0.0)) for letter in text)
    for (scale, rise), letters in groupby(styled, itemgetter(1, 2)):
        part = "".join(letter for letter, *_ in letters)
        laid.append(Run(part, scale, rise, x))
        x += font(size * scale).getlength(part)
    return laid


def typeset(number: str) -> str:
    """Return a number for people: "-2.5e6" becomes −2.5×10⁶; other texts are unchanged."""
    match = _NUMBER.fullmatch(number)
    if match is None:
        return number
    sign, mantissa, exponent = "−" if match[1] else "", match[2], match[3]
    if exponent is None:
        return sign + mantissa
    power = f"10{str(int(exponent)).translate(_EXPONENT)}"
    return sign + (power if mantissa == "1" else f"{mantissa}×{power}")


def width(text: str, size: float) -> float:
    """Return the width of a line in pixels; size: in pixels per em."""
    laid = runs(text, size)
    return laid[-1].x + font(size * laid[-1].scale).getlength(laid[-1].text) if laid else 0.0
