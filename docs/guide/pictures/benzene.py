"""Writes benzene.cube: a pi orbital of benzene by Hückel's method, of Slater's 2p functions."""

from pathlib import Path

import numpy as np

BOHR = 0.529177  # angstrom
ZETA = 1.625  # of carbon, per bohr
STEP, COUNTS = 0.22, (82, 82, 60)  # bohr; points along x, y and z

angles = np.pi / 3.0 * np.arange(6)
ring = np.stack([np.cos(angles), np.sin(angles), np.zeros(6)], axis=1)
carbon, hydrogen = 1.39 / BOHR * ring, 2.48 / BOHR * ring
shares = np.cos(angles) / np.sqrt(3.0)  # one of the two highest occupied orbitals

origin = -0.5 * STEP * (np.array(COUNTS) - 1)
grid = np.stack(np.meshgrid(*map(np.arange, COUNTS), indexing="ij"), axis=-1) * STEP + origin
values = np.zeros(COUNTS)
for center, share in zip(carbon, shares, strict=True):
    away = grid - center
    values += share * away[..., 2] * np.exp(-ZETA * np.linalg.norm(away, axis=-1))
values *= np.sqrt(ZETA**5 / np.pi)

rows = ["benzene", "pi orbital, bohr^(-3/2)", "12 {:.6f} {:.6f} {:.6f}".format(*origin)]
rows += [
    "{} {:.6f} {:.6f} {:.6f}".format(count, *step)
    for count, step in zip(COUNTS, STEP * np.eye(3), strict=True)
]
for number, atoms in ((6, carbon), (1, hydrogen)):
    rows += ["{0} {0}.0 {1:.6f} {2:.6f} {3:.6f}".format(number, *place) for place in atoms]
rows += [
    " ".join(f"{value:.4e}" for value in line[start : start + 6])
    for line in values.reshape(-1, COUNTS[2])
    for start in range(0, COUNTS[2], 6)
]
Path("benzene.cube").write_text("\n".join(rows) + "\n")
