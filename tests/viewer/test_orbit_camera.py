"""Moving the camera: what each motion keeps; projection, framing, cameras written down."""

from dataclasses import replace
from math import radians, tan

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

from raytracer import Camera
from raytracer.model.render_space import Space
from raytracer.model.settings import RenderSettings
from raytracer.packing import framing
from raytracer.packing.pack import pack
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.orbit_camera import OrbitCamera
from raytracer.viewer.picking import trace_outline
from support.previews import balls, view_of
from support.views import (
    ANGLES,
    ASPECT,
    BUFFERS,
    Vector,
    assert_level,
    assert_same,
    place,
    unit,
    views,
)

AXES = [tuple(float(v) for v in row) for row in (*np.eye(3), *-np.eye(3))]


# Orbit


@given(view=views(), steps=st.lists(st.tuples(ANGLES, ANGLES), min_size=1, max_size=6))
def test_orbit_keeps_distance_place_of_the_pivot_and_level(
    view: OrbitCamera, steps: list[tuple[float, float]]
) -> None:
    turned = view
    for right, up in steps:
        turned = moves.orbit(turned, right, up)
        assert_level(turned)
        sine = np.linalg.norm(np.cross(turned.pose.axes.forward, view.up))
        assert sine >= 0.999 * moves.POLE
    assert turned.distance == pytest.approx(view.distance, rel=1e-9)
    away, before = (np.linalg.norm(v.pose.eye - v.pivot) for v in (turned, view))
    assert away == pytest.approx(before, rel=1e-9)
    np.testing.assert_allclose(place(turned), place(view), atol=1e-8)
    np.testing.assert_array_equal(turned.pivot, view.pivot)
    assert turned.pose.half == view.pose.half


@given(view=views(), angle=st.floats(-0.5, 0.5))
def test_orbit_moves_the_eye_to_the_right_and_up_by_its_angle(
    view: OrbitCamera, angle: float
) -> None:
    """Seen from the pivot in the middle, the eye goes where it is told to."""
    distance = view.distance
    view = replace(view, pivot=view.pose.eye + view.pose.axes.forward * distance)
    axes = view.pose.axes
    level = unit(axes.forward - (axes.forward @ view.up) * view.up)
    aside = moves.orbit(view, angle, 0.0).pose.axes.forward
    aside = unit(aside - (aside @ view.up) * view.up)
    np.testing.assert_allclose(aside, level * np.cos(angle) - axes.right * np.sin(angle), atol=1e-9)
    tilt = np.arccos(axes.forward @ view.up)
    assume(0.01 < tilt + angle < np.pi - 0.01)
    above = moves.orbit(view, 0.0, angle)
    expected = view.pose.eye + distance * (
        np.sin(angle) * axes.up + (1.0 - np.cos(angle)) * axes.forward
    )
    np.testing.assert_allclose(above.pose.eye, expected, atol=1e-9 * max(distance, 1.0))


def test_orbit_for_a_long_time_stays_orthonormal() -> None:
    view = view_of(BUFFERS)
    there = view
    for step in range(20_000):
        there = moves.orbit(there, 0.01, 0.02 * (-1) ** step)
    assert_level(there)
    np.testing.assert_allclose(place(there), place(view), atol=1e-8)


# Along


@given(view=views(), axis=st.sampled_from(AXES), near=st.booleans(), up=st.integers(0, 2))
def test_along_looks_along_the_axis_at_the_same_pivot(
    view: OrbitCamera, axis: tuple[float, float, float], near: bool, up: int
) -> None:
    """With y-up, z-up and x-up scenes, and with an `up` that is near an axis but not on it."""
    tilt = np.array([0.011, 0.013, 0.017]) if near else np.zeros(3)
    view = replace(view, up=unit(np.eye(3)[up] + tilt))
    there = moves.look_along(view, axis)
    np.testing.assert_allclose(there.pose.axes.forward, axis, atol=1e-12)
    np.testing.assert_allclose(place(there), place(view), atol=1e-9)
    assert there.distance == pytest.approx(view.distance, rel=1e-9)
    if abs(float(np.asarray(axis) @ view.up)) < np.cos(moves.POLE):
        assert_level(there)
    assert_same(moves.orbit(there, 0.0, 0.0), there, atol=1e-9)


# Sideways, forward, nearer, wider


@given(view=views(), right=ANGLES, up=ANGLES)
def test_pan_moves_the_picture_by_its_heights(view: OrbitCamera, right: float, up: float) -> None:
    moved = moves.pan(view, right, up)
    found, _ = moves.project_points(moved, view.pivot[None], ASPECT)
    shift = (found[0] - place(view)) * (ASPECT, 1.0) / 2.0  # in heights
    np.testing.assert_allclose(shift, (-right, -up), atol=1e-9)
    np.testing.assert_allclose(place(moved), place(view), atol=1e-9)
    assert moved.distance == pytest.approx(view.distance, rel=1e-9)
    assert moved.pose.axes is view.pose.axes


