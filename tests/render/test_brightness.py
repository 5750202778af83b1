"""Brightness "auto", and the light of any number of lights, which adds up."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
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
from raytracer.backends.base import CpuDevice
from raytracer.film.image import Image
from raytracer.model.lights import Light
from raytracer.packing.pack import pack
from raytracer.rendering.brightness import MAX_FACTOR, MAX_LIGHT, STEPS, TARGET
from raytracer.rendering.pipeline import prepare

SIZE: dict[str, Any] = {"width": 96, "height": 72, "samples": 8}
GOLD = "#ffd123"


def lattice(side: int = 8) -> NDArray[np.float64]:
    return np.stack(np.meshgrid(*[np.arange(float(side))] * 3), -1).reshape(-1, 3)


def crystal(color: str = GOLD, **scene: Any) -> Scene:
    made: dict[str, Any] = {"render": RenderSettings.of_particles(), **scene}
    return Scene.from_arrays(lattice(), 0.42, color, background=Background.of_particles(), **made)


def factor(scene: Any, **settings: Any) -> float:
    with prepare(scene, {**SIZE, **settings}, backend="cpu") as job:
        assert isinstance(job.settings.brightness, float)
        return job.settings.brightness


def light_of(image: Image) -> float:
    """Return the light of the spheres, relative to that of their full colours."""
    sums = image.film.sums.astype(float) / image.film.samples
    backdrop = image.film.backdrop
    assert backdrop is not None
    height = (np.arange(len(sums), 0, -1) - 0.5)[:, None, None] / len(sums)
    behind = np.array(backdrop.bottom) * (1 - height) + np.array(backdrop.top) * height
    light = sums[..., :3] - (1 - sums[..., 3:]) * behind
    return float(light.sum() / np.asarray(image.film.aovs["albedo"], float).sum())


def test_a_dense_crystal_becomes_as_bright_as_its_colour() -> None:
    dull = raytracer.render(crystal(), backend="cpu", brightness=1.0, aovs=["albedo"], **SIZE)
    image = raytracer.render(crystal(), backend="cpu", aovs=["albedo"], **SIZE)
    found = image.metadata["settings"]["brightness"]
    assert 1.0 < found <= MAX_FACTOR
    assert found * STEPS == round(found * STEPS)
    assert light_of(image) / light_of(dull) == pytest.approx(found, rel=0.02)
    assert light_of(dull) < 0.9 * TARGET


@pytest.mark.parametrize("color", ["white", "red", "blue", GOLD])
def test_no_channel_of_a_crystal_is_clipped(color: str) -> None:
    image = raytracer.render(crystal(color), backend="cpu", **SIZE)
    covered = image.film.sums[..., 3] == image.film.samples
    brightest = image.film.sums[covered][:, :3].max(axis=1) / image.film.samples
    assert np.percentile(brightest, 95) < MAX_LIGHT * 1.05


def test_a_single_sphere_is_as_bright_as_the_look_says() -> None:
    one = Scene.from_arrays([[0.0, 0.0, 0.0]], 1.0, "white", render=RenderSettings.of_particles())
    assert factor(one) < 1.1


def test_a_stated_brightness_is_a_factor_of_all_lights() -> None:
    films = [
        raytracer.render(
            crystal(), backend="cpu", brightness=each, background="black", **SIZE
        ).film.sums[..., :3]
        for each in (1.0, 2.0)
    ]
    np.testing.assert_allclose(films[1], 2.0 * films[0], rtol=1e-5)


@pytest.mark.parametrize(
    "stated",
    [
        {"ambient": Ambient()},
        {"lights": [DirectionalLight((0, 0, -1))]},
        {"render": RenderSettings(look="soft")},
    ],
)
def test_stated_lights_and_scene_files_are_not_measured(stated: dict[str, Any]) -> None:
    assert factor(crystal(**stated)) == 1.0


@pytest.mark.parametrize(
    "given", [{"look": "studio"}, {"shading": "flat"}, {"integrator": "path"}, {"brightness": 1.0}]
)
def test_a_call_that_states_the_light_has_it_as_it_is(given: dict[str, Any]) -> None:
    assert factor(crystal(), **given) == 1.0


def test_samples_can_be_added_to_a_film_with_measured_light() -> None:
    first = raytracer.render(crystal(), backend="cpu", **{**SIZE, "samples": 3})
    both = raytracer.render(crystal(), backend="cpu", film=first.film, **{**SIZE, "samples": 5})
    whole = raytracer.render(crystal(), backend="cpu", **SIZE)
    np.testing.assert_array_equal(both.film.sums, whole.film.sums)


def test_frames_of_a_movie_have_the_light_of_the_first(tmp_path: Path) -> None:
    path = tmp_path / "a.xyz"
    head = "512\n\n"
    rows = [
        head + "".join(f"Au {x} {y} {z}\n" for x, y, z in lattice() * each) for each in (2.7, 9.0)
    ]
    path.write_text("".join(rows))
    frames = list(raytracer.animate(path, backend="cpu", **SIZE))
    found = {image.metadata["settings"]["brightness"] for image in frames}
    assert len(found) == 1
    assert found != {"auto"}
    assert factor(raytracer.load(path, 0)) != factor(raytracer.load(path, 1))


@pytest.mark.gpu
def test_devices_measure_the_same(cuda: str) -> None:
    found = []
    for backend in ("cpu", cuda):
        with prepare(crystal(), dict(SIZE), backend=backend) as job:
            found.append(job.settings.brightness)
    assert found[0] == found[1]


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
        lights = buffers.view.lights.copy()
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
