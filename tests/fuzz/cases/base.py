"""A case of hostile input: files, a command and its right end; and the list of all cases."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

BALL = "[[spheres]]\ncenters = [[0, 0, 0], [3, 0, 0]]\nradius = 1.0\n"
SMALL = ("--width", "16", "--height", "12", "--samples", "1", "--backend", "cpu")
POINTS = np.array([[0.0, 0.0, 0.0], [3.0, 0.0, 0.0], [0.0, 3.0, 0.0]])
MARKER = "\x1b]0;owned\x07"

Content = bytes | str | Callable[[Path], None]


@dataclass(frozen=True)
class Case:
    """Files, a command and its right end.

    Args:
        files: content by name, or a function that makes it at its path.
        command: words of the command line.
        code: right exit code.
        says: what both streams together must hold.
        stdin: of standard input.
        env: variables.
        makes: files that are there afterwards.
    """

    files: dict[str, Content]
    command: tuple[str, ...]
    code: int = 2
    says: str = ""
    stdin: bytes = b""
    env: dict[str, str] = field(default_factory=dict)
    makes: tuple[str, ...] = ()


CASES: dict[str, Case] = {}


def case(name: str, files: dict[str, Content], *command: str, code: int = 2, **rest: Any) -> None:
    """Add a case to the list; its name stands there once."""
    assert name not in CASES, name
    CASES[name] = Case(files, command, code, **rest)


def check(
    name: str, file: str, content: Content, code: int = 2, says: str = "", **more: Any
) -> None:
    """A file that `scene check` reads."""
    case(
        name,
        {file: content} | more.pop("files", {}),
        "scene",
        "check",
        file,
        code=code,
        says=says,
        **more,
    )
