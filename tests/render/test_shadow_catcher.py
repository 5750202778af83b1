"""A ground of which shadows alone are seen: alpha in closed form, with each integrator."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image as Pillow

import raytracer
from raytracer import (
    Background,
    Camera,
    DirectionalLight,
    Ground,
    Material,
    Principled,
    Scene,
    SphereSet,
)
from raytracer.scene.colors import parse_color, srgb_to_linear
from raytracer.scene.environment import Environment
from raytracer.scene.lights import Ambient
from reference.radiometry import sphere_irradiance

MATT = Material(ambient=1.0, diffuse=1.0, specular=0.0)
SIDE = 16
HEIGHT = 1.6
"""Of the middle of the ball above the ground."""

Pixels = NDArray[np.float32]


def scene(**parts: Any) -> Scene:
    """A unit ball above the ground, from straight above, 8 units wide."""
    ball = SphereSet([(0, HEIGHT, 0)], 1.0, ["#808080"], material=MATT)
    camera = Camera(
        type="orthographic", position=(0, 9, 0), look_at=(0, 0, 0), up=(0, 0, -1), height=8.0
    )
    ground = Ground(height=0.0, color="#c04020", material="matt", shadow_catcher=True)
    return Scene(
        [ball],
        **{"camera": camera, "ground": ground, "materials": {"matt": MATT}, "lights": (),
           "ambient": Ambient(intensity=0.25),
           "background": Background(transparent=True, up=(0, 1, 0)), **parts},
    )  # fmt: skip


def shoot(shown: Scene, **settings: Any) -> Pixels:
    """Linear radiance and alpha, float32 (SIDE, SIDE, 4)."""
    options: dict[str, Any] = {"width": SIDE, "height": SIDE, "filter": "point"} | settings
    return np.asarray(raytracer.render(shown, **options).array)


def places() -> tuple[Any, Any]:
    """Where pixel centres are on the ground, (SIDE, SIDE)."""
    line = (np.arange(SIDE) + 0.5) / SIDE * 8 - 4
    x, z = np.meshgrid(line, line)
    return x, z


@pytest.mark.parametrize("integrator", ["direct", "path"])
def test_shadow_of_the_sun(backend: str, integrator: str) -> None:
    """The share of the sun's light where it does not come, 0 where it does, 1 on the ball."""
    slope = np.array([1.0, -1.0, 0.0])
    sun = DirectionalLight(tuple(slope), intensity=0.75 * np.sqrt(2))
    if integrator == "direct":
        shown, share = scene(lights=(sun,)), 0.75
    else:  # without a sky all light is missing
        shown, share = scene(lights=(sun,), ambient=Ambient(intensity=0.0)), 1.0
    found = shoot(shown, samples=4, integrator=integrator, backend=backend)
    x, z = places()
    on_ball = np.hypot(x, z) < 1
    across = np.hypot((x - HEIGHT) / np.sqrt(2), z)  # of the sun's ray through the place
    clear = (np.abs(across - 1) > 0.05) & (np.abs(np.hypot(x, z) - 1) > 0.05)
    wanted = np.where(on_ball, 1.0, np.where(across < 1, share, 0.0))
    assert np.abs(found[..., 3] - wanted)[clear].max() < 1e-4
    assert (found[..., :3][~on_ball & clear] == 0).all()
    assert (wanted[~on_ball] > 0).any()


@pytest.mark.parametrize("sky", ["ambient", "environment"])
@pytest.mark.parametrize("integrator", ["ao", "path"])
def test_shadow_of_the_sky(backend: str, integrator: str, sky: str) -> None:
    """What a ball covers of a uniform sky, by its form factor."""
    parts: dict[str, Any] = {"ambient": Ambient(intensity=0.5)}
    if sky == "environment" and integrator == "path":
        parts = {"ambient": Ambient(intensity=0.0),
                 "environment": Environment(color="white", visible=False)}  # fmt: skip
    found = shoot(scene(**parts), samples=512, integrator=integrator, backend=backend)
    x, z = places()
    beside = np.hypot(x, z)
    distance = np.hypot(beside, HEIGHT)
    covered = sphere_irradiance(HEIGHT / distance, distance, 1.0) / np.pi
    ground = beside > 1.05
    error = (found[..., 3] - covered)[ground]
    assert np.abs(error).max() < 0.09
    assert abs(error.mean()) < 2e-3
    assert covered[ground].max() > 0.15


def covered_share(bottom: str, top: str) -> tuple[Any, Any]:
    """What the ball covers of a sky's light on the ground: mean and variance over one ray.

    bottom, top: colours of the nadir and the zenith. The ray has the density of a cosine.
    Returns (SIDE, SIDE) each, by quadrature over the directions.
    """
    u, v = np.meshgrid((np.arange(64) + 0.5) / 64, (np.arange(128) + 0.5) / 128)
    root, angle = np.sqrt(u), 2 * np.pi * v
    wi = np.stack([root * np.cos(angle), np.sqrt(1 - u), root * np.sin(angle)], axis=-1)
    low, high = (sum(srgb_to_linear(parse_color(color))) for color in (bottom, top))
    sky = low + (0.5 + 0.5 * wi[..., 1]) * (high - low)
    x, z = places()
    to = np.stack([-x, np.full_like(x, HEIGHT), -z], axis=-1)
    along = np.einsum("yxi,abi->yxab", to, wi)
    blocked = (along > 0) & ((to**2).sum(axis=-1)[..., None, None] - along**2 < 1)
    share = blocked * (sky / sky.mean())
    return share.mean(axis=(2, 3)), share.var(axis=(2, 3))


