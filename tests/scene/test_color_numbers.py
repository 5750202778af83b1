"""Numbers of colours: 0 to 1 or bytes, by the same rule wherever they come in."""

from __future__ import annotations

import json
from collections.abc import Mapping
from contextlib import redirect_stderr
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

import raytracer
from raytracer.cli import main
from raytracer.scene.colors import parse_color
from raytracer.scene.scene import SphereSet

POINTS = np.zeros((1, 3))
WHITE, BLACK = [1.0, 1.0, 1.0], [1 / 255, 1 / 255, 1 / 255]
SEEN = {"look": "flat", "width": 8, "height": 8, "samples": 1}


def toml(color: str) -> str:
    """A scene of one ball."""
    table = "".join(f"{key} = {json.dumps(value)}\n" for key, value in SEEN.items())
    ball = f"centers = [[0, 0, 0]]\nradius = 1\n{key_of(color)} = {color}\n"
    return f"[render]\n{table}[[spheres]]\n{ball}"


def key_of(color: str) -> str:
    """The key of one colour, or of one for each sphere."""
    return "colors" if color.startswith("[[") else "color"


def scene_json(color: str) -> str:
    """The same as JSON."""
    ball = {"centers": [[0, 0, 0]], "radius": 1, key_of(color): json.loads(color)}
    return json.dumps({"render": SEEN, "spheres": [ball]})


def rendered(folder: Path, name: str) -> tuple[int, str, list[int]]:
    """The exit code of the command, what it says, and the pixel in the middle of its picture."""
    target = str(folder / "a.png")
    words = ["render", str(folder / name), "--backend", "cpu", "-q", "-o", target]
    if Path(name).suffix not in (".toml", ".json"):
        words += [f"--{key}={value}" for key, value in SEEN.items()]
    with redirect_stderr(StringIO()) as said:
        code = main(words)
    pixel: list[int] = []
    if not code:
        pixel = np.asarray(Image.open(target))[4, 4, :3].tolist()
    return code, said.getvalue(), pixel


@pytest.mark.parametrize(
    ("name", "text", "bright"),
    [
        ("a.toml", toml("[1, 1, 1]"), True),
        ("a.toml", toml("[[1, 1, 1]]"), True),
        ("a.toml", toml("[1.0, 1.0, 1.0]"), True),
        ("a.toml", toml('"rgb(255, 255, 255)"'), True),
        ("a.toml", toml('"rgb(1, 1, 1)"'), False),
        ("a.json", scene_json("[1, 1, 1]"), True),
        ("a.json", scene_json("[[1, 1, 1]]"), True),
        ("a.csv", "x,y,z,radius,r,g,b\n0,0,0,1,1,1,1\n", True),
        ("a.csv", "x,y,z,radius,r,g,b\n0,0,0,1,1,1,2\n", False),
        ("a.xyz", "1\nProperties=pos:R:3:radius:R:1:color:I:3\n0 0 0 1 1 1 1\n", True),
        ("a.xyz", "1\nProperties=pos:R:3:radius:R:1:color:R:3\n0 0 0 1 1 1 1\n", True),
        ("a.xyz", "1\nProperties=pos:R:3:radius:R:1:color:I:3\n0 0 0 1 1 1 2\n", False),
    ],
)
def test_integers_0_and_1_are_0_and_1(name: str, text: str, bright: bool, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    code, said, pixel = rendered(tmp_path, name)
    assert (code, said) == (0, "")
    assert (min(pixel) > 200) if bright else (max(pixel) < 30)


@pytest.mark.parametrize(
    ("dtype", "value", "bright"),
    [("i8", 1, True), ("u2", 1, True), ("i4", 2, False), ("u1", 1, False), ("f4", 1.0, True)],
)
def test_integers_in_archives(dtype: str, value: float, bright: bool, tmp_path: Path) -> None:
    np.savez(
        tmp_path / "a.npz", centers=POINTS, radii=np.ones(1), colors=np.full((1, 3), value, dtype)
    )
    code, said, pixel = rendered(tmp_path, "a.npz")
    assert (code, said) == (0, "")
    assert (min(pixel) > 200) if bright else (max(pixel) < 30)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("a.toml", toml("[255, 128, 0]"), "write bytes as 'rgb(255, 128, 0)'"),
        ("a.toml", toml("[[255, 128, 0]]"), "write bytes as 'rgb(255, 128, 0)'"),
        ("a.json", scene_json("[255, 128, 0]"), "write bytes as 'rgb(255, 128, 0)'"),
        ("a.toml", toml("[1, 0.5, 1.5]"), "must be from 0 to 1"),
        ("a.toml", f"ambient.color = [255, 128, 0]\n{toml('[1, 1, 1]')}", "'rgb(255, 128, 0)'"),
        ("a.csv", "x,y,z,r,g,b\n0,0,0,0.2,0.5,1.02\n", "as whole numbers from 0 to 255"),
        ("a.csv", "x,y,z,r,g,b\n0,0,0,0,0,256\n", "as whole numbers from 0 to 255"),
        ("a.xyz", "1\nProperties=pos:R:3:color:I:3\n0 0 0 -1 0 0\n", "from 0 to 255"),
    ],
)
def test_what_is_ambiguous_is_refused(name: str, text: str, says: str, tmp_path: Path) -> None:
    (tmp_path / name).write_text(text)
    code, said, _ = rendered(tmp_path, name)
    assert code == 2
    assert said.count("\n") == 1
    assert says in said
    assert not (tmp_path / "a.png").exists()


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


def test_triples_beside_names() -> None:
    spheres = SphereSet(np.zeros((2, 3)), 1.0, ["black", [1, 1, 1]])
    assert spheres.color[1].tolist() == WHITE


def test_one_color_of_bytes() -> None:
    assert parse_color(np.array([255, 0, 51], np.uint8)) == pytest.approx((1.0, 0.0, 0.2))
    assert list(parse_color(np.ones(3, np.uint8))) == pytest.approx(BLACK)


def test_arrays_of_floats_stay_within_1() -> None:
    colors: Mapping[str, Any] = {"color": np.array([[255.0, 0.0, 0.0]])}
    with pytest.raises(raytracer.UserError, match="arrays of uint8"):
        SphereSet(POINTS, 1.0, **colors)
