"""Isosurfaces of cube files beside closed forms: radii, areas, normals, units, periods."""

import gzip
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import Isosurface
from raytracer.appearance.glyphs import isosurface
from raytracer.appearance.glyphs.isosurface import (
    ValueGrid,
    choose_levels,
    extract_surface,
    read_cube,
)
from raytracer.config.errors import UserError
from reference.scene import Array
from support.glyphs import shown
from support.molecules import is_closed, volume, write_cube

pytest.importorskip("skimage")

ORTHOGONAL = np.diag([0.11, 0.12, 0.10])
OBLIQUE = np.array([[0.11, 0.0, 0.0], [0.03, 0.12, 0.0], [-0.02, 0.04, 0.1]])
MIRRORED = OBLIQUE[[1, 0, 2]]  # a left-handed cell
SIGMA = 0.8


def points(shape: tuple[int, int, int], origin: Array, steps: Array) -> Array:
    indices = np.stack(np.meshgrid(*map(np.arange, shape), indexing="ij"), axis=-1)
    return np.asarray(origin + indices @ steps)


def gaussian(steps: Array, shape: tuple[int, int, int] = (60, 50, 64)) -> ValueGrid:
    origin = -0.5 * (np.array(shape) - 1) @ steps
    squares = np.square(points(shape, origin, steps)).sum(axis=-1)
    return ValueGrid(np.exp(-squares / (2.0 * SIGMA**2)), origin, steps, (False, False, False))


def radius(level: float) -> float:
    return float(SIGMA * np.sqrt(-2.0 * np.log(level)))


@pytest.mark.parametrize("steps", [ORTHOGONAL, OBLIQUE, MIRRORED], ids=["box", "oblique", "left"])
@pytest.mark.parametrize("level", [0.2, 0.6])
def test_surface_of_a_gaussian_is_a_sphere(steps: Array, level: float) -> None:
    vertices, normals, triangles = extract_surface(gaussian(steps), level)
    away = np.linalg.norm(vertices, axis=1)
    assert away == pytest.approx(np.full(len(away), radius(level)), abs=0.004)
    assert (normals * vertices).sum(axis=1) / away == pytest.approx(np.ones(len(away)), abs=1e-3)
    assert is_closed(vertices, triangles)
    inside = volume(vertices, triangles)  # positive: triangles are anticlockwise from outside
    assert inside == pytest.approx(4.0 / 3.0 * np.pi * radius(level) ** 3, rel=0.02)


def test_negative_levels_face_outwards_too() -> None:
    grid = gaussian(OBLIQUE)
    vertices, normals, triangles = extract_surface(grid._replace(values=-grid.values), -0.4)
    assert (normals * vertices).sum(axis=1).min() > 0.0
    assert volume(vertices, triangles) > 0.0


def test_surface_converges_with_the_square_of_the_step() -> None:
    errors = []
    for factor, shape in ((1.0, (40, 40, 40)), (0.5, (80, 80, 80))):
        vertices, _, _ = extract_surface(gaussian(factor * 0.16 * np.eye(3), shape), 0.4)
        errors.append(np.abs(np.linalg.norm(vertices, axis=1) - radius(0.4)).max())
    assert errors[1] < 0.35 * errors[0]


def gyroid(count: int, length: float) -> ValueGrid:
    """Return one period of a grid whose surface of level 0.3 crosses all borders."""
    angles = 2.0 * np.pi * np.arange(count) / count
    x, y, z = np.meshgrid(angles, angles, angles, indexing="ij")
    values = np.sin(x) * np.cos(y) + np.sin(y) * np.cos(z) + np.sin(z) * np.cos(x)
    return ValueGrid(values, np.zeros(3), length / count * np.eye(3), (True, True, True))


def test_periodic_surface_reaches_across_its_cell_and_fits_its_images() -> None:
    length = 10.0
    vertices, normals, _ = extract_surface(gyroid(40, length), 0.3)
    assert vertices.min(axis=0) == pytest.approx(np.zeros(3), abs=1e-9)
    assert vertices.max(axis=0) == pytest.approx(np.full(3, length))
    for axis in range(3):
        low = vertices[:, axis] < 1e-9
        high = vertices[:, axis] > length - 1e-9
        order = [np.lexsort(np.round(vertices[end], 6).T) for end in (low, high)]
        ends = [vertices[end][at] for end, at in zip((low, high), order, strict=True)]
        assert ends[1] - ends[0] == pytest.approx(length * np.eye(3)[[axis] * low.sum()], abs=1e-4)
        looks = [normals[end][at] for end, at in zip((low, high), order, strict=True)]
        assert looks[0] == pytest.approx(looks[1], abs=1e-6)


def test_periodic_normals_are_those_of_the_field() -> None:
    grid = gyroid(64, 2.0 * np.pi)
    vertices, normals, _ = extract_surface(grid, 0.3)
    x, y, z = vertices.T
    slope = np.stack(
        [
            np.cos(x) * np.cos(y) - np.sin(z) * np.sin(x),
            np.cos(y) * np.cos(z) - np.sin(x) * np.sin(y),
            np.cos(z) * np.cos(x) - np.sin(y) * np.sin(z),
        ],
        axis=1,
    )
    expected = -slope / np.linalg.norm(slope, axis=1, keepdims=True)
    assert (normals * expected).sum(axis=1).min() > 0.9999


# Files


