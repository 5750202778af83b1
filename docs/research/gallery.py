"""The gallery of the documentation: scripts that write data, and commands that make its pictures.

`python docs/research/gallery.py [NAME ...]` makes its pictures again.
"""

from __future__ import annotations

import os
import runpy
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))

from support.pages import DOCS, commands

FOLDER = DOCS / "gallery"
SIZE = (1600, 960)
SAMPLES = 64
NAMES = sorted(path.stem for path in FOLDER.glob("*.py"))


def command(name: str) -> list[str]:
    """Return the arguments of the command that makes a picture, without its output."""
    pages = sorted((DOCS / "communities").glob("*.md"))
    known = [words for page in pages for words in commands(page)]
    found = [words[1:-2] for words in known if words[-2:] == ["-o", f"{name}.png"]]
    assert len(found) == 1, f"{len(found)} commands make {name}.png"
    return found[0]


@contextmanager
def working_in(folder: Path) -> Iterator[None]:
    """Work in a folder for the time of the block."""
    before = Path.cwd()
    os.chdir(folder)
    try:
        yield
    finally:
        os.chdir(before)


def make(name: str, target: Path, samples: int = SAMPLES, *further: str) -> None:
    """Write a picture of the gallery.

    Args:
        name: of the script.
        target: the PNG.
        samples: per pixel.
        *further: arguments of the command.
    """
    from raytracer.commands.cli import main

    size = f"{SIZE[0]}x{SIZE[1]}"
    options = ["--size", size, "--samples", str(samples), "--backend", "cpu", *further]
    with tempfile.TemporaryDirectory() as folder, working_in(Path(folder)):
        runpy.run_path(str(FOLDER / f"{name}.py"))
        assert main([*command(name), *options, "--quiet", "-o", str(target)]) == 0


if __name__ == "__main__":
    for each in sys.argv[1:] or NAMES:
        make(each, FOLDER / f"{each}.png")
