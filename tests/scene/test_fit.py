"""Fitted cameras: every sphere is inside the frame, and the frame is no larger than it must be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import raytracer
from raytracer import Camera, RenderSettings, Scene
from raytracer.buffers import SceneBuffers
from raytracer.scene.fit import MARGIN
from raytracer.scene.pack import pack


def packed(centers: Any, radius: Any, camera: Camera, width: int, height: int) -> SceneBuffers:
    scene = Scene.from_arrays(np.asarray(centers, float), radius, camera=camera)
    return pack(scene, RenderSettings(width=width, height=height))


def reach(buffers: SceneBuffers) -> NDArray[np.float64]:
    """How far spheres reach to the left, right, bottom and top: 1 is the edge of the frame.

    A sphere's silhouette in a perspective picture ends where a plane through the eye touches it:
    at angle atan(x / z) + asin(r / d) in the plane of the eye, the axis and the view.
    """
    camera = buffers.camera[0]
    offset = np.stack([buffers.x, buffers.y, buffers.z], axis=1).astype(float) - camera["origin"]
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
    assert np.isfinite(empty.camera["origin"]).all()
    assert empty.count == 0
    one = packed([[1e6, -3, 7]], 1e-3, Camera(type=kind), 40, 30)
    assert reach(one)[2:] == pytest.approx([1 - MARGIN] * 2, abs=1e-3)


@pytest.mark.filterwarnings("ignore:.*the radius of the smallest")
def test_giant_and_dust() -> None:
    buffers = packed([[0, -1000, 0], [0, 1, 0], [3, 1, 0]], [1000, 1, 1e-6], Camera(), 160, 90)
    assert reach(buffers).max() == pytest.approx(1 - MARGIN, abs=1e-3)


def test_direction_of_a_given_position_is_kept() -> None:
    camera = Camera(position=(0, 3, 4), look_at=(0, 0, 0), fit=True)
    buffers = packed([[5.0, 1, 0], [7, 1, 0]], 1.0, camera, 64, 64)
    np.testing.assert_allclose(buffers.camera["forward"][0], [0, -0.6, -0.8], atol=1e-7)


def test_many_spheres_by_threads_are_the_same_as_a_few_extremes() -> None:
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    inside = np.random.default_rng(4).uniform(-0.9, 0.9, (300_000, 3))
    many = packed(np.concatenate([inside, corners, [[0, 0, 0]]]), 0.1, Camera(), 64, 48)
    few = packed(np.concatenate([corners, [[0, 0, 0]]]), 0.1, Camera(), 64, 48)
    eye, same = (b.camera["origin"][0] * b.scale + b.center for b in (many, few))
    np.testing.assert_allclose(eye, same, atol=1e-5)


@pytest.mark.parametrize(
    "camera",
    [
        None,
        Camera(direction=(-1, 2, 0.5), up=(0, 0, 3), vertical_fov=25),
        Camera(position=(0, 0, 9), fit=True, vertical_fov=70),
        Camera(type="orthographic", fit=True),
    ],
)
@pytest.mark.parametrize("offset", [0.0, 1e6])
def test_a_fitted_camera_can_be_read_and_gives_the_same_picture(
    camera: Camera | None, offset: float
) -> None:
    rng = np.random.default_rng(5)
    scene = Scene.from_arrays(rng.normal(size=(50, 3)) * 3 + offset, 0.4, camera=camera)
    read = scene.fitted_camera(64, 40)
    assert (read.fit, read.direction) == (False, None)
    assert read.position is not None
    again = Scene(scene.spheres, camera=read)
    first, second = (
        raytracer.render(each, width=64, height=40, samples=1, filter="point", backend="cpu")
        for each in (scene, again)
    )
    np.testing.assert_allclose(first.array, second.array, atol=1e-4)
    assert again.fitted_camera() is read


def test_a_fitted_camera_depends_on_the_proportions() -> None:
    scene = Scene.from_arrays([[-3, 0, 0], [3, 0, 0]], 1.0)
    assert scene.fitted_camera() == scene.fitted_camera(1280, 720)
    assert scene.fitted_camera(640, 360) == scene.fitted_camera()
    assert scene.fitted_camera(720, 1280) != scene.fitted_camera()
    empty = Scene().fitted_camera()
    assert empty.position is not None
