"""Values of the options for what is drawn over a picture: --legend=left, --outline=width=2."""

from __future__ import annotations

import tomllib
from typing import Any

from raytracer.errors import SceneError, shown, suggestion
from raytracer.field_types import Choice, Mistakes, Text
from raytracer.fields import Definition, definitions
from raytracer.scene.annotations import KINDS, TextLabel
from raytracer.scene.kinds import ColorValue


def parsed(given: dict[str, str]) -> dict[str, Any]:
    """Return changes of annotations, see `Annotations.changed`.

    Args:
        given: the values of options by name.

    Raises:
        SceneError: a field does not exist, or a value is wrong.
    """
    changes = {name: _parsed(name, value) for name, value in given.items() if name != "title"}
    if "title" in given:
        changes["texts"] = [TextLabel(given["title"])]
    return changes


def _parsed(name: str, value: str) -> Any:
    """Return True, False, or fields by name."""
    words = {"on": True, "": True, "off": False}
    if value in words:
        return words[value]
    known, option = definitions(KINDS[name]), f"--{name.replace('_', '-')}"
    if "=" not in value:
        first = next(iter(known))
        return {first: _value(known[first], value, f"{option}={shown(value)}")}
    fields = {}
    for part in _parts(value):
        key, equals, text = part.partition("=")
        key = key.strip().replace("-", "_")
        if not equals or key not in known:
            problem = f"'{shown(key)}' is no field" if equals else f"'{shown(part)}' has no '='"
            raise SceneError(f"{option}: {problem}; {suggestion(key, known)}")
        fields[key] = _value(known[key], text.strip(), f"{option}={key}")
    return fields


def _parts(text: str) -> list[str]:
    """Return the parts of a text between its commas, those in brackets and quotes left out."""
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


def _value(definition: Definition, text: str, place: str) -> Any:
    """Return a value: a text, or what TOML makes of it where the field holds something else.

    Raises:
        SceneError: it is not of the field's kind.
    """
    kind = definition.kind
    is_word = isinstance(kind, (Choice, Text)) or (
        isinstance(kind, ColorValue) and not text.startswith("[")
    )
    value: Any = text.strip("\"'") if text[:1] in ("'", '"') else text
    if not is_word:
        try:
            value = tomllib.loads(f"value = {text}")["value"]
        except tomllib.TOMLDecodeError:
            value = text
    mistakes = Mistakes()
    kind.find_mistakes(value, place, mistakes)
    if mistakes.sentences:
        raise SceneError(*mistakes.sentences)
    return value
