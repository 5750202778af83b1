"""Broken scene and data files: each gives one clear sentence that names file and field."""

from __future__ import annotations

import io
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import load
from raytracer.cli import main
from raytracer.errors import DataFileError, MemoryNeedError, SceneError, UserError
from raytracer.scene.packing.pack import pack
from raytracer.scene.particles.formats.xyz import _pairs, properties

BALL = "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1.0\n"

# Text of scene.toml, then what the message must say after the file's name.
SCENES = {
    "not TOML": ("title = \n", ["is not TOML", "line 1, column 9"]),
    "unknown table": ("[camra]\n", ["camra: unknown key", "did you mean 'camera'?"]),
    "unknown key": (
        "[render]\nwidht = 3\n",
        ["render.widht: unknown key", "did you mean 'width'?"],
    ),
    "key of the other camera": (
        "[camera]\ntype = 'orthographic'\nvertical_fov = 3\n",
        ["camera.vertical_fov: unknown key"],
    ),
    "a key of other programs": ("[render]\nspp = 4\n", ["did you mean 'samples'?"]),
    "one bracket for two": (
        "[spheres]\ncenters = [[1, 2, 3]]\nradius = 1\n",
        ["spheres: is a list of tables: write [[spheres]], with two brackets"],
    ),
    "two brackets for one": (
        "[[camera]]\nup = [0, 1, 0]\n",
        ["camera: is one table: write [camera],"],
    ),
    "two brackets for names": ("[[materials]]\nmirror = 1\n", ["write [materials.NAME], with one"]),
    "a table for a number": ("[render]\nwidth = {a = 1}\n", ["a whole number, not a table"]),
    "unknown key of a light": (
        "[[lights]]\ntype = 'point'\nposition = [0, 0, 0]\nintensty = 1\n",
        ["lights[0].intensty: unknown key", "did you mean 'intensity'?"],
    ),
    "unknown key of a material": (
        "[materials.gold]\nshinyness = 3\n",
        ["materials.gold.shinyness: unknown key", "did you mean 'shininess'?"],
    ),
    "unknown key of a material that is named like a key": (
        "[materials.mirror]\nmiror = 1\n",
        ["materials.mirror.miror: unknown key", "did you mean 'mirror'?"],
    ),
    "material that is no table": (
        "[materials]\ngold = 3\n",
        ["materials.gold: must be a table, not 3"],
    ),
    "a list for a radius": (
        "[[spheres]]\ncenters = [[0, 0, 0], [1, 0, 0]]\nradius = [1, 2]\n",
        ["spheres[0].radius: must be a number", "a value per sphere goes into radii"],
    ),
    "a number for radii": (
        "[[spheres]]\ncenters = [[0, 0, 0], [1, 0, 0]]\nradii = 2\n",
        ["spheres[0].radii: must be a list", "one value for all spheres goes into radius"],
    ),
    "a list for a color": (
        "[[spheres]]\ncenters = [[0, 0, 0], [1, 0, 0]]\ncolor = ['red', 'blue']\n",
        ["spheres[0].color: ['red', 'blue'] is not a colour", "goes into colors"],
    ),
    "no samples": ("[render]\nsamples = 0\n", ["render.samples: must be at least 1, not 0"]),
    "samples as text": (
        "[render]\nsamples = '4'\n",
        ["render.samples: must be a whole number, not '4'"],
    ),
    "size as a fraction": (
        "[render]\nwidth = 12.5\n",
        ["render.width: must be a whole number, not 12.5"],
    ),
    "unknown filter": (
        "[render]\nfilter = 'gausian'\n",
        ["render.filter: 'gausian' is not known", "did you mean 'gaussian'?"],
    ),
    "unknown camera": (
        "[camera]\ntype = 'perspectiv'\n",
        ["camera: there is no type 'perspectiv'", "did you mean 'perspective'?"],
    ),
    "unknown kind of material": (
        "[materials.a]\ntype = 'fong'\n",
        ["materials.a: there is no type 'fong'", "did you mean 'phong'?"],
    ),
    "camera at its target": (
        "[camera]\nposition = [1, 2, 3]\nlook_at = [1, 2, 3]\n",
        ["camera.look_at: is the camera's position"],
    ),
    "fit that is no word": (
        "[camera]\nfit = 'al'\n",
        ["camera.fit: 'al' is not known", "did you mean 'all'?"],
    ),
    "up along the view": (
        "[camera]\nposition = [0, 5, 0]\nlook_at = [0, 0, 0]\n",
        ["camera.up: is parallel to the view"],
    ),
    "orthographic without height": (
        "[camera]\ntype = 'orthographic'\nposition = [0, 0, 5]\n",
        ["camera.height: an orthographic camera needs a height"],
    ),
    "two numbers": (
        "[camera]\nposition = [0, 5]\n",
        ["camera.position: needs three numbers, has 2"],
    ),
    "four numbers": (
        "[camera]\nup = [0, 1, 0, 0]\n",
        ["camera.up: needs three numbers, has 4"],
    ),
    "a number for three": ("[camera]\nup = 5\n", ["camera.up: must be a list, not 5"]),
    "a word for yes": (
        "[render]\nshadows = 'yes'\n",
        ["render.shadows: must be true or false, not 'yes'"],
    ),
    "a number for a title": ("title = 3\n", ["title: must be text, not 3"]),
    "too many spheres of a generator": (
        "[[spheres]]\ngenerate = {name = 'cloud', count = 5000000000}\n",
        ["spheres[0].generate: count = 5000000000: must be from 1 to 4,294,967,295"],
    ),
    "infinite number": (
        "[camera]\nposition = [0, 5, inf]\n",
        ["camera.position[2]: must be a finite number"],
    ),
    "light without type": (
        "[[lights]]\nposition = [0, 5, 0]\n",
        ["lights[0]: type is missing", "point, directional"],
    ),
    "light without position": ("[[lights]]\ntype = 'point'\n", ["lights[0].position: is missing"]),
    "light of no direction": (
        "[[lights]]\ntype = 'directional'\ndirection = [0, 0, 0]\n",
        ["lights[0].direction: has no length"],
    ),
    "negative light": (
        "[[lights]]\ntype = 'directional'\ndirection = [0, 0, 1]\nintensity = -1\n",
        ["lights[0].intensity: must be at least 0, not -1"],
    ),
    "unknown colour": (
        "[background]\ncolor = 'sky'\n",
        ["background.color: there is no colour named 'sky'"],
    ),
    "bad hexadecimal": ("[ambient]\ncolor = '#12345'\n", ["ambient.color: '#12345' is not"]),
    "half a gradient": ("[background]\ntop = 'red'\n", ["background.bottom: a gradient needs"]),
    "material out of range": (
        "[materials.gold]\nmirror = 2\n",
        ["materials.gold.mirror: must be at most 1, not 2"],
    ),
    "unknown material": (
        f"[materials.gold]\n{BALL}material = 'glod'\n",
        ["spheres[0].material: there is no material named 'glod'", "did you mean 'gold'?"],
    ),
    "negative radius": (BALL.replace("1.0", "-1"), ["spheres[0].radius: must be above 0, not -1"]),
    "negative radii": (
        "[[spheres]]\ncenters = [[0, 0, 0], [1, 1, 1]]\nradii = [1, -1]\n",
        ["spheres[0].radii: sphere 1 has radius -1"],
    ),
    "too few radii": (
        "[[spheres]]\ncenters = [[0, 0, 0], [1, 1, 1]]\nradii = [1]\n",
        ["spheres[0].radii: has 1 radii for 2 spheres"],
    ),
    "radius twice": (
        f"{BALL}radii = [1]\n",
        ["spheres[0].radii: leave out either radius or radii"],
    ),
    "centre not a number": (
        "[[spheres]]\ncenters = [[0, nan, 0]]\nradius = 1\n",
        ["spheres[0].centers: sphere 0 lies at (0, nan, 0)"],
    ),
    "centre of two numbers": (
        "[[spheres]]\ncenters = [[0, 0, 0], [0, 0]]\nradius = 1\n",
        ["spheres[0].centers: the rows differ in length"],
    ),
    "too many colours": (
        f"{BALL}colors = ['red', 'blue']\n",
        ["spheres[0].colors: has 2 colours for 1 spheres"],
    ),
    "unknown colour of many": (
        f"{BALL}colors = ['rd']\n",
        ["spheres[0].colors: there is no colour named 'rd'", "did you mean 'red'?"],
    ),
    "no spheres": ("[render]\nwidth = 9\n", ["has no spheres; add a set, [[spheres]]"]),
    "no source": ("[[spheres]]\nradius = 1\n", ["spheres[0]: needs one of centers, file"]),
    "two sources": (f"{BALL}file = 'a.npz'\n", ["spheres[0]: needs one of", "centers and file"]),
    "missing data file": (
        "[[spheres]]\nfile = 'gone.npz'\n",
        ["spheres[0].file: gone.npz: there is no such file"],
    ),
    "unknown kind of data file": (
        "[[spheres]]\nfile = 'scene.toml'\n",
        ["spheres[0].file: scene.toml: files ending in '.toml' cannot be read", ".npz"],
    ),
    "unknown generator": (
        "[[spheres]]\ngenerate = {name = 'clowd'}\n",
        ["spheres[0].generate: ", "clowd", "cloud"],
    ),
    "no scale": (f"{BALL}transform = {{scale = 0}}\n", ["spheres[0].transform.scale: must be"]),
    "wrong element": (
        "[elements.Aux]\ncolor = 'red'\n",
        ["elements.Aux: is not an element", "did you mean 'Au'?", "no file has such a label"],
    ),
}


