"""Arrays and columns: HDF5, PLY, LAS and LAZ, arrays of unusual shapes and names."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import load
from raytracer.config.errors import DataFileError
from raytracer.model.data_file import DataFile
from raytracer.particles.read import count_frames, open_source, read
from support.particle_files import complaint, write
from support.particle_texts import PLY, PLY_HEAD

RNG = np.random.default_rng(23)
POINTS = RNG.normal(size=(12, 3))
MASSES = np.arange(12.0)


@pytest.fixture
def h5py() -> Any:
    return pytest.importorskip("h5py")


@pytest.mark.filterwarnings("ignore")
def test_several_types(tmp_path: Path, h5py: Any) -> None:
    """All are shown together, each once, or the one that is named."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for kind in (0, 1):
            file[f"PartType{kind}/Coordinates"] = POINTS + kind
            file[f"PartType{kind}/Masses"] = MASSES + kind
        file["PartType1/Other"] = POINTS * 2
        file["GasParticles"] = h5py.SoftLink("/PartType0")
        file["Cells/Centres"] = POINTS[:2]
    data = read(path, wanted=lambda columns: [name for name in columns if name != "Coordinates"])
    np.testing.assert_array_equal(data.centers, np.concatenate([POINTS, POINTS + 1]))
    np.testing.assert_array_equal(data.extra["Masses"], np.concatenate([MASSES, MASSES + 1]))
    assert data.extra["type"].tolist() == [b"PartType0"] * 12 + [b"PartType1"] * 12
    assert data.labels is not None
    assert data.labels.names == ["PartType0", "PartType1"]
    assert "drawn together: PartType0 (12), PartType1 (12); for one alone" in data.notes[-1][1]
    assert "'a.h5:PartType0'" in data.notes[-1][1]
    assert load(path).describe(15).values == {"type": "PartType1", "Masses": 4.0, "Other": (
        tuple((POINTS[3] * 2).tolist()))}  # fmt: skip
    for inner, expected in (
        ("PartType1", POINTS + 1),
        ("/PartType1/Coordinates", POINTS + 1),
        ("PartType1/Other", POINTS * 2),
    ):
        scene = load(f"{path}:{inner}")
        np.testing.assert_array_equal(scene.spheres[0].centers, expected)
        assert scene.describe(4).values["Masses"] == 5.0
    text = '[[spheres]]\nfile = "a.h5:PartType1"\nradius = 0.5\n'
    assert load(write(tmp_path / "a.toml", text)).count == 12
    with pytest.raises(Exception, match="particles are in 'PartType0'"):
        load(f"{path}:PartType7")


