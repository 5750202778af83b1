"""Lights with an extent in polished metals and coats, with the integrators that trace no paths."""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import (
    Background,
    Camera,
    DirectionalLight,
    Material,
    PointLight,
    Principled,
    RectangleLight,
    Scene,
    SphereSet,
)
from raytracer.model.lights import Ambient
from reference.path_tracer import agree, estimate_of

CHROME = Principled(metallic=1.0, roughness=0.04)
SURFACES = {
    "chrome": CHROME,
    "satin": Principled(metallic=1.0, roughness=0.25),
    "lacquer": Principled(roughness=0.6, coat=1.0),
    "glass": Principled(transmission=1.0, roughness=0.2),
    "dull": Principled(metallic=1.0, roughness=0.7),
}
LIGHTS = {
    "sun": DirectionalLight((0.4, -1.0, -0.7), angle=14.0, intensity=0.75),
    "ball": PointLight((-2.5, 3.0, 3.0), radius=0.9, intensity=1.0),
    "window": RectangleLight(
        (2.0, 2.5, 2.0), (-2.0, -2.5, -2.0), intensity=3.0, width=1.6, height=2.4
    ),
}
BLACK = Material(ambient=0.0, diffuse=0.0, specular=0.0)


def scene(material: Any, *lights: Any) -> Scene:
    """A ball, with a black one between it and a part of the light."""
    return Scene(
        [
            SphereSet([(0, 0, 0)], 1.0, ["#e9e4d8"], material=material),
            SphereSet([(0.75, 1.4, 1.35)], 0.45, ["black"], material=BLACK),
        ],
        camera=Camera(position=(0, 0.6, 5.0), look_at=(0, 0.2, 0), vertical_fov=30.0),
        lights=lights,
        ambient=Ambient(intensity=0.0),
        background=Background(color="black"),
    )


def shoot(shown: Scene, side: int = 12, **settings: Any) -> NDArray[np.float32]:
    size = {"width": side, "height": side, "filter": "box"}
    return np.asarray(raytracer.render(shown, **{**size, **settings}).array[..., :3])


@pytest.mark.parametrize(
    ("name", "light"),
    [
        pytest.param(name, light, marks=() if (i + j) % 2 == 0 else pytest.mark.slow)
        for (i, name), (j, light) in product(enumerate(SURFACES), enumerate(LIGHTS))
    ],
)
def test_light_is_that_of_the_path_tracer(backend: str, name: str, light: str) -> None:
    """One light and its shadow: after a bounce `path` finds this light alone."""
    depth = 0 if name == "glass" else 1  # within glass it would find more
    shown = scene(SURFACES[name], LIGHTS[light])
    found = []
    for integrator, samples in (("direct", 64), ("path", 1024)):  # few paths find a coat's lobe
        pictures = [
            shoot(shown, samples=samples, integrator=integrator, seed=seed, backend=backend,
                  max_depth=depth)
            for seed in range(8)
        ]  # fmt: skip
        found.append(estimate_of(np.array(pictures)))
    agree(found[0], found[1], f"{name} under {light}", least=1e-2)
    assert found[0].mean.max() > 0.01


@pytest.mark.parametrize("integrator", ["direct", "ao"])
@pytest.mark.parametrize(("name", "noise"), [("chrome", 0.2), ("lacquer", 0.02)])
def test_a_light_is_seen_without_spikes(
    backend: str, integrator: str, name: str, noise: float
) -> None:
    """No pixel is brighter than the light, of which a mirror shows the radiance."""
    radiance = 0.75 / np.sin(np.radians(7.0)) ** 2
    shown = scene(SURFACES[name], LIGHTS["sun"])
    found = np.array([
        shoot(shown, 48, samples=16, integrator=integrator, seed=seed, backend=backend)
        for seed in range(4)
    ])  # fmt: skip
    assert found.max() < 1.2 * radiance
    if name == "chrome":
        assert found.max() > 0.5 * radiance
    assert np.sqrt(found.var(axis=0, ddof=1).mean()) < noise
