"""Where a camera stands, and what the kernels are told of it."""

from __future__ import annotations

from math import radians, tan

import numpy as np
import pytest

from raytracer import Camera, RenderSettings, Scene
from raytracer.errors import SceneError
from raytracer.scene import fit
from raytracer.scene.pack import pack, retake
from raytracer.scene.placing import Space
from raytracer.scene.pose import Pose, pose

SPHERES = tuple(np.array(v, np.float32) for v in ([1, -1], [0, 0], [0, 0.5], [0.5, 0.25]))
SPACE = Space((10.0, 20.0, 30.0), 4.0)


def stand(**camera: object) -> Pose:
    x, y, z, radius = SPHERES
    return pose(Camera(**camera), (x, y, z, radius), SPACE, 2.0)  # type: ignore[arg-type]


def test_a_given_camera_stands_where_it_was_put() -> None:
    found = stand(position=(10, 20, 50), look_at=(10, 20, 0), vertical_fov=30.0)
    np.testing.assert_allclose(found.eye, (0.0, 0.0, 5.0))
    np.testing.assert_allclose(found.axes.forward, (0.0, 0.0, -1.0))
    assert found.half == pytest.approx(tan(radians(15.0)))
    flat = stand(position=(10, 20, 50), look_at=(10, 20, 0), type="orthographic", height=6.0)
    assert flat.half == 6.0 / 2.0 / 4.0


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_a_fitted_camera_stands_where_it_sees_all(kind: str) -> None:
    found = stand(type=kind, direction=(0, 0, 2))
    x, y, z, radius = SPHERES
    if kind == "perspective":
        expected = fit.perspective((x, y, z, radius), found.axes, found.half, 2.0)
    else:
        expected, half = fit.orthographic((x, y, z, radius), found.axes, 2.0)
        assert found.half == half
    np.testing.assert_array_equal(found.eye, expected)


def test_a_packed_camera_has_the_picture_in_its_axes() -> None:
    found = stand(position=(10, 20, 50), look_at=(10, 20, 0), vertical_fov=90.0)
    packed = found.pack(2.0)[0]
    np.testing.assert_allclose(packed["right"], (2.0, 0.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(packed["up"], (0.0, 1.0, 0.0), atol=1e-6)
    np.testing.assert_allclose(packed["forward"], (0.0, 0.0, -1.0), atol=1e-6)
    assert packed["kind"] == 0


def test_a_camera_beyond_float32_is_refused_in_a_sentence() -> None:
    """And in nothing else: a warning would fail here."""
    scene = Scene.from_arrays(np.zeros((1, 3)), 1.0, camera=Camera(position=(1e60, 0.0, 0.0)))
    with pytest.raises(SceneError, match="too far from the spheres"):
        pack(scene)
    far = Pose("orthographic", np.zeros(3), fit.basis(np.eye(3)[2], np.eye(3)[1]), 1e39)
    with pytest.raises(SceneError, match="too far from the spheres"):
        retake(pack(Scene()), Scene(), RenderSettings(), far)
