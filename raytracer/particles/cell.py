"""Periodic cells: from lengths and angles, from matrices, and of HOOMD-blue and LAMMPS."""

from collections.abc import Iterable, Sequence
from math import cos, isfinite, radians, sin, sqrt
from typing import Any

import numpy as np

from raytracer.model.particle_source import Box


def cell_from_sizes(sizes: Iterable[float]) -> Box | None:
    """Return the cell with its first edge along x and its second in the x-y plane, or None. sizes:
    (6,), lengths of the edges a, b and c; the angles alpha (between b and c), beta (a and c) and
    gamma (a and b), degrees."""
    a, b, c, *angles = map(float, sizes)
    if not all(map(isfinite, (a, b, c, *angles))):
        return None
    # Right angles are exact.
    alpha, beta, gamma = (
        (0.0, 1.0) if angle == 90.0 else (cos(radians(angle)), sin(radians(angle)))
        for angle in angles
    )
    if min(a, b, c) <= 0.0 or gamma[1] <= 0.0:
        return None
    x = beta[0]
    y = (alpha[0] - beta[0] * gamma[0]) / gamma[1]
    rest = 1.0 - x * x - y * y
    if not rest > 0.0:
        return None
    edges = ((a, 0.0, 0.0), (b * gamma[0], b * gamma[1], 0.0), (c * x, c * y, c * sqrt(rest)))
    return Box((0.0, 0.0, 0.0), edges)


def box_from_hoomd(sizes: Iterable[float]) -> Box | None:
    """Return the box of HOOMD-blue (Lx, Ly, Lz, xy, xz, yz), centred on 0; None without size.
    sizes: (6,); Lz is 0 in two dimensions."""
    x, y, z, xy, xz, yz = map(float, sizes)
    if not (x and y):
        return None
    is_flat, z = not z, z or 1.0
    edges = ((x, 0.0, 0.0), (xy * y, y, 0.0), (xz * z, yz * z, z))
    low = [-sum(edge[axis] for edge in edges) / 2.0 for axis in range(3)]
    return Box((low[0], low[1], low[2]), edges, (True, True, not is_flat))


def box_from_lammps(rows: Iterable[Sequence[float]], periodic: tuple[bool, bool, bool]) -> Box:
    """Return the box of a dump of LAMMPS. rows: (3, 2), the bounds along x, y and z; or (3, 3),
    those of the bounding box of a triclinic one, each with a tilt factor: xy, xz, yz. periodic:
    whether the box is periodic along each edge."""
    (xl, xh, *rest), (yl, yh, *more), (zl, zh, *most) = rows
    xy, xz, yz = (*rest, *more, *most) if rest else (0.0, 0.0, 0.0)
    xl, xh = xl - min(0.0, xy, xz, xy + xz), xh - max(0.0, xy, xz, xy + xz)
    yl, yh = yl - min(0.0, yz), yh - max(0.0, yz)
    edges = ((xh - xl, 0.0, 0.0), (xy, yh - yl, 0.0), (xz, yz, zh - zl))
    return Box((xl, yl, zl), edges, periodic)


def box_from_cell(cell: Any, periodic: Any = (True, True, True)) -> Box | None:
    """Return the box of a cell (3, 3), one edge per row, or None without volume."""
    edges = np.asarray(cell, np.float64)
    if edges.shape != (3, 3) or not np.isfinite(edges).all() or not np.linalg.det(edges):
        return None
    a, b, c = (tuple(row) for row in edges.tolist())
    x, y, z = map(bool, periodic)
    return Box((0.0, 0.0, 0.0), (a, b, c), (x, y, z))
