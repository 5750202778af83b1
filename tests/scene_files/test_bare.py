"""Defaults of particles without a scene, and periodic boxes: images, wrapping, the up axis."""

from math import asin, degrees, hypot
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import Annotations, Scene, SimulationBox, UserError
from raytracer.commands.cli import main
from raytracer.config.inferred import InferredDefaults, infer_defaults
from raytracer.model.annotations import PLAIN_BOX
from raytracer.model.particle_source import Box
from raytracer.model.spacing import local_spacing
from raytracer.scene_files.bare import ELEVATION, VERTICAL_FOV, is_filled
from support.particle_files import dump, write

Points = NDArray[np.float64]
SMALL: dict[str, Any] = {"width": 64, "height": 48, "samples": 1, "backend": "cpu"}
SIDE = 6.0


def lattice(count: int = 6, side: float = SIDE) -> Points:
    axis = (np.arange(count) + 0.5) * side / count
    return np.stack(np.meshgrid(axis, axis, axis), -1).reshape(-1, 3)


def box(*lengths: float, periodic: tuple[bool, bool, bool] = (True, True, True)) -> Box:
    x, y, z = lengths
    return Box((0.0, 0.0, 0.0), ((x, 0.0, 0.0), (0.0, y, 0.0), (0.0, 0.0, z)), periodic)


def trajectory(path: Path, *frames: Points, side: float = SIDE) -> Path:
    """A trajectory in extended XYZ, in a periodic cube."""
    head = f'Lattice="{side} 0 0 0 {side} 0 0 0 {side}" Properties=species:S:1:pos:R:3'
    texts = [
        f"{len(points)}\n{head}\n" + "".join(f"Cu {x} {y} {z}\n" for x, y, z in points)
        for points in frames
    ]
    path.write_text("".join(texts))
    return path


def box_shown(scene: Scene) -> SimulationBox | None:
    return None if scene.annotations is None else scene.annotations.box


@pytest.mark.parametrize("up", ["x", "y", "z", (1.0, 2.0, -0.5)])
def test_the_view_is_as_high_as_its_elevation(up: Any) -> None:
    camera = Scene.from_object(lattice(), camera=raytracer.Camera(up=up, elevation=30.0)).camera
    assert camera is not None
    towards = np.array(camera.backward())
    upward = np.array(camera.upward)
    sine = float(towards @ upward) / hypot(*towards) / hypot(*upward)
    assert degrees(asin(sine)) == pytest.approx(30.0)


def test_particle_files_are_seen_from_above_and_scenes_as_before(tmp_path: Path) -> None:
    path = trajectory(tmp_path / "a.xyz", lattice())
    (tmp_path / "a.toml").write_text('[[spheres]]\nfile = "a.xyz"\n')
    bare, scene = raytracer.load(path).camera, raytracer.load(tmp_path / "a.toml")
    assert bare is not None
    assert (bare.elevation, bare.vertical_fov) == (ELEVATION, VERTICAL_FOV)
    assert scene.camera is None
    assert box_shown(scene) is None
    fitted = raytracer.load(path).fitted_camera()
    assert fitted.elevation is None
    assert raytracer.render(path, view="front", **SMALL).camera.upward == (0.0, 0.0, 1.0)  # type: ignore[union-attr]
    x, y, z = raytracer.Camera(up="z").backward()
    assert (x, y, z) == pytest.approx((1.0, -1.4, 0.7))


@pytest.mark.parametrize(
    ("points", "cell", "filled"),
    [
        (lattice(), box(6, 6, 6), True),
        (lattice(1, 3.6), box(3.6, 3.6, 3.6), True),  # one atom in a cell
        ([(0, 0, 0), (0, 2, 2), (2, 0, 2), (2, 2, 0)], box(4, 4, 4), True),
        (lattice() * (1, 1, 0.5), box(6, 6, 6), False),  # a slab in vacuum
        (lattice() * (1, 1, 0.5), box(6, 6, 6, periodic=(True, True, False)), False),
        (lattice() * 0.3 + 2.0, box(6, 6, 6), False),  # a molecule in the middle
        (lattice() * 0.3, box(6, 6, 6, periodic=(False, False, False)), False),
        (lattice(), box(6, 6, 6, periodic=(False, False, False)), True),
        (lattice() - 3.0, box(6, 6, 6), False),  # about the origin, the box beside it
        (lattice() % 6.0 + (6.0, 0, 0), box(6, 6, 6), False),
        (lattice(), box(6, 6, 0), False),
        (lattice(), box(6, 6, 1e300), False),
        ([(0.5, 0.5, 0.5)], box(50, 50, 2), False),
    ],
)
def test_a_box_is_filled_if_no_edge_has_a_gap(points: Any, cell: Box, filled: bool) -> None:
    assert is_filled(cell, np.array(points, float)) is filled


def test_a_filled_box_of_any_shape() -> None:
    edges = np.array([[6.0, 0.0, 0.0], [2.5, 5.0, 0.0], [-1.0, 1.5, 6.0]])
    a, b, c = map(tuple, edges.tolist())
    points = lattice(6, 1.0) @ edges + (7.0, -3.0, 2.0)
    assert is_filled(Box((7.0, -3.0, 2.0), (a, b, c)), points)
    assert not is_filled(Box((0.0, 0.0, 0.0), (a, b, c)), points)


