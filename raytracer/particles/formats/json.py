"""Tables in JSON (.json, .jsonl), as pandas and other packages write them, or as Python prints."""

import ast
import json
from typing import Any

from numpy.typing import NDArray

from raytracer.config.errors import DataFileError
from raytracer.files.access import load_json
from raytracer.particles.nested import NestedSource


class Source(NestedSource):
    memory = 40

    def read(self) -> dict[str, NDArray[Any]]:
        return self.find_columns(_parse_text(self.content().decode("utf-8-sig"), self.name))


def _parse_text(text: str, source: str) -> Any:
    """Return the value of a text, or the list of those of its lines."""
    try:
        return load_json(text, source)
    except json.JSONDecodeError as problem:
        if text.lstrip()[:1] == "{" and text.lstrip()[1:].lstrip()[:1] == "'":
            return _parse_printed(text.strip(), source)
        if problem.msg != "Extra data":
            raise
        return [load_json(line, source) for line in text.splitlines() if line.strip()]


def _parse_printed(text: str, source: str) -> Any:
    """Return a dictionary as Python prints it."""
    tree = ast.parse(text, mode="eval")
    for each in ast.walk(tree):
        keys = [key.value for key in getattr(each, "keys", ()) if isinstance(key, ast.Constant)]
        if len(set(keys)) < len(keys):
            raise DataFileError(f"{source}: a dictionary has a key twice: keep one of them")
    return ast.literal_eval(tree)
