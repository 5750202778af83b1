"""Pages of the site that are a README elsewhere in the tree, with their links adjusted."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

ROOT = Path(__file__).parents[2]
# Page of the site: the file that it shows.
PAGES = {"kernels/folder": "kernels/README.md", "guide/example_scenes": "scenes/README.md"}
_LINK = re.compile(r"(\]\()([^)\s#]+)")


def adjusted(text: str, origin: Path, page: Path) -> str:
    """Return Markdown with the relative links of `origin` as `page` has to write them.

    Args:
        text: Markdown.
        origin: the file that the links are relative to.
        page: the file in docs/ that is to show the text.
    """
    shown = {ROOT / file: ROOT / "docs" / f"{name}.md" for name, file in PAGES.items()}

    def link(match: re.Match[str]) -> str:
        if "://" in match[2]:
            return match[0]
        target = (origin.parent / match[2]).resolve()
        return match[1] + Path(os.path.relpath(shown.get(target, target), page.parent)).as_posix()

    return _LINK.sub(link, text)


def _read(app: Sphinx, name: str, content: list[str]) -> None:
    page = Path(app.srcdir) / f"{name}.md"
    if not page.exists():
        return
    origin = page
    if name in PAGES:
        origin = ROOT / PAGES[name]
        app.env.note_dependency(str(origin))
        content[0] = origin.read_text(encoding="utf-8")
    content[0] = adjusted(content[0], origin, page)


def setup(app: Sphinx) -> dict[str, Any]:
    """Register the extension."""
    app.connect("source-read", _read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
