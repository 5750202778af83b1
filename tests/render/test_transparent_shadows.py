"""Light that passes straight through glass, and light that glass absorbs."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import Ambient, Background, Camera, DirectionalLight, Principled, Scene

LEAF = (0.9, 0.5, 0.1)  # linear


def shot(scene: Scene, backend: str, **settings: Any) -> NDArray[np.float64]:
    """Mean linear RGB of the middle of the picture."""
    image = raytracer.render(scene, backend=backend, **settings)
    return np.asarray(image.array[12:20, 12:20, :3].astype(np.float64).mean(axis=(0, 1)))


def covered(material: Any, color: str = "white") -> Scene:
    """A white floor below a ball that is out of the picture, under a light from above."""
    floor = raytracer.SphereSet(
        [(0, 0, -1000)], 1000, "white", material=raytracer.Material(specular=0)
    )
    ball = raytracer.SphereSet([(0, 0, 6)], 2.0, color, material=material)
    return Scene(
        spheres=(floor, ball),
        camera=Camera(position=(0, 0, 3), look_at=(0, 0, 0), up=(0, 1, 0), vertical_fov=10),
        lights=(DirectionalLight((0, 0, -1)),),
        ambient=Ambient(intensity=0.0),
        background=Background("black"),
        render=raytracer.RenderSettings(width=32, height=32, samples=64),
    )


@pytest.mark.parametrize("integrator", ["direct", "ao"])
def test_light_passes_straight_through_glass(backend: str, integrator: str) -> None:
    """By what two surfaces of index 1.5 do not reflect, (1 - 0.04)^2, times the luminance."""
    free = shot(covered(raytracer.Material(opacity=0.0)), backend, integrator=integrator)
    glass = Principled(transmission=1.0, roughness=0.0)
    assert shot(covered(glass), backend, integrator=integrator) == pytest.approx(
        0.96**2 * free, rel=0.02
    )
    dark = shot(covered(glass, "#808080"), backend, integrator=integrator)
    assert dark == pytest.approx(0.96**2 * ((0x80 / 255 + 0.055) / 1.055) ** 2.4 * free, rel=0.08)
    blocked = shot(covered(glass), backend, integrator=integrator, transparent_shadows=False)
    assert blocked.max() == 0.0
    assert shot(covered(Principled()), backend, integrator=integrator).max() == 0.0


def test_paths_bend_light_instead(backend: str) -> None:
    """With paths the setting changes nothing."""
    scene = covered(Principled(transmission=1.0, roughness=0.0))
    passed, blocked = (
        raytracer.render(
            scene, backend=backend, integrator="path", samples=4, transparent_shadows=passes
        ).array
        for passes in (True, False)
    )
    np.testing.assert_array_equal(passed, blocked)


@pytest.mark.parametrize("scale", [1.0, 1e4])
def test_glass_absorbs_by_the_length_of_the_way(backend: str, scale: float) -> None:
    """Through the middle of a ball of index 1 the colour is albedo^(2 radius / distance)."""
    distance = 0.7 * scale
    ball = raytracer.SphereSet(
        [(0, 0, 0)],
        scale,
        np.array([LEAF]),
        color_space="linear",
        material=Principled(
            transmission=1.0, roughness=0.0, ior=1.0, attenuation_distance=distance
        ),
    )
    scene = Scene(
        spheres=(ball,),
        camera=Camera(position=(0, 0, 500 * scale), look_at=(0, 0, 0), vertical_fov=0.01),
        lights=(),
        ambient=Ambient(intensity=0.0),
        background=Background("white"),
        render=raytracer.RenderSettings(width=32, height=32, samples=4, integrator="path"),
    )
    assert shot(scene, backend) == pytest.approx(np.array(LEAF) ** (2 / 0.7), rel=1e-3)
