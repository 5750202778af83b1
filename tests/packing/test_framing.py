"""Fitted cameras have every sphere in a tight frame; where other cameras look."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from raytracer import Camera, ConeSet, RenderSettings, Scene, render
from raytracer.config.warning import collect_warnings
from raytracer.model.extent import Doubles, Numbers, _find_reach
from raytracer.packing.buffers import ImagedSpheres, SceneBuffers, SphereColumns, Spheres
from raytracer.packing.framing import MARGIN
from raytracer.packing.pack import pack


def packed(centers: Any, radius: Any, camera: Camera, width: int, height: int) -> SceneBuffers:
    scene = Scene.from_arrays(np.asarray(centers, float), radius, camera=camera)
    return pack(scene, RenderSettings(width=width, height=height))


def reach(buffers: SceneBuffers) -> NDArray[np.float64]:
    """How far spheres reach to the left, right, bottom and top: 1 is the edge of the frame.

    A sphere's silhouette in a perspective picture ends where a plane through the eye touches it:
    at angle atan(x / z) + asin(r / d) in the plane of the eye, the axis and the view.
    """
    camera = buffers.view.camera[0]
    offset = buffers.centers.astype(float) - camera["origin"]
    depth = offset @ camera["forward"].astype(float)
    radius = buffers.radius.astype(float)
    result = []
    for name in ("right", "up"):
        half = float(np.linalg.norm(camera[name]))
        across = offset @ (camera[name].astype(float) / half)
        for side in (-across, across):
            if camera["kind"] == 1:
                result.append((side + radius).max() / half)
            else:
                angle = np.arctan2(side, depth) + np.arcsin(radius / np.hypot(side, depth))
                assert (angle < np.pi / 2).all()
                result.append(np.tan(angle).max() / half)
    if camera["kind"] == 1:
        assert (depth - radius > 0).all()
    else:
        assert (np.hypot(np.hypot(*offset.T[:2]), offset.T[2]) > radius).all()
    return np.array(result)


def numpy_reach(
    spheres: Spheres, planes: list[Doubles], skipped: Numbers, center: Doubles, limit: float
) -> tuple[list[float], int, int]:
    """The reach along each plane's normal, and number and farthest of the outliers, by NumPy."""
    x, y, z, radius = (column.astype(np.float64) for column in spheres)
    dx, dy, dz = x - center[0], y - center[1], z - center[2]
    distance = np.sqrt(dx * dx + dy * dy + dz * dz) - radius
    distance[skipped] = -np.inf
    counts = distance <= limit
    counts[skipped] = False
    total = [x * n[0] + y * n[1] + z * n[2] + radius for n in planes]
    reached = [float(each[counts].max(initial=-np.inf)) for each in total]
    return reached, int((distance > limit).sum()), int(np.argmax(distance))


