"""Tables in nested data, and what is none."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from raytracer import RaytracerWarning, load
from raytracer.errors import DataFileError
from raytracer.scene.load import is_scene
from support.particle_files import complaint, write


def test_rows_without_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", '[["Cu", 1, 2, 3, 0.5], ["O", 4, 5, 6, 0.25]]')
    with pytest.warns(RaytracerWarning, match="the first three of numbers are taken as x, y and z"):
        (spheres,) = load(path).spheres
    np.testing.assert_array_equal(spheres.centers, [[1, 2, 3], [4, 5, 6]])
    with pytest.warns(RaytracerWarning, match="the columns have no names"):
        (sized,) = load(path, arrays={"radius": "column 5"}).spheres
    np.testing.assert_array_equal(sized.radius, [0.5, 0.25])


def test_missing_values_and_texts(tmp_path: Path) -> None:
    text = '[{"x":1,"y":2,"z":3,"T":null,"element":"Cu"},{"x":4,"y":5,"z":6,"T":7,"element":"O"}]'
    (spheres,) = load(write(tmp_path / "a.json", text)).spheres
    np.testing.assert_array_equal(spheres.columns["T"], [np.nan, 7.0])
    assert spheres.columns["element"].tolist() == ["Cu", "O"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"columns": ["a", "b"], "data": [[1, 2]]}', "no columns x, y and z; it holds 'a', 'b'"),
        ('[{"x": 1, "y": 2, "z": 3}', "cannot be read as .json"),
        ("[" * 100_000 + "1", "nested too deeply"),
        ('{"x": [1, 2], "y": [1], "z": [1]}', "there are no columns x, y and z"),
    ],
)
def test_what_is_no_table(tmp_path: Path, text: str, said: str) -> None:
    assert said in complaint(write(tmp_path / "a.json", text))


@pytest.mark.parametrize("text", ['{"title": "1"}', '{"spheres": []}', "{}", '{"camera": {}}'])
def test_scenes_stay_scenes(tmp_path: Path, text: str) -> None:
    assert is_scene(write(tmp_path / "a.json", text))


def test_aliases_that_nest_end(tmp_path: Path) -> None:
    pytest.importorskip("yaml")
    lines = ["---", "timestep: 0", "a: &a [1, 2]"]
    lines += [
        f"{new}: &{new} [{', '.join([f'*{old}'] * 9)}]"
        for old, new in zip("abcdefgh", "bcdefghi", strict=True)
    ]
    with pytest.raises(DataFileError, match="no columns x, y and z"):
        load(write(tmp_path / "a.yaml", "\n".join(lines) + "\n"))
