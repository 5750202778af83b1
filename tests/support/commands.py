"""Commands in this process: the JSON that they print, and the sentence of a mistake."""

import json
from pathlib import Path
from typing import Any

import pytest

from raytracer.cli import main

Captured = pytest.CaptureFixture[str]


def run_json(capsys: Captured, *words: str) -> Any:
    """The JSON that a command prints; nothing else may be on standard output."""
    assert main([*words, "--json"]) == 0
    return json.loads(capsys.readouterr().out)


def error_of(capsys: Captured, *words: str) -> str:
    """The one sentence of a user's mistake, after which no file is there that was not."""
    before = sorted(Path().rglob("*"))
    assert main(list(words)) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.startswith("raytracer: ")
    assert captured.err.count("\n") == 1
    assert sorted(Path().rglob("*")) == before
    return captured.err
