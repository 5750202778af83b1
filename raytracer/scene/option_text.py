"""Options with several fields, "place=left,size=12", and the parts of a scene that they change."""

import tomllib
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any

from raytracer.errors import SceneError, shown, suggestion
from raytracer.field_types import Kind, loaded
from raytracer.fields import Definition, check_fields, definitions


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


def fields_of(
    text: str, known: Mapping[str, Definition], place: str, first: str = ""
) -> dict[str, Any]:
    """Return the fields of a text by name.

    Args:
        text: "left,size=12".
        known: the fields there are, by name.
        place: what has the fields, for messages: "legend".
        first: the field that the parts without a name set together; "" if there is none.
    """
    fields, alone = {}, []
    for part in parts_of(text):
        key, equals, value = (each.strip() for each in part.partition("="))
        name = key.replace("-", "_")
        if first and not (equals and (name in known or key.isidentifier())):
            alone.append(part.strip())  # also Ti-O=2.4
            continue
        if not equals:
            raise SceneError(f"{place}: '{shown(key)}' has no '='; {suggestion(key, known)}")
        check_fields([name], known, place)
        fields[name] = value_of(known[name].kind, value, f"{place}.{name}")
    if alone:
        fields[first] = value_of(known[first].kind, ",".join(alone), f"{place}.{first}")
    return fields


def value_of(kind: Kind, text: str, place: str) -> Any:
    """Return the checked value of a text, in which lists and tables are written as in TOML."""
    value: Any = kind.typed(text)
    if text[:1] in ("[", "{"):
        with suppress(tomllib.TOMLDecodeError):
            value = tomllib.loads(f"value = {text}")["value"]
    elif text[:1] in ("'", '"'):
        value = text.strip("\"'")
    return kind.checked(value, place)


class Part(Kind):
    """A part of a scene: an object, its fields by name or in a text, or whether it is there.

    Args:
        home: "module:Class" of the object, imported when needed.
        first: the field that a value without a name sets.
        metavar: the value in the help of an option.
        others: as of `Kind`.
    """

    def __init__(self, home: str, first: str, metavar: str, **others: Any) -> None:
        super().__init__({}, metavar=metavar, **others)
        self.home, self.first = home, first

    def given(self, value: Any, name: str) -> Any:
        """Return an object, False to leave it out, or the fields that are stated."""
        kind = loaded(self.home)
        if isinstance(value, str):
            value = False if value in ("none", "off", "false") else self._fields(value, name)
        if value is None or isinstance(value, (bool, kind)):
            return {} if value is True else value or False
        fields = dict(value if isinstance(value, Mapping) else {self.first: value})
        check_fields(fields, definitions(kind), name)
        kind(**fields)  # refuses what is wrong
        return fields

    def _fields(self, text: str, name: str) -> dict[str, Any]:
        """Parse a text, in which keys of colours by value may stand beside the fields."""
        known = definitions(loaded(self.home))
        color: Any = known["color"].kind if "color" in known else self
        words = [part for part in parts_of(text) if part.strip() not in DEFAULTS]
        both = {**getattr(color, "beside", {}), **known}
        fields = fields_of(",".join(words), both, name, self.first) if words else {}
        if beside := {key: fields.pop(key) for key in fields.keys() - known.keys()}:
            fields["color"] = color.changed(fields.get("color"), beside, name)
        return fields

    def changed(self, now: Any, given: Any) -> Any:
        """Return the part after a change as of `given`; None leaves it out. now: None, or it."""
        if not isinstance(given, dict):
            return given or None
        return loaded(self.home)(**given) if now is None else replace(now, **given)


class Change(Part):
    """A change of a part, which applies to what the scene has."""

    def checked(self, value: Any, name: str) -> Any:
        return self.given(value, name)


DEFAULTS = ("", "on", "true", "all", "touch")  # words of an option that state no field