@given(view=views(kind="perspective"), factor=st.floats(0.01, 100.0))
def test_dolly_scales_the_distance_and_keeps_the_pivot_in_its_place(
    view: OrbitCamera, factor: float
) -> None:
    moved = moves.dolly(view, factor)
    assert moved.distance == pytest.approx(view.distance * factor, rel=1e-9)
    np.testing.assert_allclose(place(moved), place(view), atol=1e-8)
    np.testing.assert_array_equal(moved.pivot, view.pivot)


@given(view=views(kind="perspective"), factor=st.floats(0.5, 2.0), steps=st.integers(1, 30))
def test_zoom_changes_the_field_of_view_alone(view: OrbitCamera, factor: float, steps: int) -> None:
    wide = view
    for _ in range(steps):
        wide = moves.zoom(wide, factor)
    expected = np.clip(view.pose.half * factor**steps, moves.MIN_HALF, moves.MAX_HALF)
    assert wide.pose.half == pytest.approx(float(expected))
    np.testing.assert_array_equal(wide.pose.eye, view.pose.eye)
    assert wide.pose.axes is view.pose.axes


# Perspective and orthographic


@given(view=views(), fov=st.floats(5.0, 120.0))
def test_toggle_keeps_size_and_place_of_the_pivot(view: OrbitCamera, fov: float) -> None:
    other = moves.move_back(moves.toggle_projection(view, fov), 3.0)
    assert other.orthographic != view.orthographic
    assert other.half_height == pytest.approx(view.half_height, rel=1e-9)
    np.testing.assert_allclose(place(other), place(view), atol=1e-8)
    assert other.pose.axes is view.pose.axes
    again = moves.toggle_projection(other, fov)
    assert again.half_height == pytest.approx(view.half_height, rel=1e-9)
    if other.orthographic:
        assert again.pose.half == pytest.approx(tan(radians(fov) / 2.0))


@given(view=views(kind="perspective"), seed=st.integers(0, 1000))
def test_an_orthographic_view_has_all_in_front_of_it(view: OrbitCamera, seed: int) -> None:
    """Whatever is within the extent is not cut off by the plane that rays start from."""
    orthographic = moves.move_back(moves.toggle_projection(view), 2.5)
    points = np.random.default_rng(seed).normal(size=(200, 3))
    points *= 2.5 / np.linalg.norm(points, axis=1)[:, None]
    assert ((points - orthographic.pose.eye) @ orthographic.pose.axes.forward > -1e-9).all()
    step = 5.0 * orthographic.pose.axes.forward
    pose = replace(orthographic.pose, eye=orthographic.pose.eye + step)
    near = moves.move_back(replace(orthographic, pose=pose, pivot=orthographic.pivot + step), 2.5)
    assert ((points - near.pose.eye) @ near.pose.axes.forward > -1e-9).all()


# Fitting


def silhouettes(view: OrbitCamera, aspect: float) -> Vector:
    """Where the outlines of all spheres are in the picture, (N, 2)."""
    size = 1000, round(1000 / aspect)
    centers = BUFFERS.centers.astype(np.float64)
    found = [trace_outline(view, *each, size) for each in zip(centers, BUFFERS.radius, strict=True)]
    assert all(found), "all are in front of the eye"
    corners: Vector = np.concatenate(found) * 2.0 / size - 1.0
    return corners


@given(
    view=views(),
    aspect=st.sampled_from([0.3, 1.0, 16 / 9, 3.5]),
    turns=st.lists(st.tuples(ANGLES, ANGLES), max_size=4),
)
def test_to_all_has_every_sphere_in_the_picture_from_the_same_side_and_after_turns(
    view: OrbitCamera, aspect: float, turns: list[tuple[float, float]]
) -> None:
    """It is as near as it may be: the ball around the spheres touches the margin."""
    there = turned = moves.fit_all(view, BUFFERS, aspect)
    for right, up in turns:
        turned = moves.orbit(turned, right, up)
        assert np.abs(silhouettes(turned, aspect)).max() < 1.0
    assert np.abs(silhouettes(there, aspect)).max() < 1.0
    centers = BUFFERS.centers.astype(np.float64)
    radius = (np.linalg.norm(centers - there.pivot, axis=1) + BUFFERS.radius).max()
    size = there.pose.half * min(aspect, 1.0) * (1.0 - framing.MARGIN)
    free = size if view.orthographic else np.sin(np.arctan(size)) * there.distance
    assert radius == pytest.approx(free, rel=1e-5)
    assert there.fits_all
    assert there.pose.axes is view.pose.axes
    if not view.orthographic:
        assert there.pose.half == view.pose.half


