"""Particle files for tests: writing them, and what reading or rendering says of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from raytracer import load
from raytracer.cli import main
from raytracer.errors import UserError
from raytracer.warning import collected


def write(path: Path, content: str | bytes) -> Path:
    """Write a text or bytes."""
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def complaint(path: Path) -> str:
    """Load a file as the program does, and describe its last sphere; give the sentence, or ""."""
    try:
        with collected():
            scene = load(path)
        if scene.count:
            scene.describe(scene.count - 1)
    except UserError as error:
        return str(error)
    return ""


def refusal(path: Path, capsys: pytest.CaptureFixture[str]) -> str:
    """Give the sentence with which the command refuses a file, having written nothing."""
    picture = path.parent / "refused.png"
    assert main(["render", str(path), "-o", str(picture)]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert str(path) in said
    assert not picture.exists()
    return said
