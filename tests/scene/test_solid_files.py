"""Sets of capsules, cones and ellipsoids whose arrays are in files, and their opacity."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.scene.packing.pack import pack

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
    names = ("x", "y", "z", "radius", "axis", "shapes", "color", "opacity")
    return {name: np.array(getattr(buffers, name)) for name in names}


def inline(kind: str, names: Any) -> str:
    return f"[[{kind}]]\n" + "".join(f"{n} = {ARRAYS[kind][n].tolist()}\n" for n in names)


@pytest.mark.parametrize("kind", ARRAYS)
def test_arrays_in_a_file_are_those_in_the_scene(tmp_path: Path, kind: str) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS[kind])
    (tmp_path / "file.toml").write_text(f'[[{kind}]]\nfile = "a.npz"\n')
    (tmp_path / "inline.toml").write_text(inline(kind, ARRAYS[kind]))
    a, b = packed(tmp_path / "file.toml"), packed(tmp_path / "inline.toml")
    assert len(set(a["opacity"].tolist())) == 4
    for name, values in a.items():
        np.testing.assert_array_equal(values, b[name], err_msg=name)


@pytest.mark.parametrize("kind", ARRAYS)
def test_columns_of_a_table(tmp_path: Path, kind: str) -> None:
    names = [n for n in ARRAYS[kind] if n not in ("colors", "end_colors", "opacities")]
    rows = np.concatenate([ARRAYS[kind][n].reshape(4, -1) for n in names], axis=1)
    lines = [",".join(map(repr, row)) for row in rows.tolist()]
    (tmp_path / "a.csv").write_text("\n".join([TABLE[kind], *lines]) + "\n")
    (tmp_path / "file.toml").write_text(f'[[{kind}]]\nfile = "a.csv"\ncolor = "red"\n')
    (tmp_path / "inline.toml").write_text(inline(kind, names) + 'color = "red"\n')
    a, b = packed(tmp_path / "file.toml"), packed(tmp_path / "inline.toml")
    for name, values in a.items():
        np.testing.assert_array_equal(values, b[name], err_msg=name)


def test_keys_go_before_the_file(tmp_path: Path) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS["capsules"])
    (tmp_path / "s.toml").write_text(
        '[[capsules]]\nfile = "a.npz"\nradius = 0.5\ncolor = "blue"\nopacity = 0.25\n'
    )
    (rods,) = raytracer.load(tmp_path / "s.toml").capsules
    assert rods.radius == 0.5
    assert len(rods.start.color) == 1
    assert rods.start.opacity == 0.25
    np.testing.assert_array_equal(rods.starts, ARRAYS["capsules"]["starts"])
    assert rods.file == tmp_path / "a.npz"
