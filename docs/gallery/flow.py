"""Writes flow.csv: particles in the flow of Arnold, Beltrami and Childress."""

import numpy as np

SIDE, HEIGHT, COUNT = 2 * np.pi, 0.5, 800
A, B, C = 1.0, 0.82, 0.58

rng = np.random.default_rng(2)
places = np.empty((0, 3))
while len(places) < COUNT:  # no two closer together than the arrows are wide
    place = rng.uniform(0, (SIDE, SIDE, HEIGHT))
    if len(places) == 0 or ((places - place) ** 2).sum(axis=1).min() > 0.04:
        places = np.vstack([places, place])
x, y, z = places.T
velocities = np.stack(
    [
        A * np.sin(z) + C * np.cos(y),
        B * np.sin(x) + A * np.cos(z),
        C * np.sin(y) + B * np.cos(x),
    ],
    axis=1,
)
rows = np.hstack([places, velocities])
np.savetxt("flow.csv", rows, "%.5f", ",", header="x,y,z,vx,vy,vz", comments="")
