"""Parsing of options with several fields: "place=left,size=12"."""

import tomllib
from collections.abc import Collection, Mapping
from contextlib import suppress
from typing import Any

from raytracer.errors import SceneError, shown, suggestion
from raytracer.field_types import Kind
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


def given_fields(
    kind: type, value: Any, place: str, first: str,
    known: Mapping[str, Definition] | None = None, words: Collection[str] = (),
) -> Any:  # fmt: skip
    """Return what a call says of an object: the object itself, its fields by name, or False for
    none.

    Args:
        kind: its class.
        value: an object, whether there is one, a mapping, a text of fields, or "off".
        place: what has the fields, for messages.
        first: the field that another value sets.
        known: fields that a text may state, if not those of the class.
        words: parts of a text that mean the defaults.
    """
    known = definitions(kind) if known is None else known
    if isinstance(value, str):
        parts = [p for p in parts_of(value) if p.strip() not in ("", "on", *words)]
        off = [part.strip() for part in parts] in (["off"], ["none"])
        value = not off and (fields_of(",".join(parts), known, place, first) if parts else True)
    if value is True or value is False or value is None or isinstance(value, kind):
        return {} if value is True else value or False
    fields = value if isinstance(value, Mapping) else {first: value}
    check_fields(fields, known, place)
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
