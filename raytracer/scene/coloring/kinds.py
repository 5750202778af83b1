"""The kinds of value that colours by data take: maps, ranges, numbers or expressions."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from raytracer.arguments import as_text, one_of
from raytracer.errors import SceneError, UserError, shown_value
from raytracer.field_types import Kind, Mistakes, Schema
from raytracer.scene.coloring.limits import Limit, limit_of
from raytracer.scene.colors import parse_color
from raytracer.scene.kinds import COLOR
from raytracer.warning import collected

PALETTES = ("jmol", "cpk", "vesta")
"""Palettes of elements."""

RANGE = 'two of a number, "p1" (a percentile), "min" and "max"'


class Range(Kind):
    """The ends of a range of values: numbers, percentiles, or the ends of the data."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> tuple[Limit, Limit]:
        own = value
        if isinstance(own, str):
            own = own.split(",")
        try:
            low, high = (limit_of(_own(end)) for end in own)
        except Exception:  # whatever a foreign object raises
            raise error(
                f"{name}: {shown_value(value)} is no range; give {RANGE}, as in 0,5 or p1,p99"
            ) from None
        if isinstance(low, float) and isinstance(high, float) and not low <= high:
            raise error(
                f"{name}: {low:g} is above {high:g}; write the lower end first (a map with _r "
                "behind its name is reversed)"
            )
        return low, high

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        _note(self, value, place, mistakes, (list, str))

    def schema(self) -> Schema:
        end = {"anyOf": [{"type": "number"}, {"type": "string"}]}
        pair = {"type": "array", "items": end, "minItems": 2, "maxItems": 2}
        return {"anyOf": [pair, {"type": "string"}]}

    def values(self) -> str:
        return RANGE

    def option(self) -> dict[str, Any]:
        return {"metavar": "LOW,HIGH"}


class Map(Kind):
    """A colour map: its name, colours, or colours by the names of categories."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        own = value
        if isinstance(own, str):
            own = _spelt(as_text(own))
            if isinstance(own, str):
                return own
        try:
            if isinstance(own, Mapping):
                return {str(key): parse_color(color) for key, color in own.items()}
            return tuple(parse_color(color) for color in own) or _nothing()
        except UserError as mistake:
            raise error(f"{name}: {mistake}") from None
        except Exception:  # whatever a foreign object raises
            raise error(
                f"{name}: {shown_value(value)} is neither the name of a colour map nor a list of "
                "colours"
            ) from None

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        _note(self, value, place, mistakes, (str, list, dict))

    def schema(self) -> Schema:
        return {
            "anyOf": [
                {"type": "string"},
                {"type": "array", "items": COLOR, "minItems": 1},
                {"type": "object", "additionalProperties": COLOR},
            ]
        }

    def values(self) -> str:
        return "a name, a list of colours, or a table of colours by category"

    def option(self) -> dict[str, Any]:
        return {"metavar": "MAP"}


class Palette(Kind):
    """Colours of elements: the name of a palette, or colours by label."""

    def checked(self, value: Any, name: str, error: type[UserError]) -> Any:
        own = value
        if isinstance(own, str):
            own = _spelt(own)
        if isinstance(own, str):
            return one_of(own, name, PALETTES, "palette", error)
        if not isinstance(own, Mapping):
            raise error(f"{name}: {shown_value(value)} is neither a palette nor O=red,H=white")
        return Map().checked(own, name, error)

    def find_mistakes(self, value: Any, place: str, mistakes: Mistakes) -> None:
        _note(self, value, place, mistakes, (str, dict))

    def schema(self) -> Schema:
        table = {"type": "object", "additionalProperties": COLOR}
        return {"anyOf": [{"type": "string", "enum": list(PALETTES)}, table]}

    def values(self) -> str:
        return f"{', '.join(PALETTES)}, or a table of colours by label"

    def option(self) -> dict[str, Any]:
        return {"metavar": f"[{'|'.join(PALETTES)}]"}


def _spelt(text: str) -> Any:
    """Return what a text of the command line means: a name, a list "a,b", a table "a=b,c=d"."""
    words = [word.strip() for word in text.split(",")]
    if all("=" in word for word in words):
        return dict(word.split("=", 1) for word in words)
    return words if len(words) > 1 else words[0]


def _own(value: Any) -> Any:
    """Return an end of a range in its plain type; a truth value is none."""
    if isinstance(value, bool):
        raise ValueError(value)
    return value if value is None or isinstance(value, str) else float(value)


def _nothing() -> tuple[Any, ...]:
    raise SceneError("holds no colours")


def _note(kind: Kind, value: Any, place: str, mistakes: Mistakes, types: tuple[type, ...]) -> None:
    """Add what is wrong with a value of a scene file."""
    if type(value) not in types:
        mistakes.must_be(place, kind.values(), value)
        return
    try:
        with collected():  # the objects that are made of the values warn
            kind.checked(value, place, SceneError)
    except SceneError as mistake:
        mistakes.sentences.append(str(mistake))
