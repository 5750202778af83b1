"""Transforms against explicit rotation matrices."""

import numpy as np
import pytest

from raytracer import SphereSet
from raytracer.scene.packing.pack import place
from raytracer.scene.packing.render_space import Space
from raytracer.scene.transform import Transform, rotation

IDENTITY = Space((0.0, 0.0, 0.0), 1.0)


def explicit(axis: int, degrees: float) -> np.ndarray:
    c, s = np.cos(np.radians(degrees)), np.sin(np.radians(degrees))
    return np.array(
        [
            [[1, 0, 0], [0, c, -s], [0, s, c]],
            [[c, 0, s], [0, 1, 0], [-s, 0, c]],
            [[c, -s, 0], [s, c, 0], [0, 0, 1]],
        ][axis]
    )


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize("degrees", [0.0, -90.0, 180.0, 450.0, -123.4])
def test_rotation(axis: int, degrees: float) -> None:
    np.testing.assert_allclose(rotation(axis, degrees), explicit(axis, degrees), atol=1e-15)


def test_order_is_scale_rotate_translate() -> None:
    rng = np.random.default_rng(2)
    centers, radius = rng.normal(size=(40, 3)), rng.random(40) + 0.1
    placed = place(
        [SphereSet(centers, radius, transform=Transform(2.5, (20, -40, 110), (1, -2, 3)))], IDENTITY
    )
    turn = explicit(2, 110) @ explicit(1, -40) @ explicit(0, 20)
    expected = (turn @ (2.5 * centers).T).T + np.array([1, -2, 3])
    np.testing.assert_allclose(np.stack(placed[:3], axis=1), expected, rtol=2e-7, atol=1e-6)
    np.testing.assert_allclose(placed[3], 2.5 * radius, rtol=1e-7)
    assert all(a.dtype == np.float32 and a.flags.c_contiguous for a in placed)
