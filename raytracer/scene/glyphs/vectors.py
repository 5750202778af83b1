"""Vectors of particles: a column of three numbers, or three columns or expressions."""

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import SceneError, shown
from raytracer.scene.coloring.expression import Texts
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
    stems = [(f"{name}{axis}", f"{name}_{axis}") for axis in "xyz"]
    numbered = [(f"{name}[{k}]", f"{name}{k}") for k in (1, 2, 3)]
    first, second = zip(*stems, strict=True)
    third, fourth = zip(*numbered, strict=True)
    return [each for each in (first, second, PARTS.get(name, ()), third, fourth) if each]


def vectors_of(
    columns: Columns, vector: str | tuple[str, str, str], place: str
) -> NDArray[np.float64] | None:
    """Return the vectors of particles, (N, 3), or None: of a column of three numbers, of the common
    part of the names of three, or of three expressions."""
    if not isinstance(vector, str):
        return components(columns, vector, 3, place)
    name = str(vector)
    values = columns.value(name) if columns.has(name) else None
    if values is not None and (isinstance(values, Texts) or values.ndim > 1):
        if isinstance(values, Texts) or values.ndim > 2 or values.shape[1] not in (2, 3):
            raise SceneError(f"{place}: '{shown(name)}' does not have three numbers per particle")
        flat = np.zeros((len(values), 3))
        flat[:, : values.shape[1]] = values
        return flat
    for parts in _ways(name):
        if all(columns.has(part) for part in parts):
            return components(columns, parts, 3, place)
    if values is not None:
        raise SceneError(
            f"{place}: '{shown(name)}' has one number per particle; name a vector, or three columns"
        )
    return None


def names_of(columns: Columns) -> list[str]:
    about = columns.about
    stated = [
        name
        for name, each in about.items()
        if each.shape == (3,) and each.kind != "text" and name not in PLACES
    ]
    names = ["velocity", *PARTS]
    derived = [n for n in dict.fromkeys(names) if all(columns.has(p) for p in PARTS[n])]
    return [*stated, *(n for n in derived if not any(n in each or each in n for each in stated))]


def columns_needed(vector: str | tuple[str, str, str]) -> list[str]:
    """Return the names of columns that a vector may need."""
    if not isinstance(vector, str):
        return columns_in(*vector)
    name = str(vector)
    return [name, *(part for parts in _ways(name) for part in parts)]
