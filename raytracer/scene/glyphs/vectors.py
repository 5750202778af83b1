"""Vectors of particles: a column of three numbers, or three columns or expressions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from raytracer.errors import SceneError, shown
from raytracer.scene.coloring.expression import Texts, evaluate

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    from raytracer.scene.columns import Columns

PLACES = ("position", "positions", "pos", "coordinates", "centers", "points")
"""Columns of three numbers that are no vectors to draw."""

PARTS = {
    "force": ("fx", "fy", "fz"),
    "forces": ("fx", "fy", "fz"),
    "dipole": ("mux", "muy", "muz"),
    "mu": ("mux", "muy", "muz"),
    "displacement": ("dx", "dy", "dz"),
    "omega": ("omegax", "omegay", "omegaz"),
    "torque": ("tqx", "tqy", "tqz"),
    "momentum": ("px", "py", "pz"),
}
"""Columns of the components of a vector where they are not its name with x, y and z."""


def vectors_of(columns: Columns, vector: str | tuple[str, str, str]) -> NDArray[np.float64] | None:
    """Return the vectors of particles, float64 (N, 3), or None if there is no such column.

    Args:
        columns: of the particles.
        vector: a column of three numbers, the common part of three columns' names, or three
            expressions.

    Raises:
        SceneError: it is no vector.
    """
    import numpy as np

    if not isinstance(vector, str):
        found = [evaluate(each, columns, "arrows.vector") for each in vector]
        rows = [np.broadcast_to(each, (columns.count,)) for each in found]
        return np.stack(rows, -1).astype(np.float64)
    name = str(vector)
    if columns.has(name):
        values = columns.value(name)
        if not isinstance(values, Texts) and values.ndim == 2 and values.shape[1] in (2, 3):
            flat = np.zeros((len(values), 3))
            flat[:, : values.shape[1]] = values
            return flat
        if isinstance(values, Texts) or values.ndim > 1:
            raise SceneError(f"arrows.vector: '{shown(name)}' holds no vectors of three numbers")
    short = "v" if name == "velocity" else name
    ways: tuple[Sequence[str], ...] = (
        [f"{name}{axis}" for axis in "xyz"],
        [f"{name}_{axis}" for axis in "xyz"],
        [f"{short}{axis}" for axis in "xyz"],
        PARTS.get(name, ()),
        [f"{name}[{k}]" for k in (1, 2, 3)],
        [f"{name}{k}" for k in (1, 2, 3)],
    )
    for parts in ways:
        if parts and all(columns.has(part) for part in parts):
            return np.stack([np.asarray(columns.value(each), np.float64) for each in parts], -1)
    if columns.has(name):
        raise SceneError(
            f"arrows.vector: '{shown(name)}' holds one number for each particle and no vector"
        )
    return None


def names_of(columns: Columns) -> list[str]:
    """Return the names of the vectors that particles have."""
    about = columns.about
    own = [
        name
        for name, each in about.items()
        if each.shape == (3,) and each.kind != "text" and name not in PLACES
    ]
    known = {"velocity": ("vx", "vy", "vz"), **PARTS}
    found = [n for n, parts in known.items() if all(columns.has(p) for p in parts)]
    made = [name for name in found if not any(name in each or each in name for each in own)]
    return [*own, *dict.fromkeys(made)]


def columns_needed(vector: str | tuple[str, str, str]) -> list[str]:
    """Return the names of columns that vectors may be made of."""
    if not isinstance(vector, str):
        from raytracer.scene.coloring.style import columns_in

        return columns_in(*vector)
    name = str(vector)
    short = "v" if name == "velocity" else name
    parts = [f"{stem}{axis}" for stem in (name, short, f"{name}_") for axis in "xyz"]
    return [name, *parts, *PARTS.get(name, ())]
