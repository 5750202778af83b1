"""Paths of the files that actions write."""

from __future__ import annotations

import os
import re
from itertools import count
from pathlib import Path


class Outputs:
    """New files with the user's rights, for windows and notebooks."""

    def path(self, folder: Path, stem: str, suffix: str) -> Path:
        """Return the first new one of FOLDER/STEM-1SUFFIX, FOLDER/STEM-2SUFFIX, ..."""
        names = (folder / f"{without_wildcards(stem)}-{number}{suffix}" for number in count(1))
        return next(each for each in names if not os.path.lexists(each))

    def name(self, path: Path) -> str:
        return str(path)

    def finished(self, path: Path) -> str:
        """Note that a file is complete; return a sentence for the user."""
        return f"saved {path}"


def without_wildcards(stem: str) -> str:
    """Replace wildcards and slashes in a file name."""
    return re.sub(r"[*?%#/]", "_", stem)
