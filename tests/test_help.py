"""The help of commands, names of options, and completion."""

import re
import shlex
from pathlib import Path

import click
import pytest

from raytracer.commands.cli import main, program
from support.commands import accept

LINES, COLUMNS = 50, 80
"""A screen on which a help has to fit."""

SCENE = "[[spheres]]\ncenters = [[0, 0, 0]]\n[render]\nwidth = 8\nheight = 6\nsamples = 1\n"
Captured = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A terminal of 80 columns, and a current folder with a scene."""
    monkeypatch.setenv("COLUMNS", str(COLUMNS))
    monkeypatch.chdir(tmp_path)
    Path("ball.toml").write_text(SCENE)


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
def test_a_help_fits_on_a_screen(path: str, capsys: Captured) -> None:
    assert main([*path.split(), "--help"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"Usage: raytracer {path} ")
    assert len(lines) <= LINES
    assert max(map(len, lines)) <= COLUMNS


@pytest.mark.parametrize("path", [path for path, _ in leaves()])
def test_examples_of_a_help_are_accepted(path: str, capsys: Captured) -> None:
    flags = [flag for param in dict(leaves())[path].params for flag in param.opts]
    assert main([*path.split(), "--help-all" if "--help-all" in flags else "--help"]) == 0
    found = re.findall(r"^ +(raytracer .*)$", capsys.readouterr().out, re.MULTILINE)
    examples = [re.split(r" {2,}", line.strip())[0].partition(" > ")[0] for line in found]
    for example in examples:
        accept(shlex.split(example))


@pytest.mark.parametrize("path", ["render", "preview", "animate", "serve", "bench"])
def test_a_long_help_names_the_one_with_all_options(path: str, capsys: Captured) -> None:
    main([path, "--help"])
    short = capsys.readouterr().out.splitlines()
    assert re.fullmatch(rf"`raytracer {path} --help-all` shows all \d+ options\.", short[-1])
    assert 10 < len([line for line in short if re.match(r"  (-o, )?--", line)]) < 20
    main([path, "--help-all"])
    whole = capsys.readouterr().out
    options = [each for each in dict(leaves())[path].params if isinstance(each, click.Option)]
    assert [option.opts[0] for option in options if f" {option.opts[0]}" not in whole] == []


def test_names_of_options_have_hyphens(capsys: Captured) -> None:
    flags = {
        flag
        for _, command in leaves()
        for param in command.params
        if isinstance(param, click.Option)
        for flag in (*param.opts, *param.secondary_opts)
    }
    assert [flag for flag in flags if not re.fullmatch(r"-[a-z]|--[a-z]+(-[a-z]+)*", flag)] == []
    for word in ("--max_samples", "--max-sample"):
        assert main(["render", "ball.toml", word, "9"]) == 2
        assert "did you mean '--max-samples'?" in capsys.readouterr().err


def test_a_mistake_in_a_value_names_the_option(capsys: Captured) -> None:
    for option in ("--filter-radius", "--depth", "--bond-radius", "--meter-range"):
        assert main(["render", "ball.toml", option, "-99"]) == 2
        assert capsys.readouterr().err.startswith(f"raytracer: {option}: ")


def test_a_file_with_the_name_of_an_option_stays_a_file(capsys: Captured) -> None:
    assert main(["render", "radius", "--radius", "2"]) == 2
    assert capsys.readouterr().err.startswith("raytracer: radius: ")
    Path("a.csv").write_text("x,y,z\n1,2,3\n")
    assert main(["render", "a.csv", "--color-by", "radius", "--radius", "-1"]) == 2
    assert "--radius: " in capsys.readouterr().err


def test_a_key_of_a_scene_file_stays_a_key(capsys: Captured) -> None:
    Path("a.csv").write_text("x,y,z\n1,2,3\n")
    Path("w.toml").write_text('[arrows]\nvector = "w"\n[[spheres]]\nfile = "a.csv"\n')
    assert main(["render", "w.toml", "--samples", "1", "--arrows", "scale=2"]) == 2
    assert "w.toml: arrows.vector: " in capsys.readouterr().err


def completed(line: str, capsys: Captured) -> list[str]:
    """What the command offers a shell for an unfinished line."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("_RAYTRACER_COMPLETE", "zsh_complete")
        patch.setenv("COMP_WORDS", line)
        patch.setenv("COMP_CWORD", str(len(line.split(" ")) - 1))
        with pytest.raises(SystemExit):
            main([])
    done = capsys.readouterr()
    assert done.err == ""
    return done.out.splitlines()


def test_values_commands_and_files_are_offered(capsys: Captured) -> None:
    for line, offered in [
        ("re", "render"), ("scene ch", "check"), ("render x.csv --color", "--color-by"),
        ("render x.csv --tone ", "agx"), ("preview x.csv --style ", "ball-and-stick"),
        ("render x.csv --bonds ", "auto"), ("serve --backend ", "cpu"), ("nonsense x", ""),
        *((line, "file") for line in ("render ", "render a.toml -o ", "info ", "tone ",
          "animate x --topology ", "render x.toml --camera ", "bench --save ", "scene check ")),
    ]:  # fmt: skip
        assert offered in completed(f"raytracer {line}", capsys), line


@pytest.mark.parametrize(
    ("option", "default"),
    [("--samples", "16, or 32 for particles"), ("--ao-samples", "1, or 4 for particles"),
     ("--look", "plain, or soft for particles"), ("--depth", "4")],
)  # fmt: skip
def test_defaults_of_particle_files_are_told(option: str, default: str, capsys: Captured) -> None:
    main(["render", "--help-all"])
    lines = capsys.readouterr().out.partition("Options:")[2]
    (entry,) = re.findall(rf"^  {option}[, ].*\n(?:   .*\n)*", lines, re.MULTILINE)
    found = re.search(r"the scene's, or ([^\]]+)\]", " ".join(entry.split()))
    assert found is not None
    assert found[1] == default
