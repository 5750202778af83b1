"""Parsing of options with several fields: "place=left,size=12"."""

import tomllib
from collections.abc import Mapping
from typing import Any

from raytracer.errors import SceneError, shown, suggestion
from raytracer.field_types import Kind
from raytracer.fields import Definition, check_fields


def parts_of(text: str) -> list[str]:
    """Split a text at its commas, except those in brackets and quotes."""
    parts, depth, quote = [""], 0, ""
    for letter in text:
        if quote:
            quote = "" if letter == quote else quote
        elif letter in "\"'":
            quote = letter
        depth += (letter in "[{(") - (letter in "]})")
        if letter == "," and not depth and not quote:
            parts.append("")
        else:
            parts[-1] += letter
    return parts


def fields_of(text: str, known: Mapping[str, Definition], place: str) -> dict[str, Any]:
    """Return the fields of a text by name.

    Args:
        text: "place=left,size=12".
        known: the fields there are, by name.
        place: what has the fields, for messages: "legend".
    """
    fields = {}
    for part in parts_of(text):
        key, equals, value = (each.strip() for each in part.partition("="))
        key = key.replace("-", "_")
        if not equals:
            raise SceneError(f"{place}: '{shown(key)}' has no '='; {suggestion(key, known)}")
        check_fields([key], known, place)
        fields[key] = value_of(known[key].kind, value, f"{place}.{key}")
    return fields


def value_of(kind: Kind, text: str, place: str) -> Any:
    """Return a value: a text, or for other types the text parsed as TOML."""
    is_word = str in kind.plain and not text.startswith("[") and kind.plain.keys() <= {str, list}
    value: Any = text.strip("\"'") if text[:1] in ("'", '"') else text
    if not is_word:
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
    kind.require(value, place)
    return value
