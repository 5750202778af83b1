"""Light adds up, however many lights there are; beyond eight the CPU shades them in groups."""

from dataclasses import replace

import numpy as np
import pytest

from raytracer import (
    Ambient,
    Background,
    DirectionalLight,
    Film,
    Material,
    PointLight,
    RenderSettings,
    Scene,
    SphereSet,
    _core,
    render,
)
from raytracer.backends.cpu import CpuDevice
from raytracer.scene.lights import Light
from raytracer.scene.packing.pack import pack


def lights(count: int) -> list[Light]:
    rng = np.random.default_rng(9)
    made: list[Light] = []
    for index in range(count):
        place = tuple(float(v) for v in rng.normal(size=3) * 6)
        made.append(PointLight(place) if index % 3 else DirectionalLight(place))
    return made


@pytest.mark.parametrize("shadows", [True, False])
@pytest.mark.parametrize("count", [8, 9, 17])
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


@pytest.mark.usefixtures("default_isa")
@pytest.mark.parametrize("isa", _core.isas())
@pytest.mark.parametrize("shadows", [True, False])
@pytest.mark.parametrize("count", [1, 8, 20])
def test_an_infinite_light_adds_nothing_where_it_does_not_arrive(
    isa: str, count: int, shadows: bool
) -> None:
    """Neither in a shadow nor behind a surface, seen at once or in a mirror: 0 * inf is NaN."""
    centers = np.random.default_rng(8).random((90, 3))
    scene = Scene(
        spheres=[SphereSet(centers, 0.08, material=Material(mirror=0.4))],
        lights=[DirectionalLight((0.3, -0.9, -0.2))] * count,
        ambient=Ambient(intensity=0.0),
        background=Background(transparent=True),
    )
    buffers = pack(scene, RenderSettings(width=90, height=60, shadows=shadows))

    def radiance(light: float) -> np.ndarray[tuple[int, ...], np.dtype[np.float32]]:
        lights = buffers.lights.copy()
        lights["color"] = light
        view = replace(buffers.view, lights=lights)
        device = CpuDevice(2)
        with device.scene(buffers) as made, device.film(Film.blank(90, 60)) as film:
            film.add(made, view, 2)
            return film.to_host().sums[..., :3].copy()

    _core.use_isa(isa)
    dim, bright = radiance(1.0), radiance(np.inf)
    assert 0.1 < (dim > 0).mean() < 0.9
    np.testing.assert_array_equal(bright, np.where(dim > 0, np.inf, 0.0))
