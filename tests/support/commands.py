"""Commands, in this process and in one of their own: what they print, and how they end."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from raytracer.cli import main

Captured = pytest.CaptureFixture[str]


def python(
    *words: str, code: int = 0, env: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Another Python, which must end with a code; env: variables beside those of this one."""
    done = subprocess.run(
        [sys.executable, *words], env=os.environ | (env or {}), capture_output=True, text=True,
        check=False,
    )  # fmt: skip
    assert done.returncode == code, done.stderr
    return done


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
