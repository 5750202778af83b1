"""What is printed for a scene file: pasted there, it gives the picture that was seen."""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

import raytracer
from raytracer.viewer import as_toml
from raytracer.viewer.edits import Edits
from raytracer.viewer.keep import camera_toml
from support.previews import balls, loaded_scene_of, viewer_of

SCENE = """
[render]
width = 64
height = 48
samples = 4

[[spheres]]
material = "plain"
centers = [[10.0, 1.0, 0.35], [12.15, 1.0, 0.35]]
radius = 1.0
color = "#c8452e"

[[spheres]]
material = "dark \\"steel\\" 2.0"
centers = [[11.0, 1.0, -1.5]]
radius = 1.2
color = "#2f6f8f"

[[spheres]]
centers = [[11.0, -0.5, 0.5]]
radius = 0.4
"""
MATERIALS = """
[materials.plain]
specular = 0.35
shininess = 61.3
mirror = 0.2
diffuse = 0.7

[materials.'dark "steel" 2.0']
shininess = 300.0
specular = 0.9
"""


def table_of(camera: raytracer.Camera) -> str:
    return as_toml.document({"camera": as_toml.camera_values(camera)})


def test_numbers_are_rounded_beside_what_the_camera_shows() -> None:
    """Not beside themselves: what is left of zero is zero; what is small in a close-up is kept."""
    camera = raytracer.Camera(position=(3.0, 2.5, 8.1), look_at=(2e-15, -3e-16, 4e-15))
    text = table_of(camera)
    assert "look_at = [0.0, 0.0, 0.0]\n" in text
    assert "position = [3.0, 2.5, 8.1]\n" in text
    turned = raytracer.Camera(position=(2.0 / 3.0, 1e-14, 8.0), look_at=(0, 0, 0))
    assert "position = [0.666666667, 0.0, 8.0]\n" in table_of(turned)
    close = raytracer.Camera(position=(500.0, 0.0, 2e-6), look_at=(500.0, 0.0, 1.2345678e-6))
    table = tomllib.loads(table_of(close))["camera"]
    assert table["look_at"][2] == pytest.approx(1.2345678e-6, rel=1e-6)


def test_a_polished_material_is_printed_whole_under_its_name(tmp_path: Path) -> None:
    """So that the table can take the place of the file's."""
    path = tmp_path / "scene.toml"
    path.write_text(MATERIALS + SCENE)
    loaded_scene = loaded_scene_of(path)
    viewer = viewer_of(loaded_scene)
    viewer.picked = loaded_scene.scene.describe(2)
    viewer.do("scale-shininess", 2.0)
    name = 'dark "steel" 2.0'
    table = tomllib.loads(camera_toml(viewer))["materials"]
    assert list(table) == [name]
    own = tomllib.loads(MATERIALS)["materials"][name]
    table[name]["mirror_color"] = tuple(table[name]["mirror_color"])
    assert table[name] == vars(raytracer.Material(**own | {"shininess": 600.0}))


@pytest.mark.parametrize(
    "name", ['a"b', "a\\b", "a\nb", "a\x7fb", "a.b", "", "ä", "\U0001f600", "a b"]
)
def test_names_of_materials_are_keys_of_toml(name: str) -> None:
    material = raytracer.Material(specular=0.4)
    scene = balls()
    text = as_toml.view_tables(
        raytracer.Camera(position=(0, 0, 5), look_at=(0, 0, 0), up=(0, 1, 0)),
        scene,
        Edits(),
        {name: material},
        raytracer.ToneSettings(),
    )
    table = tomllib.loads(text)["materials"]
    table[name]["mirror_color"] = tuple(table[name]["mirror_color"])
    assert table == {name: vars(material)}
