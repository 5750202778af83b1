"""Camera rays as a function, against float64."""

from typing import Any

import numpy as np
import pytest

from raytracer.system.layout import enum_value
from reference.scene import Array, unit
from support.probe import Probe

WIDTH, HEIGHT = 640, 480
FORWARD, RIGHT, UP = unit((0.48, -0.6, -0.64)), unit((0.8, 0.0, 0.6)), unit((0.36, 0.8, -0.48))
X, Y = np.random.default_rng(1).integers(0, [[WIDTH], [HEIGHT]], (2, 5003), dtype=np.uint32)


def camera(kind: str) -> dict[str, Any]:
    """One that looks along FORWARD from (3, -7, 11)."""
    return {
        "kind": enum_value("CameraKind", kind),
        "origin": (3.0, -7.0, 11.0),
        "forward": FORWARD,
        "right": 0.8 * RIGHT,
        "up": 0.6 * UP,
    }


def frame(filter_kind: str, radius: float = 0.0) -> dict[str, Any]:
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "seed": 9,
        "filter": enum_value("FilterKind", filter_kind),
        "filter_radius": radius,
    }


def across(x: Array, y: Array) -> Array:
    """From the middle of the picture to a place in it in pixels, in the camera's plane; (N, 3)."""
    u, v = 2 * x / WIDTH - 1, 1 - 2 * y / HEIGHT
    return np.asarray(0.8 * u[:, None] * RIGHT + 0.6 * v[:, None] * UP)


def test_perspective_rays_go_through_the_pixels(probe: Probe) -> None:
    found = probe("camera_ray", X, Y, camera=camera("perspective"), frame=frame("point"))
    assert (found[:, :3] == (3, -7, 11)).all()
    wanted = unit(FORWARD + across(X + 0.5, Y + 0.5))
    np.testing.assert_allclose(found[:, 3:], wanted, atol=4e-7)
    np.testing.assert_allclose(np.linalg.norm(found[:, 3:].astype(float), axis=1), 1, atol=2e-7)


def test_orthographic_rays_start_at_the_pixels(probe: Probe) -> None:
    found = probe("camera_ray", X, Y, camera=camera("orthographic"), frame=frame("point"))
    assert (found[:, 3:] == FORWARD.astype(np.float32)).all()
    wanted = np.array([3, -7, 11]) + across(X + 0.5, Y + 0.5)
    np.testing.assert_allclose(found[:, :3], wanted, atol=2e-6)


@pytest.mark.parametrize(
    ("filter_kind", "radius"), [("box", 0.5), ("tent", 1.0), ("gaussian", 1.5)]
)
def test_samples_are_where_the_filter_puts_them(
    probe: Probe, filter_kind: str, radius: float
) -> None:
    given = {"camera": camera("orthographic"), "frame": frame(filter_kind, radius)}
    for sample in (0, 5):
        start = probe("camera_ray", X, Y, integer=sample, **given)[:, :3].astype(float) - (
            3,
            -7,
            11,
        )
        shift = np.stack(
            [
                (start @ RIGHT / 0.8 + 1) / 2 * WIDTH - X - 0.5,
                (1 - start @ UP / 0.6) / 2 * HEIGHT - Y - 0.5,
            ],
            axis=1,
        )
        u = probe("sample_2d", X, Y, integer=(9, sample, 0, 0))
        kind = enum_value("FilterKind", filter_kind)
        wanted = [
            probe("filter_sample", u[:, axis], integer=kind, number=radius)[:, 0] for axis in (0, 1)
        ]
        np.testing.assert_allclose(shift, np.stack(wanted, axis=1), atol=2e-3)
        assert np.abs(shift).max() <= radius + 2e-3
        assert np.abs(shift).max() > 0.9 * radius * (2 / 3 if filter_kind == "gaussian" else 1)
