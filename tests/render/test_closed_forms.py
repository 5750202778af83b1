"""One sphere by formula: outline, terminator, highlight, and the shadow it casts."""

from typing import Literal

import numpy as np
import pytest

from reference import Light, Material, RefScene, View, camera_rays
from reference.scene import unit
from support.closed_forms import ball_normals, edge_distance
from support.project import shoot
from support.scenes import one_ball

WIDTH, HEIGHT = 96, 64


def outline_is_exact(view: View, backend: str, radius: float = 1.0, rounding: float = 1e-5) -> None:
    """Assert that the pixels covered are those whose ray passes inside the edge."""
    picture = shoot(one_ball(view, radius), WIDTH, HEIGHT, backend=backend)[..., 0]
    distance = edge_distance(view, WIDTH, HEIGHT, (0, 0, 0), radius)
    assert (distance < 0).sum() > 300, "the ball must fill a good part of the picture"
    assert (picture[distance < -rounding] == 1).all()
    assert (picture[distance > rounding] == 0).all()


@pytest.mark.parametrize("look_at", [(0, 0, 0), (-1.1, 0.9, 0.5)])
@pytest.mark.parametrize("distance", [1.6, 12.0])
def test_perspective_outline(
    backend: str, distance: float, look_at: tuple[float, float, float]
) -> None:
    fov = min(110.0, 5.0 * float(np.degrees(np.arcsin(1 / distance))))
    outline_is_exact(View((0, 0, distance), look_at, vertical_fov=fov), backend)


@pytest.mark.parametrize("distance", [0.0, 2.0, 1000.0])
def test_orthographic_outline_does_not_depend_on_distance(backend: str, distance: float) -> None:
    view = View((0.1, 0.2, distance + 1.5), (0.1, 0.2, 0), vertical_fov=None, height=2.5)
    outline_is_exact(view, backend, rounding=1e-5 + 4e-7 * distance)


@pytest.mark.parametrize("kind", ["directional", "point"])
def test_terminator(backend: str, kind: Literal["directional", "point"]) -> None:
    """The great circle that faces a light far away, or the tangent cone of a near one."""
    view = View((0, 0, 5), (0, 0, 0), vertical_fov=26.0)
    towards = np.array([1.5, 0.5, 0.8]) if kind == "point" else unit((1.0, 0.4, 0.3))
    light = Light(kind, tuple((towards if kind == "point" else -towards).tolist()))
    scene = one_ball(view).but(ambient=(0, 0, 0), lights=(light,))
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend)[..., 0].ravel()
    normal, power = ball_normals(view, WIDTH, HEIGHT)
    hit = power > 1e-4
    # A point of the unit sphere sees the near light where its plane does: n . light > 1.
    facing = normal @ towards - (kind == "point")
    assert (picture[hit & (facing < -1e-5)] == 0).all(), "the night side is dark"
    assert (picture[hit & (facing > 1e-5)] > 0).all(), "no acne on the day side"
    if kind == "directional":
        np.testing.assert_allclose(picture[hit], np.maximum(facing[hit], 0), atol=2e-5)


def test_the_highlight_lies_where_the_normal_halves_the_angle(backend: str) -> None:
    view = View((0, 0, 400), (0, 0, 0), vertical_fov=0.3)
    towards = unit((0.6, 0.5, 0.7))
    scene = one_ball(view).but(
        ambient=(0, 0, 0),
        lights=(Light("directional", tuple((-towards).tolist())),),
        materials=(Material(diffuse=0.0, specular=0.8, shininess=60.0),),
    )
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend)[..., 0]
    half = unit(towards + np.array([0.0, 0.0, 1.0]))
    weight = picture.astype(np.float64) / picture.sum()
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH] + 0.5
    scale = 2 * 400 * np.tan(np.radians(0.15)) / HEIGHT
    assert picture.max() == pytest.approx(0.8, abs=0.03)
    assert (weight * (x - WIDTH / 2)).sum() * scale == pytest.approx(half[0], abs=0.02)
    assert (weight * (HEIGHT / 2 - y)).sum() * scale == pytest.approx(half[1], abs=0.02)


