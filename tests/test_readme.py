"""What the two READMEs say is so: the tree, the commands, the files, the keys, the links."""

from __future__ import annotations

import re
import shlex
import subprocess
import tomllib
from collections.abc import Iterator
from pathlib import Path
from shutil import which
from typing import Any

import click
import pytest

import raytracer
from raytracer import compile_all
from raytracer.cli import program
from raytracer.commands.developing import default_picture
from raytracer.scene import reference
from raytracer.scene.tables import SCENE
from raytracer.viewer.controls import help_rows
from raytracer.viewer.saving import free_name

ROOT = Path(__file__).parents[1]
MAIN = ROOT / "README.md"
KERNELS = ROOT / "kernels" / "README.md"
BOTH = [MAIN, KERNELS]
# What builds, tools and people leave in a checkout; names that start with a dot are left out too.
NOT_OURS = {"build", "dist", "venv", "output", "__pycache__"}
FENCE = re.compile(r"(?:^<!-- ([^\n]*) -->\n)?^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
MARKED = {
    "install-command": "python3 -m venv .venv && .venv/bin/pip install . && "
    ".venv/bin/raytracer render scenes/three_balls.toml\n",
    "test-command": 'python3 -m venv .venv && .venv/bin/pip install -e ".[test]" && '
    ".venv/bin/pytest\n",
}

names = pytest.mark.parametrize("path", BOTH, ids=lambda path: str(path.relative_to(ROOT)))


def blocks(path: Path) -> list[tuple[str, str, str]]:
    """Every code block of a page: the marker before it or "", its language, its text."""
    return FENCE.findall(path.read_text(encoding="utf-8"))


def marked(marker: str) -> str:
    """The block of README.md straight after a marker comment."""
    found = [text for name, _, text in blocks(MAIN) if name == marker]
    assert len(found) == 1, f"README.md has {len(found)} code blocks after <!-- {marker} -->"
    return found[0]


def files() -> dict[str, str]:
    """The files that README.md shows, by name."""
    return {
        name.removeprefix("file: "): text
        for name, _, text in blocks(MAIN)
        if name.startswith("file: ")
    }


def folders(below: Path) -> Iterator[str]:
    """Every folder of ours that holds a file, relative to the root."""
    for path in sorted(below.iterdir()):
        if path.is_dir() and path.name not in NOT_OURS and path.name[0] != ".":
            if any(part.is_file() for part in path.iterdir()):
                yield path.relative_to(ROOT).as_posix()
            yield from folders(path)


def mapped() -> list[str]:
    """The paths of the map of the tree, relative to the root."""
    found: list[str] = []
    above: list[str] = []
    for line in marked("map").splitlines():
        name = line.split()[0]
        depth = (len(line) - len(line.lstrip())) // 2
        above = [*above[:depth], name.rstrip("/")]
        found.append("/".join(above))
        path = ROOT / found[-1]
        assert path.is_dir() if name.endswith("/") else path.is_file(), f"no {found[-1]}"
    return found


def commands(path: Path) -> Iterator[list[str]]:
    """The words of every command in the shell blocks of a page."""
    for _, language, text in blocks(path):
        if language == "sh":
            for line in text.splitlines():
                for part in line.split("&&"):
                    yield shlex.split(part, comments=True)


@pytest.mark.parametrize("marker", MARKED)
def test_command_of_the_start(marker: str) -> None:
    assert marked(marker) == MARKED[marker]


@pytest.mark.skipif(which("git") is None, reason="git is not installed")
def test_what_commands_write_by_default_is_not_tracked(tmp_path: Path) -> None:
    """The first command leaves a checkout as it was, whatever bytes a machine's picture has."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    written = [str(default_picture("scenes/three_balls.toml")), ".venv/pyvenv.cfg", "build/x"]
    written += [str(free_name("three_balls")), "galaxy.npz", "galaxy.exr"]
    ignored = subprocess.run(
        ["git", "check-ignore", *written], cwd=tmp_path, check=False, stdout=subprocess.PIPE
    )
    assert ignored.stdout.decode().split() == written


def test_map_is_the_tree() -> None:
    found = mapped()
    assert len(found) == len(set(found))
    expected = set(folders(ROOT))
    modules = {path.relative_to(ROOT).as_posix() for path in (ROOT / "raytracer").glob("[a-z]*.py")}
    assert expected | modules <= set(found), "add these to the map of README.md"


def test_every_kernel_file_is_described() -> None:
    text = KERNELS.read_text(encoding="utf-8")
    folder = KERNELS.parent
    described = set(re.findall(r"`((?:\w+/)+\w+\.(?:h|cuh|cpp))`", text))
    there = {
        path.relative_to(folder).as_posix()
        for suffix in ("h", "cuh", "cpp")
        for path in folder.rglob(f"*.{suffix}")
    }
    assert described == there


@names
def test_every_command_parses(path: Path) -> None:
    seen = 0
    for words in commands(path):
        if words[0].endswith("raytracer"):
            seen += 1
            command: click.Command = program
            rest = words[1:]
            while isinstance(command, click.Group):
                command = command.commands[rest.pop(0)]
            command.make_context(words[0], rest)
            for word in rest:
                if word.startswith(("scenes/", "renders/")):
                    assert (ROOT / word).is_file(), word
        elif words[1:3] == ["-m", "raytracer.compile_all"]:
            seen += 1
            assert compile_all._parse(words[3:]).arch
    assert seen > 0


def test_files_shown_can_be_rendered(tmp_path: Path) -> None:
    shown = files()
    assert {Path(name).suffix for name in shown} == {".xyz", ".csv", ".toml", ".py"}
    for name, text in shown.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    for name in shown:
        if not name.endswith(".py"):
            image = raytracer.render(
                tmp_path / name, backend="cpu", width=48, height=27, samples=1, threads=1
            )
            assert image.to_uint8().std() > 5.0, name


@pytest.mark.parametrize("name", [name for name in files() if name.endswith(".py")])
def test_python_shown_runs(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = raytracer.render
    asked: list[int] = []

    def smaller(scene: Any, **options: Any) -> raytracer.Image:
        asked.append(options["samples"])
        return real(scene, **options | {"width": 48, "height": 27, "backend": "cpu"})

    monkeypatch.setattr(raytracer, "render", smaller)
    monkeypatch.chdir(tmp_path)
    exec(compile(files()[name], name, "exec"), {"__name__": "__main__"})
    assert asked
    assert list(tmp_path.glob("*.png"))


def test_every_key_of_a_scene_is_listed() -> None:
    section = MAIN.read_text(encoding="utf-8").split("### Every key")[1].split("\n## ")[0]
    rows = [line.split("|")[1] for line in section.splitlines() if line.startswith("| `")]
    listed = [key for row in rows for key in re.findall(r"`([^`]+)`", row)]
    assert len(listed) == len(set(listed))
    assert set(listed) == {row.key for row in reference.rows()}


def test_full_scene_uses_most_tables() -> None:
    said = tomllib.loads(files()["scene.toml"])
    assert set(said) == set(SCENE.keys) - {"$schema"}


def test_every_public_name_is_described() -> None:
    section = MAIN.read_text(encoding="utf-8").split("## Python")[1].split("\n## ")[0]
    described = set(re.findall(r"`(\w+)`", section))
    assert set(raytracer.__all__) - {"__version__"} <= described


def test_every_variable_is_described() -> None:
    source = "".join(p.read_text(encoding="utf-8") for p in (ROOT / "raytracer").rglob("*.py"))
    used = set(re.findall(r"\bRAYTRACER_[A-Z_]+\b", source))
    section = MAIN.read_text(encoding="utf-8").split("## Environment variables")[1]
    described = set(re.findall(r"^\| `(\w+)` \|", section.split("\n## ")[0], re.MULTILINE))
    assert described == used


@names
def test_every_link_leads_somewhere(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    targets = re.findall(r"\]\(([^)\s]+)\)", text)
    assert targets
    for target in targets:
        assert "://" not in target, f"{target}: add a check for links to elsewhere"
        file, _, anchor = target.partition("#")
        page = path.parent / file if file else path
        assert page.exists(), target
        if anchor:
            titles = re.findall(r"^#+ (.+)$", page.read_text(encoding="utf-8"), re.MULTILINE)
            assert anchor in {title.lower().replace(" ", "-") for title in titles}, target


def test_keys_of_the_preview() -> None:
    shown = re.findall(r"^\| (.+?) \| (.+?) \|$", MAIN.read_text(encoding="utf-8"), re.MULTILINE)
    assert [row for row in shown if row in help_rows()] == help_rows()
