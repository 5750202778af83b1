"""Names of the pictures that commands make."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from raytracer.config.errors import UserError
from raytracer.files.access import STANDARD_INPUT, is_file
from raytracer.files.inputs import find_input

if TYPE_CHECKING:
    from types import SimpleNamespace

    from raytracer.film.image import Image

STANDARD_OUTPUT = Path("-")  # as an output: the picture as PNG, and messages on standard error
HEAD = 1 << 14  # bytes at the start of a picture in which its metadata name the scene


def default_picture(source: str | Path, frame: int | None = None, scene: str = "") -> Path:
    """Return the default path of a picture, NAME.png or NAME_FRAME.png in the current folder.

    An earlier picture of `scene`, a file as metadata name it, is replaced; if another file has the
    name, the picture is NAME-2.png, NAME-3.png, ...
    """
    place = make_stem(source) + ("" if frame is None else f"_{frame}")
    return free_path(place, ".png", lambda path: _was_made_of(path, scene))


def free_path(place: str, suffix: str, replaces: Callable[[Path], bool] = lambda _: False) -> Path:
    """Return NAME.png; or NAME-2.png, ... if that file exists and is not to be replaced."""
    copy, path = 1, Path(f"{place}{suffix}")
    while os.path.lexists(path) and not replaces(path):
        copy += 1
        path = Path(f"{place}-{copy}{suffix}")
    return path


def make_stem(source: str | Path) -> str:
    """Return the name of an input without ending and without the wildcards of a series."""
    stem = "stdin" if Path(source) == STANDARD_INPUT else Path(source).stem
    if not is_file(source):  # it is the pattern of a series
        for wild in "%*?[":
            stem = stem.partition(wild)[0]
        stem = stem.rstrip("_-.") or "frames"
    return stem


def _was_made_of(path: Path, scene: str) -> bool:
    """Return whether a picture was made of a scene, by the start of its metadata."""
    made_of = f'"file": "{scene}"' if scene else '"scene": {"path": null'
    try:
        if find_input(path) is not None or not is_file(path):
            return False
        with path.open("rb") as file:
            return made_of.encode(errors="replace") in file.read(HEAD)
    except OSError:
        return False


def check_target(
    target: Path, call: SimpleNamespace, is_clear: bool = False, side: int = 0
) -> None:
    """Check that a picture can be written with the options `bits` and `quality` of a call; others
    and errors as for `formats.check_target`."""
    from raytracer.film import formats

    options = call.bits, call.quality
    if target != STANDARD_OUTPUT:
        formats.check_target(target, *options, transparent=is_clear, side=side)
        return
    formats.check_format("standard output", formats.PNG, *options, transparent=is_clear, side=side)
    if call.as_json:
        raise UserError("--json and `-o -` both write to standard output: give -o a file")
    if sys.stdout.isatty():
        raise UserError(
            "standard output is a terminal: redirect it, as in `raytracer ... -o - > a.png`, or "
            "give -o a file"
        )


def save_picture(image: Image, target: Path, call: SimpleNamespace) -> None:
    """Write a picture to a file, or as PNG to standard output."""
    file = sys.stdout.buffer if target == STANDARD_OUTPUT else target
    image.save(file, call.bits, quality=call.quality)