def test_a_filled_box_is_drawn_and_framed(tmp_path: Path) -> None:
    path = trajectory(tmp_path / "a.xyz", lattice())
    scene = raytracer.load(path)
    assert box_shown(scene) is PLAIN_BOX
    with_box, without = (
        raytracer.render(path, radius=0.3, annotations=said, **SMALL)
        for said in (None, {"box": False})
    )
    assert (with_box.to_uint8() != without.to_uint8()).any()
    distances = [
        hypot(*image.camera.backward()) for image in (with_box, without) if image.camera is not None
    ]
    assert distances[0] > distances[1]
    empty = trajectory(tmp_path / "b.xyz", lattice() * 0.3 + 2.0)
    assert raytracer.load(empty).annotations is None


def test_who_asks_for_a_box_gets_its_defaults(tmp_path: Path) -> None:
    path = trajectory(tmp_path / "a.xyz", lattice())
    annotations = raytracer.load(path).annotations
    assert annotations is not None
    for asked in (True, {"color": "red"}, SimulationBox()):
        made = annotations.changed({"box": asked}).box
        assert made is not None
        assert made.style == "rods"
    assert annotations.changed({"axes": True}).box is PLAIN_BOX
    assert annotations.changed({"box": False}).box is None


def test_objects_are_as_files() -> None:
    ase = pytest.importorskip("ase")
    atoms = ase.Atoms("Cu216", lattice(), cell=[SIDE] * 3, pbc=True)
    assert box_shown(Scene.from_object(atoms)) is PLAIN_BOX
    stated = Scene.from_object(atoms, annotations=Annotations())
    assert box_shown(stated) is None


def test_the_first_frame_decides_on_the_box(tmp_path: Path) -> None:
    path = trajectory(tmp_path / "a.xyz", lattice(), lattice() * 0.3 + 2.0)
    assert box_shown(raytracer.load(path, 1)) is None
    defaults = InferredDefaults()
    with infer_defaults(defaults):
        first = raytracer.load(path, 0)
    with infer_defaults(defaults):
        second = raytracer.load(path, 1)
    assert box_shown(first) is box_shown(second) is PLAIN_BOX


def test_the_command_says_that_it_draws_the_box(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = trajectory(tmp_path / "a.xyz", lattice())
    words = ["render", str(path), "-o", str(tmp_path / "a.png"), "--size=48x32", "--samples=1"]
    assert main(words) == 0
    said = capsys.readouterr().out
    assert "the simulation box is drawn" in said
    assert "--box=off" in said
    for option in ("--box=off", "--box"):
        assert main([*words, option]) == 0
        assert "simulation box" not in capsys.readouterr().out


def scan(count: int = 20_000) -> Points:
    """Points at random on a curved surface of area near 1."""
    x, y = np.random.default_rng(2).uniform(0, 1, (2, count))
    return np.column_stack([x, y, 0.05 * np.sin(7 * x)])


def test_the_surface_of_a_scan_closes(tmp_path: Path) -> None:
    np.savetxt(tmp_path / "a.csv", scan(), delimiter=",", header="x,y,z", comments="")
    (tmp_path / "a.toml").write_text('[[spheres]]\nfile = "a.csv"\n')
    bare, scene = (
        float(raytracer.load(tmp_path / n).spheres[0].radius) for n in ("a.csv", "a.toml")
    )
    assert 1.3 * scene < bare < 1.8 * scene
    assert Scene.from_object(scan()).spheres[0].radius == pytest.approx(bare)
    image = raytracer.render(
        tmp_path / "a.csv", view="z", background="black", **SMALL | {"samples": 4}
    )
    assert image.film.coverage[14:34, 26:38].mean() > 0.98


def test_the_radius_of_an_uneven_scan_is_that_of_most_of_its_area() -> None:
    near, far = scan() * (0.5, 0.5, 1.0), scan() + np.array([1.0, 0.0, 0.0])
    spaced = [local_spacing(points, closed=True) for points in (near, far)]
    both = local_spacing(np.concatenate([near, far]), closed=True)
    assert spaced[0] < 0.6 * spaced[1]
    assert both == pytest.approx(spaced[1], rel=0.25)
    halo = np.concatenate([near, far * 1e3])
    assert local_spacing(halo, closed=True) < 2.81 * local_spacing(halo)


def test_particles_are_no_scan(tmp_path: Path) -> None:
    points = scan(3000)
    touching = raytracer.SphereSet(points).radius
    labelled = {"position": points, "type": np.ones(len(points), int)}
    assert np.ptp(Scene.from_object(labelled).spheres[0].radius) == 0.0
    assert Scene.from_object(labelled).spheres[0].radius[0] == pytest.approx(touching)  # type: ignore[index]
    np.savez(tmp_path / "a.npz", centers=points, box=np.ones(3))
    assert raytracer.load(tmp_path / "a.npz").spheres[0].radius == pytest.approx(touching)
    flat = points * (1.0, 1.0, 0.0)
    assert Scene.from_object(flat).spheres[0].radius == raytracer.SphereSet(flat).radius
    stated = Scene.from_object(points, radius=0.25)
    assert stated.spheres[0].radius == 0.25


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
    box = spheres.box
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
    np.savez(tmp_path / "b.npz", centers=centers, box="none", gravity="down")
    scene = raytracer.load(tmp_path / "b.npz")
    assert scene.spheres[0].box is None
    assert scene.camera is not None
    assert scene.camera.up is None
    ase = pytest.importorskip("ase")
    atoms = ase.Atoms("H", cell=[3, 4, 5], pbc=(False, True, True))
    scene = Scene.from_object(atoms)
    assert scene.camera is not None
    assert scene.camera.up == (1, 0, 0)
