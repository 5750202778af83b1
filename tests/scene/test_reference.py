"""The reference has a row for each key, with what its definition says."""

from runpy import run_path

from raytracer.scene.key_types import all_tables
from raytracer.scene.lights import LIGHTS
from raytracer.scene.tables import SCENE
from support.pages import DOCS

rows = run_path(str(DOCS / "scene_reference.py"))["rows"]


def test_a_row_for_each_key() -> None:
    listed = [row.key for row in rows()]
    assert len(listed) == len(set(listed))
    names = {key.rpartition(".")[2] for key in listed}
    for table in all_tables(SCENE):
        inside = {
            name for name, key in table.keys.items() if name in SCENE.keys or key.default == {}
        }
        assert set(table.keys) - inside - {"generate", "arrays", "transform", "keyframes"} <= names


def test_a_row_says_range_default_and_option() -> None:
    known = {row.key: row for row in rows()}
    depth = known["render.max_depth"]
    assert (depth.option, depth.default, depth.values) == ("--depth", "4", "0 to 1,024")
    kind = known["lights[].type"]
    assert (kind.default, kind.values) == ("required", ", ".join(f'`"{name}"`' for name in LIGHTS))
