"""The reference has a row for each key, with what its definition says."""

from __future__ import annotations

import pytest

from raytracer.errors import UserError
from raytracer.scene.kinds import all_tables
from raytracer.scene.lights import LIGHTS
from raytracer.scene.reference import rows
from raytracer.scene.tables import SCENE


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
    (depth,) = (row for row in rows("render") if row.key == "render.max_depth")
    assert (depth.option, depth.default, depth.values) == ("--depth", "4", "0 to 1,024")
    lights = {row.key: row for row in rows("lights")}
    kind = lights["lights[].type"]
    assert (kind.default, kind.values) == ("required", ", ".join(f'`"{name}"`' for name in LIGHTS))


def test_an_unknown_table() -> None:
    with pytest.raises(UserError, match="did you mean 'camera'"):
        rows("camra")
