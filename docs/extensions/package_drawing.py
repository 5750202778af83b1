"""Directive `package-drawing`: the drawing of the packages."""

from __future__ import annotations

from typing import Any

from docutils import nodes
from docutils.parsers.rst import Directive
from drawing import svg, units
from sphinx.application import Sphinx

from support.modules import graph


class PackageDrawing(Directive):
    """Puts the drawing into the page."""

    def run(self) -> list[nodes.Node]:
        """Return the drawing as a node."""
        return [nodes.raw("", svg(units(graph())), format="html")]


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the directive."""
    app.add_directive("package-drawing", PackageDrawing)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
