"""What is known of one sphere: against what was packed, and against parses of the whole file."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import Material, Scene, SphereSet, load, render
from raytracer.errors import SceneError
from raytracer.pipeline import NO_SPHERE
from raytracer.scene.colors import srgb_to_linear
from raytracer.scene.describe import describe
from raytracer.scene.packing.pack import pack
from raytracer.scene.transform import Transform
from support.particle_files import write

RNG = np.random.default_rng(5)
POINTS = RNG.normal(size=(6, 3))


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
    placed = np.stack([buffers.x, buffers.y, buffers.z], 1) * buffers.scale + buffers.center
    colors = buffers.color[buffers.color_id] if len(buffers.color_id) else buffers.color
    assert buffers.count == len(colors) == scene.count
    for index in range(scene.count):
        found = scene.describe(index)
        assert found.id == index
        np.testing.assert_allclose(found.position, placed[index], atol=1e-7 * buffers.scale)
        np.testing.assert_allclose(found.radius, buffers.radius[index] * buffers.scale, rtol=2e-7)
        np.testing.assert_allclose(srgb_to_linear(found.color), colors[index], atol=2e-7)
        packed = buffers.materials[buffers.material_id[index]]
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
