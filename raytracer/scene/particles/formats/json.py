"""Tables in JSON (.json, .jsonl), as pandas and other packages write them, or as Python prints."""

from __future__ import annotations

import ast
import json
from typing import Any

from numpy.typing import NDArray

from raytracer.memory import require_room
from raytracer.scene.particles.nested import NestedSource

MEMORY = 40  # bytes of memory per byte of the file while it is parsed


class Source(NestedSource):
    def read(self) -> dict[str, NDArray[Any]]:
        require_room(self.name, MEMORY * self.file.size)
        text = self.file.read(self.file.size).decode("utf-8-sig")
        return self.found(_parsed(text))


def _parsed(text: str) -> Any:
    """Return the value of a text, or the list of those of its lines."""
    try:
        return json.loads(text)
    except json.JSONDecodeError as problem:
        if text.lstrip()[:1] == "{" and text.lstrip()[1:].lstrip()[:1] == "'":
            return ast.literal_eval(text.strip())
        if problem.msg != "Extra data":
            raise
        return [json.loads(line) for line in text.splitlines() if line.strip()]
