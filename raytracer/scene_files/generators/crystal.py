"""A gold crystal, face-centred cubic, with a spherical void and one octant cut away.

Lengths are in angstrom. Colours show an atom's coordination in the uncut block: 12 in the bulk,
fewer on the faces and around the void, so that the cut shows the colour of the bulk.
"""

from itertools import product

import numpy as np
from numpy.typing import NDArray

from raytracer.scene_files.generators._base import GeneratedPart, make_part, parse_rgb

# Lattice constant of gold at room temperature, angstrom.
LATTICE = 4.0782
# Radius of the void relative to half the block's edge.
VOID = 0.62
# Fraction of the cube that remains without the void and an octant.
SHARE_LEFT = float(7.0 / 8.0 * (1.0 - np.pi / 6.0 * VOID**3))
NEIGHBOURS = [s for s in product((-1, 0, 1), repeat=3) if sum(map(abs, s)) == 2]
BULK = 12
COLORS = {12: "#dba63a", 11: "#e08a4e", 10: "#cf5f45", 9: "#a8415a", 8: "#ecd6a4"}
FEWER = "#5b5590"


def build(count: int, seed: int) -> list[GeneratedPart]:
    """Return the whole block nearest to `count` atoms; the seed has no effect."""
    half = half_edge(count)
    atoms = lattice(half)
    solid = np.zeros((2 * half + 3,) * 3, bool)
    solid[tuple((atoms + half + 1).T)] = True
    neighbours = sum(solid[tuple((atoms + half + 1 + step).T)].astype(int) for step in NEIGHBOURS)
    # The octant that faces the viewer is removed.
    kept = ~(atoms > 0).all(axis=1)
    colors = np.empty((len(atoms), 3), np.uint8)
    for n in range(BULK + 1):
        colors[neighbours == n] = parse_rgb(COLORS.get(n, FEWER))
    centers = atoms[kept].astype(np.float64) * (LATTICE / 2.0)
    return [make_part("default", centers, LATTICE / np.sqrt(8.0), colors[kept])]


def half_edge(count: int) -> int:
    """Return half of the block's edge in half lattice constants, for about `count` atoms."""
    # A cube of edge 2 h has (2 h + 1)^3 sites, every other one occupied.
    places = float(2.0 * count / SHARE_LEFT) ** (1.0 / 3.0)
    return max(1, int((places - 1.0) / 2.0 + 0.5))


def lattice(half: int) -> NDArray[np.int64]:
    """Return the atoms (N, 3) of the uncut block with its void, in half lattice constants."""
    side = np.arange(-half, half + 1)
    i, j, k = np.meshgrid(side, side, side, indexing="ij", sparse=True)
    taken = ((i + j + k) % 2 == 0) & (i * i + j * j + k * k > (VOID * half) ** 2)
    return np.argwhere(taken) - half
