"""Tables in nested data, and what is none."""

import json
from pathlib import Path

import numpy as np
import pytest

from raytracer import RaytracerWarning, load
from raytracer.config.errors import DataFileError
from raytracer.files.access import open_file
from raytracer.particles.formats import hdf5_tables
from raytracer.particles.read import open_source, read
from raytracer.scene_files.load import is_scene
from support.particle_files import complaint, write

ROWS = [[1, 2, 3], [4, 5, 6]]
SQUARE = "[[9, 0, 0], [0, 9, 0], [0, 0, 9]]"
DEEP = {"items": [{"at": {"position": {"x": x, "y": x + 1, "z": x + 2}}} for x in (1, 4)]}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    ("text", "points", "said"),
    [
        (f'{{"box": {SQUARE}, "particles": {ROWS}}}', ROWS, ""),
        (f'{{"forces": {SQUARE}, "atoms": {ROWS}}}', ROWS,
         "matrix 'atoms' is taken as the particles, not 'forces'"),
        ('{"particles": {"x": [1, 4], "y": [2, 5], "z": [3, 6]}}', ROWS, ""),
        ('{"x": 1, "y": 2, "z": 3, "element": "Cu"}\n', ROWS[:1], ""),
        ('{"positions": [1, 2, 3, 4, 5, 6], "radii": [1, 2]}', ROWS, ""),
        (json.dumps(DEEP), ROWS, ""),
    ],
)  # fmt: skip
def test_where_the_particles_are(tmp_path: Path, text: str, points: object, said: str) -> None:
    data = read(write(tmp_path / "a.jsonl", text))
    np.testing.assert_array_equal(data.centers, points)
    assert said in " ".join(note for _, note in data.notes)


