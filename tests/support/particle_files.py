"""Particle files for tests: writing them, and what reading or rendering says of them."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import load
from raytracer.commands.cli import main
from raytracer.config.errors import UserError
from raytracer.config.warning import collect_warnings


def write(path: Path, content: str | bytes) -> Path:
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def npz(save: Any = np.savez, /, **arrays: Any) -> bytes:
    """Return an archive of arrays, as a function of NumPy saves them."""
    stream = BytesIO()
    save(stream, **arrays)
    return stream.getvalue()


def dump(
    columns: str, rows: list[str], step: int = 0, box: str = "pp pp pp", edge: float = 10,
    what: str = "ATOMS",
) -> str:  # fmt: skip
    """Return a frame of a LAMMPS dump in a cube.

    Args:
        columns: their names.
        rows: the line of each particle.
        step: number of the frame.
        box: kinds of the three edges, as in "pp pp ff".
        edge: of the cube.
        what: "ATOMS", or "ENTRIES" of a local dump.
    """
    count, sides = f"ITEM: NUMBER OF {what}\n{len(rows)}\n", f"0 {edge}\n" * 3
    head = f"ITEM: TIMESTEP\n{step}\n{count}ITEM: BOX BOUNDS {box}\n{sides}"
    return "\n".join([f"{head}ITEM: {what} {columns}", *rows, ""])


def complaint(path: Path) -> str:
    """Load a file as the program does, and describe its last sphere; give the sentence, or ""."""
    try:
        with collect_warnings():
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
