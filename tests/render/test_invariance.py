"""The whole scene scaled or moved gives the same picture."""

import numpy as np
import pytest

from reference import RefScene, render_bounds
from support.pictures import Bench
from support.project import shoot
from support.scenes import random_scene

SIZE = (72, 48)


@pytest.fixture(params=[False, True], ids=["perspective", "orthographic"])
def scene(request: pytest.FixtureRequest) -> RefScene:
    """Balls with shadows, highlights and mirrors under all kinds of light."""
    return random_scene(31, 60, mirror=True, ortho=bool(request.param))


@pytest.mark.parametrize("scale", [2.0**-20, 2.0**-3, 2.0**20])
def test_powers_of_two_change_no_bit(backend: str, scene: RefScene, scale: float) -> None:
    plain = shoot(scene, *SIZE, backend=backend)
    np.testing.assert_array_equal(shoot(scene.moved(scale), *SIZE, backend=backend), plain)


@pytest.mark.parametrize(
    ("scale", "offset"),
    [
        *((scale, (0, 0, 0)) for scale in (1e-6, 0.37, 1e6)),
        # Float64 keeps 1e-10 of a scene moved by 1e6, and 1e-7 of one moved by 1e9.
        *((1.0, offset) for offset in ((1e6, 0, 0), (-1e6, 1e6, 1e6), (0, 0, 1e9))),
        (1e-6, (1.0, -2.0, 3.0)),
    ],
)
def test_scale_and_offset(
    backend: str, scene: RefScene, pictures: Bench, scale: float, offset: tuple[float, ...]
) -> None:
    picture = shoot(scene.moved(scale, offset), *SIZE, backend=backend)
    pictures.within(render_bounds(scene, *SIZE), picture)


def test_a_giant_does_not_spoil_the_origin(backend: str, pictures: Bench) -> None:
    """A ball a million times as large, far behind the camera, changes nothing."""
    scene = random_scene(32, 60).but(lights=())
    with_giant = scene.but(
        centers=np.concatenate([scene.centers, [[3e6, 2e6, 5e6]]]),
        radii=np.append(scene.radii, 1e6),
        colors=np.concatenate([scene.colors, [[1.0, 0, 0]]]),
        material_id=np.append(scene.material_id, 0),
    )
    picture = shoot(with_giant, *SIZE, backend=backend)
    pictures.within(render_bounds(scene, *SIZE), picture)


def test_the_order_of_the_spheres_does_not_matter(backend: str, pictures: Bench) -> None:
    scene = random_scene(33, 200, mirror=True)
    shuffle = np.random.default_rng(0).permutation(200)
    shuffled = scene.but(
        centers=scene.centers[shuffle],
        radii=scene.radii[shuffle],
        colors=scene.colors[shuffle],
        material_id=scene.material_id[shuffle],
    )
    pictures.agree(
        shoot(scene, *SIZE, backend=backend), shoot(shuffled, *SIZE, backend=backend), tolerance=0.0
    )
