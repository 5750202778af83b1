"""The client: JavaScript and CSS of the view, as a page or as a module of a notebook."""

import json
import re
from functools import cache
from html import escape
from importlib.resources import files
from typing import Any

VIEW = ("elements", "picture", "pointer", "keys", "panel", "timeline", "view")
"""Parts of the view, in order: each uses those before it."""


@cache
def script(*transport: str) -> str:
    """Return the view with the parts that connect it, as one module."""
    return "\n".join(part(f"{name}.js") for name in (*VIEW, *transport))


def page(title: str, nonce: str, hello: dict[str, Any]) -> str:
    """Return the page, which loads nothing else."""
    greeting = json.dumps(hello, separators=(",", ":")).replace("<", "\\u003c")  # of "</script>"
    parts = {
        "title": escape(title),
        "nonce": escape(nonce),
        "style": part("view.css"),
        "script": script("socket", "page") + f"\nview.receive({greeting}, null);",
    }
    return re.sub(r"\{(\w+)\}", lambda place: parts[place[1]], part("page.html"))


def part(name: str) -> str:
    """Return the text of a file of the client."""
    return (files("raytracer.browser") / "client" / name).read_text(encoding="utf-8")