@pytest.mark.parametrize("name", SCENES)
def test_broken_scene(name: str, tmp_path: Path) -> None:
    text, parts = SCENES[name]
    path = tmp_path / "scene.toml"
    path.write_text(text)
    with pytest.raises(UserError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    for part in parts:
        assert part in message


def npy(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
    return file.getvalue()


def npz(**arrays: Any) -> bytes:
    file = io.BytesIO()
    np.savez(file, **arrays)
    return file.getvalue()


def doubled(*names: str) -> bytes:
    """An archive with an array of centres under each of these names."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w") as archive, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # zipfile warns of what is wanted here
        for name in names:
            archive.writestr(name, npy(np.zeros((3, 3))))
    return file.getvalue()


POINTS = np.zeros((3, 3), np.float32)
BAD_POINTS = POINTS.copy()
BAD_POINTS[1, 2] = np.nan
XYZ = "2\nProperties=species:S:1:pos:R:3\nH 0 0 0\nH 1 1 1\n"

# Name of the file, its content, what the message must say after the file's name.
DATA: dict[str, tuple[str, bytes | str, list[str]]] = {
    "NaN": ("a.npz", npz(centers=BAD_POINTS), ["array 'centers': sphere 1", "finite"]),
    "infinite radius": (
        "a.npz",
        npz(centers=POINTS, radii=[1, 1, np.inf]),
        ["array 'radii': sphere 2 has radius inf"],
    ),
    "no radius": (
        "a.npz",
        npz(centers=POINTS, radii=[1, 0, 1]),
        ["array 'radii': sphere 1 has radius 0", "positive"],
    ),
    "too many radii": (
        "a.npz",
        npz(centers=POINTS, radius=np.ones(4)),
        ["array 'radius': has 4 radii for 3 spheres"],
    ),
    "flat centres": (
        "a.npz",
        npz(centers=np.zeros((3, 2))),
        ["array 'centers': has shape (3, 2)"],
    ),
    "text": (
        "a.npz",
        npz(centers=np.array([["a"] * 3])),
        ["array 'centers': holds text, not real"],
    ),
    "objects": (
        "a.npz",
        npz(centers=np.array([[{}] * 3], object)),
        ["array 'centers': holds objects of Python", "pickle"],
    ),
    "other names": ("a.npz", npz(place=POINTS), ["no array named 'centers'", "it holds 'place'"]),
    "colours": (
        "a.npz",
        npz(centers=POINTS, radii=1.0, colors=np.full((3, 3), 255.0)),
        ["array 'colors': colour 0 is (255, 255, 255)", "uint8"],
    ),
    "cut npz": ("a.npz", npz(centers=POINTS)[:100], ["is not an .npz file, or is cut short"]),
    "not an npz": ("a.npz", "hello", ["is not an .npz file"]),
    "not an npy": ("a.npy", "hello", ["is not an array of NumPy"]),
    "cut npy": ("a.npy", npy(POINTS)[:-8], ["is cut short", "28 bytes follow"]),
    "npy of five columns": ("a.npy", npy(np.zeros((2, 5))), ["has shape (2, 5)", "(N, 4)"]),
    "csv without header": ("a.csv", "1,2,3\n4,5,6\n", ["line 1 holds numbers", "x,y,z"]),
    "csv of nothing": ("a.csv", "", ["line 1 is empty; it must name the columns: x,y,z"]),
    "xyz that promises too much": (
        "a.xyz",
        XYZ.replace("2", "4000000000", 1),
        ["line 1 says 4000000000 atoms, but there are 2"],
    ),
    "csv without z": ("a.csv", "x,y,zz\n1,2,3\n", ["no column 'z'", "known are x, y, zz"]),
    "csv with text": ("a.csv", "x,y,z\n1,2,3\n1,two,3\n", ["line 3, column 'y': 'two' is not"]),
    "csv with a gap": ("a.csv", "x,y,z\n1,,3\n", ["line 2, column 'y': there is no value"]),
    "csv with a short line": ("a.csv", "x,y,z\n1,2,3\n1,2\n", ["line 3: too few columns"]),
    "csv with decimal commas between commas": (
        "a.csv",
        "x,y,z\n1,2,3\n1,5,2,5,3,5\n",
        ["line 3 has 6 values for 3 columns", "decimal commas"],
    ),
    "csv with a row that is too long": (
        "a.csv",
        "x;y;z;m\n1;2;3;4\n1;2;3;4;5\n",
        ["line 3 has 5 values for 4 columns", "give each column a name"],
    ),
    "csv with a wrong colour": (
        "a.csv",
        "x,y,z,color\n1,2,3,#ff0000\n1,2,3,#ff000\n",
        ["line 3, column 'color': '#ff000' is not a colour"],
    ),
    "npz of unlike axes": (
        "a.npz",
        npz(x=np.zeros(3), y=np.zeros(3), z=np.zeros(2)),
        ["arrays x, y and z differ in length (3, 3, 2)"],
    ),
    "npz of texts for diameters": (
        "a.npz",
        npz(centers=POINTS, diameters=np.array(["a", "b", "c"])),
        ["array 'diameters': holds text, not real"],
    ),
    "csv with a doubled column": (
        "a.csv",
        "# a table\nx,x,y,z\n1,2,3,4\n",
        ["line 2: the columns 'x', 'x' have the same name; rename or remove all but one"],
    ),
    "csv with a doubled radius": (
        "a.csv",
        "x;y;z;radius;radius\n1;2;3;4;5\n",
        ["line 1: the columns 'radius', 'radius' have the same name"],
    ),
    "csv with a doubled colour": (
        "a.csv",
        "x y z r g b r\n1 2 3 0 0 1 1\n",
        ["line 1: the columns 'r', 'r' have the same name"],
    ),
    "csv with two units": (
        "a.csv",
        "X [nm],X [m],y,z\n1,2,3,4\n",
        ["the columns 'X [nm]', 'X [m]' have the same name but for units and capital letters"],
    ),
    "xyz with a doubled property": (
        "a.xyz",
        "1\nProperties=species:S:1:pos:R:3:pos:R:3\nH 0 0 0 1 1 1\n",
        ["line 2: Properties name 'pos' twice"],
    ),
    "xyz with a property in two ways of writing": (
        "a.xyz",
        "1\nProperties=species:S:1:Pos:R:3:POS:R:3\nH 0 0 0 1 1 1\n",
        ["line 2: the properties 'Pos', 'POS' have the same name but for"],
    ),
    "xyz with Properties twice": (
        "a.xyz",
        "1\nProperties=species:S:1:pos:R:3 Properties=pos:R:3:q:R:1\n0 0 0 1\n",
        ["line 2: Properties stands there twice"],
    ),
    "npz with a doubled member": (
        "a.npz",
        doubled("centers.npy", "radii.npy", "centers.npy"),
        ["holds more than one array named 'centers'; keep one of each name"],
    ),
    "npz with two members that make one array": (
        "a.npz",
        doubled("centers", "centers.npy"),
        ["holds more than one array named 'centers'"],
    ),
    "npz with many doubled members": (
        "a.npz",
        doubled(*(f"a{n % 30}.npy" for n in range(60))),
        ["named 'a0', 'a1', 'a2', 'a3', 'a4', 'a5', 'a6', 'a7' and 22 others; keep"],
    ),
    "npz with an array in two ways of writing": (
        "a.npz",
        npz(Centers=POINTS, CENTERS=POINTS),
        ["the arrays 'Centers', 'CENTERS' have the same name but for"],
    ),
    "csv without rows": ("a.csv", "x,y,z,radius\n", ["holds no particles"]),
    "xyz without atoms": ("a.xyz", "0\n\n", ["holds no particles"]),
    "npz without particles": ("a.npz", npz(centers=np.zeros((0, 3))), ["holds no particles"]),
    "structure of Materials Studio": (
        "a.xtd",
        "",
        ["supported are .toml", "pip install ase", "write('", "a.xyz', read('"],
    ),
    "mesh": ("a.PVTU", "", ["files ending in '.pvtu' cannot", "pip install pyvista"]),
    "topology": ("a.top", "", ["atoms without coordinates", "TRAJECTORY"]),
    "empty run input of GROMACS": ("a.tpr", "", ["is damaged, or no GROMACS run input file"]),
    "packed": ("a.xyz.zip", "", ["unpack it first"]),
    "csv without blue": ("a.csv", "x,y,z,r,g\n1,2,3,0,0\n", ["no column 'b'"]),
    "csv with odd colours": ("a.csv", "x,y,z,r,g,b\n1,2,3,0,0,300\n", ["r, g, b: colours go"]),
    "xyz without count": ("a.xyz", "H 0 0 0\n", ["line 1: 'H 0 0 0' is not the number of atoms"]),
    "cut xyz": ("a.xyz", XYZ.replace("2", "5", 1), ["line 1 says 5 atoms, but there are 2"]),
    "xyz with text": ("a.xyz", XYZ.replace("1 1 1", "1 one 1"), ["line 4, column 'y': 'one'"]),
    "short line in xyz": ("a.xyz", XYZ.replace("1 1 1", "1 1"), ["line 4: too few columns"]),
    "xyz without positions": (
        "a.xyz",
        XYZ.replace("pos:", "place:"),
        ["line 2: Properties name no 'pos'"],
    ),
    "broken properties": ("a.xyz", XYZ.replace("pos:R:3", "pos:Q:3"), ["'pos:Q:3' is not"]),
    "broken lattice": ("a.xyz", XYZ.replace("Prop", 'Lattice="1 2" Prop'), ["Lattice: '1 2'"]),
    "not UTF-8": ("a.xyz", b"2\n\xff\xfe\n", ["is not text in UTF-8"]),
    "empty file": ("a.xyz", "", ["line 1: '' is not the number of atoms"]),
    "unknown ending": (
        "a.abc",
        "",
        ["files ending in '.abc' cannot be read", "supported are .toml"],
    ),
    "scene that is a list": ("a.json", "[1, 2]", ["holds no object"]),
    "not JSON": ("a.json", '{"title": }', ["is not JSON", "line 1, column 11"]),
    "infinity in JSON": (
        "a.json",
        '{"spheres": [{"centers": [[0, 0, Infinity]], "radius": 1}]}',
        ["spheres[0].centers: sphere 0 lies at (0, 0, inf)"],
    ),
}


@pytest.mark.parametrize("name", DATA)
def test_broken_data_file(name: str, tmp_path: Path) -> None:
    file, content, parts = DATA[name]
    path = tmp_path / file
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    with pytest.raises(UserError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    for part in parts:
        assert part in message


def test_missing_files(tmp_path: Path) -> None:
    (tmp_path / "balls.toml").write_text("")
    with pytest.raises(UserError, match=r"ball\.toml: there is no such file; .*'balls\.toml'"):
        load(tmp_path / "ball.toml")
    with pytest.raises(UserError, match=r"atoms\.xyz: there is no such file"):
        load(tmp_path / "atoms.xyz")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(UserError, match=r"folder\.toml: is a folder; name a file$"):
        load(tmp_path / "folder.toml")
    (tmp_path / "folder.npz").mkdir()
    with pytest.raises(UserError, match=r"folder\.npz: is a folder"):
        load(tmp_path / "folder.npz")


def test_a_folder_names_what_is_in_it(tmp_path: Path) -> None:
    for name in ("a.npz", "b.toml", "c.txt"):
        (tmp_path / name).write_text("")
    with pytest.raises(UserError) as caught:
        load(tmp_path)
    assert str(caught.value) == (
        f"{tmp_path}: is a folder; name a file, for example {tmp_path / 'b.toml'}"
    )


@pytest.mark.parametrize(
    ("file", "content"),
    [
        ("a.npy", npy(POINTS)),
        ("a.npz", npz(centers=POINTS)),
        ("a.csv", "x,y,z\n1,2,3\n4,5,6\n7,8,9\n"),
        ("a.xyz", XYZ),
        ("a.toml", BALL),
    ],
)
def test_a_file_that_cannot_fit_is_refused_before_it_is_read(
    file: str, content: bytes | str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / file
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    load(path)
    monkeypatch.setattr("raytracer.memory.available_memory", lambda: 20)
    for reader in ("numpy.load", "numpy.loadtxt", "numpy.lib.format.read_array"):
        monkeypatch.setattr(reader, lambda *_, **__: pytest.fail("was read"))
    with pytest.raises(MemoryNeedError, match=r"needs about \d+ \S+ of memory to be read and 20"):
        load(path)


def test_spheres_that_cannot_fit_are_not_generated(tmp_path: Path) -> None:
    path = tmp_path / "a.toml"
    path.write_text("[[spheres]]\ngenerate = {name = 'cloud', count = 4294967295}\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("raytracer.memory.available_memory", lambda: 1 << 30)
        with pytest.raises(UserError, match=r"76\.0 GiB of memory to be made and 1\.0 GiB is free"):
            load(path)


def test_data_file_of_a_scene_is_named_with_its_field(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", pos=BAD_POINTS)
    np.savez(tmp_path / "b.npz", centers=POINTS)
    (tmp_path / "scene.toml").write_text(
        '[[spheres]]\nfile = "a.npz"\nradius = 1\narrays = {centers = "pos"}\n'
        '[[spheres]]\nfile = "a.npz"\nradius = 1\narrays = {centers = "poss"}\n'
        '[[spheres]]\nfile = "b.npz"\nradius = 1\narrays = {radii = "size"}\n'
    )
    with pytest.raises(UserError) as caught:
        load(tmp_path / "scene.toml")
    lines = str(caught.value).splitlines()
    start = f"{tmp_path / 'scene.toml'}: spheres"
    assert lines[0].startswith(f"{start}[0].file: a.npz: array 'pos': sphere 1")
    assert lines[1].startswith(f"{start}[1].file: a.npz: there is no array named 'poss'; did you")
    assert lines[2].startswith(f"{start}[2].file: b.npz: there is no array named 'size'")
    assert len(lines) == 3


def test_every_problem_is_told_at_once(tmp_path: Path) -> None:
    path = tmp_path / "scene.toml"
    path.write_text("[render]\nwidth = 0\nsmples = 4\n[camera]\nup = [0, 1]\n")
    with pytest.raises(UserError) as caught:
        load(path)
    lines = str(caught.value).splitlines()
    assert [line.split(": ")[1] for line in lines] == ["render.width", "render.smples", "camera.up"]


TWO = "[[spheres]]\ncenters = [[0, 0, 0], [1, 0, 0]]\nradius = 0.1\n"

# Text of scene.toml, then the field or the file that the message must name.
UNPACKABLE = {
    "light too far": (
        TWO + "[[lights]]\ntype = 'point'\nposition = [1e40, 0, 0]\n",
        "lights[0].position: is too far",
    ),
    "light too bright": (
        TWO + "[[lights]]\ntype = 'directional'\ndirection = [0, 1, 0]\nintensity = 1e39\n",
        "lights[0].intensity: 1e+39 is too bright",
    ),
    "ambient light too bright": (TWO + "[ambient]\nintensity = 1e39\n", "ambient.intensity: 1e+39"),
    "camera too far": (
        TWO + "[camera]\nposition = [1e40, 0, 0]\nlook_at = [0, 0, 0]\n",
        "camera.position: too far",
    ),
    "camera in the middle": (
        BALL + "[camera]\nposition = [0, 0, 0]\n",
        "camera.look_at: is missing",
    ),
    "spheres too small": (BALL + BALL.replace("1.0", "1e-30"), "sphere 0 is too far, too large or"),
    "units too large": (BALL.replace("1.0", "1e305"), "the spheres reach over 1e+305 scene units"),
    "data too large": (
        BALL * 40 + "[[spheres]]\nfile = 'a.npz'\nradius = 1e30\n",
        "a.npz: sphere 0 is too far",
    ),
}


@pytest.mark.parametrize("name", UNPACKABLE)
def test_what_cannot_be_packed_names_the_scene_file(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text, words = UNPACKABLE[name]
    np.savez(tmp_path / "a.npz", centers=POINTS)
    path = tmp_path / "scene.toml"
    path.write_text(text)
    picture = ["-o", str(tmp_path / "a.png")]
    render = ["render", str(path), "--backend", "cpu"]
    check = ["scene", "check", str(path)]
    for command in ([*render, *picture], [*render, "--only", "0,0,0"], check):
        assert main(command) == 2
        assert capsys.readouterr().err.startswith(f"raytracer: {path}: {words}")
    with pytest.raises(SceneError) as caught:
        pack(load(path))
    assert str(caught.value).startswith(f"{path}: {words}")


def test_a_data_file_that_cannot_be_packed_is_named_once(tmp_path: Path) -> None:
    path = tmp_path / "a.npy"
    np.save(path, [[0.0, 0.0, 0.0, 1.0], [0.0, 0.0, 0.0, 1e-30]])
    with pytest.raises(SceneError) as caught:
        pack(load(path))
    assert str(caught.value).startswith(f"{path}: sphere ")
    assert str(caught.value).count(str(path)) == 1


def test_lengths_too_far_apart_name_the_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", centers=np.diag([0, 1e300, 0]), radii=1.0)
    with pytest.raises(UserError, match=r"a\.npz: sphere 1 is too far"):
        pack(load(tmp_path / "a.npz"))


@pytest.mark.parametrize(
    "comment",
    [
        "a" * 500_000,
        "a-" * 250_000,
        "a " * 250_000,
        "a" + " " * 500_000 + "b",
        "a={ " * 120_000,
        "a='" * 160_000 + '"',
        'a="b" ' * 80_000,
        "=" * 500_000,
    ],
)
def test_a_comment_is_read_in_linear_time(comment: str) -> None:
    properties(comment, "a.xyz")  # in quadratic time each of these would take minutes


def test_pairs_of_a_comment() -> None:
    comment = 'Lattice="1 2" a = \'b c\' d={e f} --g=h i="j k= l'
    expected = {"Lattice": "1 2", "a": "b c", "d": "e f", "g": "h", "i": '"j', "k": "l"}
    assert _pairs(comment, "a.xyz") == expected


@pytest.mark.parametrize("width", ["10001", "99999999999", "9" * 5000, "\u0660"])
def test_declared_columns_are_limited(width: str, tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    path.write_text(f"1\nProperties=species:S:1:pos:R:3:radius:R:{width}\nC 0 0 0 1\n")
    with pytest.raises(DataFileError, match=r"line 2: Properties"):
        load(path)
