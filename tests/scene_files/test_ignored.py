"""What a particle file holds is used, or a warning says that it was not and what to do."""

import re
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import RaytracerWarning, Scene, load
from raytracer.commands.cli import main
from raytracer.config.errors import UserError
from raytracer.config.warning import collect_warnings
from raytracer.model.elements import find_element
from raytracer.model.particle_labels import type_color
from raytracer.model.sphere_set import SphereSet
from raytracer.packing.pack import pack_colors
from raytracer.scene_files.bare import ATOM
from support.particle_files import write

POINTS = np.array([[0.0, 0, 0], [2, 0, 0], [0, 2, 0], [0, 0, 2]])
XYZ = "4\n{comment}\n{0} 0 0 0\n{1} 2 0 0\n{2} 0 2 0\n{3} 0 0 2\n"


def loaded(path: Path) -> tuple[Scene, list[str]]:
    """A scene and its warnings."""
    with collect_warnings() as found:
        return load(path), found


def xyz(folder: Path, *labels: str, comment: str = "") -> Path:
    return write(folder / "a.xyz", XYZ.format(*labels, comment=comment))


def colors_of(spheres: SphereSet) -> np.ndarray:
    return spheres.color if spheres.color_id is None else spheres.color[spheres.color_id]


def radii_of(scene: Scene) -> list[float]:
    radius = np.asarray(scene.spheres[0].radius)
    return [float(each) for each in np.broadcast_to(radius, scene.count)]


# Columns


@pytest.mark.parametrize(
    ("comment", "row", "words"),
    [
        (
            "charges",
            " -0.8",
            "5 values, but 4 have a name: .* Properties=species:S:1:pos:R:3:NAME:R:1",
        ),
        ("Properties=species:S:1:pos:R:3", " CA 1", "6 values, but 4 have a name: .*:NAME:S:2"),
        ("Properties=species:S:1:pos:R:3:q:R:1", " 1 2 3", "7 values, but 5 .*:q:R:1:NAME:R:2"),
        ("charges", " # of the first", ""),
        ("", "", ""),
    ],
)
def test_columns_without_a_name(tmp_path: Path, comment: str, row: str, words: str) -> None:
    text = f"2\n{comment}\n" + f"O 0 0 1{row}\nH 2 0 0{row}\n"
    _, found = loaded(write(tmp_path / "a.xyz", text))
    assert [re.search(words, each) is not None for each in found] == ([True] if words else [])
    if words:
        write(tmp_path / "a.xyz", text * 3)
        with collect_warnings() as said:
            images = list(raytracer.animate(tmp_path / "a.xyz", width=8, height=8, samples=1))
        assert (len(images), len(said)) == (3, 1)


# Labels


@pytest.mark.parametrize(
    ("labels", "shown"),
    [
        (("1", "2", "1", "2"), "the labels 1, 2 are taken as types"),
        (("3", "3", "3", "3"), "the label 3 is taken as a type"),
        (("A", "B", "A", "B"), "the labels 'A', 'B' are taken as types"),
        (("CG1", "Na", "Na", "Na"), "the label 'CG1' is taken as a type"),
        (("0", "6", "8", "1"), "the labels 0, 1, 6, 8 are taken as types"),
    ],
)
def test_types_have_colours_of_their_own_and_a_warning(
    tmp_path: Path, labels: tuple[str, ...], shown: str
) -> None:
    scene, found = loaded(xyz(tmp_path, *labels))
    assert len(found) == 1
    assert f"a.xyz: {shown}" in found[0]
    assert f"[elements.{sorted(labels)[0]}]" in found[0]
    colors = colors_of(scene.spheres[0])
    assert len(np.unique(colors, axis=0)) == len(set(labels))
    assert not any(np.allclose(c, find_element("H").color or ()) for c in colors)


@pytest.mark.parametrize(
    ("labels", "comment", "is_guess"),
    [
        (("6", "1", "8", "1"), "", True),  # numbers with gaps
        (("79", "79", "79", "79"), "", True),
        (("O", "H", "H", "79"), "", False),
        (("1", "2", "1", "2"), "Properties=Z:I:1:pos:R:3", False),
        (("Fe", "C12", "D", "h"), "", False),
    ],
)
def test_elements_and_atomic_numbers_of_which_those_without_a_word_of_the_file_are_told(
    tmp_path: Path, labels: tuple[str, ...], comment: str, is_guess: bool
) -> None:
    scene, found = loaded(xyz(tmp_path, *labels, comment=comment))
    assert ["are taken as atomic numbers (" in each for each in found] == [True] * is_guess
    assert all('labels = "types"' in each for each in found)
    assert np.divide(radii_of(scene), ATOM) == pytest.approx(
        [find_element(label).radius for label in labels]
    )


def scene_of(tmp_path: Path, text: str, *labels: str) -> tuple[Scene, list[str]]:
    xyz(tmp_path, *labels)
    return loaded(write(tmp_path / "s.toml", text))


