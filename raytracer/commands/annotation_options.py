"""Parses options for what is drawn over a picture: --legend=left, --outline=width=2."""

from __future__ import annotations

from typing import Any

from raytracer.errors import shown
from raytracer.fields import definitions
from raytracer.scene.annotations import KINDS, TextLabel
from raytracer.scene.option_text import fields_of, value_of

ALONE = {"box": "style"}  # fields that a single value sets, if not the first


def parsed(given: dict[str, str]) -> dict[str, Any]:
    """Return changes of annotations, see `Annotations.changed`, from options by name."""
    changes = {name: _parsed(name, value) for name, value in given.items() if name != "title"}
    if "title" in given:
        changes["texts"] = [TextLabel(given["title"])]
    return changes


def _parsed(name: str, value: str) -> Any:
    words = {"on": True, "": True, "off": False}
    if value in words:
        return words[value]
    known, option = definitions(KINDS[name]), f"--{name.replace('_', '-')}"
    if "=" not in value:
        first = ALONE.get(name) or next(iter(known))
        return {first: value_of(known[first].kind, value, f"{option}={shown(value)}")}
    return fields_of(value, known, f"{option}=")
