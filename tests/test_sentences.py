"""The texts of errors have one style, wherever they are raised."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

import raytracer

PACKAGE = Path(raytracer.__file__).parent
# What a text stands for where it is computed: neither a capital nor a full stop.
COMPUTED = "x"
RAISES = ("Error", "wrong", "BadParameter")


def raised(path: Path) -> Iterator[tuple[int, str]]:
    """Line and text of every sentence that a file gives to an exception of ours or of click."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and node.args:
            name = getattr(node.func, "attr", getattr(node.func, "id", ""))
            text = written(node.args[-1])
            if name.endswith(RAISES) and text is not None:
                yield node.lineno, text


def written(node: ast.expr) -> str | None:
    """A text as it stands in the source, with COMPUTED for what is not known before it runs."""
    if isinstance(node, ast.JoinedStr):
        parts = [v.value if isinstance(v, ast.Constant) else COMPUTED for v in node.values]
        return "".join(str(part) for part in parts)
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


SENTENCES = [
    pytest.param(text, id=f"{path.relative_to(PACKAGE)}:{line}")
    for path in sorted(PACKAGE.rglob("*.py"))
    for line, text in raised(path)
]
# Names that are written with capitals.
NAMES = ("CUDA", "NVIDIA", "PyCUDA", "PNG")


@pytest.mark.parametrize("text", SENTENCES)
def test_a_sentence_starts_small_and_ends_without_a_full_stop(text: str) -> None:
    first = text.split()[0]
    assert first.startswith(NAMES) or first.isupper() or not first[0].isupper(), text
    assert not text.endswith((".", "!", ":", ";", " ")), text
    assert "\n" not in text


def test_there_are_sentences() -> None:
    assert len(SENTENCES) > 100
