"""How a call names files and their columns: `--columns`, and several files in one picture."""

import warnings
from io import BytesIO, TextIOWrapper
from pathlib import Path

import numpy as np
import pytest

import raytracer
from raytracer import load
from raytracer.commands.cli import main
from raytracer.config.errors import DataFileError, UserError
from raytracer.config.warning import collect_warnings
from raytracer.files import access
from raytracer.model.particle_labels import type_color
from raytracer.model.scene import Scene
from raytracer.scene_files.source import InputSource
from raytracer.trajectory.source import open_frames
from raytracer.viewer.watch import Watch
from support.particle_files import write

ODD = "a;b;c;size\n0;0;0;1\n2;0,5;0;0,5\n"
NAMES = {"x": "a", "y": "b", "z": "c", "diameter": "size"}
WATER = "2\n\nO 5 0 0\nH 6 0 0\n"
TABLE = "x,y,z\n5,5,5\n6,6,6\n"


def rendered(folder: Path, *words: str) -> bool:
    """Render by the command; return whether a picture was written."""
    picture = folder / "made.png"
    code = main(["render", *words, "-o", str(picture), "--size", "32x24", "--samples", "1", "-q"])
    assert code == (0 if picture.exists() else 2)
    return picture.exists()


def test_named_columns(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", ODD)
    (spheres,) = load(path, arrays=NAMES).spheres
    np.testing.assert_array_equal(spheres.centers, [[0, 0, 0], [2, 0.5, 0]])
    np.testing.assert_array_equal(spheres.radius, [0.5, 0.25])
    by_call = raytracer.render(path, arrays=NAMES, width=32, height=24, samples=1)
    assert by_call.to_uint8().std() > 1.0
    assert rendered(tmp_path, str(path), "--columns", "x=a,y=b, z=c,diameter=size")


def test_columns_without_names_have_numbers(tmp_path: Path) -> None:
    path = write(tmp_path / "a.txt", "7 1 2 3\n8 4 5 6\n")
    with pytest.warns(raytracer.RaytracerWarning, match="the columns have no names"):
        load(path)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (spheres,) = load(path, arrays={"x": "2", "y": "3", "z": "4", "radius": "1"}).spheres
    np.testing.assert_array_equal(spheres.centers, [[1, 2, 3], [4, 5, 6]])
    np.testing.assert_array_equal(spheres.radius, [7, 8])


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ("x", "is not of the form x=NAME"),
        ("x=", "is not of the form x=NAME"),
        ("size=a", "there is no field 'size'"),
        ("x=q", "there is no column named 'q'"),
    ],
)
def test_columns_that_are_not_there(
    tmp_path: Path, columns: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "a.csv", ODD)
    assert not rendered(tmp_path, str(path), "--columns", columns)
    assert said in capsys.readouterr().err


def test_arrays_are_for_data(tmp_path: Path) -> None:
    scene = write(tmp_path / "a.toml", "spheres = []\n")
    with pytest.raises(UserError, match=r"set arrays in \[\[spheres\]\]"):
        load(scene, arrays=NAMES)
    with pytest.raises(UserError, match="arrays: is for a file"):
        raytracer.render(np.zeros((2, 3)), arrays=NAMES)


def test_two_files_in_one_picture(tmp_path: Path) -> None:
    water, table = write(tmp_path / "a.xyz", WATER), write(tmp_path / "b.csv", TABLE)
    scene = load([water, table])
    assert [each.count for each in scene.spheres] == [2, 2]
    for made, path in zip(scene.spheres, (water, table), strict=True):
        np.testing.assert_array_equal(made.centers, load(path).spheres[0].centers)
    np.testing.assert_array_equal(scene.spheres[0].color, load(water).spheres[0].color)
    np.testing.assert_allclose(np.unique(scene.spheres[1].color), np.unique(type_color(1)), 1e-6)
    assert scene.title == "a"
    assert rendered(tmp_path, str(water), str(table))


def frames(count: int) -> str:
    return "".join(f"1\n\nO {frame} 0 0\n" for frame in range(count))


def test_frames_of_two_files(tmp_path: Path) -> None:
    moving, still = write(tmp_path / "a.xyz", frames(3)), write(tmp_path / "b.csv", TABLE)
    other, longer = write(tmp_path / "c.xyz", frames(3)), write(tmp_path / "d.xyz", frames(4))
    source = open_frames(InputSource.of([moving, still, other]))
    assert source.count == 3
    places = [np.asarray(each.centers)[0, 0] for each in source.load(2).spheres]
    assert places == [2.0, 5.0, 2.0]
    for files in ([moving, longer], [still, moving, longer]):
        with pytest.raises(UserError, match=r"d.xyz: has 4 frames, but .*a.xyz has 3"):
            load(files, frame=1)


