"""Cameras that are fitted to several frames: what they see ends at the margins."""

import numpy as np
import pytest

from raytracer import Camera, Scene
from raytracer.animation.fit import fit
from raytracer.packing.framing import Room, Surroundings

ASPECT = 2.0
HALVES = np.array([ASPECT, 1.0])  # of the two spheres of a frame, which fill a picture
PAD = 0.3  # scene units that a fitted camera may show beyond


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("low", [0.0, 0.2])
@pytest.mark.parametrize("high", [0.0, 0.1])
def test_an_orthographic_camera_sees_the_spheres_of_all_frames_between_the_margins(
    axis: int, low: float, high: float
) -> None:
    """Two frames, with their centre at -6 and 10 on an axis, at different depths."""
    room = Room(*((low, high, 0.0, 0.0) if axis == 0 else (0.0, 0.0, low, high)))
    scenes = []
    for place, depth in ((-6.0, 0.0), (10.0, 7.0)):
        centers = np.array([[-1.0, 0.0, depth], [1.0, 0.0, depth]])
        centers[:, axis] += place
        scenes.append((Scene.from_arrays(centers, 1.0), None, Surroundings(room)))
    camera = Camera(type="orthographic", direction=(0, 0, 1), fit=True)
    camera = fit(scenes, camera, lambda _: [np.array([0.0, 0.0, 1.0])], ASPECT)
    assert camera.position is not None
    assert camera.look_at is not None
    assert camera.height is not None
    place, size = camera.position[axis], camera.height * (ASPECT, 1.0)[axis]
    begin, end = place + size * (low - 0.5), place + size * (0.5 - high)
    assert -6.0 - HALVES[axis] - PAD < begin < -6.0 - HALVES[axis]
    assert 10.0 + HALVES[axis] < end < 10.0 + HALVES[axis] + PAD
    assert camera.position[1 - axis] == pytest.approx(0.0, abs=1e-6)
    assert camera.position[2] > 7.0 + 1.0  # before the nearest sphere
    assert camera.look_at[:2] == pytest.approx(camera.position[:2])
    assert camera.look_at[2] < camera.position[2]
