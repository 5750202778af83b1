"""Sets of capsules, cones and ellipsoids whose arrays are in files, and their opacity."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.cli import main
from raytracer.errors import SceneError
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


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ('file = "none.npz"\nradius = 1', "capsules[0].file: "),
        ('file = "part.csv"\nradius = 1', "part.csv: has x1 and y1, and no z1"),
        ('file = "words.csv"\nradius = 1', "words.csv: x1 holds something other than numbers"),
        ('file = "one.csv"', "capsules[0].radius: is missing"),
        ('file = "one.csv"\nradius = -1', "capsules[0].radius"),
        ('file = "one.csv"\nradius = 1\nopacity = 2', "capsules[0].opacity: must be at most 1"),
        (
            'file = "one.csv"\nradius = 1\nopacities = [0.5, 3]',
            "capsules[0].opacities: has shape (2,) for 1 capsule",
        ),
        (
            'file = "one.csv"\nradius = 1\nopacities = [3]',
            "capsules[0].opacities: of capsule 0 is 3; it goes from 0 to 1",
        ),
        (
            'file = "one.csv"\nradius = 1\nopacity = 1\nopacities = [1]',
            "leave out either opacity or opacities",
        ),
    ],
)
def test_wrong_files_are_named(tmp_path: Path, text: str, problem: str) -> None:
    (tmp_path / "part.csv").write_text("x1,y1,x2,y2,z2\n0,0,1,1,1\n")
    (tmp_path / "words.csv").write_text("x1,y1,z1,x2,y2,z2\na,0,0,1,1,1\n")
    (tmp_path / "one.csv").write_text("x1,y1,z1,x2,y2,z2\n0,0,0,1,1,1\n")
    scene = tmp_path / "s.toml"
    scene.write_text(f"[[capsules]]\n{text}\n")
    with pytest.raises(SceneError) as error:
        raytracer.load(scene)
    assert problem in str(error.value)


def test_files_of_solids_and_contacts_are_not_written_over(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "a.npz", **ARRAYS["capsules"])
    (tmp_path / "s.toml").write_text('[[capsules]]\nfile = "a.npz"\n')
    np.savez(tmp_path / "pairs.npz", id1=[0], id2=[1], force=[1.0])
    (tmp_path / "c.toml").write_text(
        '[contacts]\nfile = "pairs.npz"\n[[spheres]]\ncenters = [[0, 0, 0], [1, 0, 0]]\n'
        "radius = 0.5\n"
    )
    for scene, target in (("s.toml", "a.npz"), ("c.toml", "pairs.npz")):
        before = (tmp_path / target).read_bytes()
        words = ["--width", "8", "--height", "8", "-o", str(tmp_path / "a.png")]
        film = ["--film", str(tmp_path / target)]
        assert main(["render", str(tmp_path / scene), *words, *film]) == 2
        assert target in capsys.readouterr().err
        assert (tmp_path / target).read_bytes() == before
    assert main(["scene", "check", str(tmp_path / "s.toml")]) == 0
    assert "a.npz" in capsys.readouterr().out
