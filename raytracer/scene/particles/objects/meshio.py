"""Meshes of meshio and the files that it reads (.ply, .stl, .obj, ...): their points."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from raytracer.errors import DataFileError
from raytracer.files.access import OpenFile
from raytracer.scene.particles.loaded import library
from raytracer.scene.particles.objects.source import (
    Entry,
    LibraryFile,
    ObjectSource,
    entries_of,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Source(ObjectSource):
    """A `Mesh`: its points with the arrays of the points."""

    noun = "array"

    @property
    def count(self) -> int | None:
        return len(self.value.points)

    def entries(self) -> Mapping[str, Entry]:
        points: NDArray[Any] = self.value.points
        if points.ndim != 2 or points.shape[1] != 3:
            raise DataFileError(f"{self.name}: its points have no x, y and z")
        data = {name: each for name, each in self.value.point_data.items() if name != "position"}
        return entries_of({"position": points, **data}, len(points))


class FileSource(LibraryFile, Source):
    """A file that meshio reads."""

    is_cloud = True

    def opened(self, frame: int) -> tuple[Any, int]:
        meshio = library("meshio", self.name, "mesh")
        self.require_frame()
        kinds = meshio.extension_to_filetypes.get(self.variant)
        if kinds is None:
            raise DataFileError(f"{self.name}: is of no format that meshio reads")
        return meshio.read(self.file.name, file_format=kinds[0]), 1


opened_source = FileSource


def knows(file: OpenFile) -> bool:
    """Whether meshio reads files with the ending of this one."""
    import meshio

    return file.path.suffix.lower() in meshio.extension_to_filetypes
