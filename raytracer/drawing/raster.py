"""Drawings to pixels: anti-aliased coverage of each shape, composited with the picture.

Coverage of lines, polygons and disks is the distance of a pixel's centre to the edge, clamped to
one pixel, which is exact for straight edges along rows and columns. Colours are mixed as sRGB
numbers, as programs do that show a transparent picture on a page: drawn over a transparent
background and put on white, a picture is the same as drawn over white.
"""

from __future__ import annotations

from itertools import pairwise
from math import ceil, floor, hypot
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.drawing.fonts import Run, font, runs
from raytracer.drawing.fonts import width as text_width
from raytracer.drawing.shapes import HALO, RGB, Cells, Disk, Drawing, Line, Polygon, Text

if TYPE_CHECKING:
    from raytracer.drawing.shapes import Point, Shape
    from raytracer.film.film import Pixels

ASCENT, DESCENT = 0.75, 0.25
"""How far letters reach above and below the baseline, in font sizes."""

PIECE = 64
"""Pixels of a piece of a line: its box is small, also for a line across the whole picture."""

BLOCK = 1 << 20
"""Pixels that are composited at a time."""


class Box(NamedTuple):
    """Pixels x0 <= x < x1, y0 <= y < y1 of the whole picture."""

    x0: int
    y0: int
    x1: int
    y1: int

    def within(self, other: Box) -> Box:
        """Return the part that is in another box too; it may be empty."""
        x0, y0 = max(self.x0, other.x0), max(self.y0, other.y0)
        x1, y1 = min(self.x1, other.x1), min(self.y1, other.y1)
        return Box(x0, y0, max(x1, x0), max(y1, y0))

    @property
    def empty(self) -> bool:
        """Whether it has no pixels."""
        return self.x1 <= self.x0 or self.y1 <= self.y0


def draw(drawing: Drawing, pixels: Pixels, place: tuple[int, int] = (0, 0)) -> None:
    """Draw over a picture, in place.

    Args:
        drawing: in pixels of the whole picture.
        pixels: uint8 or uint16 (h, w, 4), sRGB with straight alpha; changed.
        place: x and y of its first pixel in the whole picture.
    """
    height, width = pixels.shape[:2]
    frame = Box(place[0], place[1], place[0] + width, place[1] + height)
    for shape in drawing.shapes:
        if isinstance(shape, Cells):
            _fill(shape, pixels, frame)
            continue
        for mask, box, color in _masks(shape, frame):
            part = pixels[box.y0 - frame.y0 : box.y1 - frame.y0,
                          box.x0 - frame.x0 : box.x1 - frame.x0]  # fmt: skip
            mix(part, mask, color)


def extent_of(drawing: Drawing, margin: float) -> tuple[int, int, int, int]:
    """Return the pixels x0, y0, x1, y1, half open, that a drawing covers, and a margin."""
    boxes = [_extent(shape, margin) for shape in drawing.shapes] or [Box(0, 0, 1, 1)]
    x0s, y0s, x1s, y1s = zip(*boxes, strict=True)
    return min(x0s), min(y0s), max(x1s), max(y1s)


def _extent(shape: Shape, margin: float) -> Box:
    """Return the pixels that a shape may cover, and a margin."""
    if isinstance(shape, Cells):
        height, width = shape.colors.shape[:2]
        return _around([(shape.x, shape.y), (shape.x + width, shape.y + height)], margin)
    if isinstance(shape, Line):
        return _around(shape.points, margin + shape.width / 2.0)
    if isinstance(shape, Polygon):
        return _around(shape.points, margin)
    if isinstance(shape, Disk):
        return _around([shape.center], margin + shape.radius)
    long, size = text_width(shape.text, shape.size), shape.size
    along, above, below = -shape.anchor * long, ASCENT * size, DESCENT * size
    if shape.upright:
        ends = [(shape.x - above, shape.y - along), (shape.x + below, shape.y - along - long)]
    else:
        ends = [(shape.x + along, shape.y - above), (shape.x + along + long, shape.y + below)]
    return _around(ends, margin)


