"""Pictures made from films by commands: default names, checks, files and warnings."""

import os
import sys
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from raytracer.errors import OutputError, UserError
from raytracer.files.access import STANDARD_INPUT, is_file
from raytracer.files.inputs import input_at
from raytracer.files.output import check_file
from raytracer.film import film_file, formats
from raytracer.film.film import Film, non_finite_pixels
from raytracer.film.image import Image
from raytracer.film.png import read_metadata


def default_picture(source: str | Path, frame: int | None = None, scene: str = "") -> Path:
    """Return the default path of a picture, NAME.png or NAME_FRAME.png in the current folder.

    An earlier picture of the same scene is replaced; if another file has the name, the picture is
    NAME-2.png, NAME-3.png, ...

    Args:
        source: the scene, particle or film file, or the pattern of a series of files.
        frame: of a trajectory.
        scene: its file, as metadata name it.
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
    try:
        if input_at(path) is not None or not is_file(path):
            return False
        about = read_metadata(path, is_input=False)
        return about is not None and bool(about["scene"].get("file", "") == scene)
    except (UserError, KeyError, TypeError):  # damaged, or changed by hand
        return False


def check_target(
    target: Path, bits: int, quality: int | None, settings: dict[str, Any] | None = None
) -> Path:
    """Check that a picture can be written to a path, in the format of its ending.

    settings: known properties of the picture, as arguments of `formats.require`.
    """
    if formats.require(target, bits, quality, **settings or {}) is formats.EXR:
        film_file.check_target(target)
    return check_file(target)


def write(call: SimpleNamespace, target: Path, image: Image, film: Film | None = None) -> None:
    """Write the film of a call first, since the picture can be made from it, and then the picture,
    also where the film cannot be written."""
    try:
        if film is not None:
            film.save(call.film)
    except OutputError:
        image.save(target, call.bits, quality=call.quality)
        raise
    image.save(target, call.bits, quality=call.quality)


def record(image: Image) -> dict[str, Any]:
    return {"tone": asdict(image.settings), "statistics": image.statistics.to_dict()}


def warn_of_non_finite(image: Image, quiet: bool) -> None:
    """Print how many pixels are not finite, and the first of them, on standard error."""
    if quiet or not image.statistics.non_finite:
        return
    if pixels := non_finite_pixels(image.film):
        count, (x, y) = pixels
        print(
            f"raytracer: {count:,} pixels are NaN or infinite, the first of them {x},{y}; "
            f"statistics leave them out: replay it with --only {x},{y},SAMPLE",
            file=sys.stderr,
        )
