"""Periodic boxes: particles moved into them, their images, and which way is up in a slab."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Scene, UserError
from support.particle_files import dump, write

EDGES = np.array([[4.0, 0.0, 0.0], [1.0, 5.0, 0.0], [0.5, -1.0, 6.0]])
"""A triclinic cell."""


def extended(path: Path, centers: Any, head: str = "", edges: Any = EDGES) -> Path:
    """Write an extended XYZ file in a cell, its particles numbered by the column "tag"."""
    lattice = " ".join(map(str, np.ravel(edges)))
    rows = [f"O {x!r} {y!r} {z!r} {i}" for i, (x, y, z) in enumerate(np.asarray(centers).tolist())]
    comment = f'Lattice="{lattice}" Properties=species:S:1:pos:R:3:tag:I:1 {head}'
    return write(path, "\n".join([str(len(rows)), comment, *rows, ""]))


def test_particles_are_wrapped_into_a_triclinic_box(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    inside = rng.uniform(0.01, 0.99, (50, 3))
    boxes = rng.integers(-3, 4, (50, 3))
    boxes[:10] = 0
    path = extended(tmp_path / "a.xyz", (inside + boxes) @ EDGES)
    loaded = raytracer.load(path)
    wrapped = loaded.styled(wrap=True)
    np.testing.assert_allclose(wrapped.spheres[0].centers, inside @ EDGES, atol=1e-12)
    assert np.array_equal(wrapped.spheres[0].centers[:10], loaded.spheres[0].centers[:10])
    # A condition is one on coordinates in the box.
    half = loaded.styled(wrap=True, select="z < 3")
    assert half.count == np.count_nonzero((inside @ EDGES)[:, 2] < 3)


def test_an_edge_that_does_not_repeat_keeps_its_particles(tmp_path: Path) -> None:
    path = extended(tmp_path / "a.xyz", [[9.5, 1, 7]], 'pbc="T T F"', np.diag([4.0, 4.0, 4.0]))
    scene = raytracer.load(path).styled(wrap=True)
    assert scene.spheres[0].centers.tolist() == [[1.5, 1.0, 7.0]]


def test_images_have_the_rows_colours_and_radii_of_their_particles(tmp_path: Path) -> None:
    path = extended(tmp_path / "a.xyz", [[0.5, 0.5, 0.5], [1, 1, 1]])
    scene = raytracer.load(path).styled(
        color_by="tag", map="red,blue", radius="1 + tag", replicate=[2, 1, 3]
    )
    spheres = scene.spheres[0]
    assert spheres.count == 12
    shifts = {tuple(row) for row in np.round(spheres.centers[::2] - [0.5, 0.5, 0.5], 9).tolist()}
    assert shifts == {
        tuple((a * EDGES[0] + c * EDGES[2]).tolist()) for a in (0, 1) for c in range(3)
    }
    assert np.array_equal(spheres.radius, [1, 2] * 6)
    assert np.array_equal(spheres.columns["tag"], [0, 1] * 6)
    assert spheres.color_id is not None
    assert np.array_equal(spheres.color_id, np.tile(spheres.color_id[:2], 6))
    assert scene.describe(11).row == 1
    box = spheres.columns.box
    assert box is not None
    assert np.array_equal(box.edges, EDGES * [[2], [1], [3]])
    # The box is that of all images: more of them go beside these.
    again = scene.styled(replicate=(2, 1, 1)).spheres[0].centers
    assert len(np.unique(np.round(again, 9), axis=0)) == 24


def test_images_that_do_not_fit_and_open_boxes_are_refused(tmp_path: Path) -> None:
    path = extended(tmp_path / "a.xyz", np.zeros((100, 3)), 'pbc="F F F"')
    scene = raytracer.load(path)
    with pytest.raises(UserError, match=r"needs about .* of memory for the images"):
        scene.styled(replicate=1000)
    with pytest.raises(UserError, match=r"the box of .*a\.xyz is not periodic; leave this out"):
        scene.styled(wrap=True)


@pytest.mark.parametrize("edges", [[[1, 0, 0], [2, 0, 0], [0, 0, 1]], np.diag([1, 1, 1e-200])])
def test_boxes_without_a_volume_are_refused(edges: Any, tmp_path: Path) -> None:
    scene = raytracer.load(extended(tmp_path / "a.xyz", [[0, 0, 0]], edges=edges))
    for settings in ({"wrap": True}, {"replicate": 2}):
        with pytest.raises(UserError, match=r"the box of .*a\.xyz is invalid"):
            scene.styled(**settings)


@pytest.mark.parametrize(
    ("head", "up"),
    [
        ("", (0, 0, 1)),
        ('pbc="F T T"', (1, 0, 0)),
        ('pbc="T F T"', (0, 1, 0)),
        ('pbc="F F T"', (0, 0, 1)),
        ('pbc="F T T" gravity="0 -9.81 0"', (0, 9.81, 0)),
        ('gravity="down"', (0, 0, 1)),
    ],
)
def test_up_is_what_the_file_says(head: str, up: tuple[float, ...], tmp_path: Path) -> None:
    path = extended(tmp_path / "a.xyz", [[0, 0, 0]], head, np.diag([2.0, 3.0, 4.0]))
    camera = raytracer.load(path).camera
    assert camera is not None
    assert camera.up == up


def test_boxes_and_gravity_of_other_kinds(tmp_path: Path) -> None:
    text = dump("id x y z", ["1 10 10 -1"], box="pp ff pp", edge=9)
    scene = raytracer.load(write(tmp_path / "a.dump", text))
    assert scene.camera is not None
    assert scene.camera.up == (0, 1, 0)
    assert scene.styled(wrap=True).spheres[0].centers.tolist() == [[1, 10, 8]]
    centers = np.zeros((2, 3))
    np.savez(tmp_path / "a.npz", centers=centers, box=[2.0, 3.0, 4.0], gravity=[0, -1, 0])
    scene = raytracer.load(tmp_path / "a.npz")
    assert scene.camera is not None
    assert scene.camera.up == (0, 1, 0)
    assert scene.spheres[0].box is not None
    assert np.array_equal(scene.spheres[0].box.edges, np.diag([2, 3, 4]))
    ase = pytest.importorskip("ase")
    atoms = ase.Atoms("H", cell=[3, 4, 5], pbc=(False, True, True))
    scene = Scene.from_object(atoms)
    assert scene.camera is not None
    assert scene.camera.up == (1, 0, 0)
