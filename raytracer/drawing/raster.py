"""Draws shapes and texts into pixels, with anti-aliasing.

The coverage of a pixel follows from the distance of its centre to the edge, clamped to one pixel;
it is exact for straight edges along rows and columns. Colours are mixed as sRGB values, as programs
do that show a transparent picture on a page.
"""

from collections.abc import Iterable, Sequence
from itertools import pairwise
from math import ceil, floor, hypot
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.drawing.fonts import font, split_into_runs
from raytracer.drawing.fonts import measure_width as text_width
from raytracer.drawing.shapes import HALO, RGB, Cells, Line, Point, Polygon, Shape, Text
from raytracer.film.film import Crop, Pixels

Mask = NDArray[np.float32]

PIECE = 64  # length in pixels of a piece of a line, whose box is small also for a long line
BLOCK = 1 << 20  # pixels that are composited at a time


def draw(shapes: Iterable[Shape], pixels: Pixels, place: tuple[int, int] = (0, 0)) -> None:
    """Draw over a picture, uint8 or uint16 (h, w, 4), in place; place: of its first pixel."""
    height, width = pixels.shape[:2]
    frame = (*place, place[0] + width, place[1] + height)
    for shape in shapes:
        if isinstance(shape, Cells):
            high, wide = shape.colors.shape[:2]
            whole = shape.x, shape.y, shape.x + wide, shape.y + high
            box = _intersect(whole, frame)
            part, factor = _crop_array(pixels, frame, box), 257 if pixels.dtype == np.uint16 else 1
            part[..., :3] = _crop_array(shape.colors, whole, box).astype(pixels.dtype) * factor
            part[..., 3] = np.iinfo(pixels.dtype).max
        elif isinstance(shape, Text):
            _draw_text(shape, pixels, frame)
        else:
            half = shape.width / 2.0 if isinstance(shape, Line) else 0.0
            box = _intersect(_find_pixels_around(shape.points, 1.0 + half), frame)
            cover = (
                _cover_line(shape, box) if isinstance(shape, Line) else _cover_polygon(shape, box)
            )
            blend_color(_crop_array(pixels, frame, box), cover, shape.color)


def blend_color(pixels: Pixels, coverage: Mask, color: RGB) -> None:
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


def _find_pixels_around(points: Sequence[Point], margin: float) -> Crop:
    """Return the pixels within a distance of the bounding box of points."""
    xs, ys = zip(*points, strict=True)
    low, high = (min(xs) - margin, min(ys) - margin), (max(xs) + margin, max(ys) + margin)
    return floor(low[0]), floor(low[1]), ceil(high[0]), ceil(high[1])


def _intersect(one: Crop, other: Crop) -> Crop:
    x0, y0 = max(one[0], other[0]), max(one[1], other[1])
    return x0, y0, max(min(one[2], other[2]), x0), max(min(one[3], other[3]), y0)


def _crop_array(array: NDArray[Any], frame: Crop, box: Crop) -> NDArray[Any]:
    """Return the pixels of a box in an array whose first two axes are the pixels of a frame."""
    return array[box[1] - frame[1] : box[3] - frame[1], box[0] - frame[0] : box[2] - frame[0]]


def _centers(box: Crop) -> tuple[Mask, Mask]:
    """Return x (1, w) and y (h, 1) of the centres of pixels."""
    x, y = (np.arange(*ends, dtype=np.float32) for ends in (box[::2], box[1::2]))
    return x[None, :] + np.float32(0.5), y[:, None] + np.float32(0.5)


def _cover_polygon(shape: Polygon, box: Crop) -> Mask:
    x, y = _centers(box)
    edges = list(pairwise([*shape.points, shape.points[0]]))
    turn = sum(ax * by - bx * ay for (ax, ay), (bx, by) in edges)
    inside = np.full((y.size, x.size), np.inf, np.float32)
    for (ax, ay), (bx, by) in edges:
        if (length := hypot(bx - ax, by - ay)) > 0.0:
            sign = (1.0 if turn > 0.0 else -1.0) / length
            np.minimum(inside, ((y - ay) * (bx - ax) - (x - ax) * (by - ay)) * sign, out=inside)
    return np.asarray(np.clip(inside + 0.5, 0.0, 1.0))


def _cover_line(line: Line, whole: Crop) -> Mask:
    """Return the coverage of a line in short pieces; where they overlap, the larger counts."""
    mask = np.zeros((whole[3] - whole[1], whole[2] - whole[0]), np.float32)
    half, most = line.width / 2.0, min(line.width, 1.0)
    for start, end in pairwise(line.points):
        dx, dy = end[0] - start[0], end[1] - start[1]
        length = hypot(dx, dy)
        ux, uy = (dx / length, dy / length) if length > 0.0 else (1.0, 0.0)
        count = max(ceil(length / PIECE), 1)
        for piece in range(count):
            parts = (piece / count, (piece + 1) / count)
            ends = [(start[0] + dx * part, start[1] + dy * part) for part in parts]
            box = _intersect(_find_pixels_around(ends, half + 1.0), whole)
            x, y = _centers(box)
            along = (x - start[0]) * ux + (y - start[1]) * uy
            across = np.abs((y - start[1]) * ux - (x - start[0]) * uy)
            if line.square:
                cover = np.clip(0.5 + np.minimum(along, length - along), 0.0, 1.0)
                cover = np.clip(half + 0.5 - across, 0.0, most) * cover
            else:
                beyond = np.maximum(np.maximum(-along, along - length), 0.0)
                cover = np.clip(half + 0.5 - np.hypot(across, beyond), 0.0, most)
            part = _crop_array(mask, whole, box)
            np.maximum(part, cover, out=part)
    return mask


def _draw_text(text: Text, pixels: Pixels, frame: Crop) -> None:
    from PIL import Image, ImageDraw

    laid, width = split_into_runs(text.text, text.size), text_width(text.text, text.size)
    start, raised, pad = text.x - text.anchor * width, ceil(0.2 * text.size), ceil(text.size)
    x0, y0 = floor(start) - pad, floor(text.y) - pad - raised
    size = ceil(width) + 2 * pad, 2 * pad + ceil(0.5 * text.size)
    whole = x0, y0, x0 + size[0], y0 + size[1]
    box = _intersect(whole, frame)
    rim = max(round(HALO * text.size), 1)
    for stroke, color in ((rim, text.halo), (0, text.color)):
        if color is None:
            continue
        canvas = Image.new("L", size)
        pen = ImageDraw.Draw(canvas)
        for run in laid:
            at = pad + start - floor(start) + run.x
            baseline = pad + text.y - floor(text.y) + raised - run.rise * text.size
            pen.text((at, baseline), run.text, fill=255, font=font(text.size * run.scale, run.path),
                     anchor="ls", stroke_width=stroke)  # fmt: skip
        mask = np.asarray(canvas, np.float32) / np.float32(255.0)
        blend_color(_crop_array(pixels, frame, box), _crop_array(mask, whole, box), color)
