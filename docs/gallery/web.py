"""Writes web.hdf5: dark matter after the approximation of Zel'dovich, as Gadget writes it."""

import h5py
import numpy as np

SIDE, BOX, GROWTH = 40, 100.0, 5.5  # particles and Mpc/h along an edge

rng = np.random.default_rng(8)
waves = np.fft.fftfreq(SIDE) * SIDE * 2 * np.pi / BOX
kx, ky, kz = np.meshgrid(waves, waves, waves[: SIDE // 2 + 1], indexing="ij")
square = kx**2 + ky**2 + kz**2
square[0, 0, 0] = 1.0
size = np.sqrt(square)
noise = np.fft.rfftn(rng.normal(size=(SIDE,) * 3))
modes = noise * np.sqrt(size / (1 + (size / 0.15) ** 3.2)) * np.exp(-((size / 0.9) ** 2)) / square
moved = [np.fft.irfftn(1j * k * modes, (SIDE,) * 3, (0, 1, 2)) for k in (kx, ky, kz)]
shift = np.stack(moved, axis=-1).reshape(-1, 3)
shift *= GROWTH / shift.std()
grid = np.stack(np.meshgrid(*[np.arange(SIDE)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
places = ((grid + 0.5) * BOX / SIDE + shift) % BOX

cells = 50
index = (places / BOX * cells).astype(int) % cells
counts = np.zeros((cells,) * 3)
np.add.at(counts, tuple(index.T), 1)
for axis in range(3):
    counts = (np.roll(counts, 1, axis) + 2 * counts + np.roll(counts, -1, axis)) / 4
density = counts[tuple(index.T)] / counts.mean()
with h5py.File("web.hdf5", "w") as file:
    header = file.create_group("Header")
    header.attrs["BoxSize"] = BOX
    header.attrs["Redshift"] = 0.5
    group = file.create_group("PartType1")
    group["Coordinates"] = places.astype("f4")
    group["Velocities"] = (100 * shift).astype("f4")
    group["ParticleIDs"] = np.arange(len(places))
    group["Density"] = density.astype("f4")
