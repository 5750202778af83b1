"""Pictures of capsules, against float64 and against the spheres that they become without length."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.backends.cpu import CpuDevice
from raytracer.buffers import SceneBuffers
from raytracer.film.film import Film
from raytracer.scene.packing.pack import pack
from raytracer.scene.solids import CapsuleSet
from reference.scene import Array, unit
from support.scenes import on_grid

WIDTH, HEIGHT = 96, 72
EYE = (2.5, 1.75, 3.5)
LAMP = unit((1.0, 2.0, 1.5))


def colored(rng: np.random.Generator, count: int) -> Array:
    return np.asarray(rng.uniform(0.1, 1.0, (count, 3)))


def rods(count: int, thin: float = 0.02, seed: int = 2) -> dict[str, Any]:
    """Starts, ends, radii and colours of capsules in a box of two units."""
    rng = np.random.default_rng(seed)
    starts = on_grid(rng.uniform(-1, 1, (count, 3)))
    return {
        "starts": starts,
        "ends": starts + on_grid(rng.normal(size=(count, 3)) * 0.3),
        "radius": np.maximum(on_grid(rng.uniform(0.5, 2, count) * thin), 2.0**-10),
        "color": colored(rng, count),
        "end_color": colored(rng, count),
    }


def balls(count: int) -> raytracer.SphereSet:
    rng = np.random.default_rng(3)
    return raytracer.SphereSet(
        on_grid(rng.uniform(-1, 1, (count, 3))),
        on_grid(rng.uniform(0.05, 0.1, count)),
        colored(rng, count),
        color_space="linear",
    )


def scene(count: int = 300, spheres: int = 40, **changes: Any) -> raytracer.Scene:
    made = CapsuleSet(**rods(count), color_space="linear")
    return raytracer.Scene(
        spheres=[balls(spheres)] if spheres else [],
        capsules=[made],
        camera=raytracer.Camera(position=EYE, look_at=(0, 0, 0), vertical_fov=40),
        lights=[raytracer.DirectionalLight(tuple(-LAMP))],
        ambient=raytracer.Ambient(intensity=0.0),
        materials={"default": raytracer.Material(ambient=0, diffuse=1, specular=0)},
        **changes,
    )


def render(scene: raytracer.Scene, **settings: Any) -> Any:
    options: dict[str, Any] = {"width": WIDTH, "height": HEIGHT, "samples": 1, "backend": "cpu"}
    return raytracer.render(scene, **options | settings)


def film_of(buffers: SceneBuffers) -> Array:
    device, film = CpuDevice(2), Film.blank(WIDTH, HEIGHT)
    with device.film(film) as made, device.scene(buffers) as placed:
        made.add(placed, buffers.view, 1)
    return np.asarray(film.sums.copy())


@pytest.mark.parametrize(
    ("integrator", "material"),
    [
        ("direct", raytracer.Material(mirror=0.5)),
        ("ao", raytracer.Material()),
        ("path", raytracer.Principled(transmission=1.0)),
        ("path", raytracer.Principled(emission=1.0)),
    ],
)
def test_capsules_without_length_are_spheres_to_the_bit(integrator: str, material: Any) -> None:
    spheres = balls(400)
    spheres.material = material
    made = replace(scene(1, 0), spheres=[spheres], capsules=(), ground=raytracer.Ground())
    settings = made.render.override(
        width=WIDTH, height=HEIGHT, samples=1, integrator=integrator, max_depth=5
    )
    buffers = pack(made, settings)
    rest: dict[str, Any] = {
        "axis": np.zeros((150, 3), np.float32),
        "end_row": np.zeros(150, np.int32),
    }
    expected, found = film_of(buffers), film_of(replace(buffers, **rest).check())
    assert expected[..., 3].mean() > 0.2
    assert found.tobytes() == expected.tobytes()
