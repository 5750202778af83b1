"""Broken scene and data files: each gives one clear sentence that names file and field."""

import io
import re
import warnings
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import load
from raytracer.commands.cli import main
from raytracer.config.errors import DataFileError, MemoryNeedError, SceneError, UserError
from raytracer.packing.pack import pack
from raytracer.particles.formats.xyz import parse_pairs
from support.particle_files import npz, write

BALL = "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1.0\n"

SETS = {
    "ball": "[[spheres]]; centers = [[0, 0, 0]]; radius = 1.0",
    "two": "[[spheres]]; centers = [[0, 0, 0], [1, 0, 0]]",
    "rods": "[[capsules]]; starts = [[0, 0, 0], [0, 1, 0]]; ends = [[1, 0, 0], [2, 1, 0]]",
    "cones": "[[cones]]; starts = [[0, 0, 0], [0, 1, 0]]; ends = [[1, 0, 0], [2, 1, 0]]",
    "eggs": "[[ellipsoids]]; centers = [[0, 0, 0], [0, 1, 0]]",
    "file": "[[spheres]]; file = 'a.xyz'",
    "lines": "[[capsules]]; radius = 1; file",
    "far": "[[spheres]]; centers = [[0, 0, 0], [1, 0, 0]]; radius = 0.1",
    "bulb": "[[lights]]; type = 'point'",
    "lamp": "[[lights]]; position = [0, 0, 3]; direction = [0, 0, -1]",
    "speck": "[[spheres]]; centers = [[0, 0, 0]]; radius = 1e-30",
}

# What the message names after the scene file, and the text of the scene, ";" for ends of lines.
SCENES = """
is not TOML | title = ]
camra | [camra]
render.widht | [render]; widht = 3
camera.vertical_fov | [camera]; type = 'orthographic'; vertical_fov = 3
spheres: is a list of tables: write [[spheres]], with two brackets | [spheres]; radius = 1
camera: is one table: write [camera], | [[camera]]; up = [0, 1, 0]
materials.gold | [materials]; gold = 3
materials.mirror.miror | [materials.mirror]; miror = 1
render.width | [render]; width = {a = 1}
render.samples | [render]; samples = '4'
render.filter | [render]; filter = 'gausian'
render.shadows | [render]; shadows = 'yes'
camera | [camera]; type = 'perspectiv'
camera.look_at | [camera]; position = [1, 2, 3]; look_at = [1, 2, 3]
camera.up | [camera]; up = 5
camera.position[2] | [camera]; position = [0, 5, inf]
lights[0] | [[lights]]; position = [0, 5, 0]
lights[0].direction | [[lights]]; type = 'directional'; direction = [0, 0, 0]
background.color | [background]; color = 'sky'
elements.Aux | [elements.Aux]; color = 'red'
has no spheres; add a set, [[spheres]] | [render]; width = 9
spheres[0]: needs one of centers, file | [[spheres]]; radius = 1
spheres[0].material | [materials.gold]; <ball>; material = 'glod'
spheres[0].transform.scale | <ball>; transform = {scale = 0}
spheres[0].radii: give either | <ball>; radii = [1]
spheres[0].radii: sphere 1 has radius -1 | <two>; radii = [1, -1]
spheres[0].radii | <two>; radii = [1]
spheres[0].colors | <two>; radius = 1; colors = ['red']
spheres[0].colors | <ball>; colors = ['rd']
spheres[0].opacities: has shape (1,) for 2 | <two>; radius = 1; opacities = [0.5]
spheres[0].opacities: of sphere 1 is 1.5 | <two>; radius = 1; opacities = [0.5, 1.5]
spheres[0].centers: sphere 0 lies at | [[spheres]]; centers = [[0, nan, 0]]; radius = 1
spheres[0].centers | [[spheres]]; centers = [[0, 0, 0], [0, 0]]; radius = 1
spheres[0].generate | [[spheres]]; generate = {name = 'cloud', count = 5000000000}
spheres[0].generate | [[spheres]]; generate = {name = 'clowd'}
spheres[0].file: gone.npz: there is no such file | [[spheres]]; file = 'gone.npz'
spheres[0].file: scene.toml | [[spheres]]; file = 'scene.toml'
spheres[0].replicate[1] | <file>; replicate = [2, 0, 1]
spheres[0].style | <file>; style = 'balls'
spheres[0].bonds: there is no type 'X' | <file>; bonds = { O-X = 1.2 }
spheres[0].color.by | <file>; color = { by = 'q' }
spheres[0].color.by | <file>; color = { map = 'magma' }
spheres[0].color.rang | <file>; color = { by = 'z', rang = [0, 1] }
spheres[0].color: range: 1 is above 0 | <file>; color = { by = 'z', range = [1, 0] }
spheres[0].radius: '0 * x': sphere 0 has radius | <file>; radius = '0 * x'
spheres[0].select: 'x >' is not a valid expression | <file>; select = 'x >'
spheres[0].palette | <file>; palette = { O = 'nocolour' }
capsules[0].radius: is missing | <rods>
capsules[0].radii: capsule 1 has radius nan | <rods>; radii = [1, nan]
capsules[0].end_colors: has 1 colours for 2 | <rods>; radius = 1; end_colors = ['red']
capsules[0].opacities: of capsule 1 is 3 | <rods>; radius = 1; opacities = [1, 3]
capsules[0].file | <lines> = 'none.npz'
capsules[0].file: part.csv: has x1 and y1, but no z1 | <lines> = 'part.csv'
capsules[0].file: words.csv: x1 does not hold numbers | <lines> = 'words.csv'
spheres[0].labels: is for a data file | <ball>; labels = 'types'
cones[0].end_radius: cone 1: both radii are 0 | <cones>; radii = [1, 0]
cones[0].caps | <cones>; radius = 1; caps = 'flat'
ellipsoids[0].semi_axes: is missing | <eggs>
ellipsoids[0].semi_axes: ellipsoid 0 has radius 0 | <eggs>; semi_axes = [1, 0, 3]
ellipsoids[0].orientations | <eggs>; semi_axes = [1, 1, 1]; orientations = [0, 0, 0, 0]
"""


