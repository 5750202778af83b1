"""Writes grains.xyz: a nanocrystalline metal with the coordination number of each atom."""

from pathlib import Path

import numpy as np

SIDE, EDGE, GRAINS = 44.0, 3.615, 6  # angstrom; copper

rng = np.random.default_rng(11)
seeds = rng.uniform(0, SIDE, (GRAINS, 3))
reach = int(SIDE / EDGE) + 2
corners = np.stack(np.meshgrid(*[np.arange(-reach, reach)] * 3, indexing="ij"), axis=-1)
base = np.array([[0, 0, 0], [0.5, 0.5, 0], [0.5, 0, 0.5], [0, 0.5, 0.5]])
lattice = ((corners.reshape(-1, 1, 3) + base) * EDGE).reshape(-1, 3)
grains = []
for seed in seeds:
    turn, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    places = lattice @ turn + seed
    places = places[((places >= 0) & (places < SIDE)).all(axis=1)]
    nearest = np.linalg.norm(places[:, None] - seeds, axis=2).argmin(axis=1)
    grains.append(places[nearest == len(grains)])
number = np.repeat(np.arange(GRAINS), [len(places) for places in grains])
places = np.concatenate(grains)


def neighbours(places, distance):
    """Return how many others each place has within a distance."""
    square = distance * distance
    found = np.empty(len(places), int)
    for start in range(0, len(places), 500):
        block = places[start : start + 500]
        products = block @ places.T
        apart = (block**2).sum(axis=1)[:, None] + (places**2).sum(axis=1) - 2 * products
        found[start : start + 500] = (apart < square).sum(axis=1) - 1
    return found


lines = [
    f"Cu {x:.4f} {y:.4f} {z:.4f} {count} {grain}"
    for (x, y, z), count, grain in zip(places, neighbours(places, 3.1), number, strict=True)
]
comment = (
    f'Lattice="{SIDE} 0 0 0 {SIDE} 0 0 0 {SIDE}" pbc="F F F" '
    "Properties=species:S:1:pos:R:3:coordination:I:1:grain:I:1"
)
Path("grains.xyz").write_text("\n".join([str(len(lines)), comment, *lines, ""]))
