"""What Phong's model reflects of light that comes from all sides, in closed form."""

import numpy as np
import pytest

import raytracer
from raytracer import Ambient, Background, Camera, DirectionalLight, Material, Scene, SphereSet

LIGHTS = 1500


def reflected(material: Material) -> float:
    """Return the light that a white plane sends upwards, under even light of 1 from above."""
    number = np.arange(LIGHTS) + 0.5
    height, turn = number / LIGHTS, np.pi * (1 + 5**0.5) * number
    across = np.sqrt(1 - height**2)
    lights = [
        DirectionalLight((-float(x), -float(y), -float(z)), intensity=2 / LIGHTS)
        for x, y, z in zip(across * np.cos(turn), across * np.sin(turn), height, strict=True)
    ]
    plane = SphereSet([(0.0, 0.0, -1000.0)], 1000.0, ["white"], material=material)
    scene = Scene(
        [plane],
        lights=lights,
        camera=Camera((0, 0, 10), (0, 0, 0), up=(0, 1, 0), vertical_fov=0.01),
        background=Background("black"),
        ambient=Ambient(intensity=0.0),
    )
    picture = raytracer.render(scene, width=2, height=2, samples=1, backend="cpu")
    return float(np.asarray(picture.array)[..., :3].mean())


@pytest.mark.parametrize(
    ("diffuse", "specular", "shininess"),
    [(0.9, 0.1, 40.0), (0.8, 0.8, 300.0), (0.9, 0.5, 5.0), (0.5, 1.0, 1.0)],
)
def test_the_highlight_adds_to_the_diffuse_part(
    diffuse: float, specular: float, shininess: float
) -> None:
    material = Material(ambient=0.0, diffuse=diffuse, specular=specular, shininess=shininess)
    expected = diffuse + 2 * specular / (shininess + 1)
    assert reflected(material) == pytest.approx(expected, abs=2e-4)
