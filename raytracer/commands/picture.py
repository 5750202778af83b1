"""The picture that a command makes from a film: its default name, record, histogram, warnings."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import OutputError, escaped
from raytracer.files.access import STANDARD_INPUT, is_file
from raytracer.film.film import non_finite_pixels
from raytracer.film.png import is_foreign

if TYPE_CHECKING:
    from raytracer.files.output import Batch
    from raytracer.film.film import Film
    from raytracer.film.image import Image
    from raytracer.film.tone_settings import ToneSettings


def default_picture(source: str | Path, frame: int | None = None) -> Path:
    """Return the default path of a picture: NAME.png, or NAME_FRAME.png, in the current folder.

    Args:
        source: the scene, particle or film file, or the pattern of a series of files.
        frame: of a trajectory.

    Raises:
        OutputError: there is a picture of another program, which only `-o` may replace.
    """
    stem = stem_of(source)
    number = "" if frame is None else f"_{frame}"
    path = Path(f"{stem}{number}.png")
    if is_file(path) and is_foreign(path):
        raise OutputError(
            f"{path}: exists and was not made by raytracer: give another name, or this one to "
            "replace it, with -o FILE.png"
        )
    return path


def stem_of(source: str | Path) -> str:
    """Return the name of an input without its ending, and without the wildcards of a series."""
    stem = "stdin" if Path(source) == STANDARD_INPUT else Path(source).stem
    if not is_file(source):  # it is the pattern of a series
        for wild in "%*?[":
            stem = stem.partition(wild)[0]
        stem = stem.rstrip("_-.") or "frames"
    return stem


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


def warn_of_metering(name: str, film: Film, settings: ToneSettings, quiet: bool) -> None:
    """Print a warning if the meter cannot tell covered pixels of a film from the background."""
    if film.is_of_old_format and settings.automatic and settings.meter == "covered" and not quiet:
        print(
            f"raytracer: {escaped(name)}: was saved by an earlier version, which did not record "
            "coverage, so the background is metered too: render it again, or give "
            "--exposure STOPS",
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
    return histogram.draw(image.statistics, image.pixels(bits), path, batch, covered)
