"""Isosurfaces of a grid of values: marching cubes by scikit-image, normals by the gradient."""

from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.appearance.glyphs.settings import Isosurface
from raytracer.appearance.glyphs.shared import GlyphSet
from raytracer.config.errors import DataFileError, SceneError, prefix_errors
from raytracer.files.access import open_file, translate_errors
from raytracer.model.mesh import Mesh
from raytracer.model.particle_source import Box
from raytracer.model.scene import Scene
from raytracer.model.sphere_set import SphereSet
from raytracer.particles.compressed import decompress
from raytracer.system.memory import require_room

Doubles = NDArray[np.float64]

ENDINGS = (".cube", ".cub")
COLORS = ((0.25, 0.47, 0.85), (0.85, 0.27, 0.25))  # of positive and of negative levels
TEXT_BYTES = 24  # most bytes of memory per byte of a cube file while it is parsed
CELL_BYTES = 64  # most bytes per value of a grid while a surface is made
BEND = 2.0
"""Largest mean second difference across the border of a periodic grid, in the largest of two
neighbouring planes inside."""


class ValueGrid(NamedTuple):
    """Values at the points of a regular grid, (X, Y, Z), its steps along each index, (3, 3), and
    whether the first value follows the last along it."""

    values: Doubles
    origin: Doubles
    steps: Doubles
    periodic: tuple[bool, bool, bool]


def make_isosurface(scene: Scene, isosurface: Isosurface) -> GlyphSet:
    """Return the surfaces of a grid, one mesh for each level."""
    if None in map(find_spec, ("skimage", "ase")):
        raise SceneError("isosurface: needs packages: pip install 'raytracer[isosurface]'")
    spheres, path = _find_source(scene, isosurface)
    grid = read_cube(path, isosurface.periodic)
    low, high = float(grid.values.min()), float(grid.values.max())
    levels = isosurface.level or choose_levels(grid.values)
    assert isinstance(levels, tuple)
    colors: Any = isosurface.color or COLORS
    looks: Any = {"material": isosurface.material, "opacity": isosurface.opacity}
    made = []
    for level in levels:
        if not low < level < high:
            raise SceneError(
                f"isosurface.level: {level:g} is not between the values of {path}, which go from "
                f"{low:g} to {high:g}"
            )
        vertices, normals, triangles = extract_surface(grid, level)
        if spheres is not None:
            looks["transform"] = spheres.transform
            cells = _cells(grid, spheres.box)
            first = np.arange(len(cells))[:, None, None] * len(vertices)
            vertices = (vertices + cells[:, None]).reshape(-1, 3)
            normals = np.tile(normals, (len(cells), 1))
            triangles = (triangles + first).reshape(-1, 3)
        color = colors[-1 if level < 0.0 else 0]
        made.append(Mesh(vertices, triangles, color=color, normals=normals, **looks))
    return GlyphSet(made)


def _cells(grid: ValueGrid, box: Box | None) -> Doubles:
    """Return the corners of the cells of the grid that a box of particles holds, (M, 3), from that
    of the grid."""
    cell = grid.steps * np.array(grid.values.shape)[:, None]
    edges = cell if box is None else np.array(box.edges)
    lengths = np.linalg.norm(cell, axis=1)
    counts = np.maximum(np.rint(np.linalg.norm(edges, axis=1) / lengths), 1.0)
    if not np.allclose(edges, cell * counts[:, None], rtol=0.0, atol=1e-3 * lengths.max()):
        return np.zeros((1, 3))
    steps = np.stack(np.meshgrid(*map(np.arange, counts), indexing="ij"), axis=-1).reshape(-1, 3)
    return np.asarray(steps @ cell)


def choose_levels(values: Doubles) -> tuple[float, ...]:
    """Return mean plus twice the standard deviation of the absolute values, of each sign."""
    sizes = np.abs(values)
    level = float(sizes.mean() + 2.0 * sizes.std())
    inside = tuple(each for each in (level, -level) if values.min() < each < values.max())
    return inside or (level,)


