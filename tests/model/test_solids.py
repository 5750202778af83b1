"""Cones, ellipsoids and flat capsules of files and arrays: taken, refused, described."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import CapsuleSet, EllipsoidSet, Scene, Transform
from raytracer.config.errors import SceneError
from raytracer.packing.pack import pack
from raytracer.packing.solids import rotate_quaternions
from reference.scene import unit
from reference.solids import matrix
from support.particle_files import write

RODS = """
starts = [[0, 0, 0], [0, 1, 0]]
ends = [[1, 0, 0], [2, 1, 0]]
"""
CONES, CAPSULES = f"[[cones]]\n{RODS}", f"[[capsules]]\n{RODS}"
ELLIPSOIDS = """
[[ellipsoids]]
centers = [[0, 0, 0], [0, 1, 0]]
"""


def loaded(folder: Path, text: str) -> Scene:
    return raytracer.load(write(folder / "solids.toml", text))


def test_a_scene_file(tmp_path: Path) -> None:
    text = CONES + 'radii = [0.1, 0]\nend_radii = [0, 0.3]\ncolor = "red"\nend_color = "blue"\n'
    text += 'color_change = "smooth"\ntransform = { scale = 2.0, translate = [0, 0, 5] }\n'
    text += ELLIPSOIDS + "semi_axes = [1, 2, 3]\norientations = [[2, 0, 0, 0], [0, 0, 0, 4]]\n"
    text += 'colors = ["red", "lime"]\ntransform = { rotate = [0, 0, 90] }\n'
    text += '[[capsules]]\nstarts = [[9, 0, 0]]\nends = [[9, 0, 1]]\nradius = 1\ncaps = "flat"\n'
    scene = loaded(tmp_path, text)
    assert scene.solid_count == 5
    assert "1 capsule, 2 cones, 2 ellipsoids" in repr(scene)
    assert [scene.describe(i).lines()[0] for i in (0, 1, 3)] == [
        "capsule 0", "cone 1", "ellipsoid 3",
    ]  # fmt: skip
    assert scene.describe(2).lines()[1:3] == ["position 2, 2, 5", "radius 0.6"]
    assert scene.describe(4).radius == 3.0
    with pytest.raises(SceneError, match="numbers go from 0 to 4"):
        scene.describe(5)
    buffers = pack(scene)
    assert (buffers.form == [2, 5, 5, 6, 6]).all()
    assert buffers.shapes.shape == (4, 8)
    half = buffers.axis * buffers.space.scale
    assert half[3:].round(5).tolist() == [[2, 1, 3], [2, 1, 3]]  # turned by 90 degrees
    again = loaded(tmp_path, text)
    assert pack(again).digest() == buffers.digest()


def test_lengths_beyond_float32_are_refused() -> None:
    """Of the second set, beside one that is fine."""
    far = [EllipsoidSet([[x, 0, 0]], (1, 1, 1)) for x in (0, 1, 1e30)]
    with pytest.raises(SceneError, match="too far"):
        pack(Scene(ellipsoids=far))
    rods = CapsuleSet([[0, 0, 0]] * 9, [[1, 0, 0]] * 8 + [[1e30, 0, 0]], 0.1)
    with pytest.raises(SceneError, match="too far"):
        pack(Scene(capsules=[rods]))


def test_orientations_turn_with_the_set() -> None:
    rng = np.random.default_rng(0)
    quaternions = unit(rng.normal(size=(50, 4)))
    for _ in range(20):
        degrees = rng.uniform(-180, 180, 3)
        rotation = Transform(rotate=degrees).linear()
        found = matrix(rotate_quaternions(degrees, quaternions))
        assert np.abs(found - rotation @ matrix(quaternions)).max() < 1e-12


RNG = np.random.default_rng(5)
ARRAYS: dict[str, dict[str, Any]] = {
    "capsules": {
        "starts": RNG.uniform(-1, 1, (4, 3)),
        "ends": RNG.uniform(1, 2, (4, 3)),
        "radii": RNG.uniform(0.1, 0.2, 4),
        "colors": RNG.uniform(0, 1, (4, 3)),
        "end_colors": RNG.uniform(0, 1, (4, 3)),
        "opacities": RNG.uniform(0, 1, 4),
    },
    "cones": {
        "starts": RNG.uniform(-1, 1, (4, 3)),
        "ends": RNG.uniform(1, 2, (4, 3)),
        "radii": RNG.uniform(0.1, 0.2, 4),
        "end_radii": RNG.uniform(0, 0.2, 4),
        "opacities": RNG.uniform(0, 1, 4),
    },
    "ellipsoids": {
        "centers": RNG.uniform(-1, 1, (4, 3)),
        "semi_axes": RNG.uniform(0.1, 0.3, (4, 3)),
        "orientations": RNG.normal(size=(4, 4)),
        "colors": RNG.uniform(0, 1, (4, 3)),
        "opacities": RNG.uniform(0, 1, 4),
    },
}
TABLE = {
    "capsules": "x1,y1,z1,x2,y2,z2,radius",
    "cones": "x1,y1,z1,x2,y2,z2,radius,end_radius",
    "ellipsoids": "x,y,z,rx,ry,rz,qw,qx,qy,qz",
}


def packed(path: Path) -> dict[str, Any]:
    """The arrays of the packed scene."""
    scene = raytracer.load(path)
    buffers = pack(scene)
    names = ("centers", "radius", "axis", "shapes", "color", "opacity")
    return {name: np.array(getattr(buffers, name)) for name in names}


def inline(kind: str, names: Any) -> str:
    return f"[[{kind}]]\n" + "".join(f"{n} = {ARRAYS[kind][n].tolist()}\n" for n in names)


def check_same(folder: Path, one: str, other: str) -> None:
    """Assert that two scene files have the same arrays when they are packed."""
    a, b = (packed(write(folder / "a.toml", text)) for text in (one, other))
    for name, values in a.items():
        np.testing.assert_array_equal(values, b[name], err_msg=name)


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_in_a_file_are_those_in_the_scene(tmp_path: Path, kind: str) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS[kind])
    check_same(tmp_path, f'[[{kind}]]\nfile = "a.npz"\n', inline(kind, ARRAYS[kind]))
    assert len(set(packed(tmp_path / "a.toml")["opacity"].tolist())) == 4


@pytest.mark.parametrize("kind", ARRAYS)
def test_columns_of_a_table(tmp_path: Path, kind: str) -> None:
    names = [n for n in ARRAYS[kind] if n not in ("colors", "end_colors", "opacities")]
    rows = np.concatenate([ARRAYS[kind][n].reshape(4, -1) for n in names], axis=1)
    lines = [",".join(map(repr, row)) for row in rows.tolist()]
    (tmp_path / "a.csv").write_text("\n".join([TABLE[kind], *lines]) + "\n")
    red = 'color = "red"\n'
    check_same(tmp_path, f'[[{kind}]]\nfile = "a.csv"\n{red}', inline(kind, names) + red)


def test_keys_go_before_the_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS["capsules"])
    text = '[[capsules]]\nfile = "a.npz"\nradius = 0.5\ncolor = "blue"\nopacity = 0.25\n'
    (rods,) = loaded(tmp_path, text).capsules
    assert rods.radius == 0.5
    assert len(rods.start.color) == 1
    assert rods.start.opacity == 0.25
    np.testing.assert_array_equal(rods.starts, ARRAYS["capsules"]["starts"])
    assert rods.file == tmp_path / "a.npz"
