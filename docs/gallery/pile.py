"""Writes pile.dump: a heap of grains as LIGGGHTS dumps it, in millimetres."""

from pathlib import Path

import numpy as np

from raytracer.scene_files import generate

made = generate.arrays("pile", 5000, 3)
keep = made["radii"] < 10  # without the ball that they lie on
places = made["centers"][keep][:, [0, 2, 1]].astype(float)
radii = made["radii"][keep].astype(float)
low, high = places.min(axis=0), places.max(axis=0)
head = ["ITEM: TIMESTEP", "400000", "ITEM: NUMBER OF ATOMS", str(len(places))]
head += ["ITEM: BOX BOUNDS ff ff ff", *(f"{a:.6f} {b:.6f}" for a, b in zip(low, high, strict=True))]
head += ["ITEM: ATOMS id type x y z radius"]
rows = np.column_stack([places, radii])
lines = [f"{i + 1} 1 " + " ".join(f"{v:.6f}" for v in row) for i, row in enumerate(rows)]
Path("pile.dump").write_text("\n".join([*head, *lines, ""]))
