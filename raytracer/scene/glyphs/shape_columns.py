"""Column names for axes and orientations of non-spherical particles in various programs."""

from collections.abc import Mapping
from typing import Any

from raytracer.scene.particles.source import Column

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


OF_OVITO = "aspherical_shape"  # its `orientation` has w last; HOOMD-blue's has w first
W_LAST = (3, 0, 1, 2)  # positions of w, x, y and z in such a quaternion


def are_ellipsoids(columns: Mapping[str, Column]) -> bool:
    """Whether columns with usual names hold numeric axes and orientations."""
    return all(
        any(_are_numbers(columns, names, width) for names, _ in known)
        for known, width in ((AXES, 3), (TURNS, 4))
    )


def _are_numbers(columns: Mapping[str, Column], names: tuple[str, ...], width: int) -> bool:
    """Whether numeric columns of these names exist, one of rows or several side by side."""
    shape = (width,) if len(names) == 1 else ()
    found = [columns.get(name) for name in names]
    return all(each is not None and each[:2] in (("number", shape), ("", shape)) for each in found)


def columns_needed(axes: Any, orientation: Any) -> list[str]:
    """Return the columns that ellipsoids may need, for stated names or (None) the usual ones."""
    names: list[str] = []
    for stated, known in ((axes, AXES), (orientation, TURNS)):
        usual = [name for columns, _ in known for name in columns]
        names += usual if stated is None else [stated] if isinstance(stated, str) else stated
    return names
