"""Vectors, axes and orientations of particles, by the names of columns in various programs."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.coloring.expression import Texts, evaluate
from raytracer.appearance.coloring.style import find_needed_columns
from raytracer.appearance.columns import Columns
from raytracer.config.errors import SceneError, quote

Doubles = NDArray[np.float64]
Names = str | tuple[str, ...] | None

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

AXES = (
    (("aspherical_shape",), 1.0),
    (("semi_axes",), 1.0),
    (("shape",), 1.0),
    (("shapex", "shapey", "shapez"), 0.5),
    (("c_shape[1]", "c_shape[2]", "c_shape[3]"), 0.5),
    (("c_diameter[1]", "c_diameter[2]", "c_diameter[3]"), 0.5),
)  # fmt: skip
"""Columns of the axes, and factors to semi-axes; LAMMPS has diameters."""

TURNS = (
    (("quatw", "quati", "quatj", "quatk"), (0, 1, 2, 3)),
    (("c_quat[1]", "c_quat[2]", "c_quat[3]", "c_quat[4]"), (0, 1, 2, 3)),
    (("c_orient[1]", "c_orient[2]", "c_orient[3]", "c_orient[4]"), (3, 0, 1, 2)),
    (("quaternion",), (0, 1, 2, 3)),
    (("quaternions",), (0, 1, 2, 3)),
    (("orientation",), (0, 1, 2, 3)),
)  # fmt: skip
"""Columns of quaternions, and the positions of w, x, y and z (`c_orient` has w last)."""

BLOCKS = ("block1", "block2", "c_block[1]", "c_block[2]", "blockiness1", "blockiness2")
"""Columns of the exponents of superellipsoids; those of ellipsoids are 2."""

OF_OVITO = "aspherical_shape"  # its `orientation` has w last; HOOMD-blue's has w first
W_LAST = (3, 0, 1, 2)  # positions of w, x, y and z in such a quaternion


def read_rows_in(columns: Columns, names: Sequence[str], width: int, place: str) -> Doubles:
    """Return a column of rows, or columns or expressions side by side, (N, width)."""
    if len(names) == 1:
        values = columns.value(names[0])
        if isinstance(values, Texts) or values.ndim != 2 or values.shape[1] != width:
            raise SceneError(
                f"{place}: '{quote(names[0])}' does not have {width} numbers per particle"
            )
        return np.asarray(values, np.float64)
    parts = [np.asarray(evaluate(name, columns, place), np.float64) for name in names]
    return np.stack([np.broadcast_to(part, (columns.count,)) for part in parts], axis=-1)


def _component_names(name: str) -> list[tuple[str, ...]]:
    """Return the names that the three components of a vector may have."""
    joined, split = (tuple(f"{name}{mark}{axis}" for axis in "xyz") for mark in ("", "_"))
    numbered, plain = (
        tuple(form.format(name, k) for k in (1, 2, 3)) for form in ("{}[{}]", "{}{}")
    )
    return [joined, split, *([PARTS[name]] if name in PARTS else []), numbered, plain]


def read_vectors(columns: Columns, vector: str | tuple[str, ...], place: str) -> Doubles | None:
    """Return the vectors of particles, (N, 3), or None: of a column of three numbers, of the common
    part of the names of three, or of three expressions."""
    if not isinstance(vector, str):
        return read_rows_in(columns, vector, 3, place)
    values = columns.value(vector) if vector in columns else None
    if isinstance(values, np.ndarray) and values.ndim == 2 and values.shape[1] in (2, 3):
        return np.pad(np.asarray(values, np.float64), ((0, 0), (0, 3 - values.shape[1])))
    for parts in _component_names(vector):
        if all(part in columns for part in parts):
            return read_rows_in(columns, parts, 3, place)
    if values is None:
        return None
    raise SceneError(
        f"{place}: '{quote(vector)}' does not have three numbers per particle; name a vector, or "
        "three columns"
    )


def list_vectors(columns: Columns) -> list[str]:
    stated = [
        name
        for name, each in columns.about.items()
        if each.shape == (3,) and each.kind != "text" and name not in PLACES
    ]
    derived = [n for n in ("velocity", *PARTS) if all(part in columns for part in PARTS[n])]
    derived = [n for n in dict.fromkeys(derived) if not any(n in s or s in n for s in stated)]
    return [*stated, *derived]


def vector_columns(vector: str | tuple[str, ...]) -> list[str]:
    """Return the names of columns that a vector may need."""
    if not isinstance(vector, str):
        return find_needed_columns(*vector)
    return [vector, *(part for parts in _component_names(vector) for part in parts)]


def ellipsoid_columns(axes: Names, orientation: Names) -> list[str]:
    """Return the columns that ellipsoids may need, for stated names or (None) the usual ones."""
    names = list(BLOCKS)
    for stated, known in ((axes, AXES), (orientation, TURNS)):
        usual = [name for columns, _ in known for name in columns]
        names += usual if stated is None else [stated] if isinstance(stated, str) else stated
    return names


def has_semi_axes(columns: Columns, axes: Names) -> bool:
    """Whether there are the stated columns of axes, or (None) some with usual names."""
    if isinstance(axes, tuple):
        return True
    return axes in columns if axes is not None else _names(columns, None, AXES) is not None


def read_semi_axes(columns: Columns, stated: Names, scale: float | None) -> Doubles:
    """Return the semi-axes of particles, (N, 3)."""
    names, factor = _names(columns, stated, AXES) or ((), None)
    return (scale or factor or 1.0) * read_rows_in(columns, names, 3, "shape.axes")


def read_orientations(columns: Columns, stated: Names) -> Doubles | None:
    """Return quaternions w, x, y, z, (N, 4), or None."""
    found = _names(columns, stated, TURNS)
    if found is None:
        return None
    order = found[1]
    if stated is None and found[0] == ("orientation",) and OF_OVITO in columns:
        order = W_LAST
    turns = read_rows_in(columns, found[0], 4, "shape.orientation")
    return turns if order is None else turns[:, order]


def are_superellipsoids(columns: Columns) -> bool:
    """Whether particles have exponents of other surfaces than ellipsoids."""
    return any(np.any(np.asarray(columns.value(name)) != 2.0) for name in BLOCKS if name in columns)


def _names(columns: Columns, stated: Names, known: Any) -> tuple[tuple[str, ...], Any] | None:
    """Return the stated columns, or the first usual ones that there are and what `known` says."""
    if stated is not None:
        return ((stated,) if isinstance(stated, str) else stated), None
    return next((each for each in known if all(name in columns for name in each[0])), None)