@pytest.mark.parametrize("matt", [MATT, replace(MATT, specular=0.4)], ids=["dull", "glossy"])
@pytest.mark.parametrize("colors", [("white", "white"), ("#806040", "#c0d0ff")], ids=str)
def test_an_even_sky_has_the_noise_of_one_ray(
    backend: str, colors: tuple[str, str], matt: Material
) -> None:
    """Its samples lie above the ground, also where a material has highlights."""
    shown = scene(environment=Environment(bottom=colors[0], top=colors[1]))
    shown.spheres = [SphereSet([(0, HEIGHT, 0)], 1.0, ["#808080"], material=matt)]
    found = np.array([
        shoot(shown, samples=8, integrator="path", seed=seed, backend=backend)[..., 3]
        for seed in range(4)
    ])  # fmt: skip
    mean, variance = covered_share(*colors)
    ground = np.hypot(*places()) > 1.05
    error = (found - mean)[:, ground]
    assert abs(error.mean()) < 4 * np.sqrt(variance[ground].mean() / error.size / 8) + 5e-4
    assert (error**2).mean() < 1.1 * variance[ground].mean() / 8
    assert mean[ground].max() > 0.15


def test_a_sky_with_a_sun_is_sampled_by_its_brightness(backend: str, tmp_path: Path) -> None:
    """Most of its light comes from a few texels, which one ray in a thousand would meet."""
    rows = np.full((64, 128, 3), 2, np.uint8)
    rows[8:10, 40:42] = 255
    Pillow.fromarray(rows).save(tmp_path / "sun.png")
    around = Environment(image=str(tmp_path / "sun.png"), intensity=100.0)
    shown = scene(environment=around)
    found = [shoot(shown, samples=16, integrator="path", seed=seed, backend=backend)[..., 3]
             for seed in range(2)]  # fmt: skip
    ground = np.hypot(*places()) > 1.05
    assert np.sqrt(((found[0] - found[1])[ground] ** 2).mean()) < 0.12
    assert found[0][ground].max() > 0.5


@pytest.mark.parametrize("integrator", ["direct", "ao", "path"])
@pytest.mark.parametrize(
    "ground",
    [Principled(roughness=0.1, metallic=1.0), Principled(roughness=0.6, coat=1.0)],
    ids=["metal", "coat"],
)
def test_a_ground_of_any_material_catches_as_white_paper(
    backend: str, ground: Principled, integrator: str
) -> None:
    """Highlights are no part of a shadow."""
    sun = DirectionalLight((1, -1, 0), intensity=1.0, angle=10.0)
    parts = {"lights": (sun,), "environment": Environment(bottom="#806040", top="#c0d0ff")}
    options: dict[str, Any] = {"samples": 4, "integrator": integrator, "backend": backend}
    matt = shoot(scene(**parts), **options)
    found = shoot(scene(**parts, materials={"matt": ground}), **options)
    beside = np.hypot(*places()) > 1.1
    assert np.abs(found - matt)[beside].max() < 1e-6
    assert matt[beside][:, 3].max() > 0.5


def test_shadow_on_an_opaque_background(backend: str) -> None:
    """The background shows through by what is left of the light."""
    sun = DirectionalLight((1, -1, 0), intensity=0.75 * np.sqrt(2))
    shown = scene(lights=(sun,), background=Background(color="white", up=(0, 1, 0)))
    found = shoot(shown, samples=1, integrator="direct", backend=backend)
    x, z = places()
    shadow = np.hypot((x - HEIGHT) / np.sqrt(2), z) < 0.9
    shadow &= np.hypot(x, z) > 1.1
    lit = x < -1.5
    assert found[shadow][:, :3] == pytest.approx(0.25, abs=1e-4)
    assert found[lit][:, :3] == pytest.approx(1.0, abs=1e-5)


def test_balls_are_lit_as_by_a_visible_ground(backend: str) -> None:
    """The ground reflects light onto them, whether it is seen or not."""
    sun = DirectionalLight((1, -1, 0), intensity=1.0)
    pictures = []
    for catcher in (False, True):
        ground = Ground(height=0.0, color="white", material="matt", shadow_catcher=catcher)
        shown = scene(lights=(sun,), ground=ground)
        pictures.append(shoot(shown, samples=64, integrator="path", backend=backend))
    x, z = places()
    on_ball = np.hypot(x, z) < 0.9
    assert np.array_equal(pictures[0][on_ball], pictures[1][on_ball])


def test_an_argument_makes_the_ground_a_catcher() -> None:
    shown = scene(ground=Ground(height=0.0, color="#c04020", material="matt"))
    options: dict[str, Any] = {"samples": 1, "integrator": "ao", "backend": "cpu"}
    found = shoot(shown, shadow_catcher=True, **options)
    np.testing.assert_array_equal(found, shoot(scene(), **options))
