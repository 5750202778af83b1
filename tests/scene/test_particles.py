"""Particle files: each kind is read as it was written, float32 stays float32."""

from __future__ import annotations

import zipfile
from pathlib import Path

import numpy as np
import pytest

from raytracer import RaytracerWarning, load
from raytracer.scene.elements import Element, find
from raytracer.scene.particles.read import read
from raytracer.scene.particles.source import Particles
from raytracer.scene.spacing import mean_spacing


@pytest.fixture
def points() -> np.ndarray:
    return np.random.default_rng(9).normal(size=(20, 3)).astype(np.float32)


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_npz(tmp_path: Path, points: np.ndarray) -> None:
    colors = np.arange(60, dtype=np.uint8).reshape(20, 3)
    radii = np.linspace(1, 2, 20)
    np.savez(tmp_path / "a.npz", centers=points, radii=radii, colors=colors, other=np.zeros(7))
    data = read(tmp_path / "a.npz")
    np.testing.assert_array_equal(data.centers, points)
    assert data.centers.dtype == np.float32
    np.testing.assert_array_equal(data.radius, radii)
    np.testing.assert_array_equal(data.color, colors)
    (spheres,) = load(tmp_path / "a.npz").spheres
    assert spheres.color.dtype == np.uint8
    assert spheres.centers.dtype == np.float32


def test_doubled_columns_that_are_not_read_do_no_harm(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "x,X [m],id,y,z,id,,\n1,9,9,2,3,9,9,9\n")
    np.testing.assert_array_equal(read(table).centers, [[1, 2, 3]])
    told = read(table, {"x": "X [m]"})
    np.testing.assert_array_equal(told.centers, [[9, 2, 3]])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_with_own_names(tmp_path: Path, points: np.ndarray, save: object) -> None:
    order_f = np.asfortranarray(points.astype(np.float64))
    save(tmp_path / "a.npz", pos=order_f, size=np.float32(2.0), rgb=np.ones((20, 3)))  # type: ignore[operator]
    data = read(tmp_path / "a.npz", {"centers": "pos", "radii": "size", "colors": "rgb"})
    np.testing.assert_array_equal(data.centers, points)
    assert data.radius is not None
    assert float(data.radius) == 2.0
    assert data.names == {"centers": "pos", "radius": "size", "color": "rgb"}


def test_npz_whose_headers_have_extra_fields(tmp_path: Path, points: np.ndarray) -> None:
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        for name, array in (("centers", points), ("radius", np.ones(20))):
            entry = zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0))
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(file, array)
    np.testing.assert_array_equal(read(tmp_path / "a.npz").centers, points)


def test_npy(tmp_path: Path, points: np.ndarray) -> None:
    np.save(tmp_path / "a.npy", points)
    data = read(tmp_path / "a.npy")
    assert data.radius is None
    np.testing.assert_array_equal(data.centers, points)
    four = np.column_stack([points, np.arange(1, 21)]).astype(np.float32)
    np.save(tmp_path / "b.npy", four)
    (spheres,) = load(tmp_path / "b.npy").spheres
    np.testing.assert_array_equal(spheres.centers, points)
    np.testing.assert_array_equal(spheres.radius, four[:, 3])
    assert spheres.centers.dtype == np.float32


@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_csv(tmp_path: Path, separator: str) -> None:
    rows = ["id,X,y,Z,radius", "7,0.5,-1e3,2,0.25", "8,1,2,3,4"]
    path = write(tmp_path / "a.csv", "\n".join(rows).replace(",", separator) + "\n")
    data = read(path)
    np.testing.assert_array_equal(data.centers, [[0.5, -1000, 2], [1, 2, 3]])
    np.testing.assert_array_equal(data.radius, [0.25, 4])
    assert data.color is None


def test_csv_colors_and_own_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "r,g,b,px,py,pz,d\n0,128,255,1,2,3,9\n")
    data = read(path, {"x": "px", "y": "py", "z": "pz", "radii": "d"})
    np.testing.assert_array_equal(data.centers, [[1, 2, 3]])
    np.testing.assert_allclose(colors_of(data), [[0, 128 / 255, 1]])
    assert data.radius is not None
    assert data.radius[0] == 9
    unit = write(tmp_path / "b.csv", "# x, y, z, r, g, b\n1, 2, 3, 0, 0.5, 1\n")
    np.testing.assert_array_equal(read(unit).color, [[0, 0.5, 1]])


def colors_of(data: Particles) -> np.ndarray:
    assert data.color is not None
    return data.color if data.color_id is None else data.color[data.color_id]


