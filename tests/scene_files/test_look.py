"""Looks: light and integrator of scenes that do not state their own."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Ambient, Background, Camera, PointLight, RenderSettings, Scene, SphereSet
from raytracer.model.settings import LOOKS
from raytracer.packing.pack import pack
from raytracer.system.layout import enum_value

BALL = (SphereSet([[0.0, 0.0, 0.0]], 1.0, "white"),)


def packed(**settings: Any) -> Any:
    return pack(Scene(spheres=BALL), RenderSettings(**settings))


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_states_light_and_integrator(name: str) -> None:
    look, buffers = LOOKS[name], packed(look=name)
    others = [intensity for _, intensity, _ in look.others]
    assert [float(v) for v in buffers.view.lights["color"][:, 0]] == pytest.approx(
        [look.key, *others] if look.key else []
    )
    assert buffers.view.frame["environment"]["ambient"][0] == pytest.approx(look.ambient)
    assert buffers.view.frame["integrator"]["kind"] == enum_value("IntegratorKind", look.integrator)


@pytest.mark.parametrize("name", LOOKS)
def test_brightness_is_a_factor_of_every_light(name: str) -> None:
    plain, half = packed(look=name).view, packed(look=name, brightness=0.5).view
    np.testing.assert_allclose(half.lights["color"], 0.5 * plain.lights["color"], rtol=1e-6)
    ambient, whole = (each.frame["environment"]["ambient"] for each in (half, plain))
    np.testing.assert_allclose(ambient, 0.5 * whole, rtol=1e-6)


@pytest.mark.parametrize("name", LOOKS)
def test_a_white_surface_stays_below_one(name: str) -> None:
    """Its diffuse part, which faces the light; a highlight may be brighter."""
    matte = {"default": raytracer.Material(specular=0.0)}
    scene = Scene(spheres=BALL, materials=matte, render=RenderSettings(look=name))
    image = raytracer.render(scene, width=60, height=40, samples=2)
    assert 0.9 < image.array[..., :3][image.array[..., 3] == 1].max() <= 1.0


def test_what_the_scene_states_is_kept() -> None:
    lamp = PointLight((3.0, 3.0, 3.0), intensity=0.5)
    plain = pack(Scene(spheres=BALL, lights=[lamp], ambient=Ambient(intensity=0.3)))
    lit = replace(Scene(spheres=BALL, lights=[lamp], ambient=Ambient(intensity=0.3)))
    soft = pack(lit, RenderSettings(look="soft", integrator="direct"))
    np.testing.assert_array_equal(soft.view.lights, plain.view.lights)
    np.testing.assert_array_equal(soft.view.frame, plain.view.frame)
    own = pack(Scene(spheres=BALL, ambient=Ambient(intensity=0.3)), RenderSettings(look="soft"))
    assert own.view.frame["environment"]["ambient"][0] == pytest.approx(0.3)
    assert own.view.lights["color"][0, 0] == pytest.approx(LOOKS["soft"].key)


def test_particle_files_are_soft_and_scenes_plain(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("2\n\nO 0 0 0\nH 0.96 0 0\n")
    (tmp_path / "a.toml").write_text('[[spheres]]\nfile = "a.xyz"\n')
    bare, scene = raytracer.load(tmp_path / "a.xyz"), raytracer.load(tmp_path / "a.toml")
    assert (bare.render.look, scene.render.look, Scene().render.look) == ("soft", "plain", "plain")
    small: dict[str, Any] = {"width": 60, "height": 40, "samples": 2, "background": "white"}
    small["camera"], small["radius"] = raytracer.Camera(), "covalent"
    plain = raytracer.render(scene, **small).array
    np.testing.assert_array_equal(raytracer.render(bare, look="plain", **small).array, plain)
    soft = raytracer.render(bare, **small).array
    np.testing.assert_array_equal(
        raytracer.render(scene, look="soft", ao_samples=4, **small).array, soft
    )
    assert (soft != plain).any()


def test_flat_shading_shows_the_colours_whatever_the_scene_says() -> None:
    spheres = [
        SphereSet([[0.0, 0.0, 0.0]], 1.0, "#3366cc", material=raytracer.Material(mirror=0.9)),
        SphereSet([[0.0, 2.5, 0.0]], 1.0, "#cc6633", material="gold"),
    ]
    scene = Scene(
        spheres=spheres,
        lights=[PointLight(position=(5, 5, 5), intensity=9.0)],
        render=RenderSettings(width=40, height=60, samples=1, filter="point"),
    )
    lit = np.asarray(raytracer.render(scene, backend="cpu"))[..., :3]
    flat = np.asarray(raytracer.render(scene, backend="cpu", shading="flat"))[..., :3]
    known = {(0x33, 0x66, 0xCC), (0xCC, 0x66, 0x33), (255, 255, 255)}
    assert known == {tuple(pixel) for pixel in flat.reshape(-1, 3).tolist()}
    assert len(np.unique(lit.reshape(-1, 3), axis=0)) > 20


RIGS = [name for name, look in LOOKS.items() if look.key]


def towards(camera: Camera, look: str, placement: str, up: Any = None) -> Any:
    """Directions to the lights of a look, (L, 3)."""
    scene = Scene(spheres=BALL, camera=camera, background=Background(up=up))
    return pack(scene, RenderSettings(look=look, placement=placement)).view.lights["vector"]


@pytest.mark.parametrize("look", RIGS)
def test_lights_of_a_look_stay_in_the_world_or_go_with_the_camera(look: str) -> None:
    views = [Camera(view=view, up=(0, 0, 1)) for view in ("front", "left", "iso", "bottom")]
    fixed = [towards(camera, look, "world") for camera in views]
    led = [towards(camera, look, "camera") for camera in views]
    for other in fixed[1:]:
        np.testing.assert_array_equal(other, fixed[0])
    np.testing.assert_allclose(led[0], fixed[0], atol=1e-7)  # what the view `front` has
    for other in led[1:]:
        assert np.abs(other - led[0]).max() > 0.1


def test_the_world_of_lights_has_the_up_axis_of_the_background() -> None:
    level = towards(Camera(), "studio", "world")
    front = towards(Camera(view="front", up=(0, 1, 0)), "studio", "camera")
    np.testing.assert_allclose(level, front, atol=1e-7)
    tilted = towards(Camera(), "studio", "world", up=(0, 0, 1))
    x, y, z = level.T
    np.testing.assert_allclose(tilted, np.stack([x, -z, y], axis=1), atol=1e-7)


def test_a_direction_is_the_same_for_both_placements() -> None:
    for placement in ("camera", "world"):
        (light,) = packed(look="soft", light=(0.0, -2.0, 0.0), placement=placement).view.lights
        np.testing.assert_allclose(light["vector"], (0, 1, 0), atol=1e-7)


def test_a_placement_in_files_and_of_a_call(tmp_path: Path) -> None:
    """A call that states one takes the lights of the look instead of the scene's."""
    (tmp_path / "a.toml").write_text(
        '[render]\nlook = "rim"\nplacement = "world"\n[camera]\nview = "left"\n'
        "[[spheres]]\ncenters = [[0, 0, 0]]\nradius = 1.0\n"
    )
    scene = raytracer.load(tmp_path / "a.toml")
    assert scene.render.placement == "world"
    views: dict[str, Any] = {"width": 24, "height": 16, "samples": 1}
    assert "placement" in raytracer.render(scene, **views).metadata["settings"]
    pictures = [raytracer.render(scene, placement=each, **views).array for each in (None, "camera")]
    assert np.abs(pictures[0] - pictures[1]).max() > 0.05
    lamp = Scene(spheres=BALL, lights=[PointLight((3.0, 3.0, 3.0))])
    plain = Scene(spheres=BALL)
    np.testing.assert_array_equal(
        raytracer.render(lamp, placement="world", **views).array,
        raytracer.render(plain, placement="world", **views).array,
    )
    with pytest.raises(raytracer.UserError, match="placement 'sky'"):
        RenderSettings(placement="sky")
