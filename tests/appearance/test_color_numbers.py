"""Colours: how they are written, numbers of 0 to 1 or bytes by one rule, and linear light."""

import json
import warnings
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import RaytracerWarning
from raytracer.config.errors import SceneError, UserError
from raytracer.model.colors import linear_rgb, linear_to_srgb, parse_color, srgb_to_linear
from raytracer.model.sphere_set import SphereSet

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


@pytest.mark.parametrize(
    ("written", "rgb"),
    [
        ("#ff8000", (1.0, 128 / 255, 0.0)),
        ("#F80", (1.0, 136 / 255, 0.0)),
        ("crimson", (220 / 255, 20 / 255, 60 / 255)),
        (" RebeccaPurple ", (102 / 255, 51 / 255, 153 / 255)),
        ([0, 0.5, 1], (0.0, 0.5, 1.0)),
        (np.array([0.25, 0.5, 0.75]), (0.25, 0.5, 0.75)),
        ("tab:blue", (31 / 255, 119 / 255, 180 / 255)),
        ("tab:grey", (127 / 255, 127 / 255, 127 / 255)),
        ("C0", (31 / 255, 119 / 255, 180 / 255)),
        ("C11", (255 / 255, 127 / 255, 14 / 255)),
        ("k", (0.0, 0.0, 0.0)),
        ("g", (0.0, 128 / 255, 0.0)),
        ("green", (0.0, 128 / 255, 0.0)),
        ("0.5", (0.5, 0.5, 0.5)),
        (".25", (0.25, 0.25, 0.25)),
        ("1", (1.0, 1.0, 1.0)),
        ("#ff8000ff", (1.0, 128 / 255, 0.0)),
        ("#f80f", (1.0, 136 / 255, 0.0)),
        ((0.1, 0.2, 0.3, 1.0), (0.1, 0.2, 0.3)),
        ("1, 0.5,0", (1.0, 0.5, 0.0)),
        ("[0,0.25,1]", (0.0, 0.25, 1.0)),
        ("rgb(255, 51, 0)", (1.0, 0.2, 0.0)),
    ],
)
def test_parse(written: Any, rgb: tuple[float, float, float]) -> None:
    assert parse_color(written) == pytest.approx(rgb, abs=1e-15)


@pytest.mark.parametrize(
    ("written", "hint"),
    [
        ("crimsn", "did you mean 'crimson'"),
        ("#ff800", "#rrggbb"),
        ("tab:bleu", "did you mean 'tab:blue'"),
        ("1.5", "a grey goes from '0' to '1'"),
        ("-0.5", "no colour named '-0.5'; write '#rrggbb', or a name of CSS"),
        ([0, 0.5, 1, 2], "from 0 to 1"),
        ("#gg0000", "#rrggbb"),
        ([0, 0.5], "three numbers"),
        ([0, 0.5, 1.5], "from 0 to 1"),
        ([0, 0.5, float("nan")], "from 0 to 1"),
        ([0, 0.5, "1"], "not a colour"),
        (7, "not a colour"),
        (None, "not a colour"),
        ("255,0,0", r"must be from 0 to 1; write bytes as 'rgb\(255, 0, 0\)'"),
        ("rgb(256,0,0)", "must be from 0 to 255"),
        ("1,0", "three numbers"),
        ("red,blue", "is not a colour"),
        ("nan,0,0", "must be from 0 to 1"),
    ],
)
def test_refuse(written: Any, hint: str) -> None:
    with pytest.raises(SceneError, match=hint):
        parse_color(written)


@pytest.mark.parametrize("written", ["#ff800080", "#f808", (1.0, 0.5, 0.0, 0.5)])
def test_an_alpha_below_1_is_warned_of(written: Any) -> None:
    with pytest.warns(RaytracerWarning, match="the alpha of .* is ignored; give `opacity`"):
        assert parse_color(written)[0] == 1.0


def test_colors_of_a_set_have_an_alpha_however_they_are_written(tmp_path: Path) -> None:
    colors = ["red", (0, 0, 1, 0.5), np.array([0, 255, 0, 51], np.uint8), "#ff000066", "red"]
    spheres = SphereSet(np.zeros((5, 3)), 1.0, colors)
    assert spheres.color_id is not None
    red, green, blue = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    shown = spheres.color[spheres.color_id]
    assert shown.tolist() == [[*each] for each in (red, blue, green, red, red)]
    assert np.asarray(spheres.opacity).tolist() == pytest.approx([1.0, 0.5, 0.2, 0.4, 1.0])
    assert SphereSet(POINTS, 1.0, "#f008").opacity == pytest.approx(136 / 255)
    (tmp_path / "a.toml").write_text(toml('"#ff000066"'))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (of_file,) = raytracer.load(tmp_path / "a.toml").spheres
    assert of_file.opacity == pytest.approx(0.4)
    with pytest.raises(SceneError, match=r"color: colour 1 is none: .* is not a colour"):
        SphereSet(np.zeros((2, 3)), 1.0, ["red", (0, 0, 1, 1.5)])


@pytest.mark.skipif(find_spec("matplotlib") is None, reason="the extra `plot` is not installed")
def test_names_are_those_of_matplotlib() -> None:
    from matplotlib import colors

    names = [*colors.CSS4_COLORS, *colors.BASE_COLORS, *colors.TABLEAU_COLORS]
    for name in [*names, *(f"C{place}" for place in range(12))]:
        # matplotlib's letters are fractions such as 0.75; ours have 8 bits
        assert parse_color(name) == pytest.approx(colors.to_rgb(name), abs=0.5001 / 255), name


def test_curve_of_the_standard() -> None:
    # Values from the definition: the linear part, the joint, the middle and the end.
    levels = np.array([0.0, 0.02, 0.04045, 0.5, 1.0])
    expected = [0.0, 0.02 / 12.92, 0.04045 / 12.92, 0.21404114048223255, 1.0]
    np.testing.assert_allclose(srgb_to_linear(levels), expected, rtol=1e-12)
    grey = srgb_to_linear(np.linspace(0, 1, 4096))
    assert (np.diff(grey) > 0).all()


def test_the_curve_has_an_inverse() -> None:
    levels = np.linspace(0, 1, 4096).reshape(-1, 2)
    np.testing.assert_allclose(linear_to_srgb(srgb_to_linear(levels)), levels, atol=1e-7)
    np.testing.assert_allclose(linear_to_srgb([-0.5, 0, 1, 7]), [0, 0, 1, 1], atol=1e-15)


def test_bytes_and_floats_agree() -> None:
    levels = np.arange(256, dtype=np.uint8).repeat(3).reshape(-1, 3)
    from_bytes = linear_rgb(levels)
    assert from_bytes.dtype == np.float32
    np.testing.assert_array_equal(from_bytes, linear_rgb(levels / 255.0))
    np.testing.assert_array_equal(linear_rgb(levels, "linear"), (levels / 255.0).astype(np.float32))
