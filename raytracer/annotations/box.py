"""Edges of the simulation box as lines of which spheres hide parts."""

from math import hypot

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.projection import Projection
from raytracer.annotations.sheet import Sheet
from raytracer.annotations.surface import Strip
from raytracer.drawing.shapes import Line
from raytracer.model.annotations import SimulationBox
from raytracer.model.particle_source import Box
from raytracer.model.simulation_box import box_edges

NEAR = 1e-3  # depth where lines end before the camera, as a part of the farthest depth
STEP = 0.5  # distance of the points of a line that are tested, in pixels


class BoxLines:
    """The edges of a box on a sheet, each as points in pixels and depths, (M,), and which of these
    are not hidden."""

    def __init__(
        self, box: Box, wanted: SimulationBox, sheet: Sheet, projection: Projection
    ) -> None:
        origin = projection.space.point(np.array(box.origin, np.float64))
        edges = np.array(box.edges, np.float64) / projection.space.scale
        self.sheet, self.ink = sheet, sheet.choose_ink(wanted.color)
        self.width = wanted.width * sheet.point
        lines = (
            _project_segment(ends, projection, self.width) for ends in box_edges(origin, edges)
        )
        self.lines = [each for each in lines if each]

    def update_visibility(self, strip: Strip) -> None:
        """Hide the points in a strip that lie behind its spheres."""
        for points, depth, seen in self.lines:
            inside, rays = strip.rays_at(points)
            seen[inside] &= depth[inside] < strip.depth_at(rays)

    def draw(self) -> None:
        """Draw the parts that are not hidden."""
        for points, _, seen in self.lines:
            steps = np.diff(seen.astype(np.int8), prepend=0, append=0)
            starts, stops = np.flatnonzero(steps == 1), np.flatnonzero(steps == -1) - 1
            for first, last in zip(starts, stops, strict=True):
                (x, y), (end_x, end_y) = points[[first, last]].tolist()
                if (x, y) != (end_x, end_y):  # an edge seen end-on is no dot
                    line = Line(((x, y), (end_x, end_y)), self.width, self.ink)
                    self.sheet.shapes.append(line)


def _project_segment(
    ends: NDArray[np.float64], projection: Projection, margin: float
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.bool_]] | None:
    """Return a segment, render space, (2, 3), as points in the picture with a margin in pixels."""
    near, far = projection.depth(ends)
    if projection.perspective:
        limit = NEAR * max(near, far)
        if max(near, far) <= 0.0:
            return None
        start, end = ends
        if near < limit:
            ends = np.stack([end + (start - end) * (far - limit) / (far - near), end])
        elif far < limit:
            ends = np.stack([start, start + (end - start) * (near - limit) / (near - far)])
        near, far = np.maximum(projection.depth(ends), limit)
    start, end = projection.pixels(ends)
    clipped = _clip_segment(start, end - start, margin, projection.width, projection.height)
    if clipped is None:
        return None
    count = int((clipped[1] - clipped[0]) * hypot(*(end - start)) / STEP)
    part = np.linspace(*clipped, max(count, 1) + 1)
    depth = (1.0 - part) * near + part * far
    if projection.perspective:
        depth = 1.0 / ((1.0 - part) / near + part / far)
    return start + part[:, None] * (end - start), depth, np.ones(len(part), np.bool_)


def _clip_segment(
    start: NDArray[np.float64], step: NDArray[np.float64], margin: float, *size: int
) -> tuple[float, float] | None:
    """Return the fractions of a segment between which it is in the picture (Liang and Barsky)."""
    first, last = 0.0, 1.0
    for begin, move, side in zip(start.tolist(), step.tolist(), size, strict=True):
        low, high = -margin - begin, side + margin - begin
        if move != 0.0:
            enter, leave = sorted((low / move, high / move))
            first, last = max(first, enter), min(last, leave)
        elif low > 0.0 or high < 0.0:
            return None
    return (first, last) if first < last else None
