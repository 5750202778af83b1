"""Examples in the help of commands, as blocks of code."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import click
from sphinx.application import Sphinx

BAR = "| "  # before the lines that click keeps as they are


def _as_blocks(app: Sphinx, context: click.Context, lines: list[str]) -> None:
    """Make a block of the indented lines under a title, in place."""
    out: list[str] = []
    for kept, group in groupby(lines, lambda line: line.startswith(BAR)):
        if not kept:
            out += group
            continue
        title, *examples = (line.removeprefix(BAR) for line in group)
        out += [title, "", ".. code-block:: text", "", *(f"  {line}" for line in examples), ""]
    lines[:] = out


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("sphinx-click-process-description", _as_blocks)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
