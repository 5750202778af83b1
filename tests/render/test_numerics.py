"""Where float32 usually gives itself away: far, huge, inside, tangent and coincident spheres."""

import numpy as np
import pytest

from reference import Light, Material, RefScene, View, camera_rays, check_hits, check_lit
from reference.scene import unit
from support.closed_forms import ball_normals, edge_distance
from support.project import shoot
from support.scenes import KEY, one_ball

WIDTH, HEIGHT = 64, 48
DIFFUSE = (Material(ambient=0.0, diffuse=1.0),)
SUN = Light("directional", (-0.3, -0.5, -1.0))


def far_view(distance: float, ortho: bool) -> View:
    """A view from a slanting direction that the unit ball at the origin nearly fills."""
    position = tuple((unit((0.48, 0.6, 0.64)) * distance).tolist())
    fov = 2.4 * float(np.degrees(np.arcsin(1 / distance)))
    return View(position, (0, 0, 0), vertical_fov=None if ortho else fov, height=2.4)


@pytest.mark.parametrize("ortho", [False, True], ids=["telephoto", "orthographic"])
@pytest.mark.parametrize("distance", [10.0, 1_000.0, 10_000.0])
def test_no_ring_and_no_acne_far_away(backend: str, distance: float, ortho: bool) -> None:
    """Lambert's law holds on the whole disc, to the rounding of the place of each ray."""
    view = far_view(distance, ortho)
    scene = one_ball(view).but(materials=DIFFUSE, ambient=(0, 0, 0), lights=(SUN,))
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend)[..., 0]
    normal, _ = ball_normals(view, WIDTH, HEIGHT)
    expected = np.maximum(normal @ -unit(SUN.vector), 0).reshape(HEIGHT, WIDTH)
    # A ray's direction is rounded to 2^-24 in each component, a few times over.
    place = 6 * distance * 2.0**-24
    edge = edge_distance(view, WIDTH, HEIGHT, (0, 0, 0), 1.0)
    inside = edge < -max(2 * place, 1e-3)
    slope = place / np.sqrt(np.maximum(-edge, 1e-9)) + 1e-5
    assert inside.sum() > 0.4 * WIDTH * HEIGHT
    assert (np.abs(picture - expected)[inside] < slope[inside]).all()
    assert (picture[edge > 2 * place] == 0).all(), "nothing outside the outline"


@pytest.mark.parametrize("ortho", [False, True], ids=["perspective", "orthographic"])
@pytest.mark.parametrize("radius", [1e-4, 1e-5])
def test_no_tiny_sphere_vanishes(backend: str, radius: float, ortho: bool) -> None:
    """A grid of balls 10,000 radii away and more; the camera aims a pixel at each."""
    y, x = np.mgrid[0:HEIGHT, 0:WIDTH].reshape(2, -1) + 0.5
    view = View((0, 0, 0), (0, 0, -1), vertical_fov=None if ortho else 50.0, height=1.0)
    origin, direction = camera_rays(view, WIDTH, HEIGHT)
    pick = (x.astype(int) + 7 * y.astype(int)) % 11 == 0
    centers = (origin + direction)[pick]
    scene = RefScene(
        centers, np.full(len(centers), radius), view, ambient=(1, 1, 1), materials=(Material(),)
    )
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend)[..., 0].ravel()
    np.testing.assert_array_equal(picture == 1, pick)


def ground_scene(view: View, radius: float = 1000.0) -> RefScene:
    """Balls resting on a huge ball whose top touches the origin."""
    rng = np.random.default_rng(8)
    place = rng.uniform(-3, 3, (12, 2))
    size = rng.uniform(0.2, 0.5, 12)
    height = np.sqrt((radius + size) ** 2 - (place**2).sum(axis=1)) - radius
    return RefScene(
        centers=np.concatenate(
            [[[0, -radius, 0]], np.stack([place[:, 0], height, place[:, 1]], axis=1)]
        ),
        radii=np.concatenate([[radius], size]),
        view=view,
        lights=(KEY,),
        materials=DIFFUSE,
    )


def judged(scene: RefScene, backend: str) -> float:
    """Assert that each ray meets the right sphere and light; gives the share that is beyond doubt.

    Spheres are told by their levels of an ambient picture.
    """
    levels = np.linspace(0.25, 1, len(scene.radii))
    flat = scene.but(
        lights=(), ambient=(1, 1, 1), materials=(Material(),), colors=levels[:, None] * np.ones(3)
    )
    level = shoot(flat, WIDTH, HEIGHT, backend=backend)[..., 0].ravel()
    hit = np.where(level > 0, np.abs(level[:, None] - levels).argmin(axis=1), -1)
    rays = camera_rays(scene.view, WIDTH, HEIGHT)
    assert check_hits(scene.centers, scene.radii, *rays, hit).wrong.size == 0
    lit = shoot(scene, WIDTH, HEIGHT, backend=backend)[..., 0].ravel() > 0
    check = check_lit(scene.centers, scene.radii, *rays, hit, lit, scene.lights[0])
    assert check.wrongly_dark.size == check.wrongly_lit.size == 0
    return check.decided / int((hit >= 0).sum())


@pytest.mark.parametrize("radius", [100.0, 1000.0, 100_000.0])
def test_ground_ball_has_no_rings_and_no_acne(backend: str, radius: float) -> None:
    view = View((0.5, 2.0, 7.0), (0, 0.2, 0), vertical_fov=45.0)
    assert judged(ground_scene(view, radius), backend) > 0.5


