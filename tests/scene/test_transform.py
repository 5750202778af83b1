"""Transforms against explicit rotation matrices."""

from __future__ import annotations

import numpy as np
import pytest

from raytracer import SphereSet
from raytracer.errors import SceneError
from raytracer.field_types import Vector3
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
@pytest.mark.parametrize("degrees", [0.0, 30.0, 90.0, -90.0, 180.0, 270.0, 360.0, 450.0, -123.4])
def test_rotation(axis: int, degrees: float) -> None:
    np.testing.assert_allclose(rotation(axis, degrees), explicit(axis, degrees), atol=1e-15)


def test_quarter_turns_are_exact() -> None:
    # z to x: the direction of the right-hand rule about y.
    np.testing.assert_array_equal(rotation(1, 90.0) @ [0, 0, 1], [1, 0, 0])
    np.testing.assert_array_equal(rotation(2, 90.0) @ [1, 0, 0], [0, 1, 0])


def test_order_is_scale_rotate_translate() -> None:
    rng = np.random.default_rng(2)
    centers, radius = rng.normal(size=(40, 3)), rng.random(40) + 0.1
    placed = place(
        [SphereSet(centers, radius, transform=Transform(2.5, (20, -40, 110), (1, -2, 3)))],
        IDENTITY,
    )
    turn = explicit(2, 110) @ explicit(1, -40) @ explicit(0, 20)
    expected = (turn @ (2.5 * centers).T).T + np.array([1, -2, 3])
    np.testing.assert_allclose(np.stack(placed[:3], axis=1), expected, rtol=2e-7, atol=1e-6)
    np.testing.assert_allclose(placed[3], 2.5 * radius, rtol=1e-7)
    assert all(a.dtype == np.float32 and a.flags.c_contiguous for a in placed)


def test_several_blocks_and_sets() -> None:
    rng = np.random.default_rng(3)
    many = rng.normal(size=(70_000, 3)).astype(np.float32)
    sets = [
        SphereSet(many, 0.5, transform=Transform(rotate=(0, 0, 90))),
        SphereSet([[1.0, 2.0, 3.0]], [4.0], transform=Transform(translate=(1, 1, 1))),
    ]
    x, y, z, radius = place(sets, IDENTITY)
    np.testing.assert_array_equal(x[:-1], -many[:, 1])
    np.testing.assert_array_equal(y[:-1], many[:, 0])
    np.testing.assert_array_equal(z[:-1], many[:, 2])
    assert (x[-1], y[-1], z[-1], radius[-1], radius[0]) == (2, 3, 4, 4, 0.5)


@pytest.mark.parametrize("scale", [0.0, -1.0, float("nan"), float("inf")])
def test_refuses_a_scale(scale: float) -> None:
    with pytest.raises(SceneError, match=r"transform\.scale"):
        Transform(scale=scale)


@pytest.mark.parametrize("value", [(1, 2), "abc", (1, 2, "x"), None, (1, 2, float("inf"))])
def test_refuses_a_vector(value: object) -> None:
    with pytest.raises(SceneError, match=r"^place(\[2\])?: "):
        Vector3().checked(value, "place", SceneError)
