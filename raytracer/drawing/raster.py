"""Draws shapes and texts into pixels, with anti-aliasing.

The coverage of a pixel follows from the distance of its centre to the edge, clamped to one pixel;
it is exact for straight edges along rows and columns. Colours are mixed as sRGB values, as programs
do that show a transparent picture on a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from math import ceil, floor, hypot
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.drawing.fonts import Run, font, runs
from raytracer.drawing.fonts import width as text_width
from raytracer.drawing.shapes import HALO, RGB, Cells, Disk, Drawing, Line, Point, Polygon, Text
from raytracer.film.film import Pixels

Mask = NDArray[np.float32]

PIECE = 64  # length in pixels of a piece of a line, whose box is small also for a long line
BLOCK = 1 << 20  # pixels that are composited at a time


class Box(NamedTuple):
    """Pixels x0 <= x < x1, y0 <= y < y1 of the whole picture."""

    x0: int
    y0: int
    x1: int
    y1: int

    @classmethod
    def around(cls, points: Sequence[Point], margin: float) -> Box:
        """Return the pixels within a distance of the bounding box of points."""
        xs, ys = zip(*points, strict=True)
        low, high = (min(xs) - margin, min(ys) - margin), (max(xs) + margin, max(ys) + margin)
        return cls(*map(floor, low), *map(ceil, high))

    def within(self, other: Box) -> Box:
        """Return the intersection with another box; it may be empty."""
        x0, y0 = max(self.x0, other.x0), max(self.y0, other.y0)
        x1, y1 = min(self.x1, other.x1), min(self.y1, other.y1)
        return Box(x0, y0, max(x1, x0), max(y1, y0))

    @property
    def empty(self) -> bool:
        return self.x1 <= self.x0 or self.y1 <= self.y0

    def part_of(self, array: NDArray[Any], frame: Box) -> NDArray[Any]:
        """Return the part of an array whose first two axes are the pixels of a frame."""
        return array[
            self.y0 - frame.y0 : self.y1 - frame.y0, self.x0 - frame.x0 : self.x1 - frame.x0
        ]

    def centers(self) -> tuple[Mask, Mask]:
        """Return x (1, w) and y (h, 1) of the centres of pixels."""
        x, y = (np.arange(*ends, dtype=np.float32) for ends in (self[::2], self[1::2]))
        return x[None, :] + np.float32(0.5), y[:, None] + np.float32(0.5)


def draw(drawing: Drawing, pixels: Pixels, place: tuple[int, int] = (0, 0)) -> None:
    """Draw over a picture, uint8 or uint16 (h, w, 4), in place; place: of its first pixel."""
    height, width = pixels.shape[:2]
    frame = Box(*place, place[0] + width, place[1] + height)
    for shape in drawing.shapes:
        if isinstance(shape, Cells):
            _fill(shape, pixels, frame)
        elif isinstance(shape, Text):
            _draw_text(shape, pixels, frame)
        else:
            if isinstance(shape, Disk):
                whole = Box.around([shape.center], 1.0 + shape.radius)
            else:
                half = shape.width / 2.0 if isinstance(shape, Line) else 0.0
                whole = Box.around(shape.points, 1.0 + half)
            box = whole.within(frame)
            if not box.empty:
                mix(box.part_of(pixels, frame), _coverage(shape, box), shape.color)


def mix(pixels: Pixels, coverage: Mask, color: RGB) -> None:
    """Blend a colour, sRGB in 0..1, over pixels (h, w, 4) by its coverage, float32 (h, w), in
    place."""
    rows_of_block = max(BLOCK // max(pixels.shape[1], 1), 1)
    most = np.float32(np.iinfo(pixels.dtype).max)
    for start in range(0, len(pixels), rows_of_block):
        block = pixels[start : start + rows_of_block]
        rows, columns = np.nonzero(coverage[start : start + rows_of_block])
        over = coverage[start + rows, columns].astype(np.float32)[:, None]
        under = block[rows, columns].astype(np.float32)
        below = under[:, 3:] / most * (1.0 - over)
        alpha = over + below
        mixed = (np.array(color, np.float32) * most * over + under[:, :3] * below) / alpha
        result = np.concatenate([mixed, alpha * most], axis=1)
        block[rows, columns] = np.rint(result).astype(pixels.dtype)


def _fill(cells: Cells, pixels: Pixels, frame: Box) -> None:
    height, width = cells.colors.shape[:2]
    whole = Box(cells.x, cells.y, cells.x + width, cells.y + height)
    box = whole.within(frame)
    if not box.empty:
        part = box.part_of(pixels, frame)
        factor = 257 if pixels.dtype == np.uint16 else 1
        part[..., :3] = box.part_of(cells.colors, whole).astype(pixels.dtype) * factor
        part[..., 3] = np.iinfo(pixels.dtype).max


def _coverage(shape: Line | Polygon | Disk, box: Box) -> Mask:
    if isinstance(shape, Line):
        mask = np.zeros((box.y1 - box.y0, box.x1 - box.x0), np.float32)
        for start, end in pairwise(shape.points):
            _add_segment(mask, box, start, end, shape)
        return mask
    x, y = box.centers()
    if isinstance(shape, Disk):
        distance = np.hypot(x - shape.center[0], y - shape.center[1])
        return np.asarray(np.clip(shape.radius + 0.5 - distance, 0.0, 1.0), np.float32)
    edges = list(pairwise([*shape.points, shape.points[0]]))
    turn = sum(ax * by - bx * ay for (ax, ay), (bx, by) in edges)
    inside = np.full((box.y1 - box.y0, box.x1 - box.x0), np.inf, np.float32)
    for (ax, ay), (bx, by) in edges:
        if (length := hypot(bx - ax, by - ay)) > 0.0:
            sign = (1.0 if turn > 0.0 else -1.0) / length
            np.minimum(inside, ((y - ay) * (bx - ax) - (x - ax) * (by - ay)) * sign, out=inside)
    return np.asarray(np.clip(inside + 0.5, 0.0, 1.0))


def _add_segment(mask: Mask, whole: Box, start: Point, end: Point, line: Line) -> None:
    """Add a segment to a mask, in short pieces; where they overlap, the larger coverage counts."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy)
    if length == 0.0:
        return
    ux, uy, half = dx / length, dy / length, line.width / 2.0
    count = ceil(length / PIECE)
    for piece in range(count):
        parts = (piece / count, (piece + 1) / count)
        ends = [(start[0] + dx * part, start[1] + dy * part) for part in parts]
        box = Box.around(ends, half + 1.0).within(whole)
        if box.empty:
            continue
        x, y = box.centers()
        along = (x - start[0]) * ux + (y - start[1]) * uy
        across = np.abs((y - start[1]) * ux - (x - start[0]) * uy)
        if line.square:
            thin = np.clip(half + 0.5 - across, 0.0, min(line.width, 1.0))
            cover = thin * np.clip(0.5 + np.minimum(along, length - along), 0.0, 1.0)
        else:
            beyond = np.maximum(np.maximum(-along, along - length), 0.0)
            cover = np.clip(half + 0.5 - np.hypot(across, beyond), 0.0, min(line.width, 1.0))
        part = box.part_of(mask, whole)
        np.maximum(part, cover, out=part)


