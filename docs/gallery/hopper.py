"""Writes hopper.stl, the wall of a hopper, and grains.csv, grains in it and below, in metres."""

from itertools import pairwise
from pathlib import Path

import numpy as np

RADIUS, OUTLET, HEIGHT, DEPTH, GRAIN = 0.30, 0.08, 0.35, 0.30, 0.022
SLOPE = (RADIUS - OUTLET) / DEPTH
rng = np.random.default_rng(7)

# Grains fall into the hopper: overlaps are pushed apart, and walls push inwards.
count = 900
radii = GRAIN * rng.uniform(0.8, 1.2, count)
places = rng.uniform([-0.18, -0.18, -0.1], [0.18, 0.18, 1.2], (count, 3))
for step in range(160):
    places[:, 2] -= 0.008 * (step < 130)
    away = places[:, None] - places[None]
    distance = np.sqrt((away**2).sum(axis=2)) + np.eye(count)
    overlap = np.maximum(radii[:, None] + radii[None] - distance, 0.0) * (1 - np.eye(count))
    places += 0.45 * ((overlap / distance)[:, :, None] * away).sum(axis=1)
    across = np.hypot(places[:, 0], places[:, 1])
    wall = np.minimum(RADIUS, RADIUS + SLOPE * places[:, 2]) - radii * np.hypot(1, SLOPE)
    inward = np.minimum(1.0, np.maximum(wall, 0.0) / np.maximum(across, 1e-9))
    places[:, :2] *= inward[:, None]
    places[:, 2] = np.maximum(places[:, 2], -DEPTH + radii)
falling = rng.uniform([-0.05, -0.05, -0.62], [0.05, 0.05, -DEPTH - 0.02], (40, 3))
table = np.column_stack([np.concatenate([places, falling]), [*radii, *radii[:40]]])
np.savetxt("grains.csv", table, "%.5f", ",", header="x,y,z,radius", comments="")

# The wall: rings of corners from the rim to the outlet, and two triangles between neighbours.
turn = np.linspace(0.0, 2.0 * np.pi, 65)
rings = [
    np.stack([radius * np.cos(turn), radius * np.sin(turn), np.full(65, height)], axis=1)
    for radius, height in (
        (RADIUS, HEIGHT),
        (RADIUS, 0.0),
        (OUTLET, -DEPTH),
        (OUTLET, -DEPTH - 0.08),
    )
]
lines = ["solid hopper"]
for above, below in pairwise(rings):
    for k in range(64):
        for corners in ((above[k], below[k], below[k + 1]), (above[k], below[k + 1], above[k + 1])):
            lines += ["facet normal 0 0 0", "outer loop"]
            lines += ["vertex " + " ".join(f"{x:.5f}" for x in corner) for corner in corners]
            lines += ["endloop", "endfacet"]
Path("hopper.stl").write_text("\n".join([*lines, "endsolid hopper", ""]))