def test_a_scene_file_says_what_labels_are(tmp_path: Path) -> None:
    numbers = "1", "2", "1", "2"
    a_set = '[[spheres]]\nfile = "a.xyz"\n'
    scene, found = scene_of(tmp_path, f'{a_set}labels = "elements"\n', *numbers)
    assert (found, radii_of(scene)[1]) == ([], find_element("He").radius)
    scene, found = scene_of(tmp_path, f'{a_set}labels = "types"\n', "H", "He", "H", "H")
    assert found == []
    assert colors_of(scene.spheres[0])[0].tolist() == pytest.approx(type_color(0))
    named = '[elements.1]\nelement = "Cu"\n[elements.2]\nradius = 0.3\ncolor = "red"\n'
    scene, found = scene_of(tmp_path, a_set + named, *numbers)
    assert found == []
    assert radii_of(scene)[:2] == [find_element("Cu").radius, 0.3]
    np.testing.assert_allclose(colors_of(scene.spheres[0])[0], find_element("Cu").color or ())
    np.testing.assert_allclose(colors_of(scene.spheres[0])[1], [1, 0, 0])
    scene, found = scene_of(tmp_path, f'{a_set}[elements.A]\ncolor = "red"\n', *"AAAA")
    assert found == []
    np.testing.assert_allclose(colors_of(scene.spheres[0])[0], [1, 0, 0])
    # Nothing is looked up by labels where the set says both.
    _, found = scene_of(tmp_path, f'{a_set}radius = 1\ncolor = "red"\n', *numbers)
    assert found == []


# Frames


@pytest.mark.parametrize(
    ("more", "shown"),
    [
        ("", None),
        ("\n \n", None),
        ("4\nsecond\nH 0 0 0\n", "more frames follow; the first is shown"),
        ("\n4\n", "more frames follow"),
        ("H 7 7 7\n", "line 1 states 4 atoms; further lines are ignored"),
    ],
)
def test_what_follows_the_first_frame(tmp_path: Path, more: str, shown: str | None) -> None:
    path = xyz(tmp_path, "O", "H", "H", "H", comment="first")
    path.write_text(path.read_text() + more)
    scene, found = loaded(path)
    assert scene.count == 4
    assert len(found) == (shown is not None)
    assert all(str(shown) in each for each in found)


# Columns, arrays and properties

BALLS = "0,0,0,{0}\n2,0,0,{1}\n"


@pytest.mark.parametrize(
    "name", ["diameter", "Diameter", "diameters", "DIAM", "diameter [nm]", "Particle Diameter"]
)
def test_diameters_are_halved(tmp_path: Path, name: str) -> None:
    table = write(tmp_path / "a.csv", f"x,y,z,{name}\n" + BALLS.format(1, 3))
    assert loaded(table)[0].spheres[0].radius.tolist() == [0.5, 1.5]  # type: ignore[union-attr]
    assert loaded(table)[1] == []
    arrays: dict[str, Any] = {"centers": POINTS[:2], name: np.array([1, 3], np.float32)}
    np.savez(tmp_path / "a.npz", **arrays)
    scene, found = loaded(tmp_path / "a.npz")
    assert (found, radii_of(scene)) == ([], [0.5, 1.5])
    assert np.asarray(scene.spheres[0].radius).dtype == np.float32
    if " " not in name:
        text = f"2\nProperties=pos:R:3:{name}:R:1:type:I:1:color:S:1\n"
        text += BALLS.format("1 1 red", "3 2 #00f").replace(",", " ")
        scene, found = loaded(write(tmp_path / "a.xyz", text))
        assert (found, radii_of(scene)) == ([], [0.5, 1.5])
        np.testing.assert_allclose(colors_of(scene.spheres[0]), [[1, 0, 0], [0, 0, 1]])


@pytest.mark.parametrize(
    "header", ["X,Y,Z,Radius", "x [nm],y [nm],z [nm],R [nm]", "Position.X,Position.Y,Position.Z,r",
               '"x","y","z","radius"', "Points:0,Points:1,Points:2,rad", "pos_x,pos_y,pos_z,Radii"]
)  # fmt: skip
def test_names_of_columns_in_use(tmp_path: Path, header: str) -> None:
    scene, found = loaded(write(tmp_path / "a.csv", f"{header}\n" + BALLS.format(1, 3)))
    assert radii_of(scene) == [1.0, 3.0]
    guessed = header.split(",")[-1].lower().startswith("r") and "ad" not in header
    assert [("is taken as the radius" in each) for each in found] == [True] * guessed


@pytest.mark.parametrize(
    ("header", "cells", "expected"),
    [
        ("x,y,z,color", ["#ff0000", "rebeccapurple"], [[1, 0, 0], [0.4, 0.2, 0.6]]),
        ("x,y,z,Colour", ['"gold"', "#000"], [[1, 215 / 255, 0], [0, 0, 0]]),
        ("x,y,z,R,G,B", ["255,0,51", "0,0,0"], [[1, 0, 0.2], [0, 0, 0]]),
        ("x,y,z,red,green,blue", ["1,0,0.5", "0,0,0"], [[1, 0, 0.5], [0, 0, 0]]),
    ],
)
def test_colours_of_tables(
    tmp_path: Path, header: str, cells: list[str], expected: list[Any]
) -> None:
    scene, found = loaded(write(tmp_path / "a.csv", f"{header}\n" + BALLS.format(*cells)))
    assert found == []
    np.testing.assert_allclose(colors_of(scene.spheres[0]), expected)
    assert len(pack_colors(scene.spheres)[0]) == 2


