"""Whether plain values are surely a scene, by the JSON Schema alone.

Importing pydantic and building the model takes longer than all else before a small render, and
most scene files are right. So they are compared with the schema first, which the model has written
to `schema.json`, and the model is built for those that may be wrong, to say what is. A scene that
fits must be one that the model takes; the reverse need not hold.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

Schema = dict[str, Any]

FILE = Path(__file__).with_name("schema.json")

# Above this an int is not the float that it is converted to.
EXACT = 2**53


def is_scene(values: dict[str, Any]) -> bool:
    """Whether the values of a scene file have the names and the types of the model."""
    return _fits(values, _root())


@cache
def _root() -> Schema:
    found: Schema = json.loads(FILE.read_text(encoding="utf-8"))
    return found


def _fits(value: Any, schema: Schema) -> bool:
    if "$ref" in schema:
        schema = _root()["$defs"][schema["$ref"].rpartition("/")[2]]
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return any(_fits(value, choice) for choice in schema[key])
    if "const" in schema and value != schema["const"]:
        return False
    if "enum" in schema and value not in schema["enum"]:
        return False
    if "enum" in schema and "type" not in schema:  # of several types
        return type(value) in {type(choice) for choice in schema["enum"]}
    check = _CHECKS.get(schema.get("type", ""))
    return check is not None and check(value, schema)


def _is_table(value: Any, schema: Schema) -> bool:
    if type(value) is not dict or not all(name in value for name in schema.get("required", ())):
        return False
    named, others = schema.get("properties", {}), schema["additionalProperties"]
    for name, item in value.items():
        known = named.get(name, others)
        if known is False or not _fits(item, known):
            return False
    return True


def _is_list(value: Any, schema: Schema) -> bool:
    """Long lists are arrays of numbers, which are checked when they become spheres."""
    if type(value) is not list:
        return False
    if "maxItems" in schema and not schema["minItems"] <= len(value) <= schema["maxItems"]:
        return False
    items = schema["items"]
    tables = "$ref" in items or "oneOf" in items
    return not (tables or "maxItems" in schema) or all(_fits(item, items) for item in value)


def _is_number(value: Any, schema: Schema) -> bool:
    if type(value) not in (int, float) or not -EXACT < value < EXACT:  # NaN is neither
        return False
    return _is_within(value, schema)


def _is_within(value: float, schema: Schema) -> bool:
    return (
        schema.get("minimum", value) <= value <= schema.get("maximum", value)
        and not value <= schema.get("exclusiveMinimum", value - 1)
    )  # fmt: skip


_CHECKS: dict[str, Callable[[Any, Schema], bool]] = {
    "array": _is_list,
    "boolean": lambda value, _: type(value) is bool,
    "integer": lambda value, schema: type(value) is int and _is_number(value, schema),
    "null": lambda value, _: value is None,
    "number": _is_number,
    "object": _is_table,
    "string": lambda value, _: type(value) is str and value.isprintable(),
}
