"""Capsules of scene files and arrays: what is taken, what is refused, what is known of one."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, Scene
from raytracer.errors import SceneError
from raytracer.scene.packing.pack import pack

RODS = """
[[capsules]]
starts = [[0, 0, 0], [0, 1, 0]]
ends = [[1, 0, 0], [2, 1, 0]]
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "rods.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_scene_file_of_capsules_alone(tmp_path: Path) -> None:
    text = RODS + 'radii = [0.1, 0.2]\ncolor = "red"\nend_colors = ["blue", [0, 1, 0]]\n'
    text += "transform = { scale = 2.0, translate = [0, 0, 5] }\n"
    scene = raytracer.load(written(tmp_path, text))
    assert scene.capsule_count == 2
    assert "2 capsules" in repr(scene)
    info = raytracer.Scene.describe(scene, 1)
    assert info.lines()[:4] == ["capsule 1", "from 0, 2, 5", "to 4, 2, 5", "radius 0.4"]
    assert info.position == (2.0, 2.0, 5.0)
    buffers = pack(scene)
    assert buffers.axis.shape == (2, 3)
    assert (buffers.end_row == [2, 3]).all()
    with pytest.raises(SceneError, match="they go from 0 to 1"):
        scene.describe(2)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ("", "capsules[0].radius: is missing"),
        ("radius = 0", "capsules[0].radius"),
        ("radius = 1\nradii = [1, 1]", "capsules[0].radii: leave out either radius or radii"),
        ("radii = [1, 1, 1]", "capsules[0].radii: has 3 radii for 2 capsules"),
        ("radii = [1, nan]", "capsules[0].radii: capsule 1 has radius nan"),
        ("radii = [1, true]", "capsules[0].radii: holds true or false"),
        ("radius = 1\ncolors = ['red']", "capsules[0].colors: has 1 colours for 2 capsules"),
        ("radius = 1\nend_colors = ['red']", "capsules[0].end_colors: has 1 colours for 2"),
        ("radius = 1\nmaterial = 'glas'", "capsules[0].material: there is no material"),
        ("radius = 1\nlength = 3", "capsules[0]"),
    ],
)
def test_wrong_keys_are_named(tmp_path: Path, more: str, said: str) -> None:
    with pytest.raises(SceneError) as raised:
        raytracer.load(written(tmp_path, RODS + more))
    assert said in str(raised.value)


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"starts": [[0, 0, np.inf]]}, "starts: capsule 0 lies at (0, 0, inf)"),
        ({"ends": [[0, 0, 0]] * 2}, "ends: has 2 ends for 1 start"),
        ({"ends": None}, "ends: is None"),
        ({"ends": [0, 0]}, "ends: has shape (2,); points are (N, 3)"),
        ({"radius": None}, "radius: is None"),
        ({"radius": [1, 2]}, "radius: has 2 radii for 1 capsules"),
        ({"end_color": "reddish"}, "end_color"),
        ({"transform": 3}, "transform"),
    ],
)
def test_wrong_arrays_are_named(changes: dict[str, Any], said: str) -> None:
    given: dict[str, Any] = {"starts": [[0, 0, 0]], "ends": [[1, 0, 0]], "radius": 0.1} | changes
    with pytest.raises(SceneError) as raised:
        CapsuleSet(**given)
    assert said in str(raised.value)


def test_what_float32_cannot_hold_is_refused() -> None:
    rods = CapsuleSet([[0, 0, 0]] * 9, [[1, 0, 0]] * 8 + [[1e30, 0, 0]], 0.1)
    with pytest.raises(SceneError, match="too far"):
        pack(Scene(capsules=[rods]))
    with pytest.raises(SceneError, match="capsules"):
        Scene(capsules=[raytracer.SphereSet([[0, 0, 0]], 1.0)])  # type: ignore[list-item]
