"""Small spheres on one that is a thousand to 10^17 times as large, by closed form.

Near the small spheres such a ground is a plane but for d^2 / 2R at the distance d, so that what
each pixel shows can be computed in float64 without the large numbers.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import _core
from reference import View, camera_rays
from reference.scene import unit

WIDTH, HEIGHT = 160, 120
VIEW = View((0.3, 3.0, 9.0), (0.0, 0.6, 0.0), vertical_fov=45.0)
SUN = unit((0.9, -1.0, -0.2))
PLACES = [(0.0, 0.0), (3.1, -1.2), (-2.6, 1.3), (0.4, -4.0), (-1.5, -2.5)]
SIZES = np.array([1.0, 0.7, 0.4, 0.9, 0.25])
Array = NDArray[np.float64]


@pytest.fixture(params=_core.isas())
def isa(request: pytest.FixtureRequest, default_isa: None) -> None:
    _core.use_isa(request.param)


def resting(ground: float, inside: bool) -> Array:
    """Centres of balls that touch the ground of that radius, from above."""
    place = np.array(PLACES)
    across = (place**2).sum(axis=1)
    # sqrt((R + s)^2 - d^2) - R, without the difference of large numbers
    size = -SIZES if inside else SIZES
    part = (2 * size * ground + size**2 - across) / ground**2
    height = ground * np.expm1(0.5 * np.log1p(part))
    return np.stack([place[:, 0], -height if inside else height, place[:, 1]], axis=1)


def scene_of(ground: float, inside: bool, mirror: float, place: Array, scale: float) -> Any:
    middle = np.array([[0.0, ground if inside else -ground, 0.0]])
    position, look_at = (tuple(np.array(p) * scale + place) for p in (VIEW.position, VIEW.look_at))
    return raytracer.Scene(
        spheres=[
            raytracer.SphereSet(resting(ground, inside) * scale + place, SIZES * scale, "white"),
            raytracer.SphereSet(middle * scale + place, ground * scale, "white", material="ground"),
        ],
        camera=raytracer.Camera(position=position, look_at=look_at, vertical_fov=45.0),
        # Inside no sun shines: a lamp that is as good as far away.
        lights=[
            raytracer.PointLight(position=tuple(-1e5 * scale * SUN + place))
            if inside
            else raytracer.DirectionalLight(direction=tuple(SUN))
        ],
        ambient=raytracer.Ambient(intensity=0.0),
        background=raytracer.Background(color="black"),
        materials={
            "default": raytracer.Material(ambient=0.0, diffuse=1.0, specular=0.0),
            "ground": raytracer.Material(
                ambient=0.0, diffuse=0.0 if mirror else 1.0, specular=0.0, mirror=mirror
            ),
        },
    )  # fmt: skip


def balls_hit(
    centers: Array, origin: Array, direction: Array
) -> tuple[Array, NDArray[np.int64], Array]:
    """Distance to the nearest ball (infinite without), its number, and how near an edge is."""
    away = centers[None] - origin[:, None]
    middle = (away * direction[:, None]).sum(axis=2)
    miss = np.linalg.norm(away - middle[..., None] * direction[:, None], axis=2)
    half = np.sqrt(np.maximum(SIZES**2 - miss**2, 0.0))
    distance = np.where((miss < SIZES) & (middle - half > 0), middle - half, np.inf)
    ahead = np.where(middle > -SIZES, np.abs(miss - SIZES), np.inf)
    return distance.min(axis=1), distance.argmin(axis=1), ahead.min(axis=1)


def expected(
    centers: Array, mirror: bool
) -> tuple[Array, NDArray[np.bool_], NDArray[np.int64], Array]:
    """Radiance of each pixel, whether it is far from every edge, the sphere and the distance."""
    origin, direction = camera_rays(VIEW, WIDTH, HEIGHT)
    origin = np.broadcast_to(origin, direction.shape)
    ball, number, edge = balls_hit(centers, origin, direction)
    floor = np.where(direction[:, 1] < 0, -origin[:, 1] / direction[:, 1], np.inf)
    sees_ball = ball < floor
    distance = np.minimum(ball, floor)
    point = origin + np.where(np.isfinite(distance), distance, 0.0)[:, None] * direction
    sure = (edge > 2e-3) & (np.abs(direction[:, 1]) > 0.02)

    def lambert(at: Array, of: NDArray[np.int64]) -> tuple[Array, NDArray[np.bool_]]:
        normal = (at - centers[of]) / SIZES[of, None]
        others, _, near = balls_hit(centers, at + 1e-6 * normal, np.broadcast_to(-SUN, at.shape))
        light = np.maximum(-(normal @ SUN), 0.0)
        # its own edge is the terminator, where the light vanishes anyway
        return np.where(np.isinf(others), light, 0.0), (near > 2e-3) | (light < 0.01)

    on_ball, ball_sure = lambert(point, number)
    if mirror:
        turned = direction * np.array([1.0, -1.0, 1.0])
        again, other, near = balls_hit(centers, point, turned)
        there = point + np.where(np.isfinite(again), again, 0.0)[:, None] * turned
        value, value_sure = lambert(there, other)
        on_floor = np.where(np.isfinite(again), value, 0.0)
        floor_sure = (near > 2e-3) & (value_sure | np.isinf(again))
    else:
        blocked, _, near = balls_hit(centers, point, np.broadcast_to(-SUN, point.shape))
        on_floor = np.where(np.isinf(blocked), -SUN[1], 0.0)
        floor_sure = near > 2e-3
    value = np.where(sees_ball, on_ball, np.where(np.isfinite(floor), on_floor, 0.0))
    sure &= np.where(sees_ball, ball_sure, floor_sure | np.isinf(floor))
    seen = np.where(sees_ball, number, np.where(np.isfinite(floor), len(SIZES), -1))
    return value, sure, seen, distance


def check(ground: float, inside: bool = False, mirror: float = 0.0,
          place: tuple[float, float, float] = (0, 0, 0), scale: float = 1.0) -> None:  # fmt: skip
    scene = scene_of(ground, inside, mirror, np.array(place, float), scale)
    image = raytracer.render(
        scene, width=WIDTH, height=HEIGHT, samples=1, filter="point", backend="cpu", max_depth=1,
        aovs=("id", "depth", "normal"),
    )  # fmt: skip
    centers = np.stack([*np.array(PLACES).T, SIZES], axis=1)[:, [0, 2, 1]]
    value, sure, seen, distance = expected(centers, mirror > 0)
    # Away from the middle the ground bends away from the plane.
    sure &= ~(distance**2 / (2 * ground) > 1e-3) | (seen < 0)
    if inside:
        sure &= seen >= 0  # above is the rest of the hollow ball
    assert sure.mean() > 0.55, "most pixels are far from every edge"
    picture = image.array[..., 0].ravel()
    wrong = sure & (np.abs(picture - value) > 0.02)
    assert not wrong.any(), f"{wrong.sum()} of {sure.sum()} pixels differ from the closed form"
    numbers = image.film.aovs["id"].ravel().astype(np.int64)
    met = sure & (seen >= 0)
    np.testing.assert_array_equal(numbers[met], seen[met])
    depth = image.film.aovs["depth"].ravel()[met] / scale
    assert np.abs(depth / distance[met] - 1).max() < 2e-3
    normal = image.film.aovs["normal"].reshape(-1, 3)[met & (seen == len(SIZES))]
    assert np.abs(normal - (0.0, 1.0, 0.0)).max() < 2e-3 + 30 / ground


@pytest.mark.parametrize("decade", [5, 6, 8, 10, 12, 17])
def test_shadows_and_specks_on_a_large_ball(isa: None, decade: int) -> None:
    check(10.0**decade)


@pytest.mark.parametrize("decade", [6, 8, 16])
def test_mirror_images_in_a_large_ball(isa: None, decade: int) -> None:
    check(10.0**decade, mirror=1.0)


@pytest.mark.parametrize("mirror", [0.0, 1.0])
@pytest.mark.parametrize("decade", [6, 16])
def test_the_floor_of_a_large_hollow_ball(isa: None, decade: int, mirror: float) -> None:
    check(10.0**decade, inside=True, mirror=mirror)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
def test_away_from_the_origin(scale: float) -> None:
    """Where float64 places the surface to 10^-16 of its coordinates."""
    check(1e8, place=(300.0 * scale, -20.0 * scale, 5.0 * scale), scale=scale)
