"""Writes chains.dump and forces.dump: discs under pressure, and the forces between them."""

from pathlib import Path

import numpy as np

SIDE, ROWS, STEPS = 24.0, 20, 400
COUNT = ROWS * ROWS

rng = np.random.default_rng(5)
radii = rng.choice([0.45, 0.6, 0.75], COUNT)
radii *= np.sqrt(0.9 * SIDE * SIDE / (np.pi * (radii**2).sum()))  # 90% of the area
grid = np.stack(np.meshgrid(*[np.arange(ROWS)] * 2), axis=-1).reshape(-1, 2)
places = (grid + rng.uniform(-0.4, 0.4, grid.shape)) * SIDE / ROWS
speeds = np.zeros_like(places)


def contacts(near):
    """Return pairs of discs, how far they overlap, and directions from the first to the second."""
    apart = places[near[:, 1]] - places[near[:, 0]]
    apart -= SIDE * np.round(apart / SIDE)
    length = np.sqrt((apart**2).sum(axis=1))
    overlap = radii[near].sum(axis=1) - length
    touch = overlap > 0
    return near[touch], overlap[touch], apart[touch] / length[touch, None]


def neighbours(reach):
    """Return the pairs of discs that are nearly in contact."""
    apart = places[:, None] - places
    apart -= SIDE * np.round(apart / SIDE)
    square = (apart**2).sum(axis=2)
    near = square < (radii[:, None] + radii + reach) ** 2
    return np.argwhere(np.triu(near, 1))


for step in range(STEPS):
    if step % 10 == 0:
        near = neighbours(0.8)
    pairs, overlap, direction = contacts(near)
    push = overlap[:, None] * direction
    force = np.zeros_like(places)
    np.add.at(force, pairs[:, 1], push)
    np.add.at(force, pairs[:, 0], -push)
    speeds = 0.9 * speeds + 0.2 * force
    places = (places + speeds) % SIDE

pairs, overlap, _ = contacts(neighbours(0.0))
bounds = ["ITEM: BOX BOUNDS pp pp pp", *([f"0 {SIDE}"] * 2), "-1 1"]
head = ["ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ATOMS", str(COUNT), *bounds]
rows = [
    f"{i + 1} 1 {x:.6f} {y:.6f} 0 {r:.6f}"
    for i, ((x, y), r) in enumerate(zip(places, radii, strict=True))
]
text = "\n".join([*head, "ITEM: ATOMS id type x y z radius", *rows, ""])
Path("chains.dump").write_text(text)
head = ["ITEM: TIMESTEP", "0", "ITEM: NUMBER OF ENTRIES", str(len(pairs)), *bounds]
rows = [f"{i + 1} {j + 1} {1000 * force:.4f}" for (i, j), force in zip(pairs, overlap, strict=True)]
text = "\n".join([*head, "ITEM: ENTRIES c_ids[1] c_ids[2] force", *rows, ""])
Path("forces.dump").write_text(text)