def test_what_sounds_like_a_size_or_a_colour_is_told_of(tmp_path: Path) -> None:
    _, found = loaded(
        write(tmp_path / "a.csv", "x,y,z,grain size,color,mass\n0,0,0,1,5,1\n2,0,0,1,6,1\n")
    )
    assert len(found) == 2
    assert "column 'grain size' is not used" in found[0]
    assert 'arrays = {radii = "grain size"}' in found[0]
    assert "column 'color' is not used: to take colours from there" in found[1]
    np.savez(tmp_path / "a.npz", centers=POINTS, sizes=np.ones(4), velocity=POINTS)
    assert len(loaded(tmp_path / "a.npz")[1]) == 1
    np.savez(tmp_path / "a.npz", centers=POINTS, radii=np.ones(4), sizes=np.ones(4))
    assert loaded(tmp_path / "a.npz")[1] == []
    text = '[[spheres]]\nfile = "a.csv"\nradius = 0.5\ncolor = "red"\n'
    assert loaded(write(tmp_path / "s.toml", text))[1] == []


@pytest.mark.parametrize(
    "text",
    [
        "# made by a program\n# in 2026\nx,y,z,radius\n0,0,0,1\n2,0,0,3\n",
        "% made by a program\n\n# x,y,z,radius\n0,0,0,1\n2,0,0,3\n",
        "x y z radius\n0 0 0 1\n2   0 0 3\n",
        "# x y z radius\n0 0 0 1\n2 0 0 3\n",
        "x;y;z;radius\n0;0;0;1\n2,0;0;0;3,0\n",
        "x;y;z;radius\n0,0;0;0;1,0\n2,0;0;0;3,0\n",
        "x\ty\tz\tradius\n0,0\t0\t0\t1,0\n2,0\t0\t0\t3,0\n",
        '"x","y","z","radius"\n"0","0","0","1"\n"2","0","0","3"\n',
        'name,x,y,z,radius\n"a, b",0,0,0,1\n"c",2,0,0,3\n',
        "x,y,z,radius,\n0,0,0,1,\n2,0,0,3,\n",
        "x,y,z,radius\n0,0,0,1,\n2,0,0,3,\n",
        ",x,y,z,radius\r\n0,0,0,0,1\r\n1,2,0,0,3",
        "x,y,z,radius,note\n0,0,0,1\n2,0,0,3,end\n",
        "\ufeffx,y,z,radius\n0,0,0,1\n2,0,0,3\n",
    ],
)
def test_tables_of_all_kinds(tmp_path: Path, text: str) -> None:
    scene, found = loaded(write(tmp_path / "a.csv", text))
    assert found == []
    assert scene.spheres[0].centers.tolist() == [[0, 0, 0], [2, 0, 0]]
    assert radii_of(scene) == [1, 3]
    assert scene.describe(1).note == ""


# How warnings reach people


def test_python_warns_at_the_line_of_the_caller(tmp_path: Path) -> None:
    path = xyz(tmp_path, "1", "2", "1", "2")
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        raytracer.load(path)
        raytracer.render(path, width=4, height=4, samples=1, backend="cpu")
    assert [each.category for each in found] == [RaytracerWarning] * 2
    assert all(each.filename == __file__ for each in found)
    with warnings.catch_warnings():
        warnings.simplefilter("error", RaytracerWarning)
        with pytest.raises(RaytracerWarning, match="taken as types"):
            raytracer.load(path)


def test_the_command_line_warns_once_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    import json

    monkeypatch.chdir(tmp_path)
    xyz(tmp_path, "1", "2", "1", "2")
    size = ["--width", "8", "--height", "6", "--samples", "1", "--backend", "cpu"]
    for command in (["render", "a.xyz", *size], ["scene", "check", "a.xyz"]):
        assert main(command) == 0
        said = capsys.readouterr()
        assert said.err.startswith("raytracer: warning: a.xyz: the labels 1, 2 are taken as types")
        assert said.err.count("\n") == 1
        assert main([*command, "--json"]) == 0
        said = capsys.readouterr()
        assert said.err == ""
        assert json.loads(said.out)["warnings"][0].startswith("a.xyz: the labels 1, 2")
    assert main(["render", "a.xyz", *size, "--quiet"]) == 0
    assert capsys.readouterr() == ("", "")


# Scenes without spheres


def test_a_data_file_without_particles_beside_others_is_told_of(tmp_path: Path) -> None:
    write(tmp_path / "a.csv", "x,y,z,radius\n")
    a_set = '[[spheres]]\nfile = "a.csv"\n'
    ball = "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n"
    scene, found = loaded(write(tmp_path / "s.toml", a_set + ball))
    assert (scene.count, found) == (1, ["a.csv: holds no particles"])
    with pytest.raises(UserError, match=r"s\.toml: has no spheres: a\.csv holds no particles"):
        loaded(write(tmp_path / "s.toml", a_set))
