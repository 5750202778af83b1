"""Writes dam.vtk: water behind a dam that is gone since 0.35 s, after Ritter (1892)."""

from pathlib import Path

import numpy as np

DEPTH, GRAVITY, TIME, SPACING = 1.0, 9.81, 0.35, 0.045
speed = (GRAVITY * DEPTH) ** 0.5
axes = [np.arange(-2.0, 2.4, SPACING), np.arange(0, 0.6, SPACING), np.arange(0, DEPTH, SPACING)]
rng = np.random.default_rng(2)
places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
places += rng.uniform(-0.2, 0.2, places.shape) * SPACING
x, y, z = places.T
front = np.clip(x / TIME, -speed, 2 * speed)
depth = (2 * speed - front) ** 2 / (9 * GRAVITY)
depth *= 1 + 0.05 * np.sin(9 * y + 5 * x) * (np.abs(front) < 2 * speed)
wet = (z < depth) & (depth > SPACING)
along = 2 / 3 * (front + speed)
velocity = np.stack([along, 0.05 * along * np.sin(9 * y), -0.4 * along * z / DEPTH], axis=1)
places, velocity = places[wet].astype(">f4"), velocity[wet].astype(">f4")
pressure = (1000 * GRAVITY * (depth - z))[wet].astype(">f4")

count = len(places)
with Path("dam.vtk").open("wb") as file:
    file.write(b"# vtk DataFile Version 3.0\nwater\nBINARY\nDATASET POLYDATA\n")
    file.write(f"POINTS {count} float\n".encode() + places.tobytes())
    file.write(f"\nPOINT_DATA {count}\nVECTORS velocity float\n".encode() + velocity.tobytes())
    file.write(b"\nSCALARS pressure float 1\nLOOKUP_TABLE default\n" + pressure.tobytes())
