"""Particle files: each kind is read as it was written, float32 stays float32."""

from pathlib import Path

import numpy as np
import pytest

from raytracer.scene.elements import Element, symbol_of, table
from raytracer.scene.particles.read import read
from support.particle_files import write


def test_doubled_columns_that_are_not_read_do_no_harm(tmp_path: Path) -> None:
    table = write(tmp_path / "a.csv", "x,X [m],id,y,z,id,,\n1,9,9,2,3,9,9,9\n")
    np.testing.assert_array_equal(read(table).centers, [[1, 2, 3]])
    told = read(table, {"x": "X [m]"})
    np.testing.assert_array_equal(told.centers, [[9, 2, 3]])


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
def test_npz_with_own_names(tmp_path: Path, save: object) -> None:
    points = np.random.default_rng(9).normal(size=(3, 20)).T
    save(tmp_path / "a.npz", pos=points, size=np.float32(2.0), rgb=np.ones((20, 3)))  # type: ignore[operator]
    data = read(tmp_path / "a.npz", {"centers": "pos", "radii": "size", "colors": "rgb"})
    np.testing.assert_array_equal(data.centers, points)
    assert data.radius is not None
    assert float(data.radius) == 2.0
    assert data.names == {"centers": "pos", "radius": "size", "color": "rgb"}


def test_many_labels_over_several_blocks(tmp_path: Path) -> None:
    labels = [("H", "C", "O", "longlabel_number_1")[i * i % 4] for i in range(40_000)]
    text = "".join(f"{label} {i} 0 0\n" for i, label in enumerate(labels))
    path = write(tmp_path / "a.xyz", f"{len(labels)}\n\n{text}")
    own = {label: Element(float(i + 1)) for i, label in enumerate(["H", "C", "longlabel_number"])}
    data = read(path, elements=own)
    assert data.radius is not None
    expected = [{"H": 1.0, "C": 2.0, "O": 0.63}.get(label, 3.0) for label in labels]
    np.testing.assert_array_equal(data.radius, expected)


def test_all_elements_are_there_in_order() -> None:
    symbols = list(table())
    assert len(symbols) == 118
    for number, symbol in ((1, "H"), (6, "C"), (26, "Fe"), (57, "La"), (79, "Au"), (118, "Og")):
        assert symbols[number - 1] == symbol
    for element in table().values():
        assert element.radius is not None
        assert element.color is not None
        assert 0.3 < element.radius < 2.5
        assert all(0.0 <= v <= 1.0 for v in element.color)


def test_labels() -> None:
    labels = {"fe": "Fe", "FE": "Fe", "C12": "C", "26": "Fe", "D": "H", "Uuo": None, "0": None}
    assert {label: symbol_of(label) for label in labels} == labels
