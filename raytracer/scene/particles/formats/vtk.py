"""Points of VTK's files (.vtk, .vtp, .vtu, .vts) with the arrays of point data. Read by vtk."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.memory import require_room
from raytracer.scene.particles.loaded import LoadedSource, library

MEMORY = 10  # bytes of memory per byte of the file while it is parsed
LEGACY = ".vtk"  # variant of files with sections after lines of words
PARTS = ("Scalars", "Vectors", "Normals", "Tensors", "ColorScalars", "TCoords", "Fields")


class Source(LoadedSource):
    def read(self) -> dict[str, NDArray[Any]]:
        core = library("vtkmodules.vtkCommonCore", self.name, "vtk")
        numbers = library("vtkmodules.util.numpy_support", self.name, "vtk").vtk_to_numpy
        require_room(self.name, MEMORY * self.file.size)
        messages = core.vtkStringOutputWindow()
        core.vtkOutputWindow.SetInstance(messages)
        data = self._data()
        if "ERR" in (said := messages.GetOutput()):
            raise ValueError(said[said.index("ERR") :].partition("): ")[2])
        points: Any = data.GetPoints() if hasattr(data, "GetPointData") else None
        if not hasattr(points, "GetData"):
            raise DataFileError(f"{self.name}: has no points: it is {shown(data.GetClassName())}")
        columns = {"position": numbers(points.GetData())}
        arrays = data.GetPointData()
        for place in range(arrays.GetNumberOfArrays()):
            if (array := arrays.GetArray(place)) is not None and array.GetName():
                columns.setdefault(array.GetName(), numbers(array))
        return columns

    def _data(self) -> Any:
        """Return the data set of the file."""
        if self.variant == LEGACY:
            module = library("vtkmodules.vtkIOLegacy", self.name, "vtk")
            reader = module.vtkGenericDataObjectReader()
            for part in PARTS:
                getattr(reader, f"ReadAll{part}On")()
        else:
            module = library("vtkmodules.vtkIOXML", self.name, "vtk")
            reader = module.vtkXMLGenericDataObjectReader()
        reader.SetFileName(self.file.name)
        reader.Update()
        return reader.GetOutput()
