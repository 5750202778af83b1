"""Triangle meshes: walls, substrates, isosurfaces, ribbons."""

from collections.abc import Mapping
from copy import copy
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from raytracer.config.arguments import check_part_names, check_real
from raytracer.config.errors import SceneError, pluralize, prefix_errors
from raytracer.files.access import check_path
from raytracer.model.arrays import ErrorContext, as_array, check_centers, check_rows
from raytracer.model.mesh_geometry import corner_normals, find_inward_triangles, unit_vectors
from raytracer.model.quantities import find_unit
from raytracer.model.solids import SolidSet
from raytracer.model.sphere_set import Balls, SphereSet

CREASE_ANGLE = 40.0
"""Angle in degrees between two triangles from which the edge between them is sharp, by default."""

BALL_SIZE = 1e-3
"""Radius of the balls by which a camera frames the vertices, relative to the size of the mesh."""


class Mesh(SolidSet):
    """A mesh of triangles that share a material and a transform, seen from both sides.

    Args:
        vertices: (V, 3), any unit.
        triangles: integers (T, 3): numbers of the vertices at the corners, from 0. With normals
            that are computed, the triangles around have their corners in the same direction.
        color: one colour of the mesh.
        colors: (V, 3), colours of the vertices, mixed between them, or (T, 3), of the triangles,
            in the forms of `SphereSet`; where V equals T they are those of the vertices.
        smooth: whether normals change smoothly from triangle to triangle, across edges of less
            than 40 degrees; a number is another angle. False shows flat triangles.
        normals: (V, 3), normals of the vertices, of any length above 0, for `smooth`; None
            computes them, weighted by the angles at the corners.
        opacity: one opacity or (T,), from 0 to 1; None is 1.
        color_space: colour space of the numbers, "srgb" or "linear".
        material: a `Material`, a `Principled`, or the name of one of the scene's.
        transform: to scene units; None is the identity.
        names: names in a file for "vertices", "triangles" and "color", for messages.

    Raises:
        SceneError: arrays of wrong shape, NaN or infinity (with the index of the first), numbers
            of vertices that do not exist, colours out of range.
    """

    noun = "triangle"

    def __init__(
        self, vertices: Any, triangles: Any, *, color: Any = None, colors: Any = None,
        smooth: bool | float = True, normals: Any = None, opacity: Any = None,
        names: Mapping[str, str] | None = None, **looks: Any,
    ) -> None:  # fmt: skip
        names = {"centers": "vertices", **check_part_names(names)}
        where = ErrorContext("", names, "vertex", find_unit(vertices))
        self.vertices = check_centers(vertices, where)
        """Vertices, float32 or float64 (V, 3)."""
        count = len(self.vertices)
        self.triangles = _numbers(triangles, count)
        """Numbers of the vertices at the corners, int32 (T, 3)."""
        if isinstance(smooth, bool | np.bool_):
            smooth = CREASE_ANGLE * bool(smooth)
        self.smooth = check_real(smooth, "smooth", low=0.0, high=180.0)
        """Angle in degrees from which an edge is sharp; 0: triangles are flat."""
        self.normals = None
        """Unit normals of the vertices as they were given, float64 (V, 3), or None."""
        if normals is not None:
            units = unit_vectors(check_rows(normals, "normals", 3, count, where))
            if (lost := ~units.any(axis=1)).any():
                raise SceneError(f"normals: that of vertex {int(np.argmax(lost))} has length 0")
            self.normals = np.broadcast_to(units, (count, 3))
        if color is not None and colors is not None:
            raise SceneError("colors: give either color or colors, not both")
        rows, listed = len(self.triangles), color if colors is None else colors
        given = _count_colors(listed, colors is not None)
        if given not in (None, count, rows):
            raise SceneError(
                f"colors: has {pluralize(given, 'colour')} for {count:,} vertices and "
                f"{pluralize(rows, 'triangle')}; give one of each vertex or of each triangle"
            )
        self.has_vertex_colors = given == count
        of_vertices, of_triangles = (listed, None) if self.has_vertex_colors else (None, listed)
        size = float(np.ptp(self.vertices, axis=0).max()) * BALL_SIZE if count else 0.0
        looks["names"] = names
        self.corners: SphereSet = Balls("vertex", self.vertices, size or 1.0, of_vertices, **looks)
        middles = np.zeros((rows, 3))
        for corner in self.triangles.T:
            middles += self.vertices[corner] / 3.0
        self.start: SphereSet = Balls(
            self.noun, middles, self.corners.radius, of_triangles, opacity=opacity, **looks
        )

    @classmethod
    def from_file(cls, path: str | PathLike[str], **options: Any) -> Self:
        """Return the mesh of an STL, PLY, OBJ or OFF file, which the extra `mesh` reads.

        Polygons become triangles, and vertices at the same place one vertex. Normals of the file
        are left out; colours of its vertices or triangles are used without `color` and `colors`.

        Args:
            path: the file; its ending tells the format.
            **options: arguments of `Mesh`.

        Raises:
            UserError: the file is missing or wrong, or an option is.
        """
        from raytracer.scene_files.solid_files import read_arrays

        file = check_path(path)
        arrays: dict[str, Any] = read_arrays(file, "meshes")
        if any(options.get(name) is not None for name in ("color", "colors")):
            arrays.pop("colors", None)
        with prefix_errors(str(file)):
            mesh = cls(**arrays, **options)
        mesh.file = file
        return mesh

    def with_looks(self, **looks: Any) -> "Mesh":
        """Return the mesh with another colour, opacity or material of the whole."""
        looks = {"material": self.material, "transform": self.transform} | looks
        mesh = Mesh(
            self.vertices, self.triangles, smooth=self.smooth, normals=self.normals, **looks
        )
        mesh.file = self.file
        return mesh

    def check(self) -> None:
        super().check()
        _numbers(self.triangles, len(self.vertices))

    @property
    def balls(self) -> tuple[SphereSet, ...]:
        """Balls at the vertices, by which a camera frames the mesh."""
        return (self.corners,)

    @property
    def second_colors(self) -> SphereSet | None:
        """The vertices, if they have colours."""
        return self.corners if self.has_vertex_colors else None

    def corner_normals(self) -> NDArray[np.float64] | None:
        """Return unit normals at the corners of the triangles, float64 (T, 3, 3), or None."""
        if not self.smooth:
            return None
        if self.normals is not None:
            return self.normals[self.triangles]
        return corner_normals(self.vertices.astype(np.float64), self.triangles, self.smooth)

    def turned_out(self) -> Self:
        """Return the mesh with the corners of its triangles counterclockwise from outside.

        Each connected body is turned by itself; one that is wound the other way inside another is
        a cavity.

        Raises:
            SceneError: it is not closed.
        """
        # vertices of other normals or colours may have the same place
        _, place = np.unique(self.vertices, axis=0, return_inverse=True)
        begins = place.reshape(-1).astype(np.int64)[self.triangles]
        ends = np.roll(begins, -1, axis=1)
        edges = np.sort((begins * len(self.vertices) + ends).ravel())
        others = np.sort((ends * len(self.vertices) + begins).ravel())
        if not np.array_equal(edges, others):
            alone = len(np.setdiff1d(edges, others))
            raise SceneError(
                "mesh: glass needs a closed mesh, but a second triangle of the same orientation is "
                f"missing at {pluralize(alone, 'edge')}: close it, or choose another material"
            )
        inward = find_inward_triangles(self.vertices.astype(np.float64)[self.triangles], begins)
        if not inward.any():
            return self
        turned = copy(self)
        turned.triangles = np.where(inward[:, None], self.triangles[:, ::-1], self.triangles)
        return turned


