"""One row of a particle file: what each kind holds, and against parses of the whole file."""

import os
import tracemalloc
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer import Material, Scene, SphereSet, load, render
from raytracer.appearance.describe import describe
from raytracer.config.errors import SceneError
from raytracer.model.colors import srgb_to_linear
from raytracer.model.transform import Transform
from raytracer.packing.pack import pack
from raytracer.rendering.pipeline import NO_SPHERE
from support.particle_files import write

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(6, 3))


def values(path: Path, prim_id: int) -> dict[str, Any]:
    found = load(path).describe(prim_id)
    assert found.note == ""
    return found.values


@pytest.mark.parametrize("save", [np.savez, np.savez_compressed])
@pytest.mark.parametrize("order", ["C", "F"])
def test_npz(tmp_path: Path, save: Any, order: Any) -> None:
    many = {
        "id": np.arange(6) + 2**40,
        "velocity": RNG.normal(size=(6, 3)).astype(np.float32),
        "stress": RNG.normal(size=(6, 3, 2)),
        "name": np.array(["a", "bc", "", "d", "élan", "f"]),
        "tag": np.array([b"x", b"yy"] * 3),
        "on": np.arange(6) % 2 == 0,
        "big_endian": np.arange(6, dtype=">i2"),
        "when": np.array([f"2026-01-0{d}" for d in range(1, 7)], "M8[ns]"),
        "wave": np.arange(6) * 1j,
        "pair": np.array([(i, i / 2) for i in range(6)], [("n", "i4"), ("half", "f8")]),
    }
    others = {
        "time": np.float64(3.5),
        "box": np.eye(5),
        "nothing": np.zeros((6, 0)),
        "objects": np.array([{}] * 6, object),
    }
    arrays = {name: np.asarray(array, order=order) for name, array in many.items()}
    save(tmp_path / "a.npz", centers=POINTS, radii=np.ones(6), **arrays, **others)
    found = values(tmp_path / "a.npz", 4)
    assert found == {
        "id": 4 + 2**40,
        "velocity": tuple(many["velocity"][4].tolist()),
        "stress": tuple(tuple(row) for row in many["stress"][4].tolist()),
        "name": "élan",
        "tag": "x",
        "on": True,
        "big_endian": 4,
        "when": "2026-01-05T00:00:00.000000000",
        "wave": "4j",
        "pair.n": 4,
        "pair.half": 2.0,
    }
    assert list(found)[:2] == ["id", "velocity"]


def test_of_a_large_npz_the_row_alone_is_read(tmp_path: Path) -> None:
    count = 200_000
    np.savez(
        tmp_path / "a.npz",
        centers=np.zeros((count, 3), np.float32),
        radius=1.0,
        mass=np.arange(count, dtype=np.float64),
        moment=np.asfortranarray(np.arange(count * 3.0).reshape(count, 3)),
    )
    scene = load(tmp_path / "a.npz")
    scene.describe(0)
    tracemalloc.start()
    found = scene.describe(count - 2).values
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert found == {"mass": 199_998.0, "moment": (599_994.0, 599_995.0, 599_996.0)}
    assert peak < 200_000  # of 6.4 MB in the file


def test_what_the_scene_file_says_instead_is_looked_up(tmp_path: Path) -> None:
    np.savez(
        tmp_path / "a.npz",
        pos=POINTS,
        radius=np.arange(1.0, 7.0),
        colors=np.ones((6, 3)),
        m=[3] * 6,
    )
    write(tmp_path / "b.csv", "px,y,z,d,radius\n1,2,3,0.5,9\n")
    text = """
    [[spheres]]
    file = "a.npz"
    arrays = {centers = "pos"}
    radius = 0.1
    [[spheres]]
    file = "b.csv"
    arrays = {x = "px", radii = "d"}
    color = "red"
    """
    scene = load(write(tmp_path / "s.toml", text))
    first, second = scene.describe(5), scene.describe(6)
    assert first.values == {"radius": 6.0, "m": 3}
    assert (first.radius, first.source) == (0.1, "a.npz")
    assert (second.radius, second.values, second.source) == (0.5, {"radius": 9}, "b.csv")


def test_texts(tmp_path: Path) -> None:
    """Cells that are empty, and columns with mistakes that nothing else needs, are left out."""
    rows = "1,0,0,0,2.5,a,1\n\n2,1,0,0,,b,x\n3,2,0,0,-7,élan,2\n"
    path = write(tmp_path / "a.csv", f"id,x,y,z,m,name,mixed\n{rows}")
    expected: list[dict[str, Any]] = [
        {"m": 2.5, "name": "a"},
        {"name": "b"},
        {"m": -7, "name": "élan"},
    ]
    for row, others in enumerate(expected):
        assert values(path, row) == {"id": row + 1} | others
    comment = "Properties=species:S:1:pos:R:3:q:R:1:n:I:1:up:L:1:radius:R:1"
    atoms = "".join(f"H {n} 0 0 {n}.5 {n} {'FT'[n % 2]} 1\n" for n in range(3))
    path = write(tmp_path / "a.xyz", f"3\n{comment}\n{atoms}")
    assert values(path, 1) == {"species": "H", "q": 1.5, "n": 1, "up": True}


