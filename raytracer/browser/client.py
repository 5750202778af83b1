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
def make_script(*transport: str) -> str:
    """Return the view with the parts that connect it, as one module."""
    return "\n".join(read_part(f"{name}.js") for name in (*VIEW, *transport))


def make_page(title: str, nonce: str, hello: dict[str, Any]) -> str:
    """Return the page, which loads nothing else."""
    parts = {
        "title": escape(title),
        "nonce": escape(nonce),
        "style": read_part("view.css"),
        "script": make_script("socket", "page") + f"\nview.receive({to_script_json(hello)}, null);",
    }
    return fill_in(read_part("page.html"), parts)


def read_part(name: str, package: str = "browser") -> str:
    """Return the text of a file of the client of a package."""
    return (files(f"raytracer.{package}") / "client" / name).read_text(encoding="utf-8")


def fill_in(template: str, parts: dict[str, str]) -> str:
    """Replace names in braces by the parts of these names."""
    return re.sub(r"\{(\w+)\}", lambda place: parts.get(place[1], place[0]), template)


def to_script_json(value: Any) -> str:
    """Return a value as JSON that cannot end the script that it is in."""
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")