@pytest.mark.parametrize("count", [1, 7, 511, 513, 100_003])
@pytest.mark.parametrize("limit", [np.inf, 1.0, 0.01])
def test_reach_is_that_of_float64_to_the_last_bit(count: int, limit: float) -> None:
    rng = np.random.default_rng(count)
    x, y, z, radius = rng.normal(size=(4, count)).astype(np.float32)
    spheres = SphereColumns(x, y, z, np.abs(radius) / 10)
    planes = list(rng.normal(size=(5, 3)))
    skipped = np.sort(rng.choice(count, count // 5, replace=False))
    center = rng.normal(size=3)
    expected = numpy_reach(spheres, planes, skipped, center, limit)
    reached, outliers = _find_reach(spheres, planes, skipped, center, limit)
    assert reached == expected[0]
    if outliers is None:
        assert expected[1] == 0
    else:
        assert (outliers.total, outliers.farthest) == expected[1:]
    everything, outliers = _find_reach(spheres, planes, skipped)
    assert everything == numpy_reach(spheres, planes, skipped, center, np.inf)[0]
    assert outliers is None


@pytest.mark.parametrize("limit", [np.inf, 9.0, 4.0])
@pytest.mark.parametrize("is_centred", [False, True])
def test_images_of_a_cell_reach_as_far_as_their_spheres(limit: float, is_centred: bool) -> None:
    """The images one by one, as arrays, are the same spheres in the same order."""
    rng = np.random.default_rng(8)
    x, y, z = rng.normal(size=(3, 40)).astype(np.float32)
    cell = SphereColumns(x, y, z, rng.uniform(0.1, 0.4, 40).astype(np.float32))
    images = ImagedSpheres(cell, rng.normal(scale=4.0, size=(7, 3)))
    normals = rng.normal(size=(5, 3))
    center = rng.normal(size=3) if is_centred else None
    reached, *others = images.reach(normals, center, limit)
    expected, *expected_others = images.columns.reach(normals, center, limit)
    np.testing.assert_allclose(reached, expected, rtol=1e-5)
    assert others[0] == expected_others[0]
    assert (others[0] > 0) == (is_centred and limit < np.inf)
    if others[0]:
        assert others[1] == expected_others[1]
        assert others[2] == pytest.approx(expected_others[2], rel=1e-5)
    skipped = np.array([0, 41, 120])
    assert images.reach(normals, center, limit, skipped) == images.columns.reach(
        normals, center, limit, skipped
    )


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(1, 60),
    decades=st.floats(0, 4),
    kind=st.sampled_from(["perspective", "orthographic"]),
    fov=st.floats(5, 120),
    size=st.sampled_from([(64, 64), (160, 90), (50, 200)]),
)
def test_all_spheres_are_inside_and_the_frame_is_tight(
    seed: int, count: int, decades: float, kind: str, fov: float, size: tuple[int, int]
) -> None:
    rng = np.random.default_rng(seed)
    radius = 10.0 ** rng.uniform(-decades, decades / 2, count)
    direction = rng.normal(size=3)
    camera = Camera(type=kind, direction=direction, vertical_fov=fov)
    found = reach(packed(rng.normal(size=(count, 3)), radius, camera, *size))
    left, right, bottom, top = found
    assert found.max() == pytest.approx(1.0 - MARGIN, abs=1e-3)
    # In one direction the picture is full and centred; in the other the slack is shared.
    full, loose = sorted([(left, right), (bottom, top)], key=max, reverse=True)
    assert full[0] == pytest.approx(full[1], abs=1e-3)
    if kind == "orthographic":
        assert loose[0] == pytest.approx(loose[1], abs=1e-3)


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_no_sphere_and_one_sphere(kind: str) -> None:
    empty = pack(Scene(camera=Camera(type=kind)))
    assert np.isfinite(empty.view.camera["origin"]).all()
    assert empty.count == 0
    one = packed([[1e6, -3, 7]], 1e-3, Camera(type=kind), 40, 30)
    assert reach(one)[2:] == pytest.approx([1 - MARGIN] * 2, abs=1e-3)


def test_many_spheres_by_threads_are_the_same_as_a_few_extremes() -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    inside = np.random.default_rng(4).uniform(-0.9, 0.9, (300_000, 3))
    many = packed(np.concatenate([inside, corners, [[0, 0, 0]]]), 0.1, Camera(), 64, 48)
    few = packed(np.concatenate([corners, [[0, 0, 0]]]), 0.1, Camera(), 64, 48)
    eye, same = (b.view.camera["origin"][0] * b.space.scale + b.space.center for b in (many, few))
    np.testing.assert_allclose(eye, same, atol=1e-5)


def test_a_fitted_camera_depends_on_the_proportions() -> None:
    scene = Scene.from_arrays([[-3, 0, 0], [3, 0, 0]], 1.0)
    assert scene.fitted_camera() == scene.fitted_camera(1280, 720)
    assert scene.fitted_camera(640, 360) == scene.fitted_camera()
    assert scene.fitted_camera(720, 1280) != scene.fitted_camera()
    empty = Scene().fitted_camera()
    assert empty.position is not None


# A few spheres that are far away from all others

NEAR = np.random.default_rng(11).normal(size=(500, 3))


def views(centers: Any, radius: Any, kind: str = "perspective") -> tuple[Any, Any, list[str]]:
    """The fitted camera, the one that frames everything, and what was warned of."""
    with collect_warnings() as found:
        near = packed(centers, radius, Camera(type=kind), 96, 64)
    every = packed(centers, radius, Camera(type=kind, fit="all"), 96, 64)
    return near, every, found


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
@pytest.mark.parametrize("direction", [(-3, 1, 2), (0, -1, 0)])
@pytest.mark.parametrize("distance", [2e2, 1e12])
def test_one_far_sphere_is_left_out(
    kind: str, direction: tuple[float, float, float], distance: float
) -> None:
    stray = np.array(direction) / np.linalg.norm(direction) * distance
    centers = np.concatenate([NEAR[:200], [stray], NEAR[200:]])
    near, every, found = views(centers, 0.1, kind)
    alone, _, _ = views(NEAR, 0.1, kind)
    for name in ("origin", "right", "up"):
        place, wanted = (
            b.view.camera[0][name] * b.space.scale + (b.space.center if name == "origin" else 0)
            for b in (near, alone)
        )
        np.testing.assert_allclose(place, wanted, rtol=1e-4, atol=1e-4)
    if distance < 1e3:  # float32 can tell
        assert reach(every).max() == pytest.approx(1 - MARGIN, abs=1e-3)
    assert len(found) == 1
    assert found[0].startswith("1 of 501 spheres is far away from the others and left out")
    assert "the farthest is sphere 200 at (" in found[0]
    assert 'fit = "all"' in found[0]


def lattice(*size: int) -> NDArray[np.float64]:
    return np.array(list(np.ndindex(*size)), float)


def cluster(rng: np.random.Generator, count: int, place: float) -> NDArray[np.float64]:
    points: NDArray[np.float64] = rng.normal(size=(count, 3)) + np.array([place, 0, place / 3])
    return points


WHOLE: dict[str, Callable[[np.random.Generator], NDArray[np.float64]]] = {
    "two clusters": lambda r: np.concatenate([cluster(r, 500, 0), cluster(r, 500, 5e4)]),
    "a small one beside a large one": lambda r: np.concatenate(
        [cluster(r, 3000, 0), cluster(r, 40, 1e4)]
    ),
    "a line of few": lambda r: np.stack([4.0 ** np.arange(9), np.zeros(9), np.zeros(9)], 1),
    "a sheet": lambda r: np.concatenate([r.uniform(-900, 900, (4000, 2)), np.ones((4000, 1))], 1),
    "a lattice": lambda r: lattice(512, 16, 16),
    "at one place": lambda r: np.zeros((50, 3)),
    "a halo": lambda r: r.normal(size=(20_000, 3)) * r.pareto(3.0, (20_000, 1)).clip(0, 8),
    "nine and a far one": lambda r: np.concatenate([r.normal(size=(8, 3)), [[1e5, 0, 0]]]),
}


@pytest.mark.parametrize("name", WHOLE)
def test_what_is_a_part_of_the_scene_is_in_the_frame(name: str) -> None:
    centers = WHOLE[name](np.random.default_rng(1))
    near, every, found = views(centers, 0.2)
    assert found == []
    assert near.view.camera.tobytes() == every.view.camera.tobytes()


@given(
    seed=st.integers(0, 10_000),
    count=st.integers(100, 3000),
    strays=st.integers(1, 40),
    decades=st.floats(1.7, 8),
)
def test_strays_are_left_out_if_they_are_few(
    seed: int, count: int, strays: int, decades: float
) -> None:
    rng = np.random.default_rng(seed)
    ways = rng.normal(size=(strays, 3))
    far = ways / np.linalg.norm(ways, axis=1)[:, None] * 10 ** rng.uniform(decades, 9, (strays, 1))
    centers = rng.permutation(np.concatenate([rng.uniform(-1, 1, (count, 3)), far]))
    near, every, found = views(centers, 0.01)
    if strays > (count + strays) // 100:
        assert all("1 of" in each[:4] or int(each.split()[0]) <= count // 100 for each in found)
        if not found:
            assert near.view.camera.tobytes() == every.view.camera.tobytes()
    elif found:  # strays in the line of sight need no room
        assert found[0].startswith(f"{strays} of {count + strays:,} spheres")
        eye = near.view.camera["origin"][0] * near.space.scale + near.space.center
        assert np.linalg.norm(eye) < 10


def test_a_giant_is_not_far_away() -> None:
    """It reaches to the others, however far its centre is."""
    centers = np.concatenate([NEAR, [[0, -1e4, 0]]])
    near, every, found = views(centers, np.r_[np.full(500, 0.1), 1e4])
    assert found == []
    assert near.view.camera.tobytes() == every.view.camera.tobytes()


def shell(count: int, distance: float) -> NDArray[np.float64]:
    way = np.random.default_rng(count).normal(size=(count, 3))
    return np.asarray(distance * way / np.linalg.norm(way, axis=1)[:, None])


@pytest.mark.parametrize(
    ("far", "distance", "left_out"),
    [
        (20, 1.9, False),  # the others would not be twice as large
        (20, 2.6, True),
        (20, 1e6, True),
        (80, 2.6, True),
        (300, 50.0, False),  # more than 5% are part of the scene
    ],
)
def test_the_bulk_leaves_out_what_halves_the_picture(
    far: int, distance: float, left_out: bool
) -> None:
    rng = np.random.default_rng(9)
    inner = shell(2000, 1.0) * rng.uniform(0, 1, (2000, 1)) ** (1 / 3)
    centers = np.concatenate([inner, shell(far, distance)])
    with collect_warnings() as warnings:
        found = packed(centers, 0.01, Camera(fit="bulk"), 160, 90)
        alone = packed(inner, 0.01, Camera(fit="bulk"), 160, 90)
    if not left_out:
        assert not warnings
        assert reach(found).max() == pytest.approx(1.0 - MARGIN, abs=1e-3)
        return
    assert warnings[0].startswith(f"{far} of {len(centers):,} spheres are far away")
    eyes = (b.view.camera["origin"][0] * b.space.scale + b.space.center for b in (found, alone))
    away = list(map(np.linalg.norm, eyes))
    assert away[0] == pytest.approx(away[1], rel=0.02)


def test_the_bulk_of_few_spheres_is_all_of_them() -> None:
    centers = np.concatenate([shell(50, 1.0), [[0.0, 5.0, 0.0]]])
    with collect_warnings() as warnings:
        packed(centers, 0.1, Camera(fit="bulk"), 160, 90)
    assert not warnings


def test_a_camera_without_a_target_looks_at_the_middle_of_the_spheres() -> None:
    centers = np.array([[100.0, 50, 7], [104, 50, 7], [102, 56, 9], [102, 52, 3]])
    camera = Camera(position=(102, 53, 40))
    buffers = pack(Scene.from_arrays(centers, 1.0, camera=camera))
    np.testing.assert_allclose(buffers.view.camera["forward"][0], (0, 0, -1), atol=1e-6)
    ground = np.concatenate([centers, [[102, -1e6, 6]]])
    radii = [1.0, 1.0, 1.0, 1.0, 1e6 + 49]
    with_ground = pack(Scene.from_arrays(ground, radii, camera=camera))
    np.testing.assert_allclose(with_ground.view.camera["forward"][0], (0, 0, -1), atol=1e-4)
    told = Scene.from_arrays(centers, 1.0, camera=camera).fitted_camera()
    np.testing.assert_allclose(told.look_at or (), (102, 53, 6), atol=1e-4)
    assert Scene(camera=camera).fitted_camera().look_at == (0.0, 0.0, 0.0)


def test_a_far_sphere_is_not_in_the_middle() -> None:
    centers = np.concatenate([np.random.default_rng(1).uniform(4, 6, (200, 3)), [[1e6, 0, 0]]])
    camera = Camera(position=(5, 5, 30))
    found = Scene.from_arrays(centers, 0.1, camera=camera).fitted_camera().look_at
    np.testing.assert_allclose(found or (), (5, 5, 5), atol=0.1)


def test_a_fitted_camera_sees_both_ends_of_a_cone() -> None:
    """Of cones along different axes, each seen alone from its side, the picture is 1 - MARGIN
    full."""
    for axis in (0, 1):
        end = [0.0, 0.0, 0.0]
        end[axis] = 8.0
        cone = ConeSet([[0.0, 0.0, 0.0]], [end], 0.5, end_radius=0.25)
        camera = Camera(type="orthographic", direction=(0, 0, 1), fit=True)
        scene = Scene(cones=[cone], camera=camera)
        film = render(scene, width=60, height=60, samples=1, backend="cpu").film
        covered = film.sums[..., 3] > 0.0
        along = np.asarray(covered.any(axis=axis))  # rows and columns are y and x
        assert 0.8 < along.mean() < 1.0
        assert not along[[0, -1]].any()
