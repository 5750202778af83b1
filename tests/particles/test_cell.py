"""Periodic cells: from lengths and angles, of HOOMD-blue, and from the bounding boxes of LAMMPS."""

from itertools import product

import numpy as np
import pytest

from raytracer.model.particle_source import Box
from raytracer.particles.cell import box_from_cell, box_from_hoomd, box_from_lammps, cell_from_sizes

LOW = (-1.0, 2.0, 0.5)
TILTS = [-1.5, 0.0, 0.75]


@pytest.mark.parametrize("tilts", list(product(TILTS, repeat=3)))
def test_a_box_of_lammps_has_the_bounds_of_its_corners(tilts: tuple[float, float, float]) -> None:
    """LAMMPS states the bounding box of the eight corners, beside xy, xz and yz."""
    xy, xz, yz = tilts
    edges = ((7.0, 0.0, 0.0), (xy, 5.0, 0.0), (xz, yz, 6.0))
    corners = np.array(list(product((0, 1), repeat=3))) @ np.array(edges) + LOW
    bounds = np.stack([corners.min(axis=0), corners.max(axis=0)], axis=1)
    rows = [[*map(float, row), tilt] for row, tilt in zip(bounds, tilts, strict=True)]
    box = box_from_lammps(rows, (True, False, True))
    np.testing.assert_allclose(box.origin, LOW, atol=1e-12)
    np.testing.assert_allclose(box.edges, edges, atol=1e-12)
    assert box.periodic == (True, False, True)


def test_a_box_of_hoomd_is_centred_and_tilts_its_second_and_third_edge() -> None:
    """The rows of (Lx, xy Ly, xz Lz; 0, Ly, yz Lz; 0, 0, Lz) are x, y and z of the three edges."""
    box = box_from_hoomd((8.0, 6.0, 4.0, 0.5, -0.25, 0.75))
    edges = ((8.0, 0.0, 0.0), (3.0, 6.0, 0.0), (-1.0, 3.0, 4.0))
    assert box == Box((-5.0, -4.5, -2.0), edges, (True, True, True))
    flat = box_from_hoomd((8.0, 6.0, 0.0, 0.5, 0.0, 0.0))
    assert flat is not None
    assert flat.periodic == (True, True, False)
    assert flat.edges == ((8.0, 0.0, 0.0), (3.0, 6.0, 0.0), (0.0, 0.0, 1.0))
    assert box_from_hoomd((0.0, 6.0, 4.0, 0.0, 0.0, 0.0)) is None


def test_a_cell_has_the_stated_lengths_and_angles() -> None:
    lengths, angles = (3.0, 4.0, 5.0), (70.0, 80.0, 100.0)
    box = cell_from_sizes((*lengths, *angles))
    assert box is not None
    a, b, c = edges = np.array(box.edges)
    np.testing.assert_allclose(np.linalg.norm(edges, axis=1), lengths)
    for (one, other), angle in zip(((b, c), (a, c), (a, b)), angles, strict=True):
        cosine = one @ other / np.linalg.norm(one) / np.linalg.norm(other)
        assert cosine == pytest.approx(np.cos(np.radians(angle)))
    assert (a[1], a[2], b[2]) == (0.0, 0.0, 0.0)
    assert np.linalg.det(edges) > 0.0


@pytest.mark.parametrize("periodic", list(product((False, True), repeat=3)))
def test_a_cell_is_periodic_where_it_is_stated(periodic: tuple[bool, bool, bool]) -> None:
    cell = [[1.0, 2.0, 0.0], [0.0, 3.0, 4.0], [5.0, 0.0, 6.0]]
    box = box_from_cell(cell, periodic)
    assert box == Box((0.0, 0.0, 0.0), ((1, 2, 0), (0, 3, 4), (5, 0, 6)), periodic)
