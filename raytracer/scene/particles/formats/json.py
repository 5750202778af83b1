"""Tables in JSON (.json, .jsonl), as pandas and other packages write them, or as Python prints."""

import ast
import json
from typing import Any

from numpy.typing import NDArray

from raytracer.scene.particles.nested import NestedSource


class Source(NestedSource):
    memory = 40

    def read(self) -> dict[str, NDArray[Any]]:
        return self.found(_parsed(self.content().decode("utf-8-sig")))


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
