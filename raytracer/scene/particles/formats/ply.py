"""Point clouds and meshes in PLY (.ply): the properties of the vertices. Read by plyfile."""

from typing import Any

from numpy.typing import NDArray

from raytracer.errors import counted, shown
from raytracer.scene.particles.loaded import LoadedSource, library


class Source(LoadedSource):
    noun = "property"
    memory = 8

    def read(self) -> dict[str, NDArray[Any]]:
        plyfile = library("plyfile", self.name, "ply")
        parts = {each.name: each for each in plyfile.PlyData.read(self.stream(), mmap=False)}
        if "vertex" not in parts:
            raise self.error("there is no element 'vertex'")
        faces = parts["face"].count if "face" in parts else 0
        if faces:
            self.note(
                "the vertices are shown as particles; to show the mesh of "
                f"{counted(faces, 'face')}, give --mesh {shown(self.file.path.name)}"
            )
        rows = parts["vertex"].data
        native = rows.astype(rows.dtype.newbyteorder("="), copy=False)
        return {name: native[name] for name in native.dtype.names if native[name].dtype != object}
