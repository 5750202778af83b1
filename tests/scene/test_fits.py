"""The quick look at a scene file takes nothing that the model would refuse."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

from raytracer.scene import fits
from raytracer.scene.model import SceneFile, schema

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


def accepted(values: dict[str, Any]) -> bool:
    """Whether the model takes the values."""
    try:
        SceneFile.model_validate(values)
    except ValidationError:
        return False
    return True


def places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every table or list inside a value, with each of its keys."""
    for key in list(value) if isinstance(value, dict) else range(len(value)):
        yield value, key
        if isinstance(value[key], (dict, list)):
            yield from places(value[key])


def test_the_kept_schema_is_the_models() -> None:
    kept = json.loads(fits.FILE.read_text(encoding="utf-8"))
    assert kept == schema(), "raytracer scene schema -o raytracer/scene/schema.json"


@pytest.mark.parametrize("name", EXAMPLES)
def test_right_scenes_fit(name: str) -> None:
    assert fits.is_scene(EXAMPLES[name])
    assert accepted(EXAMPLES[name])


@given(data=st.data())
def test_what_fits_is_accepted(data: st.DataObject) -> None:
    values = copy.deepcopy(EXAMPLES[data.draw(st.sampled_from(sorted(EXAMPLES)))])
    for _ in range(20):
        whole = copy.deepcopy(values)
        table, key = data.draw(st.sampled_from(list(places(whole))))
        change = data.draw(st.sampled_from(["value", "name", "remove"]))
        odd = copy.deepcopy(data.draw(st.sampled_from(ODD)))
        if change == "value":
            table[key] = odd
        elif change == "name" and isinstance(table, dict):
            table[data.draw(st.sampled_from(["x", "type", "radius", "color", "seed"]))] = odd
        else:
            del table[key]
        if fits.is_scene(whole) and not accepted(whole):
            # Colours have no pattern in the schema; the objects refuse them.
            assert all("colour" in problem for problem in refusal(whole))


def refusal(values: dict[str, Any]) -> list[str]:
    """What the model says."""
    with pytest.raises(ValidationError) as caught:
        SceneFile.model_validate(values)
    return [problem["msg"] for problem in caught.value.errors()]


def test_a_right_scene_needs_no_pydantic() -> None:
    code = (
        "import sys, raytracer; raytracer.load(sys.argv[1]);"
        "print(*{'pydantic', 'PIL', 'rich', 'difflib'} & set(sys.modules))"
    )
    command = [sys.executable, "-c", code, str(ROOT / "scenes/three_balls.toml")]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == ""
