"""Vectors of particles: a column of three numbers, or three columns or expressions."""

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError, shown
from raytracer.scene.coloring.style import columns_in
from raytracer.scene.columns import Columns
from raytracer.scene.glyphs.shared import components

PLACES = ("position", "positions", "pos", "coordinates", "centers", "points")
"""Columns of three numbers that are positions."""

PARTS = {
    "force": ("fx", "fy", "fz"),
    "forces": ("fx", "fy", "fz"),
    "dipole": ("mux", "muy", "muz"),
    "mu": ("mux", "muy", "muz"),
    "displacement": ("dx", "dy", "dz"),
    "omega": ("omegax", "omegay", "omegaz"),
    "torque": ("tqx", "tqy", "tqz"),
    "momentum": ("px", "py", "pz"),
    "velocity": ("vx", "vy", "vz"),
}
"""Names of the components of a vector if they are not its name with x, y and z."""


def _ways(name: str) -> list[tuple[str, ...]]:
    """Return the names that the three components of a vector may have."""
    joined, split = (tuple(f"{name}{mark}{axis}" for axis in "xyz") for mark in ("", "_"))
    numbered, plain = (
        tuple(form.format(name, k) for k in (1, 2, 3)) for form in ("{}[{}]", "{}{}")
    )
    return [joined, split, *([PARTS[name]] if name in PARTS else []), numbered, plain]


def vectors_of(
    columns: Columns, vector: str | tuple[str, str, str], place: str
) -> NDArray[np.float64] | None:
    """Return the vectors of particles, (N, 3), or None: of a column of three numbers, of the common
    part of the names of three, or of three expressions."""
    if not isinstance(vector, str):
        return components(columns, vector, 3, place)
    values = columns.value(vector) if vector in columns else None
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] in (2, 3):
        flat = np.zeros((len(values), 3))
        flat[:, : values.shape[1]] = values
        return flat
    for parts in _ways(vector):
        if all(part in columns for part in parts):
            return components(columns, parts, 3, place)
    if values is None:
        return None
    raise SceneError(
        f"{place}: '{shown(vector)}' does not have three numbers per particle; name a vector, or "
        "three columns"
    )


def names_of(columns: Columns) -> list[str]:
    about = columns.about
    stated = [
        name
        for name, each in about.items()
        if each.shape == (3,) and each.kind != "text" and name not in PLACES
    ]
    names = ["velocity", *PARTS]
    derived = [n for n in dict.fromkeys(names) if all(p in columns for p in PARTS[n])]
    return [*stated, *(n for n in derived if not any(n in each or each in n for each in stated))]


def columns_needed(vector: str | tuple[str, str, str]) -> list[str]:
    """Return the names of columns that a vector may need."""
    if not isinstance(vector, str):
        return columns_in(*vector)
    return [vector, *(part for parts in _ways(vector) for part in parts)]
