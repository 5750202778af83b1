"""What README.md says is so: its two commands, its length."""

from __future__ import annotations

import subprocess
from pathlib import Path
from shutil import which

import pytest

from raytracer.commands.picture import default_picture
from raytracer.viewer.keep import new_path
from support.pages import ROOT, text_of

MARKED = {
    "install-command": "python3 -m venv .venv && .venv/bin/pip install . && "
    ".venv/bin/raytracer render scenes/three_balls.toml\n",
    "test-command": 'python3 -m venv .venv && .venv/bin/pip install -e ".[test]" && '
    ".venv/bin/pytest -n 2 --dist worksteal\n",
}


@pytest.mark.parametrize("page", ["index.md", "guide/first_picture.md"])
def test_pages_begin_with_the_same_command(page: str) -> None:
    first = text_of(ROOT / "docs" / page).partition("```sh\n")[2].partition("```")[0]
    assert first == MARKED["install-command"]


@pytest.mark.skipif(which("git") is None, reason="git is not installed")
def test_what_commands_write_by_default_is_not_tracked(tmp_path: Path) -> None:
    """The first command leaves a checkout as it was, whatever bytes a machine's picture has."""
    subprocess.run(["git", "init", "--quiet"], cwd=tmp_path, check=True)
    (tmp_path / ".gitignore").write_bytes((ROOT / ".gitignore").read_bytes())
    written = [str(default_picture("scenes/three_balls.toml")), ".venv/pyvenv.cfg", "build/x"]
    written += [str(new_path("three_balls")), "galaxy.npz", "galaxy.exr"]
    ignored = subprocess.run(
        ["git", "check-ignore", *written], cwd=tmp_path, check=False, stdout=subprocess.PIPE
    )
    assert ignored.stdout.decode().split() == written
