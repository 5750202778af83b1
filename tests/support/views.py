"""Any camera, and what is asserted of one that was moved."""

from math import radians, tan
from typing import Any

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import strategies as st
from numpy.typing import NDArray

from raytracer.packing import framing
from raytracer.packing.pack import pack
from raytracer.packing.pose import Pose
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.orbit_camera import OrbitCamera
from support.previews import balls

Vector = NDArray[np.float64]

BUFFERS = pack(balls())
ASPECT = 4.0 / 3.0
ANGLES = st.floats(-2.0, 2.0)


def unit(vector: Any) -> Vector:
    v = np.asarray(vector, np.float64)
    return np.asarray(v / np.linalg.norm(v))


@st.composite
def views(draw: st.DrawFn, kind: str | None = None) -> OrbitCamera:
    """Any camera, level, with its pivot somewhere in its picture."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    up = unit(rng.normal(size=3))
    if draw(st.booleans()):
        up = np.eye(3)[draw(st.integers(0, 2))]
    backward = unit(rng.normal(size=3))
    assume(abs(float(backward @ up)) < 0.99)
    axes = framing.view_basis(backward, up)
    kind = kind or draw(st.sampled_from(["perspective", "orthographic"]))
    half = tan(radians(draw(st.floats(5.0, 120.0))) / 2.0)
    eye = rng.normal(size=3)
    x, y = rng.uniform(-0.8, 0.8, 2)
    distance = draw(st.floats(0.1, 8.0))
    size = half if kind == "orthographic" else half * distance
    pivot = eye + distance * axes.forward + size * (x * axes.right + y * axes.up)
    return OrbitCamera(Pose(kind, eye, axes, half), pivot, up)


def place(view: OrbitCamera) -> Vector:
    """Where the pivot is in the picture."""
    found, ahead = moves.project_points(view, view.pivot[None], ASPECT)
    assert ahead.all()
    return np.asarray(found[0])


def assert_level(view: OrbitCamera) -> None:
    """Orthonormal axes, the horizon horizontal, `up` upwards."""
    axes = view.pose.axes
    matrix = np.array([axes.right, axes.up, axes.forward])
    np.testing.assert_allclose(matrix @ matrix.T, np.eye(3), atol=1e-12)
    assert np.cross(axes.right, axes.up) @ -axes.forward == pytest.approx(1.0)
    assert axes.right @ view.up == pytest.approx(0.0, abs=1e-9)
    assert axes.up @ view.up > 0.0


def assert_same(a: OrbitCamera, b: OrbitCamera, atol: float = 1e-12) -> None:
    assert a.pose.kind == b.pose.kind
    assert a.pose.half == pytest.approx(b.pose.half, rel=1e-12)
    np.testing.assert_allclose(a.pose.eye, b.pose.eye, atol=atol)
    np.testing.assert_allclose(a.pivot, b.pivot, atol=atol)
    for name in ("right", "up", "forward"):
        one, two = getattr(a.pose.axes, name), getattr(b.pose.axes, name)
        np.testing.assert_allclose(one, two, atol=atol)