@given(view=views(), index=st.integers(0, BUFFERS.count - 1))
def test_to_sphere_puts_it_into_the_middle_at_its_share_of_the_height(
    view: OrbitCamera, index: int
) -> None:
    center = BUFFERS.centers[index].astype(np.float64)
    radius = float(BUFFERS.radius[index])
    there = moves.center_sphere(view, center, radius)
    np.testing.assert_allclose(place(there), (0.0, 0.0), atol=1e-9)
    np.testing.assert_array_equal(there.pivot, center)
    assert there.distance > radius
    if view.orthographic or radius / moves.SPHERE_SHARE / view.pose.half > 1.5 * radius:
        assert radius / there.half_height == pytest.approx(moves.SPHERE_SHARE)
    else:  # a very wide view would have to be inside
        assert there.distance == pytest.approx(1.5 * radius)


# Written down, carried over, projected


def place_of(camera: Camera) -> Vector:
    """Position and look_at."""
    assert camera.position is not None
    assert camera.look_at is not None
    return np.array([*camera.position, *camera.look_at], np.float64)


def assert_same_camera(a: NDArray[np.void], b: NDArray[np.void], scale: float = 1.0) -> None:
    """The same packed camera to the rounding of float32."""
    assert a["kind"] == b["kind"]
    size = max(float(np.abs(a["origin"]).max()), scale)
    np.testing.assert_allclose(a["origin"], b["origin"], atol=2e-7 * size)
    for name in ("right", "up", "forward"):
        length = float(np.linalg.norm(a[name]))
        np.testing.assert_allclose(a[name], b[name], atol=3e-7 * length)


@given(view=views(), right=ANGLES, up=ANGLES, kind=st.sampled_from(["as it is", "pole", "axis"]))
def test_a_camera_written_down_is_packed_as_the_same_one(
    view: OrbitCamera, right: float, up: float, kind: str
) -> None:
    view = moves.orbit(view, right, up)
    if kind == "pole":
        view = moves.orbit(view, 0.0, 9.0)
    elif kind == "axis":
        view = moves.look_along(view, (-view.up).tolist())
    camera = moves.make_camera(view, BUFFERS)
    again = pack(balls(camera=camera), RenderSettings(width=400, height=300))
    assert_same_camera(view.pose.pack(400 / 300), again.view.camera)
    assert not camera.fit
    once_more = moves.make_camera(moves.make_initial_view(camera, BUFFERS, ASPECT), BUFFERS)
    np.testing.assert_allclose(place_of(once_more), place_of(camera), rtol=1e-9)


@given(view=views(), shift=st.floats(-100.0, 100.0), scale=st.sampled_from([0.125, 1.0, 64.0]))
def test_carried_into_another_render_space_it_is_the_same_camera(
    view: OrbitCamera, shift: float, scale: float
) -> None:
    (x, y, z), old = BUFFERS.space
    space = Space((x + shift, y + shift, z + shift), old * scale)
    other = replace(BUFFERS, space=space)
    there = moves.change_space(view, BUFFERS.space, other.space)
    one, two = moves.make_camera(view, BUFFERS), moves.make_camera(there, other)
    for name in ("position", "look_at", "up"):
        np.testing.assert_allclose(getattr(one, name), getattr(two, name), atol=1e-9)
    assert one.vertical_fov == pytest.approx(two.vertical_fov)
    assert one.height == (None if one.height is None else pytest.approx(two.height))
    assert_same(moves.change_space(there, other.space, BUFFERS.space), view, atol=1e-9)


@given(view=views(), seed=st.integers(0, 1000))
def test_project_is_the_inverse_of_camera_rays(view: OrbitCamera, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pose = view.pose
    places = rng.uniform(-1.0, 1.0, (20, 2))
    depth = rng.uniform(0.1, 10.0, 20)[:, None]
    size = pose.half if view.orthographic else pose.half * depth
    points = pose.eye + depth * pose.axes.forward
    points += size * (places[:, :1] * ASPECT * pose.axes.right + places[:, 1:] * pose.axes.up)
    found, ahead = moves.project_points(view, points, ASPECT)
    assert ahead.all()
    np.testing.assert_allclose(found, places, atol=1e-9)
    behind, ahead = moves.project_points(view, 2.0 * pose.eye - points, ASPECT)
    assert not ahead.any()
    assert np.isfinite(behind).all()
