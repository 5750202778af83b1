"""Files of capsules, cones and ellipsoids: arrays of `.npz`, columns of tables; and of triangle
meshes: STL, PLY, OBJ and OFF, read by trimesh in a process of its own."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile, open_file
from raytracer.model.colors import check_color_numbers
from raytracer.particles.array_source import import_library
from raytracer.particles.columns import color_error_maker
from raytracer.particles.isolated import call_in_process
from raytracer.system.memory import require_room

Arrays = dict[str, NDArray[Any]]

COLORS = {"colors": ("r", "g", "b"), "end_colors": ("r2", "g2", "b2")}
RODS = {
    "starts": ("x1", "y1", "z1"), "ends": ("x2", "y2", "z2"), "radii": ("radius",), **COLORS,
    "opacities": ("opacity",),
}  # fmt: skip

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

MESHES = {".stl": "STL", ".ply": "PLY", ".obj": "OBJ", ".off": "OFF"}
"""Names of formats of meshes by the ending of a file."""

MEMORY = 12  # bytes of memory per byte of the file of a mesh while it is parsed


def read_arrays(path: Path, kind: str) -> Arrays:
    """Return the arrays of a set of solids in a file, by the keys of a scene file: of meshes the
    vertices, triangles, and if it has any, colours. Raises UserError."""
    if kind == "meshes":
        what = MESHES.get(path.suffix.lower())
        if what is None:
            raise DataFileError(
                f"{path}: the ending '{quote(path.suffix)}' is not that of a mesh "
                f"({', '.join(MESHES)}): convert the file"
            )
        with open_file(path) as file:
            return call_in_process(file, read_mesh, what)
    from raytracer.model.data_file import DataFile
    from raytracer.particles.read import open_source

    with open_source(DataFile(path)) as source:
        there = {name.lower(): name for name in reversed(list(source.columns))}
        known = {
            key: names
            for key, columns in COLUMNS[kind].items()
            if (names := _find_names(key, columns, there, path))
        }
        table = source.load(list(dict.fromkeys(n for names in known.values() for n in names)))
    arrays: Arrays = {}
    for key, names in known.items():
        values = [table[name] for name in names]
        if any(value.dtype.kind not in "fiu" for value in values):
            raise DataFileError(f"{path}: {quote(names[0])} does not hold numbers")
        arrays[key] = values[0] if len(values) == 1 else np.stack(values, axis=1)
        if key in COLORS:
            arrays[key] = check_color_numbers(
                arrays[key], color_error_maker(str(path), ", ".join(names))
            )
    return arrays


def _find_names(
    key: str, columns: tuple[str, ...], there: dict[str, str], path: Path
) -> tuple[str, ...]:
    if key in there:
        return (there[key],)
    have = [name for name in columns if name in there]
    if have and len(have) < len(columns):
        lacking = " and ".join(name for name in columns if name not in there)
        raise DataFileError(f"{path}: has {' and '.join(have)}, but no {lacking}")
    return tuple(there[name] for name in have)


def read_mesh(file: OpenFile) -> Arrays:
    """Read a mesh, in a worker; polygons become triangles, and vertices at the same place one: in
    STL each triangle has its own."""
    trimesh = import_library("trimesh", file.source, "mesh")
    require_room(file.source, MEMORY * file.size)
    content = BytesIO(file.read(file.size))  # no file has a name that trimesh would look beside
    kind = file.path.suffix.lower()[1:]
    mesh = trimesh.load_mesh(content, file_type=kind, process=False, skip_materials=True)
    if not len(getattr(mesh, "faces", ())):
        raise DataFileError(
            f"{file.source}: holds no triangles; points alone are read as .ply, .xyz or .csv"
        )
    vertices, triangles = np.asarray(mesh.vertices), np.asarray(mesh.faces, np.int32)
    if mesh.visual.kind in ("vertex", "face"):
        colors = getattr(mesh.visual, f"{mesh.visual.kind}_colors")
        rows = np.asarray(colors, np.uint8)[:, :3]
        return {"vertices": vertices, "triangles": triangles, "colors": rows}
    order = np.lexsort(vertices.T)
    placed = vertices[order]
    is_new = np.append(True, (placed[1:] != placed[:-1]).any(axis=1))[: len(order)]
    number = np.empty(len(order), np.int32)
    number[order] = np.cumsum(is_new) - 1
    return {"vertices": placed[is_new], "triangles": number[triangles]}
