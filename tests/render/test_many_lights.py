"""Light adds up, however many lights there are; beyond eight the CPU shades them in groups."""

from __future__ import annotations

import numpy as np
import pytest

from raytracer import Ambient, DirectionalLight, Material, PointLight, Scene, SphereSet, render
from raytracer.scene.scene import Light


def lights(count: int) -> list[Light]:
    rng = np.random.default_rng(9)
    made: list[Light] = []
    for index in range(count):
        place = tuple(float(v) for v in rng.normal(size=3) * 6)
        made.append(PointLight(place) if index % 3 else DirectionalLight(place))
    return made


@pytest.mark.parametrize("shadows", [True, False])
@pytest.mark.parametrize("count", [7, 8, 9, 17])
def test_the_picture_is_the_sum_of_its_lights(backend: str, count: int, shadows: bool) -> None:
    rng = np.random.default_rng(8)
    centers, colors = rng.random((90, 3)), rng.random((90, 3))
    spheres = [SphereSet(centers, 0.08, colors, material=Material(mirror=0.4))]

    def picture(some: list[Light]) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        scene = Scene(spheres=spheres, lights=some, ambient=Ambient(intensity=0.0))
        made = render(
            scene, width=90, height=60, samples=2, shadows=shadows, backend=backend, threads=2
        )
        return made.film.sums[..., :3]

    black = picture([])
    apart = black + sum((picture([light]) - black) for light in lights(count))
    np.testing.assert_allclose(picture(lights(count)), apart, rtol=1e-4, atol=1e-4)