@pytest.mark.parametrize("height", [0.01, 0.1, 1.7])
def test_empty_ground_is_evenly_lit_to_the_horizon(backend: str, height: float) -> None:
    view = View((0, height, 0), (0, height - 0.05, -1), vertical_fov=40.0)
    scene = one_ball(view, 1000.0).but(
        centers=np.array([[0.0, -1000.0, 0.0]]),
        materials=DIFFUSE,
        lights=(Light("directional", (0, -1, 0)),),
        ambient=(0, 0, 0),
    )
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend)[..., 0]
    ground = picture > 0
    assert 0.4 < ground.mean() < 0.7
    assert (np.diff(ground.astype(int), axis=0) >= 0).all(), "one horizon, no holes below it"
    assert (np.abs(picture[ground] - 1) < 0.05).all()


@pytest.mark.parametrize("scale", [1.0, 1000.0])
@pytest.mark.parametrize(
    ("light", "lit"),
    [
        (Light("point", (0.2, 0.3, 0.1)), True),
        (Light("point", (0.0, 0.0, 9.0)), False),
        (Light("directional", (0.3, -1.0, 0.2)), False),
    ],
    ids=["light inside", "light outside", "sun"],
)
def test_camera_inside_a_sphere(backend: str, light: Light, lit: bool, scale: float) -> None:
    view = View((0.1, -0.2, 0.3), (1, 0.5, 0.2), vertical_fov=100.0)
    scene = one_ball(view).but(lights=(light,), materials=DIFFUSE, ambient=(0, 0, 0)).moved(scale)
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend)
    assert ((picture[..., 0] > 0) == lit).all(), "the inner side, all of it"
    rays = camera_rays(scene.view, WIDTH, HEIGHT)
    hit = np.zeros(WIDTH * HEIGHT, np.int64)
    check = check_lit(
        scene.centers, scene.radii, *rays, hit, picture[..., 0].ravel() > 0, scene.lights[0]
    )
    assert check.wrongly_dark.size == check.wrongly_lit.size == 0
    assert check.decided == WIDTH * HEIGHT


def test_tangent_spheres(backend: str) -> None:
    """A row of touching balls, and one that touches another from within."""
    centers = np.array([[x, 0, 0] for x in (-2.0, 0.0, 2.0)] + [[0, 0, -0.5], [0.0, 2.0, 0.0]])
    radii = np.array([1.0, 1.0, 1.0, 0.5, 1.0])
    view = View((1.0, 2.5, 9.0), (0, 0.5, 0), vertical_fov=45.0)
    scene = RefScene(centers, radii, view, lights=(KEY,), materials=DIFFUSE)
    assert judged(scene, backend) > 0.98


@pytest.mark.parametrize("count", [2, 9, 300])
@pytest.mark.parametrize("place", [(0, 0, 0), (5.0, -3.0, 2.0)])
def test_duplicates_on_top_of_each_other_show_no_acne(
    backend: str, count: int, place: tuple[float, float, float]
) -> None:
    view = View((place[0] + 1.0, place[1] + 2.0, place[2] + 3.0), place, vertical_fov=34.0)
    single = RefScene(
        centers=np.array([place, (0.3, 0.7, -0.2)]),
        radii=np.array([1.0, 0.3]),
        view=view,
        lights=(KEY, Light("point", (4.0, 4.0, 4.0), intensity=0.5)),
        materials=DIFFUSE,
    )
    many = single.but(
        centers=np.concatenate([np.tile(place, (count, 1)), single.centers[1:]]),
        radii=np.append(np.ones(count), 0.3),
        colors=np.ones((1, 3)),
        material_id=np.zeros(1, np.int64),
    )
    one = shoot(single, WIDTH, HEIGHT, backend=backend)
    copies = shoot(many, WIDTH, HEIGHT, backend=backend)
    # The two scenes have different centres, so they are rounded differently.
    close = np.abs(one - copies).max(axis=-1) < 1e-4
    assert (~close).sum() <= 4, f"{(~close).sum()} pixels differ from the single sphere"


def test_mirrors_on_the_ground_do_not_see_their_own_surface(backend: str) -> None:
    """A mirror ball of radius 1000 under a white sky shows the sky everywhere."""
    view = View((0, 2.0, 5.0), (0, 0, 0), vertical_fov=40.0)
    scene = one_ball(view, 1000.0).but(
        centers=np.array([[0.0, -1000.0, 0.0]]),
        materials=(Material(0, 0, 0, 1, mirror=1.0),),
        bottom=(1.0, 1, 1),
        top=(1.0, 1, 1),
    )
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend)
    np.testing.assert_allclose(picture[..., :3], 1.0, atol=1e-6)


def test_a_light_touching_a_surface_gives_finite_pictures(backend: str) -> None:
    view = View((0, 0, 4), (0, 0, 0), vertical_fov=36.0)
    scene = one_ball(view).but(materials=DIFFUSE, ambient=(0, 0, 0))
    for height in (1.0, 1.0 + 1e-6, 1.0 - 1e-6, 0.0):
        light = Light("point", (0.0, 0.0, height), inverse_square=True)
        picture = shoot(scene.but(lights=(light,)), WIDTH + 1, HEIGHT + 1, backend=backend)
        assert np.isfinite(picture).all()


def test_mirrors_between_tangent_balls_stay_finite(backend: str) -> None:
    view = View((0.3, 0.4, 6.0), (0, 0, 0), vertical_fov=36.0)
    scene = RefScene(
        np.array([[-1.0, 0, 0], [1.0, 0, 0], [0, 1.7, 0]]),
        np.ones(3),
        view,
        lights=(KEY,),
        materials=(Material(0.2, 0.2, 0.5, 40.0, mirror=0.9),),
        ambient=(0.2, 0.2, 0.2),
        top=(0.3, 0.5, 0.9),
    )
    picture = shoot(scene, WIDTH, HEIGHT, backend=backend, max_depth=30)
    assert np.isfinite(picture).all()
    assert picture.max() < 10
