"""The help of commands, names of options, and completion, through the command as a process."""

from __future__ import annotations

import os
import pty
import re
import select
import subprocess
import sys
import time
from pathlib import Path

import click
import pytest

from raytracer.cli import program

LINES, COLUMNS = 45, 80
"""A screen on which a help has to fit."""

SCENE = "[[spheres]]\ncenters = [[0, 0, 0]]\n[render]\nwidth = 8\nheight = 6\nsamples = 1\n"


def run(*words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command, in a terminal of 80 columns."""
    return subprocess.run(
        [sys.executable, "-m", "raytracer", *words],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"COLUMNS": str(COLUMNS)} | environment,
    )


def leaves(command: click.Command = program, path: str = "") -> list[tuple[str, click.Command]]:
    """All commands that are no groups, by the words that call them."""
    if not isinstance(command, click.Group):
        return [(path.strip(), command)]
    with click.Context(command) as context:
        return [
            leaf
            for name in command.list_commands(context)
            if (each := command.get_command(context, name))
            for leaf in leaves(each, f"{path} {name}")
        ]


@pytest.mark.parametrize("path", [path for path, _ in leaves()])
def test_a_help_fits_on_a_screen(path: str) -> None:
    lines = run(*path.split(), "--help").stdout.splitlines()
    assert lines[0].startswith(f"Usage: raytracer {path} ")
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("path", ["render", "preview", "animate", "serve", "bench"])
def test_a_long_help_names_the_one_with_all_options(path: str) -> None:
    command = dict(leaves())[path]
    options = [param for param in command.params if isinstance(param, click.Option)]
    short = run(path, "--help").stdout.splitlines()
    assert re.fullmatch(rf"`raytracer {path} --help-all` shows all \d+ options\.", short[-1])
    listed = [line for line in short if re.match(r"  (-o, )?--", line)]
    assert 10 < len(listed) < 20
    assert not [line for line in short if re.match(r"     +\S", line) and "  raytracer" in line]
    whole = run(path, "--help-all").stdout
    missing = [option.opts[0] for option in options if f" {option.opts[0]}" not in whole]
    assert missing == []
    assert len(whole.splitlines()) > len(short) + 15


def test_names_of_options_have_hyphens() -> None:
    flags = {
        flag
        for _, command in leaves()
        for param in command.params
        if isinstance(param, click.Option)
        for flag in (*param.opts, *param.secondary_opts)
    }
    assert {"--no-bond-orders", "--frames-per-second"} < flags
    assert [flag for flag in flags if not re.fullmatch(r"-[a-z]|--[a-z]+(-[a-z]+)*", flag)] == []


def test_underscores_of_earlier_versions_are_understood(tmp_path: Path) -> None:
    scene = tmp_path / "ball.toml"
    scene.write_text(SCENE)
    picture = str(tmp_path / "a.png")
    done = run("render", str(scene), "-q", "-o", picture, "--no_bond_orders", "--max_samples=9")
    assert done.returncode == 0
    assert done.stderr.splitlines() == [
        f"raytracer: warning: {old} is deprecated, for names of options have hyphens: say {new}"
        for old, new in (
            ("--no_bond_orders", "--no-bond-orders"),
            ("--max_samples", "--max-samples"),
        )
    ]
    wrong = run("render", str(scene), "--color_bie", "z")
    assert wrong.stderr == (
        "raytracer: no such option '--color_bie'; did you mean '--color-by'? "
        "(see `raytracer render --help`)\n"
    )


def test_a_mistake_in_a_value_names_the_option(tmp_path: Path) -> None:
    scene = tmp_path / "ball.toml"
    scene.write_text(SCENE)
    for option in ("--filter-radius", "--depth", "--bond-radius", "--meter-range"):
        done = run("render", str(scene), option, "-99")
        assert done.returncode == 2
        assert done.stderr.startswith(f"raytracer: {option}: ")
    (tmp_path / "a.csv").write_text("x,y,z\n1,2,3\n")
    done = run("render", str(tmp_path / "a.csv"), "--color-by", "foo")
    assert "a.csv: --color-by: there is no column 'foo'; known are " in done.stderr
    done = run("render", str(scene), "--output")
    assert done.stderr.endswith("requires an argument (see `raytracer render --help`)\n")


def completed(line: str, shell: str = "zsh") -> list[str]:
    """What the command offers a shell for an unfinished line."""
    words = line.split(" ")
    done = run(
        _RAYTRACER_COMPLETE=f"{shell}_complete", COMP_WORDS=line, COMP_CWORD=str(len(words) - 1)
    )
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_values_commands_and_files_are_offered() -> None:
    assert completed("raytracer re")[:2] == ["plain", "render"]
    assert completed("raytracer scene ch")[1] == "check"
    assert "--color-by" in completed("raytracer render x.csv --color")
    assert "agx" in completed("raytracer render x.csv --tone ")
    assert "ball-and-stick" in completed("raytracer preview x.csv --style ")
    assert {"auto", "file"} < set(completed("raytracer render x.csv --bonds "))
    assert {"auto", "cpu"} < set(completed("raytracer serve --backend "))
    for line in ("render ", "render a.toml -o ", "info ", "tone ", "animate x --topology ",
                 "render x.toml --camera ", "bench --save ", "scene check "):  # fmt: skip
        assert completed(f"raytracer {line}")[0] == "file"
    assert completed("raytracer nonsense x") == [""]  # and no message among what is typed


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_each_shell_has_its_lines(shell: str) -> None:
    done = run(_RAYTRACER_COMPLETE=f"{shell}_source")
    assert (done.returncode, done.stderr) == (0, "")
    assert "_RAYTRACER_COMPLETE" in done.stdout


def test_bash_completes_as_one_types(tmp_path: Path) -> None:
    """A real bash with a terminal, in which the key Tab is pressed."""
    (tmp_path / "atoms.xyz").touch()
    parent, child = pty.openpty()
    command = Path(sys.executable).with_name("raytracer")
    environment = os.environ | {
        "PATH": f"{command.parent}:{os.environ['PATH']}", "PS1": "$ ", "TERM": "dumb",
        "INPUTRC": os.devnull,
    }  # fmt: skip
    shell = subprocess.Popen(
        ["bash", "--norc", "--noprofile", "-i"],
        stdin=child, stdout=child, stderr=child, cwd=tmp_path, env=environment,
        start_new_session=True,
    )  # fmt: skip
    seen = ""

    def typed(text: str, expected: str) -> None:
        """Type a text, and wait until the terminal shows another one."""
        nonlocal seen
        os.write(parent, text.encode())
        end = time.monotonic() + 60
        while expected not in seen:
            assert time.monotonic() < end, seen
            if select.select([parent], [], [], 1)[0]:
                seen += os.read(parent, 4096).decode()
        seen = ""

    try:
        typed('eval "$(_RAYTRACER_COMPLETE=bash_source raytracer)"; echo rea"dy"\n', "ready")
        typed("raytracer ren\t", "render ")
        typed("at\t", "atoms.xyz ")
        typed("--color-b\t", "--color-by ")
        typed("z --tone ag\t", "agx ")
    finally:
        shell.kill()
        shell.wait()
        os.close(parent)
        os.close(child)
