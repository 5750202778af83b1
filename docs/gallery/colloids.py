"""Writes colloids.gsd: a layer of discs in three grains, with its hexatic order."""

import gsd.hoomd
import numpy as np

SIDE, GRAINS = 46, 3

rng = np.random.default_rng(4)
seeds = np.array([[-14, -9], [13, -11], [1, 13]], float)
angles = np.radians([4, 24, 43])
steps = np.arange(-2 * SIDE, 2 * SIDE)
i, j = (each.ravel() for each in np.meshgrid(steps, steps))
lattice = 1.08 * np.stack([i + 0.5 * j, 3**0.5 / 2 * j], axis=1)
grains = []
for seed, angle in zip(seeds, angles, strict=True):
    turn = np.array([[np.cos(angle), np.sin(angle)], [-np.sin(angle), np.cos(angle)]])
    places = lattice @ turn + seed
    places = places[(np.abs(places) < (SIDE / 2, SIDE / 3)).all(axis=1)]
    nearest = np.linalg.norm(places[:, None] - seeds, axis=2).argmin(axis=1)
    grains.append(places[nearest == len(grains)])
places = np.concatenate(grains)
apart = np.linalg.norm(places[:, None] - places, axis=2) + np.eye(len(places)) * 9
places = places[~np.triu(apart < 0.9).any(axis=0)]
places += rng.normal(size=places.shape) * 0.05

offset = places[None] - places[:, None]
distance = np.linalg.norm(offset, axis=2)
near = (distance > 0) & (distance < 1.6)
bonds = np.where(near, np.exp(6j * np.arctan2(offset[..., 1], offset[..., 0])), 0)
order = bonds.sum(axis=1) / np.maximum(near.sum(axis=1), 1)

frame = gsd.hoomd.Frame()
frame.configuration.box = [SIDE, SIDE * 2 / 3, 0, 0, 0, 0]
frame.particles.N = len(places)
frame.particles.position = np.column_stack([places, np.zeros(len(places))])
frame.particles.diameter = np.ones(len(places))
# HOOMD-blue stores what users compute as charge, or as a log; the angle is in degrees.
frame.particles.charge = np.degrees(np.angle(order)) / 6
with gsd.hoomd.open("colloids.gsd", "w") as file:
    file.append(frame)
