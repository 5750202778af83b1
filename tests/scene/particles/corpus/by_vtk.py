"""Files that PyVista and meshio write, by the writers of VTK."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from scene.particles.corpus.kinds import POINTS, RADII, SPEEDS, Written, kind, single


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


for _mode, _options in {
    "text": {"SetDataModeToAscii": None},
    "base64": {"SetDataModeToBinary": None, "SetCompressorTypeToNone": None},
    "base64, zlib": {"SetDataModeToBinary": None, "SetCompressorTypeToZLib": None},
    "appended, lzma": {"SetDataModeToAppended": None, "SetCompressorTypeToLZMA": None},
    "appended raw, uint64": {
        "SetDataModeToAppended": None, "EncodeAppendedDataOff": None, "SetHeaderTypeToUInt64": None,
        "SetCompressorTypeToNone": None,
    },
    "appended raw, big endian": {
        "SetDataModeToAppended": None, "EncodeAppendedDataOff": None,
        "SetByteOrderToBigEndian": None,
    },
}.items():  # fmt: skip

    @kind(f"VTK PolyData, {_mode}", f"{_mode.replace(', ', '_').replace(' ', '_')}.vtp",
          "pyvista", "float64")  # fmt: skip
    def vtp(path: Path, options: dict[str, Any] = _options) -> Written:
        by_vtk(path, "vtkXMLPolyDataWriter", **options)
        return full()


@kind("VTK UnstructuredGrid", "e.vtu", "pyvista", "float64")
def vtu(path: Path) -> Written:
    cloud().cast_to_unstructured_grid().save(str(path))
    return full()


@kind("VTK StructuredGrid", "e.vts", "pyvista", "float32")
def vts(path: Path) -> Written:
    import pyvista

    made = pyvista.StructuredGrid()
    made.points = single(POINTS)
    made.dimensions = (6, 1, 1)
    made.save(str(path))
    return Written(single(POINTS), symbols=())


@kind("VTK legacy, binary", "e.vtk", "pyvista", "float64")
def vtk_binary(path: Path) -> Written:
    cloud().save(str(path), binary=True)
    return full()


@kind("VTK legacy, text", "text.vtk", "pyvista", "6 digits, or more as the type needs")
def vtk_text(path: Path) -> Written:
    cloud().save(str(path), binary=False)
    return Written(POINTS, 1e-5, symbols=())


@kind("VTK legacy, version 4.2, unstructured", "old.vtk", "pyvista", "float32")
def vtk_old(path: Path) -> Written:
    by_vtk(path, "vtkUnstructuredGridWriter", cloud(single(POINTS)).cast_to_unstructured_grid(),
           SetFileTypeToBinary=None, SetFileVersion=42)  # fmt: skip
    return Written(single(POINTS), symbols=(), radii=RADII)


@kind("PLY, binary", "e.ply", "pyvista", "float32", "plyfile")
def ply(path: Path) -> Written:
    cloud(single(POINTS)).save(str(path), binary=True)
    return Written(single(POINTS), symbols=())


@kind("PLY, text", "text.ply", "pyvista", "6 digits", "plyfile")
def ply_text(path: Path) -> Written:
    cloud(single(POINTS)).save(str(path), binary=False)
    return Written(POINTS, 1e-5, symbols=())


def mesh() -> Any:
    """The points as a mesh of meshio."""
    import meshio

    cells = [("vertex", np.arange(len(POINTS)).reshape(-1, 1))]
    return meshio.Mesh(POINTS, cells, point_data={"radius": RADII, "speed": SPEEDS})


@kind("VTK UnstructuredGrid, zlib", "f.vtu", "meshio", "float64")
def meshio_vtu(path: Path) -> Written:
    mesh().write(str(path))
    return full()


@kind("VTK legacy, version 5.1", "f.vtk", "meshio", "float64")
def meshio_vtk(path: Path) -> Written:
    mesh().write(str(path), file_format="vtk")
    return full()


@kind("PLY, binary", "f.ply", "meshio", "float64", "plyfile")
def meshio_ply(path: Path) -> Written:
    mesh().write(str(path), binary=True)
    return full()


@kind("PLY, text", "g.ply", "meshio", "float64", "plyfile")
def meshio_ply_text(path: Path) -> Written:
    mesh().write(str(path), binary=False)
    return full()
