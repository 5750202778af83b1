"""Rectangles and disks that light a surface from near and far, against closed forms."""

from math import pi, sqrt
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import (
    Ambient,
    Background,
    Camera,
    DiskLight,
    Ground,
    Material,
    RectangleLight,
    Scene,
    SphereSet,
)
from reference.radiometry import polygon_irradiance
from reference.scene import unit

INTEGRATORS = ("direct", "ao", "path")
WHITE = Material(ambient=0.0, diffuse=1.0, specular=0.0)


def radiance(light: Any, integrator: str, backend: str = "cpu", **settings: Any) -> Any:
    """Radiance of a white plane around the origin that faces up, (4, 4); the ball does nothing."""
    scene = Scene(
        [SphereSet([[60, 1, 60]], 0.01)],
        Camera((0, 5, 0), (0, 0, 0), (0, 0, -1), type="orthographic", height=1e-5),
        lights=[light], ambient=Ambient(intensity=0.0), materials={"white": WHITE},
        background=Background("black", up=(0, 1, 0)),
        ground=Ground(height=0.0, color="white", material="white"),
    )  # fmt: skip
    image = raytracer.render(
        scene, width=4, height=4, integrator=integrator, backend=backend, **settings
    )
    return image.film.sums[..., 0] / settings["samples"]


@pytest.mark.parametrize("integrator", INTEGRATORS)
@pytest.mark.parametrize("kind", ["rectangle", "disk"])
def test_a_ceiling_close_above_a_surface(backend: str, kind: str, integrator: str) -> None:
    """It is all that the surface sees; sampled by area, a sample may be 300,000 times as bright."""
    place: dict[str, Any] = {"position": (0, 0.05, 0), "direction": (0, -1, 0)}
    light: Any = RectangleLight(width=50, height=50, **place)
    if kind == "disk":
        light = DiskLight(radius=25, **place)
    for seed in range(20):
        found = radiance(light, integrator, backend, samples=1024, seed=seed)
        assert np.abs(found - 1.0).max() < 0.02


def irradiance(corners: Any) -> float:
    """By a polygon that may reach below the horizon, as its part above."""
    above = []
    for a, b in zip(corners, np.roll(corners, -1, axis=0), strict=True):
        if a[1] >= 0:
            above.append(a)
        if (a[1] < 0) != (b[1] < 0):
            above.append(a + (b - a) * (a[1] / (a[1] - b[1])))
    return polygon_irradiance((0, 0, 0), (0, 1, 0), above) if above else 0.0


def random_light(number: int) -> tuple[Any, float]:
    """A light that faces the origin more or less, 0.01 to 100 sizes away, and what it gives."""
    rng = np.random.default_rng(number)
    size = 10 ** rng.uniform(-1, 1)
    towards = unit(np.abs(rng.normal(size=3)) * (1, 1, 1) + (0, 0.05, 0))
    position = towards * size * 10 ** rng.uniform(-2, 2)
    normal = unit(unit(0.6 * rng.normal(size=3)) * 0.5 - towards)
    across = unit(np.cross(normal, rng.normal(size=3)))
    along = np.cross(across, normal)
    radius, width = size / 2, size / 2 * 10 ** rng.uniform(-1, 0)
    place: dict[str, Any] = {"position": tuple(position), "direction": tuple(normal)}
    if number % 2:
        turn = np.linspace(0, 2 * pi, 20_000, endpoint=False)[:, None]
        edge = position + radius * (np.cos(turn) * across + np.sin(turn) * along)
        return DiskLight(radius=radius, **place), irradiance(edge) / pi
    signs = ((1, 1), (-1, 1), (-1, -1), (1, -1))
    corners = np.array([position + a * width * across + b * radius * along for a, b in signs])
    light = RectangleLight(width=2 * width, height=2 * radius, up=tuple(along), **place)
    return light, irradiance(corners) / pi


@pytest.mark.parametrize("number", range(40))
def test_lights_near_and_far(number: int) -> None:
    """All integrators agree with the closed form within the noise; in `path`, directions of the
    surface and of the light share what they find."""
    light, wanted = random_light(number)
    assert wanted > 0.0
    for integrator in INTEGRATORS:
        found = np.array([radiance(light, integrator, samples=64, seed=seed) for seed in range(2)])
        error = found.std() / sqrt(found.size)
        assert abs(found.mean() - wanted) < 5 * error + 3e-4 * wanted
        assert found.std() < 0.04 * max(wanted, 0.02)