def _draw_text(text: Text, pixels: Pixels, frame: Box) -> None:
    laid = runs(text.text, text.size)
    if not laid:
        return
    width, pad = text_width(text.text, text.size), ceil(text.size)
    start, raised = text.x - text.anchor * width, ceil(0.2 * text.size)
    x0, y0 = floor(start) - pad, floor(text.y) - pad - raised
    size = ceil(width) + 2 * pad, 2 * pad + ceil(0.5 * text.size)
    box = Box(x0, y0, x0 + size[0], y0 + size[1])
    inner = box.within(frame)
    if inner.empty:
        return
    at = pad + start - floor(start), pad + text.y - floor(text.y) + raised
    rim = max(round(HALO * text.size), 1)
    for stroke, color in ((rim, text.halo), (0, text.color)):
        if color is not None:
            mask = _letters(laid, text.size, size, at, stroke)
            mix(inner.part_of(pixels, frame), inner.part_of(mask, box), color)


def _letters(
    laid: list[Run], size: float, shape: tuple[int, int], at: tuple[float, float], stroke: int
) -> Mask:
    """Return the coverage of a line of text with a rim of `stroke` pixels; `at`: start."""
    from PIL import Image, ImageDraw

    canvas = Image.new("L", shape)
    pen = ImageDraw.Draw(canvas)
    for run in laid:
        place = at[0] + run.x, at[1] - run.rise * size
        pen.text(place, run.text, fill=255, font=font(size * run.scale), anchor="ls",
                 stroke_width=stroke)  # fmt: skip
    return np.asarray(canvas, np.float32) / np.float32(255.0)