def test_plain_xyz(tmp_path: Path) -> None:
    path = write(
        tmp_path / "a.xyz",
        "4\nwater and gold, x = 3\nO 0 0 0 0.1\nH 0.96 0 0\nH -0.24 0.93 0\n79 1e1 2 3\n"
        "4\nthe second frame\nC 9 9 9\n",
    )
    data = read(path)
    np.testing.assert_array_equal(data.centers[3], [10, 2, 3])
    assert [note for part, note in data.notes if "more frames follow" in note]
    names = ["O", "H", "H", "Au"]
    np.testing.assert_array_equal(data.radius, [find(n).radius for n in names])
    np.testing.assert_allclose(colors_of(data), [find(n).color or () for n in names], rtol=1e-6)
    assert data.color is not None
    assert len(data.color) == 3
    with pytest.warns(RaytracerWarning, match="more frames follow; the first is shown"):
        assert load(path).count == 4


def test_xyz_with_own_elements(tmp_path: Path) -> None:
    path = write(tmp_path / "a.xyz", "2\n\nAu 0 0 0\nBead 1 1 1\n")
    own = {"Au": Element(2.0, (1.0, 0.0, 0.0)), "Bead": Element(0.5)}
    data = read(path, elements=own)
    np.testing.assert_array_equal(data.radius, [2.0, 0.5])
    np.testing.assert_allclose(colors_of(data)[0], [1, 0, 0])


def test_extended_xyz(tmp_path: Path) -> None:
    comment = (
        'Lattice="5.0 0 0 0 5.0 0 0 0 5.0" energy=-1.5 '
        'Properties=id:I:1:species:S:1:pos:R:3:radius:R:1:color:R:3 pbc="T T T"'
    )
    path = write(
        tmp_path / "a.xyz",
        f"2\n{comment}\n1 Cu 0 1 2 0.5 1 0.5 0\n2 Zn 3 4 5 0.75 0 0 1\n",
    )
    data = read(path)
    np.testing.assert_array_equal(data.centers, [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(data.radius, [0.5, 0.75])
    np.testing.assert_array_equal(colors_of(data), [[1, 0.5, 0], [0, 0, 1]])


def test_extended_xyz_with_half_of_it(tmp_path: Path) -> None:
    text = "1\nProperties=pos:R:3:Z:I:1:r:R:1:color:I:3\n0 0 0 26 3.5 255 0 51\n"
    path = write(tmp_path / "a.extxyz", text)
    by_element = read(path)
    assert by_element.radius is not None
    assert by_element.radius[0] == find("Fe").radius
    np.testing.assert_array_equal(colors_of(by_element), [[255, 0, 51]])
    own = read(path, {"radii": "r"})
    assert own.radius is not None
    assert own.radius[0] == 3.5
    sized = write(tmp_path / "b.xyz", "1\nProperties=pos:R:3:radius:R:1\n1 2 3 4\n")
    assert read(sized).color is None
    assert load(sized).count == 1


def test_many_labels_over_several_blocks(tmp_path: Path) -> None:
    labels = [("H", "C", "O", "longlabel_number_1")[i * i % 4] for i in range(40_000)]
    text = "".join(f"{label} {i} 0 0\n" for i, label in enumerate(labels))
    path = write(tmp_path / "a.xyz", f"{len(labels)}\n\n{text}")
    own = {label: Element(float(i + 1)) for i, label in enumerate(["H", "C", "longlabel_number"])}
    data = read(path, elements=own)
    assert data.radius is not None
    expected = [{"H": 1.0, "C": 2.0, "O": 0.63}.get(label, 3.0) for label in labels]
    np.testing.assert_array_equal(data.radius, expected)


def test_radius_of_particles_without_radii(tmp_path: Path) -> None:
    grid = np.stack(np.meshgrid(*[np.arange(10.0)] * 3), -1).reshape(-1, 3)
    assert mean_spacing(grid) == pytest.approx(0.9)
    sheet = grid[grid[:, 2] == 0]
    assert mean_spacing(sheet) == pytest.approx(0.9)
    assert mean_spacing(np.zeros((5, 3))) == mean_spacing(np.zeros((0, 3))) == 1.0
    np.save(tmp_path / "a.npy", grid)
    assert load(tmp_path / "a.npy").spheres[0].radius == pytest.approx(0.45)


def test_a_far_particle_does_not_change_the_radius_of_the_others(tmp_path: Path) -> None:
    grid = np.stack(np.meshgrid(*[np.arange(10.0)] * 3), -1).reshape(-1, 3)
    for far in (1e3, 1e9, 1e300):
        assert mean_spacing(np.concatenate([grid, [[far, 0, 0]]])) == pytest.approx(0.9)
    many = np.concatenate([grid] * 300)
    assert mean_spacing(np.concatenate([many, [[0, 1e6, 0]]])) == mean_spacing(many)
    both = np.concatenate([grid, grid + 1e4])
    assert mean_spacing(both) == pytest.approx(10009 / 2000 ** (1 / 3))
