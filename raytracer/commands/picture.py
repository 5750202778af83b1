"""The picture that a command makes from a film: its default name, record, histogram, warnings."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import UserError
from raytracer.files.access import STANDARD_INPUT, is_file
from raytracer.files.inputs import input_at
from raytracer.film.film import non_finite_pixels
from raytracer.film.png import is_foreign, read_metadata
from raytracer.pipeline import scene_about

if TYPE_CHECKING:
    from collections.abc import Mapping

    from raytracer.files.output import Batch
    from raytracer.film.film import Film
    from raytracer.film.image import Image


OPTIONS = "options"
"""Key of the metadata of a picture that got its name by itself: a hash of the command's options."""


def options_hash(said: Mapping[str, Any]) -> str:
    """Return a hash of options of a command by name, without those that are None; 16 digits."""
    import hashlib
    import json

    kept = {name: value for name, value in said.items() if value is not None}
    text = json.dumps(kept, sort_keys=True, default=repr)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:16]


def default_picture(
    source: str | Path, frame: int | None = None, scene: Path | None = None, options: str = ""
) -> Path:
    """Return the default path of a picture: NAME.png, or NAME_FRAME.png, in the current folder.

    The picture of an earlier run of the same scene with the same options is replaced. Every other
    file stays, and the name is NAME-2.png, NAME-3.png, ...

    Args:
        source: the scene, particle or film file, or the pattern of a series of files.
        frame: of a trajectory.
        scene: path of the scene file; None for a film, whose picture has its name.
        options: of the command, a hash of `options_hash`.
    """
    stem = stem_of(source)
    number = "" if frame is None else f"_{frame}"
    place, copy = f"{stem}{number}", 1
    while os.path.lexists(path := Path(f"{place}{f'-{copy}' if copy > 1 else ''}.png")):
        if _is_of(path, scene, options):
            break
        copy += 1
    return path


def stem_of(source: str | Path) -> str:
    """Return the name of an input without its ending, and without the wildcards of a series."""
    stem = "stdin" if Path(source) == STANDARD_INPUT else Path(source).stem
    if not is_file(source):  # it is the pattern of a series
        for wild in "%*?[":
            stem = stem.partition(wild)[0]
        stem = stem.rstrip("_-.") or "frames"
    return stem


def _is_of(path: Path, scene: Path | None, options: str) -> bool:
    """Whether a file is a picture of a run with these options, and of the scene; None is any."""
    try:
        if input_at(path) is not None or not is_file(path) or is_foreign(path):
            return False
        about = read_metadata(path, is_input=False)
        if about is None or about.get(OPTIONS) != options:
            return False
        if scene is None:
            return True
        own, known = scene_about(scene), about["scene"]
        return bool(known["file"] == own["file"])
    except (UserError, KeyError, TypeError):  # damaged, or changed by hand
        return False


def check_target(
    target: Path, bits: int, quality: int | None, settings: dict[str, Any] | None = None
) -> Path:
    """Check that a picture can be written to a path, in the format of its ending.

    Args:
        target: the path.
        bits: per channel.
        quality: of formats that lose some; None is the format's default.
        settings: what is known of the picture: arguments of `formats.require`.

    Raises:
        UserError: it cannot be.
    """
    from raytracer.files.output import check_file
    from raytracer.film.image import is_plain_png

    if not is_plain_png(target, quality):
        from raytracer.film import film_file, formats

        if formats.require(target, bits, quality, **settings or {}) is formats.EXR:
            film_file.check_target(target, False)
    return check_file(target)


def record(image: Image) -> dict[str, Any]:
    """Return tone settings and statistics of a picture as JSON types."""
    return {"tone": asdict(image.settings), "statistics": image.statistics.to_dict()}


def warn_of_non_finite(film: Film, quiet: bool) -> None:
    """Print the number of pixels that are not finite, and the first of them, on standard error."""
    pixels = None if quiet else non_finite_pixels(film)
    if pixels:
        count, (x, y) = pixels
        print(
            f"raytracer: {count:,} pixels hold a NaN or an infinity, the first of them {x},{y}: "
            f"they are left out of the statistics; replay it with --only {x},{y},SAMPLE",
            file=sys.stderr,
        )


def draw_histogram(image: Image, bits: int, path: str, batch: Batch | None = None) -> Path:
    """Plot the luminance of a picture before and after the tone curve; returns the path.

    Args:
        image: the picture.
        bits: per channel, 8 or 16.
        path: of the plot, a PNG.
        batch: files to rename together with it.

    Raises:
        UserError: it cannot be drawn or written.
    """
    from raytracer.film import histogram

    everything = image.settings.meter == "all" and image.film.backdrop is not None
    covered = None if everything else image.film.sums[..., 3] > 0.0
    return histogram.draw(image.statistics, image.developed(bits), path, batch, covered)
