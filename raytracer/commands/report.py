"""Printing for people and for programs."""

from __future__ import annotations

import json
from collections.abc import Iterator
from math import isfinite
from typing import Any

from raytracer.errors import escaped


def print_json(value: Any) -> None:
    """One JSON value on standard output; NaN and infinity, which JSON lacks, as text.

    Characters that a terminal would obey are written as escape sequences of JSON.
    """
    text = json.dumps(_finite(value), indent=2, ensure_ascii=False, allow_nan=False)
    lines = (
        line if line.isprintable() else "".join(c if c.isprintable() else _as_json(c) for c in line)
        for line in text.split("\n")
    )
    print("\n".join(lines))


def _as_json(character: str) -> str:
    return json.dumps(character)[1:-1]


def _finite(value: Any) -> Any:
    """A value with "nan", "inf" and "-inf" for these numbers."""
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def outline(value: dict[str, Any], indent: str = "") -> Iterator[str]:
    """The lines of a nested dictionary, keys aligned; what is empty is left out.

    Its values may be any of JSON: they may come from a file. Characters that a terminal would obey
    are escaped.
    """
    known = {escaped(str(key)): item for key, item in value.items()}
    found = {key: item for key, item in known.items() if item not in (None, {}, [], "")}
    width = max((len(key) for key in found), default=0)
    for key, item in found.items():
        label = "seconds" if key == "timings" else key.replace("_", " ")
        if isinstance(item, dict):
            yield f"{indent}{label}"
            yield from outline(item, indent + "  ")
        elif isinstance(item, list) and all(isinstance(part, dict) for part in item):
            yield f"{indent}{label}"
            for part in item:
                pairs = (f"{escaped(str(k))} {_text(k, v)}" for k, v in part.items())
                yield f"{indent}  " + ", ".join(pairs)
        elif isinstance(item, str) and "\n" in item:
            yield f"{indent}{label}"
            yield from (f"{indent}  {escaped(line)}".rstrip() for line in item.splitlines())
        else:
            yield f"{indent}{label:<{width}}  {_text(key, item)}"


def _text(key: str, value: Any) -> str:
    """A value for people: yes and no, GiB, digits in groups of three."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, (list, tuple)):
        return " ".join(_text(key, item) for item in value)
    if isinstance(value, (int, float)) and key.startswith("memory"):
        return f"{value / 2**30:.1f} GiB"
    if isinstance(value, int) and key == "spheres":
        return f"{value:,}"
    return f"{value:.4g}" if isinstance(value, float) else escaped(str(value))