def _find_source(scene: Scene, isosurface: Isosurface) -> tuple[SphereSet | None, Path]:
    """Return the set whose transform the grid has, or None, and the file of the grid."""
    of_files = [each for each in scene.spheres if each.file is not None]
    if isosurface.file is not None:
        return next(iter(of_files or scene.spheres), None), Path(isosurface.file)
    for spheres in of_files:
        assert spheres.file is not None
        endings = spheres.file.path.suffixes[-2:]  # that of a compressed file is the one before
        if any(each.lower() in ENDINGS for each in endings):
            return spheres, spheres.file.path
    raise SceneError(
        "isosurface.file: is missing: no particles of the scene are from a Gaussian cube file "
        "(.cube); name one: --isosurface 0.02,file=density.cube"
    )


def read_cube(path: Path, periodic: bool | None = None) -> ValueGrid:
    """Read the first grid of a Gaussian cube file in angstrom. periodic: None: along each index,
    whether the values continue from the last plane to the first. Raises DataFileError."""
    from ase.io import cube

    parse: Any = cube.read_cube
    with prefix_errors("isosurface.file"), open_file(path) as stream:
        content = decompress(stream)
        require_room(stream.source, TEXT_BYTES * content.size)
        text = content.read(content.size).decode("latin-1")
        with translate_errors(stream.source, "Gaussian cube"):
            made = parse(StringIO(text))
        values = np.asarray(made["data"], np.float64)
        steps = np.asarray(made["spacing"], np.float64)
        if values.ndim != 3 or min(values.shape) < 2:
            raise DataFileError(f"{stream.source}: the grid has no two values along each index")
        if not (np.isfinite(values).all() and np.isfinite(steps).all()):
            raise DataFileError(f"{stream.source}: the grid has values that are not finite")
        if not abs(np.linalg.det(steps)) > 0.0:
            raise DataFileError(f"{stream.source}: the steps of the grid lie in a plane")
        require_room(stream.source, CELL_BYTES * values.size)
    x, y, z = [bool(periodic)] * 3
    if periodic is None:  # whether they continue smoothly from the last plane to the first
        planes = [np.moveaxis(values, axis, 0) for axis in range(3)]
        bends = [np.abs(np.roll(p, -1, 0) - 2.0 * p + np.roll(p, 1, 0)) for p in planes]
        means = [np.roll(each.mean(axis=(1, 2)), 1) for each in bends]
        x, y, z = (len(m) > 3 and m[:2].max() <= BEND * m[2:].max() for m in means)
    return ValueGrid(values, np.asarray(made["origin"], np.float64), steps, (x, y, z))


def extract_surface(grid: ValueGrid, level: float) -> tuple[Doubles, Doubles, NDArray[np.int64]]:
    """Return the surface of a level: vertices and normals (V, 3), triangles (T, 3), which face
    values nearer to 0; of a periodic grid it reaches from one period to the next."""
    from skimage import measure

    marching_cubes: Any = measure.marching_cubes
    around = np.pad(grid.values, [(int(each), 2 * int(each)) for each in grid.periodic], "wrap")
    wider = around[tuple(slice(int(each), -int(each) or None) for each in grid.periodic)]
    direction = "ascent" if level > 0.0 else "descent"
    above = wider - level
    above /= np.abs(above).max()  # the library computes in float32
    try:
        found: Any = marching_cubes(
            above, 0.0, gradient_direction=direction, allow_degenerate=False
        )
    except (RuntimeError, ValueError) as error:
        raise SceneError(f"isosurface.level: {level:g} has no surface ({error})") from None
    places, triangles = np.asarray(found[0], np.float64), np.asarray(found[1], np.int64)
    share = (places % 1.0).max(axis=1)  # a vertex lies on an edge of the grid
    ends = (each.astype(np.int64) + grid.periodic for each in (np.floor(places), np.ceil(places)))
    low, high = (tuple(each.T) for each in ends)
    gradient = (np.gradient(around, axis=axis) for axis in range(3))
    along = [(1.0 - share) * slope[low] + share * slope[high] for slope in gradient]
    slopes = np.stack(along, axis=1) @ np.linalg.inv(grid.steps).T
    normals = slopes if level < 0.0 else -slopes
    lengths = np.sqrt(np.square(normals).sum(axis=1, keepdims=True))
    normals = np.where(lengths > 0.0, normals / np.where(lengths > 0.0, lengths, 1.0), (0, 0, 1))
    if np.linalg.det(grid.steps) < 0.0:
        triangles = triangles[:, ::-1]
    return grid.origin + places @ grid.steps, normals, triangles
