"""Scene files: what they say arrives, and the check takes what the JSON Schema takes."""

import copy
import json
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer import DirectionalLight, Material, PointLight, Scene, load
from raytracer.config.errors import SceneError
from raytracer.packing.pack import pack
from raytracer.scene_files.load import check_parts
from raytracer.scene_files.tables import make_schema

FULL = """
title = "Everything"
caption = "All that a scene file can say."

[render]
width = 320
height = 200
samples = 4
filter = "tent"
filter_radius = 0.75
seed = 9
max_depth = 2
shadows = false

[camera]
type = "orthographic"
position = [0, 1, 5]
look_at = [0, 0.5, 0]
up = [0, 1, 0.1]
height = 4

[background]
bottom = "#102030"
top = [0.5, 0.25, 1]

[ambient]
color = "white"
intensity = 0.25

[[lights]]
type = "point"
position = [4, 6, 3]
color = "#ffeedd"
intensity = 40
falloff = "inverse-square"

[[lights]]
type = "directional"
direction = [0, -1, 0]

[materials.default]
diffuse = 0.5

[materials.chrome]
type = "phong"
ambient = 0.1
specular = 0.5
shininess = 200
mirror = 1

[[spheres]]
material = "chrome"
centers = [[0, 0, 0], [1.5, 0, 0]]
radii = [1, 0.5]
colors = ["crimson", [0, 0, 1]]

[[spheres]]
centers = [[0, -3, 0]]
radius = 2.0
color = "#808080"
transform = {scale = 2, rotate = [0, 0, 90], translate = [0, 0, 1]}

[[spheres]]
file = "data/atoms.xyz"

[[spheres]]
file = "data/points.npz"
arrays = {centers = "pos", radii = "size"}
color = [1, 0.5, 0.25]
color_space = "linear"

[elements.Au]
radius = 1.4
color = "#ffd123"
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "atoms.xyz").write_text("2\n\nAu 9 0 0\nC 8 0 0\n")
    np.savez(tmp_path / "data" / "points.npz", pos=np.ones((2, 3)), size=np.ones(2))
    (tmp_path / "scene.toml").write_text(FULL)
    return tmp_path


def test_everything_arrives(folder: Path) -> None:
    scene = load(folder / "scene.toml")
    assert (scene.title, scene.caption) == ("Everything", "All that a scene file can say.")
    render = scene.render
    assert (render.width, render.height, render.samples, render.filter) == (320, 200, 4, "tent")
    assert (render.filter_radius, render.seed, render.max_depth) == (0.75, 9, 2)
    assert render.shadows is False
    assert scene.camera is not None
    assert (scene.camera.type, scene.camera.height, scene.camera.fit) == ("orthographic", 4, False)
    assert scene.camera.look_at == (0.0, 0.5, 0.0)
    assert scene.background.top == (0.5, 0.25, 1.0)
    assert scene.ambient is not None
    assert scene.ambient.intensity == 0.25
    assert scene.lights is not None
    point, sun = scene.lights
    assert isinstance(point, PointLight)
    assert (point.intensity, point.falloff) == (40.0, "inverse-square")
    assert isinstance(sun, DirectionalLight)
    assert sun.direction == (0.0, -1.0, 0.0)
    assert scene.materials["default"] == Material(diffuse=0.5)
    assert scene.materials["chrome"] == Material(0.1, 0.9, 0.5, 200.0, 1.0)
    inline, ball, atoms, points = scene.spheres
    assert inline.material == "chrome"
    np.testing.assert_array_equal(inline.radius, [1.0, 0.5])
    assert inline.color_id is not None
    assert inline.color_id.tolist() == [0, 1]
    assert (ball.transform.scale, ball.transform.rotate) == (2.0, (0.0, 0.0, 90.0))
    np.testing.assert_array_equal(atoms.radius, [1.4, 0.75])
    assert (points.count, points.color_space) == (2, "linear")
    assert points.color.tolist() == [[1.0, 0.5, 0.25]]


def test_toml_and_json_make_the_same_picture(folder: Path) -> None:
    values = tomllib.loads(FULL)
    (folder / "scene.json").write_text(json.dumps({"$schema": "scene.schema.json", **values}))
    digests = {pack(load(folder / name)).digest() for name in ("scene.toml", "scene.json")}
    assert len(digests) == 1
    assert load(str(folder / "scene.json")).caption == values["caption"]


def test_defaults_of_a_file_are_those_of_python(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text("[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1\n")
    from_file = pack(load(tmp_path / "a.toml"))
    assert from_file.digest() == pack(Scene.from_arrays([[0.0, 0, 0]], 1.0)).digest()
    (tmp_path / "b.toml").write_text(
        "spheres = []\n[camera]\n[render]\n[background]\n[materials.default]\n"
    )
    assert pack(load(tmp_path / "b.toml")).digest() == pack(Scene()).digest()
    (tmp_path / "c.toml").write_text("spheres = []\n[ambient]\n")
    ambient = load(tmp_path / "c.toml").ambient
    assert ambient is not None
    assert ambient.intensity == 0.1


def test_fit_keeps_the_direction(tmp_path: Path) -> None:
    (tmp_path / "a.toml").write_text(
        "[camera]\nfit = true\nposition = [0, 0, -9]\nlook_at = [0, 0, 0]\n"
        "[[spheres]]\ncenters = [[5, 5, 5]]\nradius = 1\n"
    )
    view = pack(load(tmp_path / "a.toml")).view
    np.testing.assert_array_equal(view.camera["forward"], [[0, 0, 1]])


ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem: tomllib.loads(path.read_text()) for path in ROOT.glob("scenes/*.toml")}
EXAMPLES["wind"] = {
    "spheres": [{"file": "a.xyz", "velocity": ["vx", 0, -1.5]}, {"file": "a.xyz", "velocity": "v"}]
}
EXAMPLES["everything"] = {
    "camera": {"type": "orthographic", "position": [0, 5, 1], "height": 3, "fit": None},
    "background": {"color": [0, 0.5, 1], "transparent": False, "up": [0, 0, 2]},
    "lights": [
        {"type": "point", "position": [1, 2, 3.5], "falloff": "inverse-square"},
        {"type": "directional", "direction": [0, -1, 0], "intensity": 2},
    ],
    "materials": {"gold": {"mirror": 1, "shininess": 3.5}},
    "spheres": [
        {"centers": [[0, 0, 0]], "radii": [1], "colors": ["red"], "material": "gold"},
        {"file": "a.npz", "arrays": {"centers": "pos"}, "transform": {"rotate": [0, 90, 0]}},
        {"generate": {"name": "cloud", "count": 5, "seed": 0}, "color": "#123"},
    ],
    "elements": {"Au": {"radius": 1.4, "color": "#ffd123"}},
}
# What people write where something else belongs.
ODD: list[Any] = [
    None, True, 0, 1, -1, 2, 1.5, 200, float("nan"), float("inf"), 10**400, 2**60, "", "red", "yes",
    "#12", "point", "\ud800", [], [1], [1, 2, 3], [1, 2, "x"], [True, 0, 0], [1, 2, 3, 4], {},
    {"type": "point"}, {"type": "orthographic"}, {"a": 1}, [{}],
]  # fmt: skip


def mistakes(values: dict[str, Any]) -> list[str]:
    """What the check says, without the name of the file."""
    try:
        check_parts(values, "a.toml")
    except SceneError as error:
        return [sentence.removeprefix("a.toml: ") for sentence in error.sentences]
    return []


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every table or list inside a value, with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


@pytest.mark.parametrize("name", EXAMPLES)
def test_right_scenes_have_no_mistakes(name: str) -> None:
    assert mistakes(EXAMPLES[name]) == []
    jsonschema = pytest.importorskip("jsonschema")
    jsonschema.Draft202012Validator(make_schema()).validate(EXAMPLES[name])


@given(data=st.data())
def test_check_and_schema_agree(data: st.DataObject) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(make_schema())
    values = copy.deepcopy(EXAMPLES[data.draw(st.sampled_from(sorted(EXAMPLES)))])
    table, key = data.draw(st.sampled_from(list(places(values))))
    change = data.draw(st.sampled_from(["value", "name", "remove"]))
    odd = copy.deepcopy(data.draw(st.sampled_from(ODD)))
    if change == "value":
        table[key] = odd
    elif change == "name" and isinstance(table, dict):
        table[data.draw(st.sampled_from(["x", "type", "radius", "color", "seed"]))] = odd
    else:
        del table[key]
    found = mistakes(values)
    if validator.is_valid(values):
        # Colours have no pattern in the schema, and to it NaN is a number.
        assert all(" colour" in s or "finite" in s for s in found), found
    elif not found:  # items of lists with one for each sphere are checked with the spheres
        paths = [list(error.absolute_path) for error in validator.iter_errors(values)]
        assert all({"centers", "radii", "colors"} & set(path) for path in paths), paths


def test_mistakes_are_told_in_the_order_of_the_keys_and_with_the_nearest_name() -> None:
    values = {
        "render": {"widht": 3, "samples": 0, "filter": "gausian"},
        "lights": [{"type": "point"}, {"type": "area"}, {}],
        "spheres": [{"centers": [], "radius": [1, 2], "radii": 1, "generate": {}}],
    }
    assert mistakes(values) == [
        "render.samples: must be at least 1, not 0",
        "render.filter: there is no filter 'gausian'; did you mean 'gaussian'?",
        "render.widht: unknown key; did you mean 'width'?",
        "lights[0].position: is missing",
        "lights[1]: there is no type 'area'; known are point, directional, rectangle, disk",
        "lights[2]: type is missing; known are point, directional, rectangle, disk",
        "spheres[0].generate.name: is missing",
        "spheres[0].radius: must be a number or an expression, not [1, 2]",
        "spheres[0].radii: must be a list, not 1",
    ]


def test_tables_and_lists_of_tables_are_told_in_toml_and_json() -> None:
    with pytest.raises(SceneError) as caught:
        check_parts({"lights": {}, "materials": [], "camera": []}, "a.json")
    assert caught.value.sentences == (
        "a.json: camera: is one table: write [camera], with one bracket, or in JSON {...}",
        "a.json: lights: is a list of tables: write [[lights]], with two brackets, or in JSON "
        "[{...}]",
        "a.json: materials: is a table of named tables: write [materials.NAME], with one bracket, "
        "or in JSON {...}",
    )
