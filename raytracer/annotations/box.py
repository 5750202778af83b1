"""Edges of the simulation box as lines of which spheres hide parts."""

from math import hypot

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.projection import Projection
from raytracer.annotations.surface import Strip
from raytracer.drawing.shapes import RGB, Line, Point

NEAR = 1e-3  # depth where lines end before the camera, as a part of the farthest depth
STEP = 0.5  # distance of the points of a line that are tested, in pixels


class HiddenLine:
    """A line segment in the picture, parts of which spheres hide; ends: pixels, (2, 2)."""

    def __init__(
        self, ends: NDArray[np.float64], depths: tuple[float, float], perspective: bool
    ) -> None:
        count = max(int(hypot(*(ends[1] - ends[0])) / STEP), 1) + 1
        part = np.linspace(0.0, 1.0, count)
        self.points = ends[0] + part[:, None] * (ends[1] - ends[0])
        near, far = depths
        if perspective:
            self.depth = 1.0 / ((1.0 - part) / near + part / far)
        else:
            self.depth = (1.0 - part) * near + part * far
        self.seen = np.ones(count, np.bool_)

    def hide(self, strip: Strip) -> None:
        """Hide the points in a strip that lie behind spheres."""
        inside, rays = strip.rays_at(self.points)
        self.seen[inside] &= self.depth[inside] < strip.depth_at(rays)

    def lines(self, width: float, color: RGB) -> list[Line]:
        """Return the visible parts."""
        steps = np.diff(self.seen.astype(np.int8), prepend=0, append=0)
        starts, stops = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
        points: list[Point] = [(x, y) for x, y in self.points.tolist()]
        return [
            Line((points[first], points[last]), width, color)
            for first, last in zip(starts, stops, strict=True)
            if last > first
        ]


def hidden_line(
    start: NDArray[np.float64], end: NDArray[np.float64], projection: Projection, margin: float
) -> HiddenLine | None:
    """Return a segment, render space, clipped to the picture with a margin in pixels, or None."""
    near, far = projection.depth(np.stack([start, end]))
    if projection.perspective:
        limit = NEAR * max(near, far)
        if max(near, far) <= 0.0:
            return None
        if near < limit:
            start = end + (start - end) * (far - limit) / (far - near)
        elif far < limit:
            end = start + (end - start) * (near - limit) / (near - far)
        near, far = (max(float(value), limit) for value in projection.depth(np.stack([start, end])))
    ends = projection.pixels(np.stack([start, end]))
    clipped = _clipped(ends, margin, projection.width, projection.height)
    if clipped is None:
        return None
    parts = np.array(clipped)
    if projection.perspective:
        first, last = (1.0 / ((1.0 - parts) / near + parts / far)).tolist()
    else:
        first, last = (near + parts * (far - near)).tolist()
    inside = ends[0] + parts[:, None] * (ends[1] - ends[0])
    return HiddenLine(inside, (first, last), projection.perspective)


def _clipped(
    ends: NDArray[np.float64], margin: float, width: int, height: int
) -> tuple[float, float] | None:
    """Return the fractions of a segment between which it is in the picture (Liang and Barsky)."""
    first, last = 0.0, 1.0
    for axis, size in enumerate((width, height)):
        start, step = float(ends[0, axis]), float(ends[1, axis] - ends[0, axis])
        low, high = -margin - start, size + margin - start
        if step == 0.0:
            if low > 0.0 or high < 0.0:
                return None
            continue
        enter, leave = sorted((low / step, high / step))
        first, last = max(first, enter), min(last, leave)
    return (first, last) if first < last else None
