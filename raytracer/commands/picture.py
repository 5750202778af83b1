"""Pictures made from films by commands: default names, checks, files and warnings."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from raytracer import memory
from raytracer.errors import UserError
from raytracer.files.access import STANDARD_INPUT, is_file
from raytracer.files.inputs import input_at
from raytracer.files.output import Batch, OutputSet, check_file
from raytracer.film import film_file
from raytracer.film.film import Film, non_finite_pixels
from raytracer.film.image import Image, is_plain_png
from raytracer.film.png import is_foreign, read_metadata
from raytracer.pipeline import scene_about
from raytracer.resources import peak_memory

OPTIONS = "options"  # metadata key of a picture with a default name: hash of the options


def options_hash(options: Mapping[str, Any]) -> str:
    """Return a hash of options by name, 16 digits; those that are None do not count."""
    kept = {name: value for name, value in options.items() if value is not None}
    text = json.dumps(kept, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def default_picture(
    source: str | Path, frame: int | None = None, scene: Path | None = None, options: str = ""
) -> Path:
    """Return the default path of a picture, NAME.png or NAME_FRAME.png in the current folder.

    The picture of an earlier run with the same scene and options is replaced; if another file has
    the name, the picture is NAME-2.png, NAME-3.png, ...

    Args:
        source: the scene, particle or film file, or the pattern of a series of files.
        frame: of a trajectory.
        scene: path of the scene file; None for a film.
        options: hash of the command's options, see `options_hash`.
    """
    place = stem_of(source) + ("" if frame is None else f"_{frame}")
    return free_path(place, ".png", lambda path: _is_of(path, scene, options))


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


def _is_of(path: Path, scene: Path | None, options: str) -> bool:
    """Whether a file is a picture of a run with these options, and this scene unless None."""
    try:
        if input_at(path) is not None or not is_file(path) or is_foreign(path):
            return False
        about = read_metadata(path, is_input=False)
        if about is None or about.get(OPTIONS) != options:
            return False
        return scene is None or bool(about["scene"]["file"] == scene_about(scene)["file"])
    except (UserError, KeyError, TypeError):  # damaged, or changed by hand
        return False


def check_target(
    target: Path, bits: int, quality: int | None, settings: dict[str, Any] | None = None
) -> Path:
    """Check that a picture can be written to a path, in the format of its ending.

    settings: known properties of the picture, as arguments of `formats.require`.
    """
    if not is_plain_png(target, quality):
        from raytracer.film import formats

        if formats.require(target, bits, quality, **settings or {}) is formats.EXR:
            film_file.check_target(target, False)
    return check_file(target)


def check_histogram(call: SimpleNamespace, outputs: OutputSet) -> None:
    """Check that the histogram of a call can be drawn and written, if it has one."""
    if call.histogram:
        from raytracer.film import histogram

        histogram.check(outputs.writes(call.histogram, "--histogram"))


def write(call: SimpleNamespace, target: Path, image: Image, film: Film | None = None) -> None:
    """Write all files of a call; the film first, because all others can be made from it."""
    with Batch() as batch:
        if film is not None:
            with batch.step():
                film.save(call.film, half=call.half, batch=batch)
        with batch.step():
            image.save(target, call.bits, batch, quality=call.quality)
        if call.legend_file:
            with batch.step():
                image.save_legend(call.legend_file, batch)
        if call.histogram:
            with batch.step():
                _draw_histogram(image, call.bits, call.histogram, batch)


def _draw_histogram(image: Image, bits: int, path: str, batch: Batch) -> None:
    from raytracer.film import histogram

    everything = image.settings.meter == "all" and image.film.backdrop is not None
    covered = None if everything else image.film.sums[..., 3] > 0.0
    histogram.draw(image.statistics, image.developed(bits), path, batch, covered)


def record(image: Image) -> dict[str, Any]:
    return {"tone": asdict(image.settings), "statistics": image.statistics.to_dict()}


def memory_record() -> dict[str, int]:
    return {"peak": peak_memory(), "estimate": memory.largest_estimate()}


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
