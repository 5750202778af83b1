"""Writes cage.xyz: a model of a metal-organic cage, twelve palladium ions and twenty-four linkers.

The ions stand at the corners of a cuboctahedron and the linkers along its edges, as in the cages of
bent dipyridyl ligands (Tominaga et al., Angew. Chem. Int. Ed. 43, 5621, 2004). Each linker is two
pyridine rings and a benzene ring between them, bent outwards. Lengths are in angstrom and those of
textbooks, and nothing is relaxed.

    python scenes/cage.py > scenes/cage.xyz
"""

from __future__ import annotations

from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

Points = NDArray[np.float64]

EDGE = 15.4
"""Distance of two ions: two bonds N-Pd, the rings, and the bonds between them."""

RING = 1.39
BULGE = 0.9
"""Distance by which the middle of a linker lies outside of the edge."""

# Rings along the edge: the place of the centre, the atom of its first corner.
RINGS = ((3.43, "N"), (EDGE / 2, "C"), (EDGE - 3.43, "N"))


def corners() -> Points:
    """Return the corners of the cuboctahedron, (12, 3)."""
    places = [np.roll([0, a, b], shift) for shift, a, b in product(range(3), (-1, 1), (-1, 1))]
    points: Points = np.array(places) * EDGE / np.sqrt(2)
    return points


def linker(start: Points, end: Points) -> list[tuple[str, Points]]:
    """Return the atoms between two ions."""
    along = (end - start) / EDGE
    out = start + end
    out /= np.linalg.norm(out)
    across = np.cross(along, out)
    atoms = []
    for number, (place, first) in enumerate(RINGS):
        # The outer rings stand upright, away from other linkers; the middle one lies.
        bend = BULGE * (1 - (2 * place / EDGE - 1) ** 2)
        slope = -4 * BULGE * (2 * place / EDGE - 1) / EDGE
        axis = along + slope * out
        axis /= np.linalg.norm(axis)
        normal = out - (out @ axis) * axis
        normal /= np.linalg.norm(normal)
        side = 0.35 * across + 0.94 * normal if number != 1 else 0.9 * across - 0.44 * normal
        side /= np.linalg.norm(side)
        center = start + place * along + bend * out
        forward = axis if number != 2 else -axis
        for corner in range(6):
            angle = np.pi + corner * np.pi / 3
            direction = np.cos(angle) * forward + np.sin(angle) * side
            element = first if corner == 0 else "C"
            atoms.append((element, center + RING * direction))
            if corner not in (0, 3):
                atoms.append(("H", center + (RING + 1.08) * direction))
    return atoms


def main() -> None:
    """Print the file."""
    ions = corners()
    atoms = [("Pd", ion) for ion in ions]
    for a, b in combinations(range(12), 2):
        if abs(np.linalg.norm(ions[a] - ions[b]) - EDGE) < 0.1:
            atoms += linker(ions[a], ions[b])
    print(len(atoms))
    print("A model of a cage Pd12L24; lengths in angstrom")
    for element, (x, y, z) in atoms:
        print(f"{element} {x:.3f} {y:.3f} {z:.3f}")


if __name__ == "__main__":
    main()
