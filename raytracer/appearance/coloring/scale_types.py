"""Value types of colours by data: maps, ranges, palettes."""

import re
from collections.abc import Mapping
from math import isfinite
from typing import Any

from raytracer.config.arguments import as_text, check_word
from raytracer.config.errors import SceneError, UserError, quote_value
from raytracer.config.field_types import NUMBER, TEXT, FieldType, Schema, array_schema, words_schema
from raytracer.model.colors import parse_color
from raytracer.model.key_types import COLOR

# A number, "p1" for the first percentile, "2024-01-31" for a date, None for the end of the data.
Limit = float | str | None

PALETTES = ("jmol", "cpk", "vesta")
BY_LABEL: Schema = {"type": "object", "additionalProperties": COLOR}

ENDS = 'two of a number, "p1" (a percentile), a date (2024-01-31), "min" and "max"'

_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d{1,9})?)%?", re.ASCII)


def parse_limit(value: Any) -> Limit:
    """Parse an end of a range; "min", "max", "" and None mean the end of the data. Dates stay
    texts."""
    if value is None or (isinstance(value, str) and value in ("", "min", "max")):
        return None
    word = value.strip().lower() if isinstance(value, str) else ""
    if (match := _PERCENTILE.fullmatch(word)) and float(match[1]) <= 100.0:
        return word.rstrip("%")
    if word[:4].isdecimal() and word[4:5] == "-":
        from raytracer.appearance.coloring.dates import parse_dates  # late: help needs no NumPy

        if parse_dates([word.upper()]) is not None:
            return word.upper()
    number = float(word or value)  # raises ValueError
    if isinstance(value, bool) or not isfinite(number):
        raise ValueError(value)
    return number


def _check_range(value: Any, name: str) -> tuple[Limit, Limit]:
    ends = value.split(",") if isinstance(value, str) else value
    try:
        low, high = map(parse_limit, ends)
    except Exception:  # whatever a foreign object raises
        raise SceneError(
            f"{name}: {quote_value(value)} is not a range; give {ENDS}, as in 0,5 or p1,p99"
        ) from None
    return low, high


RANGE = FieldType(
    {list: array_schema({"anyOf": [NUMBER, TEXT]}, 2), str: TEXT},
    _check_range,
    noun=ENDS,
    metavar="LOW,HIGH",
)
"""Ends of a range of values: numbers, percentiles, or the ends of the data."""


def _check_map(value: Any, name: str) -> Any:
    palette = _parse_option(as_text(value)) if isinstance(value, str) else value
    if isinstance(palette, str):
        return palette
    try:
        if isinstance(palette, Mapping):
            return {str(key): parse_color(color) for key, color in palette.items()}
        if colors := tuple(parse_color(color) for color in palette):
            return colors
        raise SceneError("holds no colours")
    except UserError as mistake:
        raise SceneError(f"{name}: {mistake}") from None
    except Exception:  # whatever a foreign object raises
        raise SceneError(
            f"{name}: {quote_value(value)} is neither the name of a colour map nor a list of "
            "colours"
        ) from None


MAP = FieldType(
    {str: TEXT, list: {"type": "array", "items": COLOR, "minItems": 1}, dict: BY_LABEL}, _check_map,
    noun="a name, a list of colours, or a table of colours by category", metavar="MAP",
)  # fmt: skip


def _check_palette(value: Any, name: str) -> Any:
    parsed = _parse_option(value) if isinstance(value, str) else value
    if isinstance(parsed, str):
        return check_word(parsed, name, PALETTES, "palette")
    if not isinstance(parsed, Mapping):
        raise SceneError(
            f"{name}: {quote_value(value)} is neither the name of a palette nor colours by "
            "label such as O=red,H=white"
        )
    return _check_map(parsed, name)


PALETTE = FieldType(
    {str: words_schema(PALETTES), dict: BY_LABEL},
    _check_palette,
    wording="a table of colours by label",
)


def _parse_option(text: str) -> Any:
    """Parse a text of the command line: a name, a list "a,b", a table "a=b,c=d"."""
    words = [word.strip() for word in text.split(",")]
    if all("=" in word for word in words):
        return dict(word.split("=", 1) for word in words)
    return words if len(words) > 1 else words[0]
