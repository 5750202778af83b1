"""What commands say and draw about a film and its picture."""

from __future__ import annotations

import sys
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Any

from raytracer.errors import OutputError, escaped
from raytracer.files.access import STANDARD_INPUT, is_file
from raytracer.film.png import is_foreign
from raytracer.film.tone import non_finite_pixels

if TYPE_CHECKING:
    from raytracer.files.output import Batch
    from raytracer.film.film import Film
    from raytracer.film.image import Image
    from raytracer.film.tone_settings import ToneSettings


def default_picture(source: str | Path) -> Path:
    """Where the picture of a scene or a film goes by default: NAME.png in the current folder.

    source: the scene, particle or film file.
    Raises OutputError for a picture of another program, which only `-o` may replace.
    """
    stem = "stdin" if Path(source) == STANDARD_INPUT else Path(source).stem
    path = Path(f"{stem}.png")
    if is_file(path) and is_foreign(path):
        raise OutputError(
            f"{path}: exists and was not made by raytracer: give another name, or this one to "
            "replace it, with -o FILE.png"
        )
    return path


def record(image: Image) -> dict[str, Any]:
    """Settings and statistics as JSON types, for scripts."""
    return {"tone": asdict(image.settings), "statistics": image.statistics.to_dict()}


def warn_of_non_finite(film: Film, quiet: bool) -> None:
    """Say on standard error how many pixels are not finite, and where the first is."""
    found = None if quiet else non_finite_pixels(film)
    if found:
        count, (x, y) = found
        print(
            f"raytracer: {count:,} pixels hold a NaN or an infinity, the first of them {x},{y}: "
            f"they are left out of the statistics; replay it with --only {x},{y},SAMPLE",
            file=sys.stderr,
        )


def warn_of_metering(name: str, film: Film, settings: ToneSettings, quiet: bool) -> None:
    """Say on standard error if the meter cannot tell what was hit from the background."""
    if film.is_of_old_format and settings.automatic and settings.meter == "covered" and not quiet:
        print(
            f"raytracer: {escaped(name)}: was saved by an earlier version, which did not record "
            "what was hit: the background is metered too; render it anew, or give --exposure STOPS",
            file=sys.stderr,
        )


def draw_histogram(image: Image, bits: int, path: str, batch: Batch | None = None) -> Path:
    """The distribution before and after the curve."""
    from raytracer.film import histogram

    everything = image.settings.meter == "all" and image.film.backdrop is not None
    counted = None if everything else image.film.sums[..., 3] > 0.0
    return histogram.draw(image.statistics, image.codes(bits), path, batch, counted)
