"""Capsules without length are the spheres that they become, to the bit."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.backends.cpu import CpuDevice
from raytracer.buffers import SceneBuffers
from raytracer.film.film import Film
from raytracer.scene.packing.pack import pack
from reference.scene import Array

WIDTH, HEIGHT = 96, 72


def sums(buffers: SceneBuffers) -> Array:
    device, film = CpuDevice(2), Film.blank(WIDTH, HEIGHT)
    with device.film(film) as made, device.scene(buffers) as placed:
        made.add(placed, buffers.view, 1)
    return np.asarray(film.sums)


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
    rng = np.random.default_rng(3)
    radii, colors = rng.uniform(0.05, 0.1, 400), rng.uniform(0.1, 1.0, (400, 3))
    scene = raytracer.Scene.from_arrays(
        rng.uniform(-1, 1, (400, 3)), radii, colors, material=material, ground=raytracer.Ground()
    )
    settings = scene.render.override(
        width=WIDTH, height=HEIGHT, samples=1, integrator=integrator, max_depth=5
    )
    buffers = pack(scene, settings)
    rest: dict[str, Any] = {
        "axis": np.zeros((150, 3), np.float32),
        "end_row": np.zeros(150, np.int32),
    }
    expected, found = sums(buffers), sums(replace(buffers, **rest).check())
    assert expected[..., 3].mean() > 0.2
    assert found.tobytes() == expected.tobytes()
