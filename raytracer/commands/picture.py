"""Names of the pictures that commands make."""

import os
from collections.abc import Callable
from pathlib import Path

from raytracer.files.access import STANDARD_INPUT, is_file
from raytracer.files.inputs import input_at

HEAD = 1 << 14  # bytes at the start of a picture in which its metadata name the scene


def default_picture(source: str | Path, frame: int | None = None, scene: str = "") -> Path:
    """Return the default path of a picture, NAME.png or NAME_FRAME.png in the current folder.

    An earlier picture of `scene`, a file as metadata name it, is replaced; if another file has the
    name, the picture is NAME-2.png, NAME-3.png, ...
    """
    place = stem_of(source) + ("" if frame is None else f"_{frame}")
    return free_path(place, ".png", lambda path: _is_of(path, scene))


def free_path(place: str, suffix: str, replaces: Callable[[Path], bool] = lambda _: False) -> Path:
    """Return NAME.png; or NAME-2.png, ... if that file exists and is not to be replaced."""
    copy, path = 1, Path(f"{place}{suffix}")
    while os.path.lexists(path) and not replaces(path):
        copy += 1
        path = Path(f"{place}-{copy}{suffix}")
    return path


def stem_of(source: str | Path) -> str:
    """Return the name of an input without ending and without the wildcards of a series."""
    stem = "stdin" if Path(source) == STANDARD_INPUT else Path(source).stem
    if not is_file(source):  # it is the pattern of a series
        for wild in "%*?[":
            stem = stem.partition(wild)[0]
        stem = stem.rstrip("_-.") or "frames"
    return stem


def _is_of(path: Path, scene: str) -> bool:
    """Return whether a picture was made of a scene, by the start of its metadata."""
    made_of = f'"file": "{scene}"' if scene else '"scene": {"path": null'
    try:
        if input_at(path) is not None or not is_file(path):
            return False
        with path.open("rb") as file:
            return made_of.encode(errors="replace") in file.read(HEAD)
    except OSError:
        return False
