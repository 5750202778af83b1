"""Outlines of spheres: lines where the depth jumps or another sphere begins."""

from math import floor, sqrt

import numpy as np
from numpy.typing import NDArray

from raytracer.annotations.surface import NONE, Strip
from raytracer.model.annotations import Outline


def cover_outlines(strip: Strip, outline: Outline, scale: float) -> NDArray[np.float32]:
    """Return the share of each pixel of a strip that outlines cover, float32 (h, w); the strip has
    a margin of half the line's width. scale: scene units per unit of render space."""
    across = _find_edges(strip, outline, scale, axis=1)
    down = _find_edges(strip, outline, scale, axis=0)
    radius = outline.width * strip.fine / 2.0
    lower = floor(radius)
    part = radius - lower
    covered = np.zeros((strip.y1 - strip.y0, 1), np.float32)
    for reach, weight in ((lower, 1.0 - part), (lower + 1, part)):
        if reach and weight:
            near = _widen_edges(across, reach) | _widen_edges(down.T, reach).T
            covered = covered + np.float32(weight) * strip.count_rays(near).astype(np.float32)
    return covered / np.float32(strip.fine**2)


def _find_edges(strip: Strip, outline: Outline, scale: float, axis: int) -> NDArray[np.bool_]:
    """Return whether there is an edge between each ray and the next along an axis, (h, w)."""
    here = tuple(slice(None, -1) if axis == each else slice(None) for each in (0, 1))
    there = tuple(slice(1, None) if axis == each else slice(None) for each in (0, 1))
    first, second = strip.id[here], strip.id[there]
    differ = first != second
    at_background = (first == NONE) | (second == NONE)
    if outline.at == "silhouette":
        differ &= at_background
    elif outline.needs_depth:
        with np.errstate(invalid="ignore"):  # infinity minus infinity, in the background
            gap = np.abs(strip.depth[here] - strip.depth[there])
        differ &= at_background | (gap >= outline.step / scale)
    edges = np.zeros(strip.id.shape, np.bool_)
    edges[here] = differ
    return edges


def _widen_edges(edges: NDArray[np.bool_], radius: int) -> NDArray[np.bool_]:
    """Return which rays lie within a distance of an edge; edges lie half a step after a ray."""
    near = np.zeros_like(edges)
    if not edges.any():
        return near
    height, width = edges.shape
    shifts: dict[int, list[int]] = {}  # rows by their half width: edges at distances 0.5, 1.5, ...
    for shift in range(-radius, radius + 1):
        shifts.setdefault(floor(sqrt(radius * radius - shift * shift) + 0.5), []).append(shift)
    inside = np.zeros_like(edges)
    for reach in range(1, max(shifts) + 1):
        inside[:, reach:] |= edges[:, : max(width - reach, 0)]
        inside[:, : max(width - reach + 1, 0)] |= edges[:, reach - 1 :]
        for shift in shifts.get(reach, ()):
            if abs(shift) >= height:
                continue
            target = slice(max(shift, 0), height + min(shift, 0))
            source = slice(max(-shift, 0), height + min(-shift, 0))
            near[target] |= inside[source]
    return near
