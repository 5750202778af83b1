"""Paths of the files that actions write."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path


class Outputs:
    """New files with the user's rights, for windows and notebooks."""

    def path(self, folder: Path, stem: str, suffix: str) -> Path:
        return next(each for each in numbered(folder, stem, suffix) if not os.path.lexists(each))

    def name(self, path: Path) -> str:
        return str(path)

    def refusal(self) -> str:
        """Return why no more files may be written, or ""."""
        return ""

    def finished(self, path: Path) -> str:
        """Note that a file is complete; return a sentence for the user."""
        return f"saved {path}"

    def dropped(self, path: Path) -> None:
        """Note that a file is no longer needed; a user's file stays."""


def numbered(folder: Path, stem: str, suffix: str) -> Iterator[Path]:
    """Yield FOLDER/STEM-1SUFFIX, FOLDER/STEM-2SUFFIX, ..."""
    return (folder / f"{without_wildcards(stem)}-{number}{suffix}" for number in count(1))


def without_wildcards(stem: str) -> str:
    """Replace wildcards and slashes in a file name."""
    return re.sub(r"[*?%#/]", "_", stem)