@given(
    st.sampled_from(["<f4", ">f8", "<i8", "u1", "?", "U3", "S2", "f2", "c8"]),
    st.lists(st.integers(1, 4), max_size=3),
    st.integers(1, 9),
    st.booleans(),
    st.booleans(),
)
def test_a_row_of_an_array_is_that_of_the_array(
    kind: str, shape: list[int], count: int, by_column: bool, compressed: bool
) -> None:
    numbers = np.arange(count * int(np.prod(shape, dtype=int))).reshape(count, *shape) % 200
    array = np.array(numbers.astype(kind), order="F" if by_column else "C")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "a.npz"
        save = np.savez_compressed if compressed else np.savez
        save(path, before=array, centers=np.zeros((count, 3)), radius=1.0, after=array)
        scene = load(path)
        with np.load(path) as whole:
            for row in range(count):
                found = scene.describe(row).values
                assert list(found) == ["before", "after"]
                expected = whole["after"][row]
                np.testing.assert_array_equal(np.array(found["after"]).astype(kind), expected)
                assert found["before"] == found["after"]


# Where it is and how it looks


def mixed() -> Scene:
    """Sets of every kind of colour, moved, with an empty one among them."""
    turn = Transform(2.5, (20, -40, 110), (1, -2, 3))
    return Scene(
        [
            SphereSet(POINTS, RNG.random(6) + 0.1, RNG.random((6, 3)), transform=turn),
            SphereSet(np.zeros((0, 3)), 1.0),
            SphereSet(POINTS.astype(np.float32), 0.5, "teal", material="shiny"),
            SphereSet(
                POINTS[:3],
                [1, 2, 3],
                np.array([[255, 0, 51], [0, 128, 7]]),
                color_id=[1, 0, 1],
                transform=Transform(translate=(20, 0, 0)),
                material=Material(diffuse=0.3),
            ),
            SphereSet(
                POINTS[:2], 0.25, np.array([[9, 8, 7], [1, 250, 0]], np.uint8), material="default"
            ),
            SphereSet(POINTS[:2], 0.1, [[0.5, 0.001, 1], [0, 0.2, 0.9]], color_space="linear"),
            SphereSet(POINTS[:1], 0.1),
        ],
        materials={"shiny": Material(shininess=90.0)},
    )


def test_every_sphere_is_as_it_is_packed() -> None:
    scene = mixed()
    buffers = pack(scene)
    center, scale = buffers.space
    placed = buffers.centers * scale + center
    colors = buffers.color[buffers.color_id] if len(buffers.color_id) else buffers.color
    assert buffers.count == len(colors) == scene.count
    for index in range(scene.count):
        found = scene.describe(index)
        assert found.id == index
        np.testing.assert_allclose(found.position, placed[index], atol=1e-7 * scale)
        np.testing.assert_allclose(found.radius, buffers.radius[index] * scale, rtol=2e-7)
        np.testing.assert_allclose(srgb_to_linear(found.color), colors[index], atol=2e-7)
        packed = buffers.view.materials[buffers.material_id[index]]
        assert isinstance(found.material, Material)
        assert found.material.diffuse == pytest.approx(packed["phong"]["diffuse"])
        assert found.material.shininess == packed["phong"]["shininess"]
        own = scene.spheres[found.set_index]
        assert found.row == index - sum(s.count for s in scene.spheres[: found.set_index])
        assert found.row < own.count


def test_the_number_is_that_of_a_picture() -> None:
    scene = mixed()
    size: dict[str, Any] = {"width": 120, "height": 80, "samples": 1}
    aovs = render(scene, backend="cpu", aovs=["id", "position"], **size).film.aovs
    seen = np.unique(aovs["id"][aovs["id"] != NO_SPHERE])
    assert {scene.describe(index).set_index for index in seen} >= {0, 2, 3}
    for index in seen:
        found = scene.describe(index)
        distance = np.linalg.norm(aovs["position"][aovs["id"] == index] - found.position, axis=1)
        np.testing.assert_allclose(distance, found.radius, atol=2e-5)


@pytest.mark.parametrize("prim_id", [-1, 20, 2**32 - 1])
def test_refuses_what_is_no_sphere(prim_id: int) -> None:
    with pytest.raises(SceneError, match=f"no sphere {prim_id:,}; numbers go from 0 to 19"):
        describe(mixed(), prim_id)
    with pytest.raises(SceneError, match="the scene has no spheres"):
        describe(Scene(), prim_id)


# A file that is another one by now


def test_a_changed_file_has_no_values(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", "x,y,z,m\n1,2,3,4\n")
    scene = load(path)
    write(path, "x,y,z,m\n1,2,3,400\n")
    found = scene.describe(0)
    assert found.values == {}
    assert found.lines()[-1] == f"{path} has changed since it was loaded"
    write(path, "x,y,z,m\n1,2,3,5\n")
    os.utime(path, ns=(0, 0))  # of the same size, but not of the same time
    assert scene.describe(0).note == f"{path} has changed since it was loaded"
    path.unlink()
    assert scene.describe(0).note == f"{path} is no longer there"
    assert scene.describe(0).position == (1.0, 2.0, 3.0)


@pytest.mark.parametrize("suffix", ["csv", "xyz", "extxyz", "npz"])
def test_a_damaged_file_has_no_values(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a.{suffix}"
    if suffix == "npz":
        np.savez_compressed(path, centers=POINTS, radii=np.ones(6), m=RNG.random(6))
    else:
        head = {"csv": "x,y,z,m\n"}.get(suffix, "2\nProperties=pos:R:3:radius:R:1\n")
        write(path, head + "1 2 3 4\n5 6 7 8\n".replace(" ", "," if suffix == "csv" else " "))
    scene, was = load(path), path.stat()
    path.write_bytes(b"\n" * was.st_size)
    os.utime(path, ns=(was.st_atime_ns, was.st_mtime_ns))
    found = scene.describe(1)
    assert found.values == {}
    assert found.note.startswith(f"{path} can no longer be read (")
    assert found.note.count("\n") == 0
