"""Where actions write files: the only place that gives them a path."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path


class Outputs:
    """New files with all rights of the user, as in a window or in a cell of a notebook."""

    def path(self, folder: Path, stem: str, suffix: str) -> Path:
        """Return the path of a file that an action is about to write."""
        return next(each for each in numbered(folder, stem, suffix) if not os.path.lexists(each))

    def name(self, path: Path) -> str:
        """Return what messages call a file."""
        return str(path)

    def refusal(self) -> str:
        """Return why no more may be written, or ""."""
        return ""

    def finished(self, path: Path) -> str:
        """Note that a file is complete; returns a sentence for the user."""
        return f"saved {path}"

    def dropped(self, path: Path) -> None:
        """Note that a file is of no use any more; one of the user stays."""


def numbered(folder: Path, stem: str, suffix: str) -> Iterator[Path]:
    """Return FOLDER/STEM-1SUFFIX, FOLDER/STEM-2SUFFIX, ..."""
    return (folder / f"{without_wildcards(stem)}-{number}{suffix}" for number in count(1))


def without_wildcards(stem: str) -> str:
    """Return a name that stands for one file and no pattern."""
    return re.sub(r"[*?%#/]", "_", stem)