@pytest.mark.parametrize("ending", ["csv", "off"])
def test_what_stands_still_may_come_first(tmp_path: Path, ending: str) -> None:
    text = TABLE if ending == "csv" else "OFF\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n"
    still, moving = write(tmp_path / f"a.{ending}", text), write(tmp_path / "b.xyz", frames(3))
    source = open_frames(InputSource.of([still, moving]))
    assert source.count == 3
    for frame in (1, 2, -1):
        scene = load([still, moving], frame=frame)
        assert np.asarray(scene.spheres[-1].centers)[0, 0] == frame % 3
    with pytest.raises(DataFileError, match="there is no frame 3: it has 3 frames"):
        load([still, moving], frame=3)


def test_all_sets_of_a_scene_have_their_frames_counted(tmp_path: Path) -> None:
    """The set that moves may be any; two that move differently are refused."""
    for name, count in (("still", 1), ("a", 3), ("b", 3), ("longer", 4)):
        write(tmp_path / f"{name}.xyz", frames(count))

    def count_frames(*names: str) -> int:
        sets = "".join(f'[[spheres]]\nfile = "{name}.xyz"\n' for name in names)
        return open_frames(InputSource.of(write(tmp_path / "scene.toml", sets))).count

    assert count_frames("still", "still") == 1
    assert count_frames("a", "still") == count_frames("still", "a") == 3
    assert count_frames("still", "a", "b") == 3
    for names in (("a", "longer"), ("still", "b", "longer")):
        with pytest.raises(UserError, match=r"different numbers of frames \(.*longer.xyz 4\)"):
            count_frames(*names)


def test_all_files_are_watched(tmp_path: Path) -> None:
    first, second = write(tmp_path / "a.csv", TABLE), write(tmp_path / "b.csv", TABLE)
    watch = Watch(first, [second])
    before = open_frames(InputSource.of([first, second])).signature()
    write(second, TABLE + "7,7,7\n")
    assert watch.has_changed()
    assert open_frames(InputSource.of([first, second])).signature() != before


def test_several_files_are_data(tmp_path: Path) -> None:
    table, scene = write(tmp_path / "a.csv", TABLE), write(tmp_path / "b.toml", "spheres = []\n")
    for files in ([table, scene], [scene, table]):
        with pytest.raises(UserError, match="is a scene; several files must all be data"):
            load(files)
    with pytest.raises(UserError, match="topology: is for one file"):
        load([table, table], topology=table)
    with pytest.raises(UserError, match="there is no such file"):
        load([table, tmp_path / "c.csv"])
    with pytest.raises(DataFileError, match="there is no column named 'q'"):
        load([table, table], arrays={"x": "q"})


@pytest.mark.parametrize(
    ("names", "other", "is_warned"),
    [("x [mm],y [mm],z [mm]", "x [m],y [m],z [m]", True), ("x,y,z", "x [m],y [m],z [m]", False),
     ("x [m],y [m],z [m]", "x [m],y [m],z [m]", False)],
)  # fmt: skip
def test_files_with_different_units(
    tmp_path: Path, names: str, other: str, is_warned: bool
) -> None:
    files = [write(tmp_path / f"{place}.csv", f"{line}\n1,2,3\n2,3,4\n")
             for place, line in enumerate((names, other))]  # fmt: skip
    with collect_warnings() as warnings:
        load(files)
    sentence = "different units of length"
    assert any(sentence in each for each in warnings) == is_warned


def test_measure_takes_several_files(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [str(write(tmp_path / f"{place}.csv", f"x,y,z,radius\n{place},0,0,1\n"))
             for place in (0, 1)]  # fmt: skip
    target = tmp_path / "measured.npz"
    assert main(["measure", *files, "--samples", "64", "-o", str(target)]) == 0
    with np.load(target) as measured:
        assert measured["set"].tolist() == [0, 1]
        assert (measured["accessible_area"] < 4 * np.pi).all()


def given(text: str, monkeypatch: pytest.MonkeyPatch) -> Scene:
    """Return the scene of standard input, whose copy a process keeps."""
    monkeypatch.setattr("sys.stdin", TextIOWrapper(BytesIO(text.encode())))
    monkeypatch.setattr(access, "_spooled", [])
    with collect_warnings():
        return load("-")


@pytest.mark.parametrize("text", ["1 2 3\n4 5 6\n", "# from a script\n1,2,3\n4,5,6\n",
                                  "points = [[1, 2, 3], [4, 5, 6]]\n"])  # fmt: skip
def test_tables_without_names_on_standard_input(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    centers = given(text, monkeypatch).spheres[0].centers
    np.testing.assert_array_equal(centers, [[1, 2, 3], [4, 5, 6]])


@pytest.mark.parametrize(
    "text", ["[[spheres]]\ncenters = [[1, 2, 3]]\nradius = 1\n", "# a\n\nspheres = []\n"]
)
def test_scenes_on_standard_input(text: str, monkeypatch: pytest.MonkeyPatch) -> None:
    assert given(text, monkeypatch).count == text.count("radius")
