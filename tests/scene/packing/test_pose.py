"""Where a camera stands, and what the kernels are told of it."""

from math import radians, tan

import numpy as np
import pytest

from raytracer import Camera, RenderSettings, Scene
from raytracer.errors import SceneError
from raytracer.scene.packing import framing
from raytracer.scene.packing.pack import camera_of, pack, retake
from raytracer.scene.packing.pose import Pose, pose
from raytracer.scene.packing.render_space import Space

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


def test_a_camera_beyond_float32_is_refused_in_a_sentence() -> None:
    """And in nothing else: a warning would fail here."""
    scene = Scene.from_arrays(np.zeros((1, 3)), 1.0, camera=Camera(position=(1e60, 0.0, 0.0)))
    with pytest.raises(SceneError, match="too far from the spheres"):
        pack(scene)
    far = Pose("orthographic", np.zeros(3), framing.basis(np.eye(3)[2], np.eye(3)[1]), 1e39)
    with pytest.raises(SceneError, match="too far from the spheres"):
        retake(pack(Scene()), Scene(), RenderSettings(), far)


def test_a_camera_without_a_target_looks_at_the_middle_of_the_spheres() -> None:
    centers = np.array([[100.0, 50, 7], [104, 50, 7], [102, 56, 9], [102, 52, 3]])
    camera = Camera(position=(102, 53, 40))
    buffers = pack(Scene.from_arrays(centers, 1.0, camera=camera))
    np.testing.assert_allclose(buffers.camera["forward"][0], (0, 0, -1), atol=1e-6)
    ground = np.concatenate([centers, [[102, -1e6, 6]]])
    radii = [1.0, 1.0, 1.0, 1.0, 1e6 + 49]
    with_ground = pack(Scene.from_arrays(ground, radii, camera=camera))
    np.testing.assert_allclose(with_ground.camera["forward"][0], (0, 0, -1), atol=1e-4)
    told = camera_of(Scene.from_arrays(centers, 1.0, camera=camera), RenderSettings())
    np.testing.assert_allclose(told.look_at or (), (102, 53, 6), atol=1e-4)
    assert camera_of(Scene(camera=camera), RenderSettings()).look_at == (0.0, 0.0, 0.0)


def test_a_far_sphere_is_not_in_the_middle() -> None:
    centers = np.concatenate([np.random.default_rng(1).uniform(4, 6, (200, 3)), [[1e6, 0, 0]]])
    camera = Camera(position=(5, 5, 30))
    found = camera_of(Scene.from_arrays(centers, 0.1, camera=camera), RenderSettings()).look_at
    np.testing.assert_allclose(found or (), (5, 5, 5), atol=0.1)


@pytest.mark.parametrize(
    ("position", "sentence"),
    [((1, 2, 3), "camera.look_at: is missing"), ((1, 9, 3), "camera.up: is parallel")],
)
def test_a_camera_that_cannot_look_at_the_middle(
    position: tuple[float, float, float], sentence: str
) -> None:
    scene = Scene.from_arrays([[1.0, 2, 3]], 0.5, camera=Camera(position=position))
    with pytest.raises(SceneError, match=sentence):
        pack(scene)
