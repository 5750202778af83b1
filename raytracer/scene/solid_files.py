"""Files of capsules, cones and ellipsoids: arrays of `.npz`, columns of tables."""

from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.scene.colors import color_numbers
from raytracer.scene.particles.columns import wrong_colors

SEGMENTS = {"starts": ("x1", "y1", "z1"), "ends": ("x2", "y2", "z2")}
COLORS = {"colors": ("r", "g", "b"), "end_colors": ("r2", "g2", "b2")}

RODS = {**SEGMENTS, "radii": ("radius",), **COLORS, "opacities": ("opacity",)}

COLUMNS: dict[str, dict[str, tuple[str, ...]]] = {
    "capsules": RODS,
    "cones": {**RODS, "end_radii": ("end_radius",)},
    "ellipsoids": {
        "centers": ("x", "y", "z"),
        "semi_axes": ("rx", "ry", "rz"),
        "orientations": ("qw", "qx", "qy", "qz"),
        "colors": ("r", "g", "b"),
        "opacities": ("opacity",),
    },
}
"""Keys of a set that a file can contain: arrays of that name, or columns of these names."""


def arrays_of(path: Path, kind: str) -> dict[str, NDArray[np.generic]]:
    """Return the arrays of a set of solids in a file, by the keys of a scene file."""
    from raytracer.scene.particles.data_file import DataFile
    from raytracer.scene.particles.read import source_of

    with source_of(DataFile(path)) as source:
        there = {name.lower(): name for name in reversed(list(source.columns))}
        known = {
            key: names
            for key, columns in COLUMNS[kind].items()
            if (names := _names(key, columns, there, path))
        }
        table = source.load(list(dict.fromkeys(n for names in known.values() for n in names)))
    arrays: dict[str, NDArray[Any]] = {}
    for key, names in known.items():
        values = [table[name] for name in names]
        if any(value.dtype.kind not in "fiu" for value in values):
            raise DataFileError(f"{path}: {shown(names[0])} does not hold numbers")
        arrays[key] = values[0] if len(values) == 1 else np.stack(values, axis=1)
        if key in COLORS:
            arrays[key] = color_numbers(arrays[key], wrong_colors(str(path), ", ".join(names)))
    return arrays


def _names(
    key: str, columns: tuple[str, ...], there: dict[str, str], path: Path
) -> tuple[str, ...]:
    if key in there:
        return (there[key],)
    have = [name for name in columns if name in there]
    if have and len(have) < len(columns):
        lacking = " and ".join(name for name in columns if name not in there)
        raise DataFileError(f"{path}: has {' and '.join(have)}, but no {lacking}")
    return tuple(there[name] for name in have)
