"""The font of annotations: sizes of texts, exponents and indices."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Iterable
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


class TextRun(NamedTuple):
    """A part of a line with one size and baseline; scale and rise in font sizes, x in pixels from
    the start of the line."""

    text: str
    scale: float
    rise: float
    x: float
    path: Path = FONT


NO_LETTER = "\uffff"  # which no font has
MIN_SIZE = 1.0  # minimum size of letters in pixels per em of the library


@lru_cache(maxsize=32)
def font(pixels: float, path: Path = FONT) -> FreeTypeFont:
    """Return a font at a size in pixels per em, at least `MIN_SIZE`."""
    from PIL import ImageFont

    return ImageFont.truetype(path, max(pixels, MIN_SIZE))


def split_into_runs(text: str, size: float) -> list[TextRun]:
    """Return the parts of a line; exponents (⁻³) and indices (₂) are small and shifted, and letters
    that the font lacks are from another one of the system."""
    laid, x = [], 0.0
    styled = (_STYLED.get(letter, (letter, 1.0, 0.0)) for letter in text)
    placed = [(*each, _find_font(each[0]) or FONT) for each in styled]
    for (scale, rise, path), letters in groupby(placed, itemgetter(1, 2, 3)):
        part = "".join(letter for letter, *_ in letters)
        laid.append(TextRun(part, scale, rise, x, path))
        x += font(size * scale, path).getlength(part)
    return laid


def find_missing_letters(texts: Iterable[str]) -> str:
    """Return the characters that no font of the system has, in order of first use."""
    letters = dict.fromkeys(letter for text in texts for letter in text)
    return "".join(each for each in letters if each not in _STYLED and _find_font(each) is None)


@lru_cache(maxsize=4096)
def _find_font(letter: str) -> Path | None:
    """Return the font that a letter is drawn with, or None if there is none."""
    if letter.isascii() or letter.isspace() or not letter.isprintable() or _has(FONT, letter):
        return FONT
    return next((path for path in _system_fonts(letter) if _has(path, letter)), None)


def _has(path: Path, letter: str) -> bool:
    """Whether a font draws a letter, and not its box for missing ones."""
    try:
        drawn, box = (bytes(font(32.0, path).getmask(each)) for each in (letter, NO_LETTER))
    except (OSError, ValueError):  # no outlines, as of coloured emoji
        return False
    return any(drawn) and drawn != box


def _system_fonts(letter: str) -> list[Path]:
    """Return fonts of the system, upright sans serif first: by fontconfig those that have a letter,
    without it all."""
    try:
        names = subprocess.run(
            ["fc-list", "-f", "%{file}\n", f":charset={ord(letter):x}"],
            capture_output=True, text=True, timeout=10.0, check=True, stdin=subprocess.DEVNULL,
        ).stdout.splitlines()  # fmt: skip
        found = [Path(name) for name in names]
    except (OSError, subprocess.SubprocessError):
        found = _font_files()
    return sorted(set(found), key=lambda path: (_rank(path.stem.lower()), path.name, path))


def _rank(name: str) -> int:
    odd = ("serif", "mono", "italic", "oblique", "bold", "black", "light", "thin", "condensed")
    return sum(word in name for word in odd) + ("sans" not in name)


@lru_cache(maxsize=1)
def _font_files() -> list[Path]:
    home = Path.home()
    folders = (
        "/System/Library/Fonts", "/Library/Fonts", home / "Library/Fonts", "/usr/share/fonts",
        "/usr/local/share/fonts", home / ".local/share/fonts", home / ".fonts",
        Path(os.environ.get("WINDIR", "C:/Windows")) / "Fonts",
    )  # fmt: skip
    kinds = (".ttf", ".otf", ".ttc")
    files = (path for folder in folders for path in Path(folder).rglob("*"))
    return [path for path in files if path.suffix.lower() in kinds]


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


def measure_width(text: str, size: float) -> float:
    """Return the width of a line in pixels; size: in pixels per em."""
    laid = split_into_runs(text, size)
    if not laid:
        return 0.0
    last = laid[-1]
    return last.x + font(size * last.scale, last.path).getlength(last.text)


def wrap_text(text: str, size: float, room: float) -> list[str]:
    """Return a text in lines of at most a width in pixels, broken at spaces, a longer
    word anywhere."""
    if measure_width(text, size) <= room:
        return [text]
    lines = [""]
    for word in text.split(" "):
        longer = f"{lines[-1]} {word}" if lines[-1] else word
        if measure_width(longer, size) <= room:
            lines[-1] = longer
            continue
        if lines[-1]:
            lines.append("")
        for letter in word:
            if lines[-1] and measure_width(lines[-1] + letter, size) > room:
                lines.append("")
            lines[-1] += letter
    return lines


def shorten_text(text: str, size: float, room: float) -> str:
    """Return a text of at most a width in pixels, with … in place of its middle if it is longer."""
    if measure_width(text, size) <= room:
        return text
    keep = len(text) - 1
    while keep > 0 and measure_width(_cut(text, keep), size) > room:
        keep -= max(keep // 16, 1)
    return _cut(text, keep)


def _cut(text: str, keep: int) -> str:
    return f"{text[: (keep + 1) // 2]}…{text[len(text) - keep // 2 :]}"
