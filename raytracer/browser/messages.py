"""Messages from a page: JSON objects, checked before use."""

import json
import struct
from collections.abc import Mapping
from dataclasses import MISSING, dataclass
from typing import Any

from raytracer.config.arguments import (
    check_items,
    check_mapping,
    check_real,
    check_text,
    check_word,
)
from raytracer.config.errors import UserError, pluralize, prefix_errors, quote_value
from raytracer.config.field_types import FieldType, Integer, Number
from raytracer.config.fields import Defined, check_fields, find_definitions, setting
from raytracer.files.access import load_json

MAX_BYTES = 65536  # largest message from a page; the longest real one has a few hundred bytes
MAX_SIDE = 8192  # largest width and height of a view, in pixels
MAX_SERIAL = 2**53  # whole numbers of a page are exact below
MAX_TEXT = 4000  # longest text in a message, such as the condition of a selection
MAX_NAME = 64  # longest name of an action
MAX_VALUES = 16  # most values of an action, and most numbers of one of them

Values = dict[str, Any] | list[Any]


def _check_text(value: Any, name: str, most: int = MAX_TEXT) -> str:
    checked = check_text(value, name)
    if len(checked) > most:
        raise UserError(f"{name}: has {len(checked):,} characters, not at most {most:,}")
    try:
        checked.encode()
    except UnicodeEncodeError:
        raise UserError(f"{name}: {quote_value(value)} is not Unicode") from None
    return checked


def _check_name(value: Any, name: str) -> str:
    return _check_text(value, name, MAX_NAME)


def _check_value(value: Any, name: str) -> Any:
    """Return an argument of an action: None, true, false, a number, a text, or numbers."""
    if value is None or isinstance(value, (bool, int)):
        return value
    if isinstance(value, str):
        return _check_text(value, name)
    if isinstance(value, list):
        return [check_real(each, f"{name}[{i}]") for i, each in enumerate(_check_size(value, name))]
    return check_real(value, name)


def _check_values(value: Any, name: str) -> Values:
    """Return the arguments of an action, in order or by name."""
    if isinstance(value, dict):
        named = _check_size(check_mapping(value, name), name)
        return {key: _check_value(each, f"{name}.{key}") for key, each in named.items()}
    listed = _check_size(check_items(value, name), name)
    return [_check_value(each, f"{name}[{i}]") for i, each in enumerate(listed)]


def _check_size(values: Any, name: str) -> Any:
    if len(values) > MAX_VALUES:
        raise UserError(f"{name}: has {pluralize(len(values), 'value')}, not at most {MAX_VALUES}")
    return values


@dataclass(frozen=True, repr=False, eq=False)
class Act(Defined):
    name: str = setting(MISSING, FieldType({str: {}}, _check_name, noun="a name"))
    values: Values = setting((), FieldType({dict: {}, list: {}}, _check_values, noun="values"))


@dataclass(frozen=True, repr=False, eq=False)
class Size(Defined):
    width: int = setting(MISSING, Integer(1, MAX_SIDE))
    height: int = setting(MISSING, Integer(1, MAX_SIDE))


@dataclass(frozen=True, repr=False, eq=False)
class Ack(Defined):
    """A message with bytes arrived, and with it all of lower numbers; `ms` milliseconds after its
    announcement."""

    serial: int = setting(MISSING, Integer(0, MAX_SERIAL))
    ms: float | None = setting(None, Number(0.0))


@dataclass(frozen=True, repr=False, eq=False)
class Save(Defined):
    """Render a picture and send it as a file; None takes the size and samples of the view."""

    width: int | None = setting(None, Integer(1))
    height: int | None = setting(None, Integer(1))
    samples: int | None = setting(None, Integer(1))


Message = Act | Size | Ack | Save

TYPES: Mapping[str, type[Message]] = {"act": Act, "size": Size, "ack": Ack, "save": Save}


def parse(content: str | dict[str, Any]) -> Message:
    """Parse a message of a page. Raises UserError."""
    with prefix_errors("message"):
        try:
            values = (
                load_json(content, "message", UserError) if isinstance(content, str) else content
            )
        except (ValueError, RecursionError):
            raise UserError("is not JSON, or is nested too deeply") from None
        given = dict(check_mapping(values, "content"))
        kind = TYPES[check_word(given.pop("type", None), "type", TYPES, "type of message")]
        known = find_definitions(kind)
        check_fields(given, known, "fields")
        for name, each in known.items():
            if each.required and name not in given:
                raise UserError(f"{name}: is missing")
        return kind(**given)


def pack_message(message: dict[str, Any], data: bytes | None = None) -> str | bytes:
    """Return a message to a page as one message of a WebSocket. With data it is binary: length of
    the header (uint32, little endian), header, data."""
    header = json.dumps(message, allow_nan=False, separators=(",", ":"))
    if data is None:
        return header
    encoded = header.encode()
    return struct.pack("<I", len(encoded)) + encoded + data
