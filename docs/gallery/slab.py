"""Writes slab.xyz: carbon monoxide on four layers of platinum (111), as ASE writes it."""

from pathlib import Path

import numpy as np

NEAREST = 2.775  # of platinum, in angstrom
a = np.array([3 * NEAREST, 0, 0])
b = np.array([1.5 * NEAREST, 1.5 * 3**0.5 * NEAREST, 0])
c = np.array([0, 0, 22.0])
atoms = []
for layer in range(4):
    for i in range(3):
        for j in range(3):
            shift = (layer % 3) / 3
            place = (i + shift) / 3 * a + (j + shift) / 3 * b
            atoms.append(("Pt", *place[:2], 4 + layer * NEAREST * (2 / 3) ** 0.5))
top = atoms[-9:]
for place in (top[0], top[4]):
    atoms.append(("C", *place[1:3], place[3] + 1.85))
    atoms.append(("O", *place[1:3], place[3] + 3.0))
lattice = " ".join(f"{v:.6f}" for v in np.concatenate([a, b, c]))
lines = [f"{symbol} {x:.5f} {y:.5f} {z:.5f}" for symbol, x, y, z in atoms]
comment = f'Lattice="{lattice}" Properties=species:S:1:pos:R:3 pbc="T T F"'
Path("slab.xyz").write_text("\n".join([str(len(atoms)), comment, *lines, ""]))
