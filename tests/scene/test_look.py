"""Looks: light and integrator of scenes that do not state their own."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer import Ambient, PointLight, RenderSettings, Scene, SphereSet
from raytracer.layout import code
from raytracer.scene.packing.pack import pack
from raytracer.settings import LOOKS

BALL = (SphereSet([[0.0, 0.0, 0.0]], 1.0, "white"),)


def packed(**settings: Any) -> Any:
    return pack(Scene(spheres=BALL), RenderSettings(**settings))


@pytest.mark.parametrize("name", LOOKS)
def test_a_look_states_light_and_integrator(name: str) -> None:
    look, buffers = LOOKS[name], packed(look=name)
    others = [intensity for _, intensity, _ in look.others]
    assert [float(v) for v in buffers.lights["color"][:, 0]] == pytest.approx(
        [look.key, *others] if look.key else []
    )
    assert buffers.frame["environment"]["ambient"][0] == pytest.approx(look.ambient)
    assert buffers.frame["integrator"]["kind"] == code("IntegratorKind", look.integrator)


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
    np.testing.assert_array_equal(soft.lights, plain.lights)
    np.testing.assert_array_equal(soft.frame, plain.frame)
    own = pack(Scene(spheres=BALL, ambient=Ambient(intensity=0.3)), RenderSettings(look="soft"))
    assert own.frame["environment"]["ambient"][0] == pytest.approx(0.3)
    assert own.lights["color"][0, 0] == pytest.approx(LOOKS["soft"].key)


def test_particle_files_are_soft_and_scenes_plain(tmp_path: Path) -> None:
    (tmp_path / "a.xyz").write_text("2\n\nO 0 0 0\nH 0.96 0 0\n")
    (tmp_path / "a.toml").write_text('[[spheres]]\nfile = "a.xyz"\n')
    bare, scene = raytracer.load(tmp_path / "a.xyz"), raytracer.load(tmp_path / "a.toml")
    assert (bare.render.look, scene.render.look, Scene().render.look) == ("soft", "plain", "plain")
    small: dict[str, Any] = {"width": 60, "height": 40, "samples": 2}
    plain = raytracer.render(scene, **small).array
    np.testing.assert_array_equal(raytracer.render(bare, look="plain", **small).array, plain)
    soft = raytracer.render(bare, **small).array
    np.testing.assert_array_equal(raytracer.render(scene, look="soft", **small).array, soft)
    assert (soft != plain).any()


def test_an_unknown_look_is_refused() -> None:
    with pytest.raises(raytracer.UserError, match=r"render\.look: there is no look 'softt'"):
        RenderSettings(look="softt")


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
