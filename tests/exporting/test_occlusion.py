"""The sky that spheres see, beside closed forms and `raytracer.measure`."""

from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.exporting import occlusion
from raytracer.exporting.occlusion import make_even_directions, measure_sky_visibility
from raytracer.rendering.pipeline import prepare
from reference.scene import unit

ABOVE_A_BALL = [[0.0, 0.0, 1.0], [0.0, 0.0, -10_000.0]]


def found(scene: raytracer.Scene, **settings: Any) -> np.ndarray:
    """Return a and b of the spheres of a scene."""
    options: dict[str, Any] = {"integrator": "ao"} | settings
    with prepare(scene, options, backend="cpu", keep=True, hashed=False) as job:
        return measure_sky_visibility(job.scene, job.view, scene.count)


def test_a_single_sphere_sees_all() -> None:
    a, *b = found(raytracer.Scene.from_arrays([[0.0, 0.0, 0.0]], 1.0))[0]
    assert a == pytest.approx(1.0, abs=0.05)
    np.testing.assert_allclose(b, 0.0, atol=0.2)  # of random points


def test_a_sphere_on_a_plain_is_bright_above() -> None:
    """Above an endless plain the light is (1 + n_z) / 2; b is that times `CONTRAST`."""
    scene = raytracer.Scene.from_arrays(ABOVE_A_BALL, [1e-3, 10_000.0])
    a, x, y, z = found(scene)[0]
    assert z == pytest.approx(0.5 * occlusion.CONTRAST, abs=0.15)
    assert abs(x) < 0.2
    assert abs(y) < 0.2
    # of points visible from above: the mean cosine of their normals is that of a hemisphere's
    # directions, 1/2, times `TOWARDS`
    assert a + z * 0.5 * occlusion.TOWARDS == pytest.approx(0.5 + 0.5 * 0.25, abs=0.1)


def test_visible_surfaces_have_the_mean_that_brute_force_finds() -> None:
    rng = np.random.default_rng(2)
    centers, radius = rng.uniform(-1, 1, (60, 3)), 0.3
    seen = found(raytracer.Scene.from_arrays(centers, radius))
    shares, expected = [], []
    for number in range(20):
        normals, towards = unit(rng.normal(size=(2, 3000, 3)))
        facing = np.einsum("ij,ij->i", normals, towards) > 0
        points = (centers[number] + radius * normals)[facing]
        others = np.delete(centers, number, axis=0)
        visible = ~blocked(points, towards[facing], others, radius)
        shown = points[visible]
        cosine = unit(normals[facing][visible] + unit(rng.normal(size=(len(shown), 3))))
        expected.append(1.0 - blocked(shown, cosine, others, radius).mean())
        shares.append((seen[number, 0] + normals[facing][visible] @ seen[number, 1:]).mean())
    np.testing.assert_allclose(shares, expected, atol=0.3)
    assert np.mean(shares) == pytest.approx(np.mean(expected), abs=0.06)


def test_what_nobody_sees_is_black() -> None:
    offsets = np.stack(np.meshgrid(*[[-1, 0, 1]] * 3), axis=-1).reshape(-1, 3)
    seen = found(raytracer.Scene.from_arrays(offsets * 0.9, 0.9))
    inner = np.flatnonzero((offsets == 0).all(axis=1))
    np.testing.assert_array_equal(seen[inner], 0.0)
    assert (np.delete(seen, inner, axis=0)[:, 0] >= occlusion.LEAST).all()


def blocked(points: np.ndarray, rays: np.ndarray, centers: np.ndarray, radius: float) -> np.ndarray:
    """Whether rays from points meet a sphere or begin in one, by brute force, (N,)."""
    to_center = centers - points[:, None]
    along = np.einsum("ijk,ik->ij", to_center, rays)
    half2 = radius**2 - (to_center**2).sum(axis=2) + along**2
    far = along + np.sqrt(np.maximum(half2, 0.0))
    return np.asarray(((half2 > 0) & (far > 0)).any(axis=1))


def test_without_occlusion_all_see_the_whole_sky() -> None:
    scene = raytracer.Scene.from_arrays(np.random.default_rng(1).uniform(-1, 1, (20, 3)), 0.5)
    np.testing.assert_array_equal(found(scene, integrator="direct"), [[1.0, 0.0, 0.0, 0.0]] * 20)


def test_what_is_beyond_the_distance_does_not_occlude() -> None:
    scene = raytracer.Scene.from_arrays([[0.0, 0.0, 0.0], [0.0, 0.0, 3.0]], 1.0)
    a = found(scene, ao_distance=0.5)[0, 0]
    assert a == pytest.approx(1.0, abs=0.1)


@pytest.mark.parametrize("count", [12, 24])
def test_directions_are_even(count: int) -> None:
    sides = make_even_directions(count)
    np.testing.assert_allclose(np.linalg.norm(sides, axis=1), 1.0)
    np.testing.assert_allclose(sides.mean(axis=0), 0.0, atol=0.03)
    np.testing.assert_allclose(sides.T @ sides / count, np.eye(3) / 3.0, atol=0.03)