def _count_colors(color: Any, are_many: bool) -> int | None:
    """Return the number of colours in a list or array, None for one colour."""
    if color is None or isinstance(color, str):
        return None
    names = isinstance(color, list | tuple) and any(isinstance(each, str) for each in color)
    try:
        return len(color) if are_many or names or np.ndim(color) > 1 else None
    except (TypeError, ValueError):  # a number, rows of other lengths
        raise SceneError("colors: give one of each vertex or of each triangle") from None


def _numbers(triangles: Any, count: int) -> NDArray[np.int32]:
    array = as_array(triangles, "triangles", ErrorContext())
    if array.size == 0:
        return np.zeros((0, 3), np.int32)
    if array.ndim != 2 or array.shape[1] != 3:
        raise SceneError(f"triangles: has shape {array.shape}; give three corners each, (T, 3)")
    if array.dtype.kind not in "iu":
        raise SceneError(f"triangles: holds {array.dtype} values, not integers")
    wrong = (array < 0) | (array >= count)
    if wrong.any():
        row, corner = np.unravel_index(np.argmax(wrong), wrong.shape)
        raise SceneError(
            f"triangles: triangle {row} has the corner {array[row, corner]}, but the vertices go "
            f"from 0 to {count - 1}"
        )
    return np.ascontiguousarray(array, np.int32)
