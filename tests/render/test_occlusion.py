"""The integrator ao: against closed forms and a float64 estimate, and its promises."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from reference import RefScene, View, camera_rays, closest_hit, occluded
from reference.scene import Array, unit
from support.project import shoot
from support.scenes import one_ball, random_scene

AO: dict[str, Any] = {"integrator": "ao"}
SIDE = View((0, -6, 1.0), (0, 0, 1.0), up=(0, 0, 1), vertical_fov=None, height=2.5)
# A ball above another one, seen from the side.
GAP, ABOVE = 0.75, 0.5
TWO = one_ball(SIDE).but(
    centers=np.array([(0, 0, 0), (0, 0, 1 + GAP + ABOVE)]),
    radii=np.array([1.0, ABOVE]),
    colors=np.ones((2, 3)),
    material_id=np.zeros(2, np.int64),
)


def surface(scene: RefScene, width: int, height: int) -> tuple[Array, Array, NDArray[np.int64]]:
    """Points (h * w, 3), normals that face the viewer, and the spheres that pixels show (or -1)."""
    origin, direction = camera_rays(scene.view, width, height)
    t, index = closest_hit(scene.centers, scene.radii, origin, direction)
    point = origin + np.where(index < 0, 0, t)[:, None] * direction
    normal = unit(point - scene.centers[index])
    return point, normal * -np.sign((normal * direction).sum(axis=1))[:, None], index


def seen_of_the_upper(
    width: int, height: int
) -> tuple[NDArray[np.bool_], NDArray[np.bool_], Array]:
    """Pixels of the lower ball that see the upper one whole, and not at all; its form factor."""
    point, normal, index = surface(TWO, width, height)
    away = TWO.centers[1] - point
    distance = np.linalg.norm(away, axis=1)
    rise = (away * normal).sum(axis=1)
    lower = index == 0
    form_factor = ABOVE**2 * rise / distance**3
    return lower & (rise > ABOVE * 1.001), lower & (rise < -ABOVE * 1.001), form_factor


def test_a_sphere_alone_is_not_occluded(backend: str) -> None:
    """It is convex: its own rays miss it."""
    scene = one_ball(View((0, 0, 5), (0, 0, 0), vertical_fov=26.0)).but(ambient=(0.5, 0.25, 1.0))
    plain = shoot(scene, 96, 64, backend=backend)
    found = shoot(scene, 96, 64, backend=backend, ao_samples=7, **AO)
    np.testing.assert_allclose(found, plain, rtol=1e-6)


def test_occlusion_by_a_sphere_above_the_horizon(backend: str) -> None:
    """The form factor of a sphere that is seen whole: (R / d)^2 cos(angle to the normal)."""
    width, height, rays = 160, 120, 256
    found = shoot(TWO, width, height, backend=backend, samples=8, ao_samples=rays // 8, **AO)
    whole, below, form_factor = seen_of_the_upper(width, height)
    share = form_factor[whole]
    assert whole.sum() > 500
    assert share.max() > 0.1
    error = 1 - found.reshape(-1, 4)[whole, 0] - share
    sigma = np.sqrt(share * (1 - share) / rays)
    assert (np.abs(error) < 6 * sigma + 1e-6).all()
    assert abs(error.sum()) < 4 * np.sqrt((sigma**2).sum()) + 1e-6 * len(error)
    np.testing.assert_allclose(found.reshape(-1, 4)[below, 0], 1, rtol=1e-6)


def test_rays_of_a_sample_are_as_even_as_those_of_samples(backend: str) -> None:
    """16 samples with 4 rays each have the error of 64 samples with one."""
    whole, _, form_factor = seen_of_the_upper(160, 120)
    share = 1 - form_factor[whole]

    def error(samples: int, rays: int) -> float:
        found = shoot(TWO, 160, 120, backend=backend, samples=samples, ao_samples=rays, **AO)
        return float(np.sqrt(np.square(found.reshape(-1, 4)[whole, 0] - share).mean()))

    assert error(16, 4) < 1.15 * error(64, 1)


def test_rays_of_bounded_length(backend: str) -> None:
    """Shorter than every gap they meet nothing; a scene in another unit has the same picture."""
    settings: dict[str, Any] = {"backend": backend, "samples": 4, "ao_samples": 16} | AO
    free = shoot(TWO, 40, 30, ao_distance=0.9 * GAP, **settings)
    _, _, index = surface(TWO, 40, 30)
    np.testing.assert_allclose(free.reshape(-1, 4)[index >= 0, 0], 1, rtol=1e-6)
    some = shoot(TWO, 40, 30, ao_distance=1.2 * GAP, **settings)
    every = shoot(TWO, 40, 30, ao_distance=1e30, **settings)
    assert every.sum() < some.sum() < free.sum()
    np.testing.assert_array_equal(every, shoot(TWO, 40, 30, **settings))
    view = View((0, -768, 128), (0, 0, 128), up=(0, 0, 1), vertical_fov=None, height=320)
    larger = TWO.but(centers=128 * TWO.centers, radii=128 * TWO.radii, view=view)
    far = shoot(larger, 40, 30, ao_distance=128 * 1.2 * GAP, **settings)
    np.testing.assert_array_equal(far, some)


def test_inside_a_sphere_the_sky_is_as_far_as_its_wall(backend: str) -> None:
    scene = one_ball(View((0.3, 0, 0), (1, 0, 0), vertical_fov=60.0))
    dark = shoot(scene, 24, 16, backend=backend, ao_samples=4, **AO)
    assert (dark[..., :3] == 0).all()
    assert (dark[..., 3] == 1).all()
    # A chord at an angle t to the inner normal is 2 cos(t) long: with rays of length 1 those of
    # cos(t) > 1/2 meet nothing, which are 3/4 by weight.
    near = shoot(scene, 24, 16, backend=backend, samples=16, ao_samples=64, ao_distance=1.0, **AO)
    assert near[..., 0].mean() == pytest.approx(0.75, abs=0.005)


def test_against_float64(backend: str) -> None:
    """Pictures of ambient light alone; a mirror shows occluded surfaces, too."""
    scene = random_scene(7, 250).but(lights=())
    width, height, rays = 48, 32, 64
    found = shoot(
        scene, width, height, backend=backend, samples=4, ao_samples=rays // 4, max_depth=0, **AO
    )
    plain = shoot(scene, width, height, backend=backend, max_depth=0)
    point, normal, index = surface(scene, width, height)
    hit = index >= 0
    share = (found / np.where(plain > 0, plain, 1)).reshape(-1, 4)[hit, 0].astype(np.float64)
    rng = np.random.default_rng(11)
    sphere = unit(rng.normal(size=(hit.sum(), rays, 3)))
    wi = unit(normal[hit][:, None] + sphere).reshape(-1, 3)
    origin = np.repeat(point[hit], rays, axis=0)
    skin = np.full(len(origin), 1e-9)
    blocked = occluded(scene.centers, scene.radii, origin, wi, np.full(len(wi), np.inf), skin)
    expected = 1 - blocked.reshape(-1, rays).mean(axis=1)
    sigma = np.sqrt(np.maximum(expected * (1 - expected), 1 / rays) * 2 / rays)
    assert 0.2 < expected.mean() < 0.9
    assert (np.abs(share - expected) < 6 * sigma).all()
    assert abs((share - expected).sum()) < 4 * np.sqrt((sigma**2).sum())
    shown = random_scene(7, 250, mirror=True).but(lights=())
    dark, bright = (shoot(shown, width, height, backend=backend, **k) for k in (AO, {}))
    assert dark[..., :3].mean() < bright[..., :3].mean()


def test_direct_light_is_that_of_direct(backend: str) -> None:
    scene = random_scene(7, 250, mirror=True).but(ambient=(0, 0, 0))
    plain = shoot(scene, 64, 48, backend=backend)
    np.testing.assert_array_equal(shoot(scene, 64, 48, backend=backend, **AO), plain)
