"""Commands, in this process and in one of their own: what they print, and how they end."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from raytracer.benchmark.benchmark import parse_axes, validated
from raytracer.benchmark.run import selected
from raytracer.commands.cli import main, program

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


def accept(words: list[str], complete: bool = True) -> None:
    """Parse a command line, and that of the bench down to names of variants; nothing is run.

    complete: whether no argument or value may be missing. Raises click.UsageError and UserError.
    """
    command: click.Command = program
    rest = words[1:]
    while isinstance(command, click.Group) and rest:
        name = rest.pop(0)
        found = command.get_command(click.Context(command), name)
        if found is None:
            raise click.UsageError(f"no such command '{name}'")
        command = found
    if isinstance(command, click.Group):
        return
    try:
        given = command.make_context(words[0], rest).params
    except (click.MissingParameter, click.BadOptionUsage):  # the latter: an option without value
        if complete:
            raise
        return
    if command.name == "bench":
        options = given | {"axes": parse_axes(given["axis"]), "mode": "cold"}
        operations = tuple(name for name in given["ops"] if not name.endswith(".json"))  # records
        for benchmark in selected(operations, "cuda") if operations or not given["ops"] else ():
            benchmark.check(validated(options | {"with_file": None}))


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
