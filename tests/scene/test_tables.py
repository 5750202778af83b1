"""The tables of a scene file: what the check takes is what the JSON Schema takes."""

import copy
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.errors import SceneError
from raytracer.scene.load import check
from raytracer.scene.tables import schema

ROOT = Path(__file__).parents[2]
EXAMPLES = {path.stem: tomllib.loads(path.read_text()) for path in ROOT.glob("scenes/*.toml")}
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
        check(values, "a.toml")
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
    jsonschema.Draft202012Validator(schema()).validate(EXAMPLES[name])


@given(data=st.data())
def test_check_and_schema_agree(data: st.DataObject) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(schema())
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
        "render.filter: 'gausian' is not known; did you mean 'gaussian'?",
        "render.widht: unknown key; did you mean 'width'?",
        "lights[0].position: is missing",
        "lights[1]: there is no type 'area'; known are point, directional, rectangle, disk",
        "lights[2]: type is missing; known are point, directional, rectangle, disk",
        "spheres[0].generate.name: is missing",
        "spheres[0].radius: must be a number or an expression, not [1, 2]; a value per sphere goes "
        "into radii",
        "spheres[0].radii: must be a list, not 1",
    ]


def test_tables_and_lists_of_tables_are_told_in_toml_and_json() -> None:
    with pytest.raises(SceneError) as caught:
        check({"lights": {}, "materials": [], "camera": []}, "a.json")
    assert caught.value.sentences == (
        "a.json: camera: is one table: write [camera], with one bracket, or in JSON {...}",
        "a.json: lights: is a list of tables: write [[lights]], with two brackets, or in JSON "
        "[{...}]",
        "a.json: materials: is a table of named tables: write [materials.NAME], with one bracket, "
        "or in JSON {...}",
    )
