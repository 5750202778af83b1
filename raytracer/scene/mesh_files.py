"""Files of triangle meshes: STL, PLY, OBJ and OFF. Read by trimesh, in a process of its own."""

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile, opened
from raytracer.memory import require_room
from raytracer.scene.particles.isolated import call
from raytracer.scene.particles.loaded import library

FORMATS = {".stl": "STL", ".ply": "PLY", ".obj": "OBJ", ".off": "OFF"}
"""Names of formats by the ending of a file."""

MEMORY = 12  # bytes of memory per byte of the file while it is parsed


def mesh_arrays(path: Path) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file: vertices, triangles, and if it has any, colours. Raises
    UserError."""
    what = FORMATS.get(path.suffix.lower())
    if what is None:
        raise DataFileError(
            f"{path}: the ending '{shown(path.suffix)}' is not that of a mesh "
            f"({', '.join(FORMATS)}): convert the file"
        )
    with opened(path) as file:
        return call(file, read_mesh, what)


def read_mesh(file: OpenFile) -> dict[str, NDArray[Any]]:
    """Read a file, in a worker; polygons become triangles."""
    trimesh = library("trimesh", file.source, "mesh")
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
    return dict(zip(("vertices", "triangles"), merged(vertices, triangles), strict=True))


def merged(
    vertices: NDArray[Any], triangles: NDArray[np.int32]
) -> tuple[NDArray[Any], NDArray[np.int32]]:
    """Return a mesh where vertices at the same place are one; in STL each triangle has its own."""
    order = np.lexsort(vertices.T)
    placed = vertices[order]
    is_new = np.append(True, (placed[1:] != placed[:-1]).any(axis=1))[: len(order)]
    number = np.empty(len(order), np.int32)
    number[order] = np.cumsum(is_new) - 1
    return placed[is_new], number[triangles]