def test_rows_without_names(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", '[["Cu", 1, 2, 3, 0.5], ["O", 4, 5, 6, 0.25]]')
    with pytest.warns(RaytracerWarning, match="the first three of numbers are taken as x, y and z"):
        (spheres,) = load(path, arrays={"radius": "column 5"}).spheres
    np.testing.assert_array_equal(spheres.centers, ROWS)
    np.testing.assert_array_equal(spheres.radius, [0.5, 0.25])


def test_missing_values_and_texts(tmp_path: Path) -> None:
    text = '[{"x":1,"y":2,"z":3,"T":null,"element":"Cu"},{"x":4,"y":5,"z":6,"T":7,"element":"O"}]'
    (spheres,) = load(write(tmp_path / "a.json", text)).spheres
    np.testing.assert_array_equal(spheres.columns["T"], [np.nan, 7.0])
    assert spheres.columns["element"].tolist() == ["Cu", "O"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{"columns": ["a", "b"], "data": [[1, 2]]}', "no columns x, y and z; it holds 'a', 'b'"),
        ('{"columns": ["x", "y", "z"], "index": [], "data": []}', "holds no particles"),
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


@pytest.mark.parametrize("inner", ["position", "loc"])
def test_inner_records_with_the_same_entries(tmp_path: Path, inner: str) -> None:
    row = '{"%s": {"x": %d, "y": 2, "z": 3}, "velocity": {"x": 7, "y": 8, "z": 9}}'
    text = f"[{row % (inner, 1)}, {row % (inner, 4)}]"
    (spheres,) = load(write(tmp_path / "a.json", text)).spheres
    np.testing.assert_array_equal(spheres.centers, [[1, 2, 3], [4, 2, 3]])
    np.testing.assert_array_equal(spheres.columns["velocity_x"], [7, 7])


def test_only_matlab_has_points_in_columns(tmp_path: Path) -> None:
    io = pytest.importorskip("scipy.io")
    rows = np.arange(12.0).reshape(3, 4)
    path = write(tmp_path / "a.json", f'{{"positions": {rows.tolist()}}}')
    with pytest.warns(RaytracerWarning, match="the columns have no names"):
        (spheres,) = load(path).spheres
    np.testing.assert_array_equal(spheres.centers, rows[:, :3])
    io.savemat(tmp_path / "a.mat", {"positions": rows})
    (spheres,) = load(tmp_path / "a.mat").spheres
    np.testing.assert_array_equal(spheres.centers, rows.T)


@pytest.mark.parametrize("rows", [[[1, 2, 3], [4, 5, 6], [7, 8, 9]], [[1, 2, 3], [4, 5, 6]]])
def test_matlab_in_hdf5(tmp_path: Path, rows: list[list[float]]) -> None:
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "a.mat", "w") as file:  # MATLAB stores columns first
        data = file.create_dataset("P", data=np.array(rows, float).T)
        data.attrs["MATLAB_class"] = np.bytes_("double")
    (spheres,) = load(tmp_path / "a.mat").spheres
    np.testing.assert_array_equal(spheres.centers, rows)


def test_columns_with_names_of_the_user(tmp_path: Path) -> None:
    io = pytest.importorskip("scipy.io")
    columns = {"dt": [5.0], "a": [1.0, 4.0], "b": [2.0, 5.0], "c": [3.0, 6.0]}
    io.savemat(tmp_path / "a.mat", columns)
    write(tmp_path / "a.json", str(columns).replace("'", '"'))
    for path in (tmp_path / "a.mat", tmp_path / "a.json"):
        assert "there are no" in complaint(path)
        assert "'a', 'b', 'c'" in complaint(path)
        (spheres,) = load(path, arrays={"x": "a", "y": "b", "z": "c"}).spheres
        np.testing.assert_array_equal(spheres.centers, [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize("frame", [0, 1])
def test_units_of_a_dump_in_yaml(frame: int, tmp_path: Path) -> None:
    """LAMMPS writes them in the first frame; beside radii of elements, lengths are converted."""
    pytest.importorskip("yaml")
    texts = [f"---\n{units}timestep: {step}\nkeywords: [ id, element, x, y, z, ]\ndata:\n"
             f"  - [ 1, Si, 0.1, 0.2, {step} ]\n  - [ 2, O, 0.26, 0.2, {step} ]\n...\n"
             for step, units in enumerate(["units: nano\n", ""])]  # fmt: skip
    path = write(tmp_path / "a.yaml", "".join(texts))
    with pytest.warns(RaytracerWarning, match="converted from nm to angstrom"):
        (spheres,) = load(path, frame=frame).spheres
    expected = [[1.0, 2.0, 10.0 * frame], [2.6, 2.0, 10.0 * frame]]
    np.testing.assert_allclose(spheres.centers, expected, rtol=1e-6)


@pytest.mark.parametrize("tilt", [[], [1.0, 0.0, 0.0]])
def test_boundaries_of_a_dump_in_yaml(tmp_path: Path, tilt: list[float]) -> None:
    pytest.importorskip("yaml")
    rows = [[0.0, 10.0], [0.0, 10.0], [0.0, 10.0]]
    rows = [[*row, each] for row, each in zip(rows, tilt, strict=True)] if tilt else rows
    text = f"---\ntimestep: 0\nboundary: [ p, p, f, f, p, s, ]\nbox: {rows}\n"
    text += "keywords: [ id, x, y, z, ]\ndata:\n  - [ 1, 1, 2, 3, ]\n...\n"
    with open_source(write(tmp_path / "a.yaml", text)) as source:
        assert source.box is not None
        assert source.box.periodic == (True, False, False)
        edges = [[9.0, 0, 0], [1.0, 10, 0], [0, 0, 10]] if tilt else 10 * np.eye(3)
        np.testing.assert_array_equal(source.box.edges, edges)


@pytest.mark.parametrize(
    "point", [{"x": 1.0, "y": 2.0, "z": 3.0}, {"positions": [[1.0, 2.0, 3.0]]}]
)
def test_one_particle_of_matlab(tmp_path: Path, point: dict[str, object]) -> None:
    pytest.importorskip("scipy.io").savemat(tmp_path / "a.mat", point | {"radius": 0.5})
    (spheres,) = load(tmp_path / "a.mat").spheres
    np.testing.assert_array_equal(spheres.centers, [[1, 2, 3]])
    np.testing.assert_array_equal(spheres.radius, 0.5)


def test_the_memory_of_all_datasets_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    h5py = pytest.importorskip("h5py")
    sizes: list[int] = []
    monkeypatch.setattr(hdf5_tables, "require_room", lambda _, size: sizes.append(size))
    with h5py.File(tmp_path / "a.h5", "w") as file:
        row = np.dtype([(axis, "f8") for axis in "xyz"])
        file["inner/table"] = np.zeros(4, row)
        file["other"] = np.zeros(100)
    with open_file(tmp_path / "a.h5") as stream, h5py.File(tmp_path / "a.h5") as file:
        columns = hdf5_tables.Source(stream, "", file).read()
    assert list(columns) == ["x", "y", "z"]
    assert sizes == [2 * (4 * 24 + 800)]
