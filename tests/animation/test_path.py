"""The path of a camera: easing, turns, and the way between keyframes."""

from itertools import pairwise

import numpy as np
import pytest

from raytracer import AnimationSettings, Camera, Keyframe
from raytracer.animation.path import CameraPath, Stand, between, eased, turned
from raytracer.errors import SceneError

CAMERA = Camera(position=(0.0, 0.0, 10.0), look_at=(0.0, 0.0, 0.0))


def path(frames: int = 5, duration: float = 1.0, **settings: object) -> CameraPath:
    return CameraPath(CAMERA, AnimationSettings(**settings), frames, duration)  # type: ignore[arg-type]


@pytest.mark.parametrize("ease", ["linear", "smooth", "in", "out"])
def test_easing_begins_at_0_ends_at_1_and_never_goes_back(ease: str) -> None:
    values = [eased(share, ease) for share in np.linspace(-0.5, 1.5, 41)]
    assert values[0] == 0.0
    assert values[-1] == 1.0
    assert all(later >= one for one, later in pairwise(values))


def test_a_turntable_goes_to_the_right() -> None:
    camera = path(turntable=360).at(1, 0.25)
    np.testing.assert_allclose(np.array(camera.position), (10.0, 0.0, 0.0), atol=1e-12)
    backwards = path(turntable="-2s").at(2, 0.5)
    np.testing.assert_allclose(np.array(backwards.position), (-10.0, 0.0, 0.0), atol=1e-12)


def test_an_orbit_rises_and_stops_before_the_pole() -> None:
    camera = path(orbit=(90, 30)).at(4, 0.8)
    wanted = (10.0 * np.cos(np.radians(30)), 10.0 * np.sin(np.radians(30)), 0.0)
    np.testing.assert_allclose(np.array(camera.position), wanted, atol=1e-12)
    above = np.array(path(orbit=(0, 170)).at(4, 0.8).position)
    assert 9.999 < above[1] < 10.0
    assert above[2] > 0.0


def test_dolly_and_zoom_end_at_their_factors() -> None:
    camera = path(dolly=0.5, zoom_to=2.0).at(4, 0.8)
    np.testing.assert_allclose(np.array(camera.position), (0.0, 0.0, 5.0))
    ratio = np.tan(np.radians(camera.vertical_fov / 2)) / np.tan(np.radians(20.0))
    assert ratio == pytest.approx(0.5)
    first = path(dolly=0.5, zoom_to=2.0).at(0, 0.0)
    np.testing.assert_allclose(np.array(first.position), np.array(CAMERA.position))
    assert first.vertical_fov == pytest.approx(40.0)


def test_an_orthographic_camera_zooms_by_its_height() -> None:
    camera = Camera(position=(0, 0, 9), look_at=(0, 0, 0), type="orthographic", height=8.0)
    moved = CameraPath(camera, AnimationSettings(zoom_to=4.0), 2, 1.0).at(1, 0.5)
    assert moved.height == pytest.approx(2.0)


def test_the_way_to_the_other_side_keeps_the_distance() -> None:
    there = Stand.of(Camera(position=(0.0, 0.0, -10.0), look_at=(0.0, 0.0, 0.0)))
    for share in (0.0, 0.25, 0.5, 1.0):
        stand = between(Stand.of(CAMERA), there, share)
        assert np.linalg.norm(stand.offset) == pytest.approx(10.0)
        assert stand.offset[1] == pytest.approx(0.0, abs=1e-12)  # around, not over the pole


def test_keyframes_say_what_changes() -> None:
    keys = (
        Keyframe(1.0, position=(0, 0, 10), look_at=(0, 0, 0)),
        Keyframe(3.0, look_at=(0, 5, 0), vertical_fov=20.0, ease="linear"),
    )
    moving = path(9, 4.0, keyframes=keys)
    for time, y in ((0.0, 0.0), (1.0, 0.0), (2.0, 2.5), (3.0, 5.0), (9.0, 5.0)):
        assert moving.at(0, time).look_at == pytest.approx((0.0, y, 0.0))
    assert moving.at(0, 3.5).vertical_fov == pytest.approx(20.0)


def test_keyframes_out_of_order_are_refused() -> None:
    with pytest.raises(SceneError, match="times of keyframes must increase"):
        AnimationSettings(keyframes=[Keyframe(2.0), Keyframe(1.0)])
    with pytest.raises(SceneError, match=r"animation.keyframes\[0\].time: "):
        AnimationSettings(keyframes=[{"time": -1}])  # type: ignore[list-item]


def test_elevation_counts_from_where_the_camera_is() -> None:
    stand = turned(Stand.of(CAMERA), 0.0, 45.0)
    np.testing.assert_allclose(turned(stand, 0.0, -45.0).offset, (0, 0, 10), atol=1e-12)
