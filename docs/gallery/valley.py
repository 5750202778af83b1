"""Writes valley.las: a scan of a valley with trees from the air, classes after ASPRS."""

import laspy
import numpy as np

rng = np.random.default_rng(6)
x, y = rng.uniform(0, 120, (2, 26000)) * np.array([[1], [0.7]])


def height(x, y):
    """Return the height of the ground in metres."""
    bend = 42 + 14 * np.sin(x / 21)
    return 0.011 * (y - bend) ** 2 + 1.5 * np.sin(x / 7) * np.cos(y / 9) + 0.03 * x


ground = np.column_stack([x, y, height(x, y) + rng.normal(size=len(x)) * 0.05])
tx, ty = rng.uniform(2, 118, 150), rng.uniform(2, 82, 150)
far = np.abs(ty - 42 - 14 * np.sin(tx / 21)) > 9
trees = []
for cx, cy in zip(tx[far], ty[far], strict=True):
    tall = rng.uniform(5, 11)
    up = rng.uniform(0.15, 1, 160)
    angle, out = rng.uniform(0, 2 * np.pi, 160), (1.05 - up) * tall * 0.28
    crown = [cx + out * np.cos(angle), cy + out * np.sin(angle), height(cx, cy) + up * tall]
    trees.append(np.column_stack(crown))
places = np.concatenate([ground, *trees])
stream = np.abs(ground[:, 1] - 42 - 14 * np.sin(ground[:, 0] / 21)) < 3

header = laspy.LasHeader(point_format=3, version="1.2")
header.scales = [0.001] * 3
scan = laspy.LasData(header)
scan.x, scan.y, scan.z = places.T
scan.classification = np.concatenate(
    [np.where(stream, 9, 2), np.full(len(places) - len(ground), 5)]
).astype(np.uint8)
scan.write("valley.las")
