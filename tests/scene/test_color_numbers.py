"""Numbers of colours: 0 to 1 or bytes, by the same rule wherever they come in."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.errors import UserError
from raytracer.scene.sphere_set import SphereSet

POINTS = np.zeros((1, 3))
WHITE, BLACK = [1.0, 1.0, 1.0], [1 / 255, 1 / 255, 1 / 255]


def key_of(color: str) -> str:
    """The key of one colour, or of one for each sphere."""
    return "colors" if color.startswith("[[") else "color"


def toml(color: str) -> str:
    """A scene of one ball."""
    return f"[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n{key_of(color)} = {color}\n"


def scene_json(color: str) -> str:
    """The same as JSON."""
    ball = {"centers": [[0, 0, 0]], "radius": 1, key_of(color): json.loads(color)}
    return json.dumps({"spheres": [ball]})


def color_of(spheres: SphereSet) -> Any:
    """The colour of the first sphere, sRGB."""
    row = 0 if spheres.color_id is None else spheres.color_id[0]
    return pytest.approx(
        (spheres.color[row] / (255.0 if spheres.color.dtype == np.uint8 else 1.0)).tolist()
    )


XYZ = "1\nProperties=pos:R:3:radius:R:1:color:{}:3\n0 0 0 1 {}\n"


@pytest.mark.parametrize(
    ("name", "text", "color"),
    [
        ("a.toml", toml("[1, 1, 1]"), WHITE),
        ("a.toml", toml("[[1, 1, 1]]"), WHITE),
        ("a.toml", toml('"rgb(255, 255, 255)"'), WHITE),
        ("a.toml", toml('"rgb(1, 1, 1)"'), BLACK),
        ("a.json", scene_json("[1, 1, 1]"), WHITE),
        ("a.json", scene_json("[[1, 1, 1]]"), WHITE),
        ("a.csv", "x,y,z,radius,r,g,b\n0,0,0,1,1,1,1\n", WHITE),
        ("a.csv", "x,y,z,radius,r,g,b\n0,0,0,1,1,1,2\n", [1 / 255, 1 / 255, 2 / 255]),
        ("a.xyz", XYZ.format("I", "1 1 1"), WHITE),
        ("a.xyz", XYZ.format("R", "1 1 1"), WHITE),
        ("a.xyz", XYZ.format("I", "1 1 2"), [1 / 255, 1 / 255, 2 / 255]),
    ],
)
def test_integers_0_and_1_are_0_and_1(
    name: str, text: str, color: list[float], tmp_path: Path
) -> None:
    (tmp_path / name).write_text(text)
    assert color == color_of(raytracer.load(tmp_path / name).spheres[0])


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.toml", toml("[255, 128, 0]"), r"write bytes as 'rgb\(255, 128, 0\)'"),
        ("a.toml", toml("[[255, 128, 0]]"), r"write bytes as 'rgb\(255, 128, 0\)'"),
        ("a.json", scene_json("[255, 128, 0]"), r"write bytes as 'rgb\(255, 128, 0\)'"),
        ("a.toml", toml("[1, 0.5, 1.5]"), "must be from 0 to 1"),
        ("a.toml", f"ambient.color = [255, 128, 0]\n{toml('[1, 1, 1]')}", r"'rgb\(255, 128, 0\)'"),
        ("a.csv", "x,y,z,r,g,b\n0,0,0,0.2,0.5,1.02\n", "as whole numbers from 0 to 255"),
        ("a.csv", "x,y,z,r,g,b\n0,0,0,0,0,256\n", "as whole numbers from 0 to 255"),
        ("a.xyz", "1\nProperties=pos:R:3:color:I:3\n0 0 0 -1 0 0\n", "from 0 to 255"),
    ],
)
def test_what_is_ambiguous_is_refused(name: str, text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(UserError, match=says):
        raytracer.load(tmp_path / name)


@pytest.mark.parametrize(
    ("color", "shown"),
    [
        ([1, 1, 1], WHITE),
        ((1, 1, 1), WHITE),
        ([(1, 1, 1)], WHITE),
        (np.ones(3, np.int64), WHITE),
        (np.ones((1, 3), np.int64), WHITE),
        (np.ones((1, 3), np.uint16), WHITE),
        (np.ones((1, 3), np.uint8), BLACK),
        (np.ones(3, np.uint8), BLACK),
        (np.array([[1, 2, 1]]), [1 / 255, 2 / 255, 1 / 255]),
    ],
)
def test_colors_from_python(color: Any, shown: list[float]) -> None:
    spheres = SphereSet(POINTS, 1.0, color)
    top = 255.0 if spheres.color.dtype == np.uint8 else 1.0
    assert (spheres.color[0] / top).tolist() == pytest.approx(shown)
    scene = raytracer.Scene.from_object({"centers": POINTS, "colors": np.atleast_2d(color)})
    top = 255.0 if scene.spheres[0].color.dtype == np.uint8 else 1.0
    assert (scene.spheres[0].color[0] / top).tolist() == pytest.approx(shown)
