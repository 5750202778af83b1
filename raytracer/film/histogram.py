"""Plots the luminance of a film and the values of its picture (the extra `plot`)."""

from __future__ import annotations

import io
import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import UserError
from raytracer.files import output
from raytracer.film.film import Pixels
from raytracer.film.statistics import FIRST, LAST, Statistics, edges

LIGHT, MARK = "#2a6fbb", "#444444"
CHANNELS = (("red", "#c8402f"), ("green", "#3c8d40"), ("blue", "#2f62c8"))
MIDDLE_GREY = 0.18
STRIP = 1 << 20  # values that are counted at a time, which needs many times their memory


def check(path: str | Path) -> Path:
    """Check that a histogram can be drawn and written. Raises UserError."""
    if find_spec("matplotlib") is None:
        raise UserError("--histogram needs Matplotlib: pip install 'raytracer[plot]'")
    return output.check_picture(path)


def figure_class() -> Any:
    """Return Matplotlib's `Figure`, imported without the window backend of MPLBACKEND.

    A file needs no window backend, and one that does not exist would raise on import.
    """
    backend = os.environ.pop("MPLBACKEND", None)
    try:
        from matplotlib.figure import Figure
    finally:
        if backend is not None:
            os.environ["MPLBACKEND"] = backend
    return Figure


def draw(
    statistics: Statistics,
    pixels: Pixels,
    path: str | Path,
    batch: output.Batch | None = None,
    counted: NDArray[np.bool_] | None = None,
) -> Path:
    """Plot the film's luminance and the picture's code values; writes a PNG.

    pixels: uint8 or uint16 (h, w, 4) or (N, 4), the developed film.
    batch: rename the file together with others.
    counted: (h, w) or (N,), the pixels that the statistics count; None counts all.
    """
    figure = figure_class()(figsize=(8, 7), layout="constrained")
    before, after = figure.subplots(2, 1)
    _film(before, statistics)
    _picture(after, pixels, counted)
    buffer = io.BytesIO()
    figure.savefig(buffer, format="png", dpi=120)
    return output.write(path, buffer.getvalue(), batch)


def density(statistics: Statistics) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return edges in stops, (249,), and percent of covered pixels per eighth of a stop, (248,)."""
    stops = np.log2(edges().astype(np.float64))
    counts = np.array(statistics.bins[FIRST:LAST], np.float64)
    return stops, 100.0 * counts / max(statistics.covered, 1) / np.diff(stops) / 8.0


def _film(axis: Any, statistics: Statistics) -> None:
    stops, share = density(statistics)
    axis.stairs(share, stops, fill=True, color=LIGHT, alpha=0.85)
    there = np.flatnonzero(share)
    low, high = (stops[there[0]], stops[there[-1] + 1]) if len(there) else (-8.0, 1.0)
    grey, white = np.log2(MIDDLE_GREY) - statistics.exposure, -statistics.exposure
    axis.set_xlim(min(low, grey) - 0.5, max(high, white) + 0.5)
    marks = [("middle grey", grey), ("1.0", white)]
    if statistics.key > 0:
        marks.append(("key", float(np.log2(statistics.key))))
    for index, (name, place) in enumerate(marks):
        axis.axvline(place, color=MARK, linewidth=1, linestyle=("--", "-", ":")[index])
        axis.annotate(
            name, (place, 0.97 - 0.08 * index), xycoords=("data", "axes fraction"),
            xytext=(4, 0), textcoords="offset points", va="top", fontsize=8, color=MARK,
        )  # fmt: skip
    dark = 100.0 * statistics.dark / max(statistics.covered, 1)
    axis.set_title(f"film: {statistics.stops:.1f} stops, {dark:.1f}% without light")
    axis.set_xlabel("log2 of luminance (stops)")
    axis.set_ylabel("% of covered pixels in 1/8 stop")


def _count(pixels: Pixels, counted: NDArray[np.bool_] | None) -> tuple[NDArray[np.int64], int]:
    counts, covered = np.zeros((3, 256), np.int64), 0
    rows = max(STRIP // max(pixels[:1].size, 1), 1)
    for start in range(0, len(pixels), rows):
        strip = pixels[start : start + rows]
        values = strip if strip.dtype == np.uint8 else (strip >> 8).astype(np.uint8)
        shown = counted[start : start + rows] if counted is not None else ...
        codes = values[shown].reshape(-1, 4)
        covered += len(codes)
        for index in range(3):
            counts[index] += np.bincount(codes[:, index], minlength=256)
    return counts, covered


def _picture(axis: Any, pixels: Pixels, counted: NDArray[np.bool_] | None) -> None:
    counts, covered = _count(pixels, counted)
    places = np.arange(257) - 0.5
    for index, (name, color) in enumerate(CHANNELS):
        share = 100.0 * counts[index] / max(covered, 1)
        axis.stairs(share, places, color=color, label=name, linewidth=1.2)
    if covered:
        axis.set_yscale("log")
        axis.set_ylim(bottom=1e-3)
    axis.set_xlim(-4, 259)
    axis.legend(frameon=False, fontsize=8)
    axis.set_title("picture, after exposure and curve")
    axis.set_xlabel("code value (sRGB, 8 bits)")
    axis.set_ylabel("% of covered pixels")