def written(row: str, folder: Path) -> tuple[str, Path]:
    """Write the scene of a row; returns what the message names, and the file."""
    named, _, text = row.partition(" | ")
    text = re.sub(r"<(\w+)>", lambda found: SETS[found[1]], text)
    path = folder / "scene.toml"
    path.write_text(text.replace("; ", "\n") + "\n")
    return named, path


@pytest.mark.parametrize("row", SCENES.strip().splitlines())
def test_broken_scene(row: str, tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("2\n\nO 0 0 0\nH 1 0 0\n")
    (tmp_path / "part.csv").write_text("x1,y1,x2,y2,z2\n0,0,1,1,1\n")
    (tmp_path / "words.csv").write_text("x1,y1,z1,x2,y2,z2\na,0,0,1,1,1\n")
    named, path = written(row, tmp_path)
    with pytest.raises(UserError) as caught:
        load(path)
    message = str(caught.value)
    assert message.replace(f"{tmp_path}/", "").startswith(f"scene.toml: {named}")
    assert "\n" not in message


def npy(array: Any, **options: Any) -> bytes:
    file = io.BytesIO()
    np.save(file, array, **options)
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
DATA: list[tuple[str, bytes | str, str]] = [
    ("a.npz", npz(centers=BAD_POINTS), "array 'centers': sphere 1"),
    ("a.npz", npz(centers=POINTS, radii=[1, 1, np.inf]), "array 'radii': sphere 2 has radius inf"),
    ("a.npz", npz(centers=POINTS, radii=[1, 0, 1]), "array 'radii': sphere 1 has radius 0"),
    ("a.npz", npz(centers=POINTS, radius=np.ones(4)), "array 'radius': has 4 radii for 3 spheres"),
    ("a.npz", npz(centers=np.zeros((4, 5))), "array 'centers': has shape (4, 5)"),
    ("a.npz", npz(centers=np.array([["a"] * 3])), "array 'centers': holds text, not real"),
    ("a.npz", npz(centers=np.array([[{}] * 3], object)), "array 'centers': has Python objects"),
    ("a.npz", npz(a=POINTS, b=POINTS), "no arrays centers, or x, y and z"),
    ("a.npz", npz(centers=POINTS, radii=1.0, colors=np.full((3, 3), 255.0)), "array 'colors'"),
    ("a.npz", npz(centers=POINTS)[:100], "is not an .npz file, or is incomplete"),
    ("a.npz", "hello", "is not an .npz file"),
    ("a.npz", npz(x=np.zeros(3), y=np.zeros(3), z=np.zeros(2)), "x, y and z differ in length"),
    ("a.npz", doubled("centers.npy", "radii.npy", "centers.npy"), "2 arrays named 'centers'"),
    ("a.npz", doubled("centers", "centers.npy"), "has 2 arrays named 'centers'"),
    ("a.npz", npz(Centers=POINTS, CENTERS=POINTS), "the arrays 'Centers', 'CENTERS'"),
    ("a.npz", npz(centers=np.zeros((0, 3))), "holds no particles"),
    ("a.npy", "hello", "cannot be read as .npy"),
    ("a.npy", npy(POINTS)[:-8], "is incomplete"),
    ("a.npy", npy(np.zeros((3, 1))), "has shape (3, 1)"),
    ("a.npy", npy(np.zeros((2, 5, 4))), "numbers: leave out further columns"),
    ("a.csv", "1,2\n4,5\n", "line 1 holds numbers"),
    ("a.csv", "", "line 1 is empty"),
    ("a.csv", "x,y,zz\n1,2,3\n", "there are no columns x, y and z"),
    ("a.csv", "x,y,z\n1,2,3\n1,two,3\n", "line 3, column 'y': 'two' is not"),
    ("a.csv", "x,y,z\n1,,3\n", "line 2, column 'y': there is no value"),
    ("a.csv", "x,y,z\n1,2,3\n1,2\n", "line 3: too few columns"),
    ("a.csv", "x,y,z\n1,2,3\n1,5,2,5,3,5\n", "line 3 has 6 values for 3 columns"),
    ("a.csv", "x,y,z,color\n1,2,3,#ff0000\n1,2,3,#ff000\n", "line 3, column 'color'"),
    ("a.csv", "# a table\nx,x,y,z\n1,2,3,4\n", "line 2: the columns 'x', 'x' have the same name"),
    ("a.csv", "X [nm],X [m],y,z\n1,2,3,4\n", "the columns 'X [nm]', 'X [m]'"),
    ("a.csv", "x,y,z,r,g,b\n1,2,3,0,0,300\n", "r, g, b: give colours"),
    ("a.csv", "x,y,z,radius\n", "holds no particles"),
    ("a.xyz", XYZ.replace("2", "4000000000", 1), "line 1 states 4000000000 atoms, but there are 2"),
    ("a.xyz", "1\nProperties=species:S:1:pos:R:3:pos:R:3\nH 0 0 0 1 1 1\n", "name 'pos' twice"),
    ("a.xyz", "1\nProperties=species:S:1:Pos:R:3:POS:R:3\nH 0 0 0 1 1 1\n", "'Pos', 'POS'"),
    ("a.xyz", "1\nProperties=pos:R:3 Properties=pos:R:3\n0 0 0\n", "line 2: Properties appears"),
    ("a.xyz", "H 0 0\n", "line 1: 'H 0 0' is not the number of atoms"),
    ("a.xyz", XYZ.replace("1 1 1", "1 one 1"), "line 4, column 'y': 'one'"),
    ("a.xyz", XYZ.replace("1 1 1", "1 1"), "line 4: too few columns"),
    ("a.xyz", XYZ.replace("pos:", "place:"), "there are no properties x, y and z"),
    ("a.xyz", XYZ.replace("pos:R:3", "pos:Q:3"), "'pos:Q:3' is not"),
    ("a.xyz", XYZ.replace("Prop", 'Lattice="1 2" Prop'), "Lattice: '1 2'"),
    ("a.xyz", "1\nProperties=type:I:1:pos:R:3\n10000000000000000 0 0 0\n", "is beyond the range"),
    ("a.xyz", b"2\n\xff\xfe\n", "is not text in UTF-8"),
    ("a.xyz", "0\n\n", "holds no particles"),
    ("a.VTI", "", "files ending in '.vti' cannot"),
    ("a.top", "", "atoms without coordinates"),
    ("a.tpr", "", "cannot be read as TPR"),
    ("a.xyz.zip", "", "files ending in '.zip' cannot be read; supported are"),
    ("a.xzy", "", "files ending in '.xzy' cannot be read; supported are"),
    ("a.json", "[1, 2]", "does not hold an object"),
    ("a.json", f'{{"title": {"1" * 10_000}}}', "is not JSON: Exceeds the limit"),
    ("a.toml", "title = " + "[" * 100_000, "nested too deeply"),
    ("a.json", '{"title": }', "is not JSON"),
    ("a.json", '{"spheres": [{"radius": 1, "radius": 2}]}', "an object has the key 'radius' twice"),
    ("a.json", '[{"x": 1, "y": 1, "z": 1, "x": 2}]', "an object has the key 'x' twice"),
    ("a.json", '{"x": [1], "y": [1], "z": [1], "x": [2]}', "an object has the key 'x' twice"),
    ("a.json", "{'x': [1], 'y': [1], 'z': [1], 'x': [2]}", "a dictionary has a key twice"),
    ("a.jsonl", '{"x": 1, "y": 1, "z": 1}\n{"x": 1, "y": 1, "z": 1, "z": 2}\n', "'z' twice"),
    ("a.vtp.series", '{"files": [{"name": "a.vtp", "time": 0, "name": "b.vtp"}]}', "'name' twice"),
]


@pytest.mark.parametrize(("file", "content", "said"), DATA)
def test_broken_data_file(file: str, content: bytes | str, said: str, tmp_path: Path) -> None:
    path = write(tmp_path / file, content)
    with pytest.raises(UserError) as caught:
        load(path)
    message = str(caught.value)
    assert message.startswith(f"{path}: ")
    assert "\n" not in message
    assert said in message


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
    path = write(tmp_path / file, content)
    load(path)
    monkeypatch.setattr("raytracer.system.memory.available_memory", lambda: 20)
    for reader in ("numpy.load", "numpy.loadtxt", "numpy.lib.format.read_array"):
        monkeypatch.setattr(reader, lambda *_, **__: pytest.fail("was read"))
    with pytest.raises(MemoryNeedError, match=r"needs about \d+ \S+ of memory to be read and 20"):
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


# What cannot be packed, as above.
UNPACKABLE = """
lights[0].position: is too far | <far>; <bulb>; position = [1e40, 0, 0]
lights[0].intensity: 1e+39 | <far>; <bulb>; position = [1, 0, 0]; intensity = 1e39
ambient.intensity: 1e+39 | <far>; [ambient]; intensity = 1e39
camera.position: too far | <far>; [camera]; position = [1e40, 0, 0]; look_at = [0, 0, 0]
camera.up: is parallel | <ball>; [camera]; position = [0, 9, 0]
camera.look_at: is missing | <ball>; [camera]; position = [0, 0, 0]
sphere 0 is too far away, too large or | <ball>; <speck>
lights[0].radius: 1e+30 is too large | <ball>; <bulb>; position = [0, 0, 3]; radius = 1e30
lights[0].height: 1e+30 is too large | <ball>; <lamp>; type = 'rectangle'; height = 1e30
lights[0].radius: 1e+30 is too large | <ball>; <lamp>; type = 'disk'; radius = 1e30
the spheres extend over 1e+305 scene units | [[spheres]]; centers = [[0, 0, 0]]; radius = 1e305
"""


@pytest.mark.parametrize("row", UNPACKABLE.strip().splitlines())
def test_what_cannot_be_packed_names_the_scene_file(
    row: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words, path = written(row, tmp_path)
    with pytest.raises(SceneError) as caught:
        pack(load(path))
    assert str(caught.value).startswith(f"{path}: {words}")
    assert main(["render", str(path), "--backend", "cpu", "-o", str(tmp_path / "a.png")]) == 2
    assert capsys.readouterr().err.startswith(f"raytracer: {path}: {words}")


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
    parse_pairs(comment, "a.xyz")  # in quadratic time each of these would take minutes


@pytest.mark.parametrize("width", ["10001", "99999999999", "9" * 5000, "\u0660"])
def test_declared_columns_are_limited(width: str, tmp_path: Path) -> None:
    text = f"1\nProperties=species:S:1:pos:R:3:radius:R:{width}\nC 0 0 0 1\n"
    with pytest.raises(DataFileError, match=r"line 2: Properties"):
        load(write(tmp_path / "a.xyz", text))