def test_cube_files_are_in_bohr(tmp_path: Path) -> None:
    grid = gaussian(OBLIQUE, (12, 11, 10))
    path = write_cube(tmp_path / "a.cube", grid.values, grid.origin, grid.steps)
    read = read_cube(path)
    assert read.values == pytest.approx(grid.values, rel=1e-6)
    assert read.origin == pytest.approx(grid.origin, abs=1e-6)
    assert read.steps == pytest.approx(grid.steps, abs=1e-7)


def test_periods_are_recognised(tmp_path: Path) -> None:
    crystal = write_cube(tmp_path / "a.cube", gyroid(24, 5.0).values, np.zeros(3), np.eye(3))
    assert read_cube(crystal).periodic == (True, True, True)
    assert read_cube(crystal, False).periodic == (False, False, False)
    x = np.linspace(-1.0, 1.0, 16)
    bowl = x[:, None, None] ** 2 + x[:, None] ** 2 + np.exp(x)
    other = write_cube(tmp_path / "b.cube", bowl, np.zeros(3), np.eye(3))
    assert read_cube(other).periodic == (False, False, False)


def test_default_level_is_that_of_vesta() -> None:
    values = np.array([[[0.0, 1.0], [2.0, 9.0]], [[-3.0, 0.0], [0.0, 1.0]]])
    sizes = np.abs(values)
    level = sizes.mean() + 2.0 * np.sqrt((sizes**2).mean() - sizes.mean() ** 2)
    assert choose_levels(values) == pytest.approx((level,))
    both = choose_levels(np.concatenate([values, -values]))
    assert len(both) == 2
    assert both[0] == -both[1]


# In scenes


@pytest.fixture
def orbital(tmp_path: Path) -> Path:
    """A p orbital: two lobes of opposite signs, above and below the atom."""
    steps = 0.2 * np.eye(3)
    shape, origin = (40, 40, 40), np.full(3, -3.9)
    place = points(shape, origin, steps)
    values = place[..., 2] * np.exp(-np.linalg.norm(place, axis=-1))
    return write_cube(tmp_path / "p.cube", values, origin, steps)


def test_two_lobes_in_two_colors(orbital: Path) -> None:
    scene = shown(orbital, isosurface="0.2,-0.2")
    above, below = scene.meshes
    assert above.vertices[:, 2].min() > 0.0
    assert below.vertices[:, 2].max() < 0.0
    red, _, blue = np.asarray(above.start.color)[0]
    assert blue > red
    red, _, blue = np.asarray(below.start.color)[0]
    assert red > blue
    assert above.start.opacity == pytest.approx(0.6)
    assert scene.count == 1
    same = shown(orbital, isosurface={"level": [0.2, -0.2]})
    assert [each.count for each in same.meshes] == [above.count, below.count]
    assert len(shown(orbital, isosurface=0.2).meshes) == 1
    assert len(shown(orbital, isosurface=True).meshes) == 2  # of the default level


def test_a_scene_file_names_the_grid_from_its_folder(orbital: Path, tmp_path: Path) -> None:
    folder = tmp_path / "scenes"
    folder.mkdir()
    (folder / "a.xyz").write_text("1\n\nC 0 0 0\n")
    with gzip.open(folder / "p.cube.gz", "wb") as packed:
        packed.write(orbital.read_bytes())
    scene = folder / "scene.toml"
    scene.write_text(
        '[[spheres]]\nfile = "a.xyz"\ntransform = { translate = [1, 2, 3] }\n'
        '[isosurface]\nfile = "p.cube.gz"\nlevel = 0.2\n'
    )
    (mesh,) = shown(scene).meshes
    assert mesh.transform.translate == (1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    "damage",
    [
        lambda text: text[: len(text) // 2],
        lambda text: text.replace("E-0", "E?0", 1),
        lambda text: "\n".join(text.splitlines()[:2]),
        lambda text: text.replace("   40 ", "    1 "),
    ],
)
def test_damaged_files_are_refused(orbital: Path, tmp_path: Path, damage: Any) -> None:
    path = tmp_path / "b.cube"
    path.write_text(damage(orbital.read_text()))
    with pytest.raises(UserError, match=r"b\.cube") as caught:
        shown(orbital, isosurface={"level": 0.2, "file": str(path)})
    assert len(str(caught.value).splitlines()) == 1


def test_other_files_and_missing_packages(
    orbital: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.xyz"
    path.write_text("1\n\nC 0 0 0\n")
    with pytest.raises(UserError, match=r"isosurface\.file: is missing"):
        shown(path, isosurface=0.2)
    monkeypatch.setattr(isosurface, "find_spec", lambda _: None)
    with pytest.raises(UserError, match=r"pip install 'raytracer\[isosurface\]'"):
        shown(orbital, isosurface=0.2)


def test_levels_of_any_iterable_and_number() -> None:
    given: Any = (each / 10 for each in range(3))
    assert Isosurface(level=given).level == (0.0, 0.1, 0.2)
    given = np.arange(300.0)
    assert Isosurface(level=given).level == tuple(range(300))


@pytest.mark.parametrize(("level", "message"), [(np.nan, "a finite number"), ([], "not 0 values")])
def test_levels_that_are_refused(level: Any, message: str) -> None:
    with pytest.raises(UserError, match=f"isosurface.level: .*{message}"):
        Isosurface(level=level)