def test_a_mirror_keeps_its_highlight(backend: str) -> None:
    view = View((0, 0, 400), (0, 0, 0), vertical_fov=0.3)
    light = Light("directional", (-0.6, -0.5, -0.7))

    def shown(mirror: float, diffuse: float, specular: float) -> np.ndarray:
        scene = one_ball(view).but(
            ambient=(0, 0, 0),
            lights=(light,),
            materials=(
                Material(diffuse=diffuse, specular=specular, shininess=60.0, mirror=mirror),
            ),
        )
        return shoot(scene, WIDTH, HEIGHT, backend=backend)[..., 0]

    assert shown(1.0, 0.0, 0.8).max() > 0.75
    np.testing.assert_array_equal(shown(1.0, 0.0, 0.8), shown(0.0, 0.0, 0.8))
    np.testing.assert_array_equal(shown(0.75, 1.0, 0.0), 0.25 * shown(0.0, 1.0, 0.0))


def test_reflections_stay_in_place_when_the_camera_rolls(backend: str) -> None:
    """A mirror ball seen from straight above: the sky about the scene's x axis."""
    scene = one_ball(View((0, 9, 0), (0, 0, 0), (0, 0, -1), vertical_fov=16.0)).but(
        ambient=(0, 0, 0),
        bottom=(0.0, 0.0, 1.0),
        top=(1.0, 0.5, 0.0),
        materials=(Material(diffuse=0.0, mirror=1.0),),
        world_up=(1.0, 0.0, 0.0),
    )
    rolled = scene.but(view=View((0, 9, 0), (0, 0, 0), (1, 0, 0), vertical_fov=16.0))
    picture, turned = (shoot(s, 64, 64, backend=backend) for s in (scene, rolled))
    ball = picture[16:48, 16:48]
    np.testing.assert_allclose(np.rot90(ball), turned[16:48, 16:48], atol=2e-4)
    assert ball[16, 30, 0] > 0.9
    assert ball[16, 1, 0] < 0.1


@pytest.mark.parametrize("kind", ["directional", "point"])
def test_shadow_of_a_ball_on_a_huge_ground(backend: str, kind: str) -> None:
    """On a ground of radius 1000 a point is dark where its way to the light meets the ball."""
    ground = np.array([0.0, -1000.0, 0.0])
    ball = np.array([0.0, 1.0, 0.0])
    lamp = np.array([2.0, 6.0, 1.5])
    view = View((0, 14, 0.01), (0, 0, 0), (0, 0, -1), vertical_fov=40.0)
    light = (
        Light("point", tuple(lamp.tolist()))
        if kind == "point"
        else Light("directional", (-2.0, -6.0, -1.5))
    )
    scene = RefScene(
        centers=np.stack([ground, ball]),
        radii=np.array([1000.0, 0.75]),
        view=view,
        colors=np.array([[1.0, 1, 1], [1, 0, 0]]),
        lights=(light,),
        materials=(Material(ambient=0.0),),
    )
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend).reshape(-1, 4)
    origin, direction = camera_rays(view, WIDTH, HEIGHT)
    away = ground - origin
    middle = (away * direction).sum(axis=1)
    side = away - middle[:, None] * direction
    point = origin + direction * (middle - np.sqrt(1000.0**2 - (side**2).sum(axis=1)))[:, None]
    to_light = unit(lamp - point) if kind == "point" else np.broadcast_to(unit(lamp), point.shape)
    miss = np.linalg.norm(np.cross(ball - point, to_light), axis=1) - 0.75
    seen = np.linalg.norm(np.cross(ball - origin, direction), axis=1) > 0.76
    dark, bright = seen & (miss < -2e-3), seen & (miss > 2e-3)
    assert dark.sum() > 10
    assert bright.sum() > 2000
    assert (picture[dark, :3] == 0).all(), "the ball's shadow"
    assert (picture[bright, :3] > 0.2).all(), "the ground around it, without rings or acne"
