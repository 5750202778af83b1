"""Markdown pages of the repository: their code blocks, tables, headings and links."""

import re
import shlex
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
README = ROOT / "README.md"
KERNELS = ROOT / "kernels" / "README.md"
PAGES = [README, KERNELS, ROOT / "scenes" / "README.md", *sorted(DOCS.rglob("*.md"))]

_FENCE = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
_ANY_FENCE = re.compile(r"^```.*?^```$", re.MULTILINE | re.DOTALL)


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def blocks(path: Path) -> list[tuple[str, str, str]]:
    """Return every code block: the marker before it or "", its language, its text."""
    return _FENCE.findall(text_of(path))


def marked(path: Path, marker: str) -> str:
    """Return the block straight after a marker comment."""
    found = [text for name, _, text in blocks(path) if name == marker]
    assert len(found) == 1, f"{path} has {len(found)} code blocks after <!-- {marker} -->"
    return found[0]


def files_of_package() -> dict[str, str]:
    """The files of the package that the guide to formats shows, by name."""
    pattern = r"^<!-- package: (\S+) -->\n```\w+\n(.*?)^```$"
    text = text_of(DOCS / "guide/formats.md")
    return dict(re.findall(pattern, text, re.MULTILINE | re.DOTALL))


def files() -> dict[str, str]:
    found: dict[str, str] = {}
    for path in PAGES:
        for name, _, text in blocks(path):
            if name.startswith("file: "):
                name = name.removeprefix("file: ")
                assert name not in found, f"{path} shows {name} a second time"
                found[name] = text
    return found


def commands(path: Path) -> Iterator[list[str]]:
    """Yield the words of every command in the shell blocks of a page; loops of a shell are none."""
    for _, language, text in blocks(path):
        if language == "sh":
            for line in text.replace("\\\n", " ").splitlines():
                for part in line.split("&&"):
                    if "$" not in part:
                        yield shlex.split(part, comments=True)


def anchors(path: Path) -> set[str]:
    """Return what links to the page may name, as the repository's host makes it of headings."""
    titles = re.findall(r"^#+ (.+)$", _ANY_FENCE.sub("", text_of(path)), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles}


def links(path: Path) -> list[str]:
    return re.findall(r"\]\(([^)\s]+)\)", _ANY_FENCE.sub("", text_of(path)))