def test_species_of_openpmd(tmp_path: Path, h5py: Any) -> None:
    """All of an iteration, also where it lacks one, or the one that is named."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        file.attrs["openPMD"] = "1.1.0"
        for step, kinds in ((0, ("ions",)), (5, ("ions", "electrons"))):
            for place, axis in enumerate("xyz"):
                for kind in kinds:
                    values = POINTS[: len(kind), place] + step
                    file[f"data/{step}/particles/{kind}/position/{axis}"] = values
    assert count_frames(path) == 2
    assert len(read(DataFile(path, frame=0)).centers) == 4
    data = read(DataFile(path, frame=1), wanted=lambda columns: ["type"])
    np.testing.assert_array_equal(data.centers, np.concatenate([POINTS[:9], POINTS[:4]]) + 5)
    assert data.extra["type"].tolist() == [b"electrons"] * 9 + [b"ions"] * 4
    np.testing.assert_array_equal(read(DataFile(path, None, "ions", 1)).centers, POINTS[:4] + 5)


@pytest.mark.parametrize("name", ["Step#{}", "run/frame_{:03}", "t/time={}.5/particles"])
def test_groups_of_steps_are_frames(tmp_path: Path, h5py: Any, name: str) -> None:
    """As H5Part writes them; their names are sorted by numbers."""
    path = tmp_path / "a.h5"
    with h5py.File(path, "w") as file:
        for step in (2, 10, 1):
            for place, axis in enumerate("xyz"):
                file[f"{name.format(step)}/{axis}"] = POINTS[: 1 + step, place] + step
    assert count_frames(path) == 3
    for frame, step in enumerate((1, 2, 10)):
        data = read(DataFile(path, frame=frame))
        np.testing.assert_array_equal(data.centers, POINTS[: 1 + step] + step)
    assert "has 3 frames" in str(read(path).notes)


def test_links_into_other_files(tmp_path: Path, h5py: Any) -> None:
    """No name leads into another file, also not over several links."""
    with h5py.File(tmp_path / "other.hdf5", "w") as file:
        file["inner/Coordinates"] = np.zeros((2, 3))
    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as file:
        file["Parts/Coordinates"] = np.ones((2, 3))
        file["alias"] = h5py.SoftLink("/way/../Parts")  # HDF5 knows no parent folder
        file["same"] = h5py.SoftLink("Parts")
        file["away"] = h5py.ExternalLink("other.hdf5", "/")
        file["there"] = h5py.ExternalLink(tmp_path / "other.hdf5", "/")
        file["far"] = h5py.SoftLink("/away/inner")
        file["Header"] = h5py.SoftLink("/away/inner")
        file["round"] = h5py.SoftLink("/round")
    np.testing.assert_array_equal(read(path).centers, 1.0)
    np.testing.assert_array_equal(read(Path(f"{path}:same")).centers, 1.0)
    for name in ("far", "away/inner", "/far/Coordinates", "there/inner", "round", "alias",
                 "Parts/Coordinates/x"):  # fmt: skip
        with pytest.raises(DataFileError, match=f"no group or dataset '{name}'"):
            read(Path(f"{path}:{name}"))


def test_hdf5_that_holds_no_particles(tmp_path: Path, h5py: Any) -> None:
    path = tmp_path / "a.hdf5"
    with h5py.File(path, "w") as file:
        file["temperature"] = MASSES
    assert "no group has coordinates (N, 3) with a usual name" in complaint(path)
    cut = write(path, path.read_bytes()[:700])
    assert "cannot be read as HDF5" in complaint(cut)
    table = write(tmp_path / "a.csv", "x,y,z\n1,2,3\n")
    assert "a path after a colon is for HDF5" in complaint(Path(f"{table}:x"))


@pytest.mark.parametrize("order", ["ascii", "binary_little_endian", "binary_big_endian"])
def test_ply(tmp_path: Path, order: str) -> None:
    pytest.importorskip("plyfile")
    sign = ">" if "big" in order else "<"
    kinds = [*((name, f"{sign}f8") for name in "xyz"), *((name, "u1") for name in "rgb")]
    rows = np.array(
        [(1, 2, 3, 255, 0, 51, 0.5), (4, 5, 6, 0, 255, 0, 0.25)], [*kinds, ("s", f"{sign}f4")]
    )
    content = PLY_HEAD.format(order=order).encode() + np.array([1.5], f"{sign}f4").tobytes()
    binary = content + rows.tobytes() + b"\3" + bytes(12)
    data = read(write(tmp_path / "a.ply", PLY if order == "ascii" else binary))
    np.testing.assert_array_equal(data.centers, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(data.color, [[255, 0, 51], [0, 255, 0]])
    np.testing.assert_array_equal(data.radius, [0.5, 0.25])


@pytest.mark.parametrize(("old", "new"), [("vertex 2", "vertex 3"), ("4 5 6", "4 five 6")])
def test_what_is_wrong_with_a_ply(tmp_path: Path, old: str, new: str) -> None:
    pytest.importorskip("plyfile")
    assert complaint(write(tmp_path / "a.ply", PLY.replace(old, new)))


@pytest.mark.parametrize("suffix", ["las", "laz"])
def test_point_clouds_of_scanners(tmp_path: Path, suffix: str) -> None:
    laspy = pytest.importorskip("laspy")
    if suffix == "laz":
        pytest.importorskip("lazrs")
    cloud = laspy.create(point_format=3, file_version="1.2")
    cloud.header.offsets, cloud.header.scales = [500_000, 5_000_000, 0], [0.001] * 3
    points = np.round(POINTS, 3) + np.array([500_000, 5_000_000, 0])
    cloud.x, cloud.y, cloud.z = points.T
    cloud.red, cloud.green, cloud.blue = (np.arange(12) * 5000 for _ in range(3))
    cloud.intensity = np.arange(12)
    path = tmp_path / f"a.{suffix}"
    cloud.write(path)
    data = read(path)
    np.testing.assert_allclose(data.centers, points, rtol=1e-15)
    np.testing.assert_array_equal(np.asarray(data.color)[:, 0], np.arange(12) * 5000 >> 8)
    assert load(path).describe(6).values["intensity"] == 6
    assert complaint(write(path, path.read_bytes()[:300]))


PLACES = np.random.default_rng(7).uniform(0.0, 9.0, (20, 3))
SPEEDS = np.random.default_rng(8).normal(size=(20, 3))


def save(path: Path, arrays: Mapping[str, np.ndarray]) -> Path:
    """Write arrays in the format of the ending."""
    if path.suffix == ".hdf5":
        with pytest.importorskip("h5py").File(path, "w") as file:
            file.update(arrays)
    elif path.suffix == ".mat":
        pytest.importorskip("scipy.io").savemat(path, dict(arrays))
    else:
        np.savez(path, allow_pickle=False, **arrays)
    return path


WRITERS = ("hdf5", "mat", "npz")


@pytest.mark.parametrize("ending", WRITERS)
@pytest.mark.parametrize("name", ["positions", "p0"])
def test_a_row_for_each_axis(tmp_path: Path, ending: str, name: str) -> None:
    path = save(
        tmp_path / f"a.{ending}", {name: PLACES.T, "velocity": SPEEDS.T, "id": np.arange(20)}
    )
    particles = read(path)
    np.testing.assert_array_equal(particles.centers, PLACES)
    if name == "positions":
        with open_source(path) as source:
            np.testing.assert_array_equal(source.load(["velocity"])["velocity"], SPEEDS)
            assert source.count == 20
            row = dict(source.row(3, 20, ()))
        assert row["velocity"] == tuple(SPEEDS[3].tolist())
    elif ending != "mat":
        assert "'p0' is taken as the coordinates" in particles.notes[0][1]


@pytest.mark.parametrize("ending", WRITERS)
def test_three_particles_are_rows(tmp_path: Path, ending: str) -> None:
    path = save(tmp_path / f"a.{ending}", {"positions": PLACES[:3]})
    np.testing.assert_array_equal(read(path).centers, PLACES[:3])


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        (PLACES[:, :2], "all particles have z = 0"),
        (PLACES.T, "(3, 20) is taken as x, y and z of 20 particles"),
        (np.column_stack([PLACES, SPEEDS]), "the first three of numbers are taken as x, y and z"),
        (np.column_stack([PLACES, SPEEDS]).T, "(6, 20) is taken as x, y and z of 20 particles"),
    ],
)
def test_a_matrix(tmp_path: Path, values: np.ndarray, sentence: str) -> None:
    np.save(tmp_path / "a.npy", values)
    particles = read(tmp_path / "a.npy")
    expected = np.pad(values, ((0, 0), (0, 1))) if values.shape[1] == 2 else PLACES
    np.testing.assert_array_equal(particles.centers, expected)
    assert sentence in " ".join(note for _, note in particles.notes)


@pytest.mark.parametrize("ending", ["hdf5", "mat"])
def test_rows_that_are_counted(tmp_path: Path, ending: str) -> None:
    path = save(tmp_path / f"a.{ending}", {"data": np.column_stack([np.arange(1.0, 21.0), PLACES])})
    np.testing.assert_array_equal(read(path).centers, PLACES)


def test_a_matrix_with_names_of_its_columns(tmp_path: Path) -> None:
    """As FLASH writes them."""
    names = np.array([[f"{name:24}".encode()] for name in ("tag", "posx", "posy", "posz", "velx")])
    rows = np.column_stack([np.arange(20), PLACES, SPEEDS[:, 0]])
    save(tmp_path / "a.hdf5", {"tracer particles": rows, "particle names": names})
    np.testing.assert_array_equal(read(tmp_path / "a.hdf5").centers, PLACES)
    with open_source(tmp_path / "a.hdf5") as source:
        np.testing.assert_array_equal(source.load(["velx"])["velx"], SPEEDS[:, 0])


@pytest.mark.parametrize("ending", ["hdf5", "npz"])
def test_frames_without_a_usual_name(tmp_path: Path, ending: str) -> None:
    path = save(tmp_path / f"a.{ending}", {"run": np.stack([PLACES, PLACES + 1])})
    assert count_frames(path) == 2
    np.testing.assert_array_equal(read(DataFile(path, frame=1)).centers, PLACES + 1)
