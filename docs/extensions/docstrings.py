"""Docstrings whose arguments are plain `name: meaning` lines, turned into Google style."""

from __future__ import annotations

import inspect
import re
from contextlib import suppress
from typing import Any

from sphinx.application import Sphinx

_ENTRY = re.compile(r"([a-z_]\w*(?:, [a-z_]\w*)*): (.*)")


def _google(app: Sphinx, what: str, name: str, value: Any, options: Any, lines: list[str]) -> None:
    """Put plain lists of arguments under "Args:", in place."""
    known = _names(value)
    out: list[str] = []
    listing = False
    for line in lines:
        entry = _ENTRY.fullmatch(line)
        if entry and set(entry[1].split(", ")) <= known:
            out += [] if listing else ["", "Args:"]
            listing = True
        elif listing and line and not line.startswith(" "):
            listing = False
            out.append("")
        out.append("    " + line if listing and line else line)
    lines[:] = out


def _names(value: Any) -> set[str]:
    """The arguments of a function, or of a class and its fields."""
    names = set(getattr(value, "__annotations__", {}))
    with suppress(TypeError, ValueError):  # it has no signature
        names |= set(inspect.signature(value).parameters)
    return names


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension, before napoleon reads the docstrings."""
    app.connect("autodoc-process-docstring", _google, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
