"""Files that PyVista and meshio write, by the writers of VTK."""

from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from particles.corpus.kinds import POINTS, RADII, SPEEDS, Written, kinds, single


def cloud(points: Any = POINTS) -> Any:
    """The points as `PolyData` with radii and speeds."""
    import pyvista

    made = pyvista.PolyData(points)
    made["radius"], made["speed"] = RADII, SPEEDS
    return made


def full(**others: Any) -> Written:
    """What files keep that hold all as float64."""
    speed = ("speed", SPEEDS)
    return Written(POINTS, symbols=(), radii=RADII, columns=(speed,), **others)


def by_vtk(path: Path, writer: str, made: Any = None, **options: Any) -> None:
    """Write by a writer of VTK whose options are set by name."""
    import vtk

    tool = getattr(vtk, writer)()
    tool.SetFileName(str(path))
    tool.SetInputData(cloud() if made is None else made)
    for name, value in options.items():
        getattr(tool, name)(*(() if value is None else (value,)))
    assert tool.Write() == 1


MODES: dict[str, dict[str, Any]] = {
    "text": {"SetDataModeToAscii": None},
    "base64": {"SetDataModeToBinary": None, "SetCompressorTypeToNone": None},
    "base64, zlib": {"SetDataModeToBinary": None, "SetCompressorTypeToZLib": None},
    "appended, lzma": {"SetDataModeToAppended": None, "SetCompressorTypeToLZMA": None},
    "appended raw, uint64": {
        "SetDataModeToAppended": None, "EncodeAppendedDataOff": None,
        "SetHeaderTypeToUInt64": None, "SetCompressorTypeToNone": None,
    },
    "appended raw, big endian": {
        "SetDataModeToAppended": None, "EncodeAppendedDataOff": None,
        "SetByteOrderToBigEndian": None,
    },
}  # fmt: skip
kinds("pyvista", *(
    (f"VTK PolyData, {mode}", f"{mode.replace(', ', '_').replace(' ', '_')}.vtp", "float64",
     full(), partial(by_vtk, writer="vtkXMLPolyDataWriter", **options))
    for mode, options in MODES.items()
))  # fmt: skip


def structured(path: Path) -> None:
    """Write the points as a structured grid of float32."""
    import pyvista

    made = pyvista.StructuredGrid()
    made.points = single(POINTS)
    made.dimensions = (6, 1, 1)
    made.save(str(path))


def old(path: Path) -> None:
    """Write an unstructured grid in the format of version 4.2."""
    by_vtk(path, "vtkUnstructuredGridWriter", cloud(single(POINTS)).cast_to_unstructured_grid(),
           SetFileTypeToBinary=None, SetFileVersion=42)  # fmt: skip


def mesh(path: Path, **options: Any) -> None:
    """Write the points as a mesh of meshio."""
    import meshio

    cells = [("vertex", np.arange(len(POINTS)).reshape(-1, 1))]
    made = meshio.Mesh(POINTS, cells, point_data={"radius": RADII, "speed": SPEEDS})
    made.write(str(path), **options)


SINGLE, DIGITS = Written(single(POINTS), symbols=()), Written(POINTS, 1e-5, symbols=())

for _title, _file, _package, _keeps, _needs, _write, _result in (
    ("VTK UnstructuredGrid", "e.vtu", "pyvista", "float64", (),
     lambda path: cloud().cast_to_unstructured_grid().save(str(path)), full()),
    ("VTK StructuredGrid", "e.vts", "pyvista", "float32", (), structured, SINGLE),
    ("VTK legacy, binary", "e.vtk", "pyvista", "float64", (),
     lambda path: cloud().save(str(path), binary=True), full()),
    ("VTK legacy, text", "text.vtk", "pyvista", "6 digits, or more as the type needs", (),
     lambda path: cloud().save(str(path), binary=False), DIGITS),
    ("VTK legacy, version 4.2, unstructured", "old.vtk", "pyvista", "float32", (), old,
     Written(single(POINTS), symbols=(), radii=RADII)),
    ("PLY, binary", "e.ply", "pyvista", "float32", ("plyfile",),
     lambda path: cloud(single(POINTS)).save(str(path), binary=True), SINGLE),
    ("PLY, text", "text.ply", "pyvista", "6 digits", ("plyfile",),
     lambda path: cloud(single(POINTS)).save(str(path), binary=False), DIGITS),
    ("VTK UnstructuredGrid, zlib", "f.vtu", "meshio", "float64", ("vtkmodules",), mesh, full()),
    ("VTK legacy, version 5.1", "f.vtk", "meshio", "float64", ("vtkmodules",),
     partial(mesh, file_format="vtk"), full()),
    ("PLY, binary", "f.ply", "meshio", "float64", ("plyfile",), partial(mesh, binary=True), full()),
    ("PLY, text", "g.ply", "meshio", "float64", ("plyfile",), partial(mesh, binary=False), full()),
):  # fmt: skip
    kinds(_package, (_title, _file, _keeps, _result, _write, *_needs))
