"""Moving the camera: what each motion keeps."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from raytracer.viewer import view as moves
from raytracer.viewer.view import View
from support.previews import view_of
from support.views import ANGLES, ASPECT, BUFFERS, assert_level, assert_same, place, unit, views

AXES = [tuple(float(v) for v in row) for row in (*np.eye(3), *-np.eye(3))]


# Orbit


@given(view=views(), steps=st.lists(st.tuples(ANGLES, ANGLES), min_size=1, max_size=6))
def test_orbit_keeps_distance_place_of_the_pivot_and_level(
    view: View, steps: list[tuple[float, float]]
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
def test_orbit_moves_the_eye_to_the_right_and_up_by_its_angle(view: View, angle: float) -> None:
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


@given(view=views(), up=st.sampled_from([5.0, -5.0]))
def test_orbit_stops_before_the_pole_and_comes_back(view: View, up: float) -> None:
    top = moves.orbit(view, 0.0, up)
    angle = np.arccos(np.clip(top.pose.axes.forward @ view.up, -1.0, 1.0))
    assert min(angle, np.pi - angle) == pytest.approx(moves.POLE, rel=1e-3)
    back = moves.orbit(top, 0.0, -np.copysign(0.5, up))
    np.testing.assert_allclose(back.pose.axes.right, view.pose.axes.right, atol=1e-6)


@given(view=views(), axis=st.sampled_from(AXES), right=ANGLES, up=st.floats(0.01, 1.0))
def test_orbit_from_the_pole_goes_on_without_a_jump(
    view: View, axis: tuple[float, float, float], right: float, up: float
) -> None:
    """Looking straight down, turning keeps the view level as soon as there is a level."""
    axes = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)
    view = replace(view, up=np.array(axes[int(np.argmax(np.abs(axis)))]))
    down = moves.along(view, axis)
    assert_same(moves.orbit(down, 0.0, 0.0), down)
    spun = moves.orbit(down, right, 0.0)
    np.testing.assert_allclose(spun.pose.axes.forward, down.pose.axes.forward, atol=1e-12)
    off = moves.orbit(spun, 0.0, np.copysign(up, float(np.asarray(axis) @ view.up)))
    assert_level(off)
    np.testing.assert_allclose(off.pose.axes.right, spun.pose.axes.right, atol=1e-9)


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
    view: View, axis: tuple[float, float, float], near: bool, up: int
) -> None:
    """With y-up, z-up and x-up scenes, and with an `up` that is near an axis but not on it."""
    tilt = np.array([0.011, 0.013, 0.017]) if near else np.zeros(3)
    view = replace(view, up=unit(np.eye(3)[up] + tilt))
    there = moves.along(view, axis)
    np.testing.assert_allclose(there.pose.axes.forward, axis, atol=1e-12)
    np.testing.assert_allclose(place(there), place(view), atol=1e-9)
    assert there.distance == pytest.approx(view.distance, rel=1e-9)
    if abs(float(np.asarray(axis) @ view.up)) < np.cos(moves.POLE):
        assert_level(there)
    assert_same(moves.orbit(there, 0.0, 0.0), there, atol=1e-9)


@pytest.mark.parametrize("axis", AXES[1:3] + AXES[4:6])
def test_along_up_is_as_after_turning_over_the_top(axis: tuple[float, float, float]) -> None:
    """From above, what is behind in a view from the front is up; from below it is down."""
    up = np.abs(axis)
    view = view_of(BUFFERS, up=up.tolist(), direction=(1.0, 1.5, 2.0))
    front = moves.along(view, (0.0, 0.0, -1.0) if up[1] else (0.0, 1.0, 0.0))
    pole = moves.along(view, axis)
    over = moves.orbit(front, 0.0, -9.0 * float(np.asarray(axis) @ up))
    np.testing.assert_allclose(pole.pose.axes.right, over.pose.axes.right, atol=1e-5)
    np.testing.assert_allclose(pole.pose.axes.up, over.pose.axes.up, atol=2 * moves.POLE)


# Sideways, forward, nearer, wider


@given(view=views(), right=ANGLES, up=ANGLES)
def test_pan_moves_the_picture_by_its_heights(view: View, right: float, up: float) -> None:
    moved = moves.pan(view, right, up)
    found, _ = moves.project(moved, view.pivot[None], ASPECT)
    shift = (found[0] - place(view)) * (ASPECT, 1.0) / 2.0  # in heights
    np.testing.assert_allclose(shift, (-right, -up), atol=1e-9)
    np.testing.assert_allclose(place(moved), place(view), atol=1e-9)
    assert moved.distance == pytest.approx(view.distance, rel=1e-9)
    assert moved.pose.axes is view.pose.axes


@given(view=views(), amount=ANGLES)
def test_fly_goes_along_the_view_and_takes_the_pivot_along(view: View, amount: float) -> None:
    view = replace(view, is_section=view.orthographic)
    moved = moves.fly(view, amount)
    step = moved.pose.eye - view.pose.eye
    expected = 2.0 * view.half_height * amount * view.pose.axes.forward
    np.testing.assert_allclose(step, expected, atol=1e-12)
    np.testing.assert_allclose(moved.pivot - view.pivot, step, atol=1e-9)
    np.testing.assert_allclose(place(moved), place(view), atol=1e-9)


@given(view=views(kind="orthographic"), amount=ANGLES)
def test_flying_into_an_orthographic_picture_of_all_makes_it_larger(
    view: View, amount: float
) -> None:
    """Its place along the view is not seen, unless it shows a section."""
    assert_same(moves.fly(view, amount), moves.dolly(view, float(np.exp(-amount))))


@given(view=views(kind="perspective"), factor=st.floats(0.01, 100.0))
def test_dolly_scales_the_distance_and_keeps_the_pivot_in_its_place(
    view: View, factor: float
) -> None:
    moved = moves.dolly(view, factor)
    assert moved.distance == pytest.approx(view.distance * factor, rel=1e-9)
    np.testing.assert_allclose(place(moved), place(view), atol=1e-8)
    np.testing.assert_array_equal(moved.pivot, view.pivot)


@given(view=views(kind="orthographic"), factor=st.floats(0.01, 100.0))
def test_dolly_and_zoom_scale_an_orthographic_picture(view: View, factor: float) -> None:
    for move in (moves.dolly, moves.zoom):
        moved = move(view, factor)
        assert moved.pose.half == pytest.approx(view.pose.half * factor)
        np.testing.assert_array_equal(moved.pose.eye, view.pose.eye)


@given(view=views(), factor=st.sampled_from([0.1, 10.0]))
def test_dolly_without_end_stays_a_camera_that_can_be_packed(view: View, factor: float) -> None:
    for _ in range(200):
        view = moves.unclipped(moves.dolly(view, factor), 2.0)
    view.pose.pack(ASPECT)
    moves.camera_of(view, BUFFERS)
    assert view.distance >= moves.NEAREST
    back = moves.dolly(view, 1.0 / factor)
    assert (back.half_height < view.half_height) == (factor > 1.0)


@given(view=views(kind="perspective"), factor=st.floats(0.5, 2.0), steps=st.integers(1, 30))
def test_zoom_changes_the_field_of_view_alone(view: View, factor: float, steps: int) -> None:
    wide = view
    for _ in range(steps):
        wide = moves.zoom(wide, factor)
    expected = np.clip(view.pose.half * factor**steps, moves.NARROWEST, moves.WIDEST)
    assert wide.pose.half == pytest.approx(float(expected))
    np.testing.assert_array_equal(wide.pose.eye, view.pose.eye)
    assert wide.pose.axes is view.pose.axes


@pytest.mark.parametrize(("fov", "factor"), [(0.1, 0.9), (170.0, 1.1)])
def test_zoom_beyond_its_ends_stays_where_it_is(fov: float, factor: float) -> None:
    """A scene may have a narrower or wider field of view than one can zoom to."""
    view = view_of(BUFFERS, vertical_fov=fov)
    there = moves.zoom(view, factor)
    assert there.pose.half == view.pose.half
    back = moves.zoom(view, 1.0 / factor)
    assert (back.pose.half > view.pose.half) == (factor < 1.0)


def test_zeros_move_nothing() -> None:
    for kind, x in product(("perspective", "orthographic"), (0.0, 2.0)):
        view = moves.pan(view_of(BUFFERS, type=kind), x, 0.0)
        for same in (
            moves.orbit(view, 0.0, 0.0), moves.pan(view, 0.0, 0.0), moves.fly(view, 0.0),
            moves.dolly(view, 1.0), moves.zoom(view, 1.0),
        ):  # fmt: skip
            assert_same(same, view)
