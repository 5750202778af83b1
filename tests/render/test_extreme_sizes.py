"""Glass on a ground, and small balls beside huge ones, in closed form.

A white sky, white surfaces and clear glass: whatever the geometry, the radiance is 1, unless a
surface is placed wrongly or a ray starts on its wrong side.
"""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer import Ambient, Background, Camera, Ground, Material, Principled, Scene, SphereSet
from raytracer.model.colors import srgb_to_linear
from reference.radiometry import sphere_irradiance

WHITE = Material(ambient=1.0, diffuse=1.0, specular=0.0)
BLACK = Material(ambient=0.0, diffuse=0.0, specular=0.0)
VIEW = Camera(position=(0.3, 3.0, 9.0), look_at=(0.0, 0.6, 0.0), vertical_fov=45.0)


def means(shown: Scene, **options: Any) -> NDArray[np.float64]:
    """Radiance and coverage, float64 (h, w, 4), of a small picture."""
    settings: dict[str, Any] = {"width": 32, "height": 24, "max_depth": 64} | options
    film = raytracer.render(shown, **settings).film
    return np.asarray(film.sums, np.float64) / int(settings["samples"])


def glass_over_ground(radius: float, roughness: float, balls: bool, sky: float = 1.0) -> Scene:
    """The top of a ball of glass at height 0, a ground 2 below it."""
    sets = [SphereSet([[0.0, -radius, 0.0]], radius, "white", material="glass")]
    if balls:
        sets.append(
            SphereSet([[0.0, 1.0, 0.0], [2.0, 0.5, 0.0]], [1.0, 0.5], "white", material="white")
        )
    return Scene(
        sets,
        ground=Ground(height=-2.0, color="white", material="white"),
        camera=VIEW,
        lights=(raytracer.DirectionalLight((0.9, -1.0, -0.2)),) if sky == 0.0 else (),
        ambient=Ambient(intensity=sky),
        background=Background(transparent=True, up=(0, 1, 0)),
        materials={
            "glass": Principled(transmission=1.0, roughness=roughness, specular=0.5),
            "white": WHITE,
        },
    )


@pytest.mark.parametrize("roughness", [0.0, 0.5])
@pytest.mark.parametrize("decade", [2, 5, 7, 10])
def test_glass_of_any_size_over_a_ground(backend: str, decade: int, roughness: float) -> None:
    shown = glass_over_ground(10.0**decade, roughness, balls=True)
    found = means(shown, samples=64, integrator="path", backend=backend)
    assert np.isfinite(found).all()
    covered = found[..., 3] == 1.0
    assert covered.mean() > 0.5
    assert found[covered][:, :3].mean() == pytest.approx(1.0, abs=0.01)


@pytest.mark.parametrize("decade", [6, 8, 10])
def test_light_lost_in_glass_of_any_size(backend: str, decade: int) -> None:
    """A ground under a layer of depth 2 that bends nothing, seen from straight above.

    Of a white sky it gets 2 E3(2 a), a: absorption per length; e^-2a of that comes back.
    """
    radius = 10.0**decade
    share = float(srgb_to_linear((0.75, 0.75, 0.75))[0])
    lossy = Principled(transmission=1.0, roughness=0.0, ior=1.0, attenuation_distance=1.0)
    shown = Scene(
        [SphereSet([[0.0, -radius, 0.0]], radius, [[0.75] * 3], material="lossy"),
         SphereSet([[0.0, -5.0, 0.0]], 1.0, "white", material="white")],
        ground=Ground(height=-2.0, color="white", material="white"),
        camera=Camera(type="orthographic", position=(0, 9, 0), look_at=(0, 0, 0), up=(0, 0, -1),
                      height=1.0),
        lights=(),
        ambient=Ambient(intensity=1.0),
        background=Background(color="black", up=(0, 1, 0)),
        materials={"lossy": lossy, "white": WHITE},
    )  # fmt: skip
    cosine = (np.arange(10_000) + 0.5) / 10_000
    passes = float(np.mean(2 * cosine * share ** (2 / cosine)))
    found = means(shown, samples=64, integrator="path", backend=backend)[..., :3]
    assert found.mean() == pytest.approx(share**2 * passes, rel=0.01)


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
@pytest.mark.parametrize("balls", [False, True])
@pytest.mark.parametrize("decade", [2, 6, 10])
def test_every_sample_is_a_number(backend: str, decade: int, balls: bool, integrator: str) -> None:
    """Without balls the ground is too near the glass to be told from it."""
    shown = glass_over_ground(10.0**decade, 0.5, balls, sky=0.0)
    found = means(shown, samples=32, integrator=integrator, backend=backend)
    assert np.isfinite(found).all()


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
def test_a_millionth_beside_a_million(backend: str, integrator: str) -> None:
    """A black ball of radius 1e-6 above a white one of radius 1e6.

    The sky is that of the form factor of a ball, the sun's shadow an ellipse.
    """
    unit, height, side = 1e-6, 1.6, 16
    direct = integrator == "direct"
    shown = Scene(
        [SphereSet([[0.0, height * unit, 0.0]], unit, material="black"),
         SphereSet([[0.0, -1e6, 0.0]], 1e6, "white", material="white")],
        camera=Camera(type="orthographic", position=(0, 9 * unit, 0), look_at=(0, 0, 0),
                      up=(0, 0, -1), height=8.0 * unit),
        lights=(raytracer.DirectionalLight((1, -1, 0), intensity=1.0),) if direct else (),
        ambient=Ambient(intensity=0.0 if direct else 1.0),
        background=Background(color="black", up=(0, 1, 0)),
        materials={"white": WHITE, "black": BLACK},
    )  # fmt: skip
    found = means(shown, width=side, height=side, filter="point", samples=1 if direct else 512,
                  integrator=integrator, backend=backend)[..., 0]  # fmt: skip
    line = (np.arange(side) + 0.5) / side * 8 - 4
    x, z = np.meshgrid(line, line)
    beside = np.hypot(x, z)
    distance = np.hypot(beside, height)
    ground = beside > 1.05
    assert (found[beside < 0.95] == 0).all()
    if direct:
        across = np.hypot((x - height) / np.sqrt(2), z)
        sure = ground & (np.abs(across - 1) > 0.05)
        wanted = np.where(across < 1, 0.0, np.sqrt(0.5))
        np.testing.assert_allclose(found[sure], wanted[sure], atol=1e-5)
        return
    wanted = 1.0 - sphere_irradiance(height / distance, distance, 1.0) / np.pi
    error = (found - wanted)[ground]
    assert np.abs(error).max() < 0.09
    assert abs(error.mean()) < 2e-3
