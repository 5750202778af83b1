"""Writes melt.dump: Lennard-Jones atoms, one half of which melts, in the units of LAMMPS "lj"."""

from pathlib import Path

import numpy as np

CELLS, EDGE, STEP = np.array([6, 3, 3]), 1.68, 0.005


def forces(places, box):
    """Return forces (N, 3) and potential energies (N,) of atoms in a periodic box."""
    apart = places[:, None] - places[None]
    apart -= box * np.round(apart / box)
    square = np.einsum("ijk,ijk->ij", apart, apart)
    np.fill_diagonal(square, np.inf)
    square[square > 6.25] = np.inf
    six = square**-3
    pull = 24 * six * (2 * six - 1) / square
    return np.einsum("ij,ijk->ik", pull, apart), (2 * six * (six - 1)).sum(axis=1)


rng = np.random.default_rng(5)
box = CELLS * EDGE
corners = np.stack(np.meshgrid(*map(np.arange, CELLS), indexing="ij"), axis=-1).reshape(-1, 1, 3)
base = [[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]]
places = ((corners + base) * EDGE).reshape(-1, 3)
hot = places[:, 0] > box[0] / 2
velocities = rng.normal(size=places.shape) * np.where(hot, 2.6, 0.45)[:, None]
pull, energies = forces(places, box)
for _ in range(90):
    velocities += STEP / 2 * pull
    places += STEP * velocities
    pull, energies = forces(places, box)
    velocities += STEP / 2 * pull

head = ["ITEM: TIMESTEP", "90", "ITEM: NUMBER OF ATOMS", str(len(places))]
head += ["ITEM: BOX BOUNDS pp pp pp", *(f"0 {side:.6f}" for side in box)]
head += ["ITEM: ATOMS id type x y z vx vy vz c_pe"]
rows = np.column_stack([places, velocities, energies])
lines = [f"{i + 1} 1 " + " ".join(f"{v:.5f}" for v in row) for i, row in enumerate(rows)]
Path("melt.dump").write_text("\n".join([*head, *lines, ""]))