def mix(pixels: Pixels, coverage: NDArray[np.float32], color: RGB) -> None:
    """Composite a colour over pixels, in place.

    Args:
        pixels: uint8 or uint16 (h, w, 4), sRGB with straight alpha.
        coverage: of the colour, 0..1, float32 (h, w).
        color: sRGB in 0..1.
    """
    rows = max(BLOCK // max(pixels.shape[1], 1), 1)
    for start in range(0, len(pixels), rows):
        _mix_block(pixels[start : start + rows], coverage[start : start + rows], color)


def _mix_block(pixels: Pixels, coverage: NDArray[np.float32], color: RGB) -> None:
    """Composite a colour over the pixels that it covers."""
    rows, columns = np.nonzero(coverage)
    if not len(rows):
        return
    most = np.float32(np.iinfo(pixels.dtype).max)
    over = coverage[rows, columns].astype(np.float32)[:, None]
    under = pixels[rows, columns].astype(np.float32)
    below = under[:, 3:] / most * (1.0 - over)
    alpha = over + below
    mixed = (np.array(color, np.float32) * most * over + under[:, :3] * below) / alpha
    result = np.concatenate([mixed, alpha * most], axis=1)
    pixels[rows, columns] = np.rint(result).astype(pixels.dtype)


def _fill(cells: Cells, pixels: Pixels, frame: Box) -> None:
    """Write whole pixels."""
    height, width = cells.colors.shape[:2]
    box = Box(cells.x, cells.y, cells.x + width, cells.y + height).within(frame)
    if box.empty:
        return
    factor = 257 if pixels.dtype == np.uint16 else 1
    part = pixels[box.y0 - frame.y0 : box.y1 - frame.y0, box.x0 - frame.x0 : box.x1 - frame.x0]
    colors = cells.colors[box.y0 - cells.y : box.y1 - cells.y, box.x0 - cells.x : box.x1 - cells.x]
    part[..., :3] = colors.astype(pixels.dtype) * factor
    part[..., 3] = np.iinfo(pixels.dtype).max


def _masks(
    shape: Line | Polygon | Disk | Text, frame: Box
) -> list[tuple[NDArray[np.float32], Box, RGB]]:
    """Return the coverage of a shape, where it lies and its colour; a text may have a halo too."""
    if isinstance(shape, Text):
        return _text(shape, frame)
    cover = {Line: _line, Polygon: _polygon, Disk: _disk}[type(shape)]
    found = cover(shape, frame)  # type: ignore[operator]
    return [] if found is None else [(*found, shape.color)]


Covered = tuple[NDArray[np.float32], Box] | None


def _around(points: list[Point] | tuple[Point, ...], margin: float) -> Box:
    """Return the pixels within a distance of the box around points."""
    xs, ys = zip(*points, strict=True)
    return Box(
        floor(min(xs) - margin), floor(min(ys) - margin),
        ceil(max(xs) + margin), ceil(max(ys) + margin),
    )  # fmt: skip


def _centers(box: Box) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Return x (1, w) and y (h, 1) of the centres of pixels."""
    x = np.arange(box.x0, box.x1, dtype=np.float32)[None, :] + np.float32(0.5)
    y = np.arange(box.y0, box.y1, dtype=np.float32)[:, None] + np.float32(0.5)
    return x, y


def _line(line: Line, frame: Box) -> Covered:
    """Return the coverage of a line."""
    half = line.width / 2.0
    whole = _around(line.points, half + 1.0).within(frame)
    if whole.empty:
        return None
    mask = np.zeros((whole.y1 - whole.y0, whole.x1 - whole.x0), np.float32)
    for start, end in pairwise(line.points):
        _add_segment(mask, whole, start, end, line)
    return mask, whole


def _add_segment(
    mask: NDArray[np.float32], whole: Box, start: Point, end: Point, line: Line
) -> None:
    """Add a segment to a mask, piece by piece; where they overlap, the larger coverage counts."""
    dx, dy = end[0] - start[0], end[1] - start[1]
    length = hypot(dx, dy)
    if length == 0.0:
        return
    ux, uy, half = dx / length, dy / length, line.width / 2.0
    inside = _inside(start, (dx, dy), whole, half + 1.0)
    if inside is None:
        return
    first, last = inside
    count = max(ceil((last - first) * length / PIECE), 1)
    for piece in range(count):
        parts = (first + (last - first) * t / count for t in (piece, piece + 1))
        ends = [(start[0] + dx * part, start[1] + dy * part) for part in parts]
        box = _around(ends, half + 1.0).within(whole)
        if box.empty:
            continue
        x, y = _centers(box)
        along = (x - start[0]) * ux + (y - start[1]) * uy
        across = np.abs((y - start[1]) * ux - (x - start[0]) * uy)
        beyond = np.maximum(np.maximum(-along, along - length), 0.0)
        if line.square:
            thin = np.clip(half + 0.5 - across, 0.0, min(line.width, 1.0))
            cover = thin * np.clip(0.5 + np.minimum(along, length - along), 0.0, 1.0)
        else:
            cover = np.clip(half + 0.5 - np.hypot(across, beyond), 0.0, min(line.width, 1.0))
        part = mask[box.y0 - whole.y0 : box.y1 - whole.y0, box.x0 - whole.x0 : box.x1 - whole.x0]
        np.maximum(part, cover, out=part)


def _inside(start: Point, along: Point, box: Box, margin: float) -> tuple[float, float] | None:
    """Return which part of a segment is within a distance of a box (Liang and Barsky), or None."""
    first, last = 0.0, 1.0
    for place, step, low, high in zip(start, along, box[:2], box[2:], strict=True):
        if step == 0.0:
            if not low - margin <= place <= high + margin:
                return None
            continue
        enter, leave = sorted(((low - margin - place) / step, (high + margin - place) / step))
        first, last = max(first, enter), min(last, leave)
    return (first, last) if first <= last else None


def _polygon(polygon: Polygon, frame: Box) -> Covered:
    """Return the coverage of a convex polygon."""
    box = _around(polygon.points, 1.0).within(frame)
    if box.empty:
        return None
    points = polygon.points
    turn = sum(a[0] * b[1] - b[0] * a[1] for a, b in pairwise([*points, points[0]]))
    x, y = _centers(box)
    inside = np.full((box.y1 - box.y0, box.x1 - box.x0), np.inf, np.float32)
    for (ax, ay), (bx, by) in pairwise([*points, points[0]]):
        length = hypot(bx - ax, by - ay)
        if length > 0.0:
            sign = (1.0 if turn > 0.0 else -1.0) / length
            np.minimum(inside, ((y - ay) * (bx - ax) - (x - ax) * (by - ay)) * sign, out=inside)
    return np.clip(inside + 0.5, 0.0, 1.0), box


def _disk(disk: Disk, frame: Box) -> Covered:
    """Return the coverage of a disk."""
    box = _around([disk.center], disk.radius + 1.0).within(frame)
    if box.empty:
        return None
    x, y = _centers(box)
    distance = np.hypot(x - disk.center[0], y - disk.center[1])
    return np.clip(disk.radius + 0.5 - distance, 0.0, 1.0).astype(np.float32), box


def _text(text: Text, frame: Box) -> list[tuple[NDArray[np.float32], Box, RGB]]:
    """Return the coverage of a halo, if there is one, and of letters."""
    laid = runs(text.text, text.size)
    if not laid:
        return []
    last = laid[-1]
    width = last.x + font(text.size * last.scale).getlength(last.text)
    pad = ceil(text.size)
    rim = max(round(HALO * text.size), 1) if text.halo is not None else 0
    # Along the text, from its start, and across it, from its baseline, to the picture.
    start = (text.y if text.upright else text.x) + (1 if text.upright else -1) * text.anchor * width
    base = text.x if text.upright else text.y
    size = ceil(width) + 2 * pad, 2 * pad + ceil(0.5 * text.size)
    if text.upright:
        origin = floor(base) - pad - ceil(0.2 * text.size), ceil(start) - size[0] + pad
        shift = ceil(start) - start, base - floor(base) + ceil(0.2 * text.size)
        box = Box(origin[0], origin[1], origin[0] + size[1], origin[1] + size[0])
    else:
        origin = floor(start) - pad, floor(base) - pad - ceil(0.2 * text.size)
        shift = start - floor(start), base - floor(base) + ceil(0.2 * text.size)
        box = Box(origin[0], origin[1], origin[0] + size[0], origin[1] + size[1])
    inner = box.within(frame)
    if inner.empty:
        return []
    masks = []
    for stroke, color in ((rim, text.halo), (0, text.color)):
        if color is None:
            continue
        mask = _letters(laid, text.size, size, (pad + shift[0], pad + shift[1]), stroke)
        mask = np.rot90(mask) if text.upright else mask
        part = mask[inner.y0 - box.y0 : inner.y1 - box.y0, inner.x0 - box.x0 : inner.x1 - box.x0]
        masks.append((part, inner, color))
    return masks


def _letters(
    laid: list[Run], size: float, shape: tuple[int, int], at: tuple[float, float], stroke: int
) -> NDArray[np.float32]:
    """Return the coverage of a line of text, float32 (h, w).

    Args:
        laid: its runs.
        size: of the font, pixels per em.
        shape: width and height of the result.
        at: x and y of the start of the baseline.
        stroke: width of a rim around the letters in pixels.
    """
    from PIL import Image, ImageDraw

    canvas = Image.new("L", shape)
    pen = ImageDraw.Draw(canvas)
    for run in laid:
        place = at[0] + run.x, at[1] - run.rise * size
        pen.text(place, run.text, fill=255, font=font(size * run.scale), anchor="ls",
                 stroke_width=stroke)  # fmt: skip
    return np.asarray(canvas, np.float32) / np.float32(255.0)
