"""Light that a surface sends to the viewer: by samples of the light, of the material, and both.

The three estimators know nothing of each other but the densities, so a density or a weight that is
wrong on one side shows.
"""

from collections.abc import Callable
from math import sqrt
from typing import Any

import numpy as np
import pytest

from reference.scene import Array, unit
from shade.test_area_light import CENTER, LIGHTS, NORMAL, directional
from shade.test_principled import Surface, evaluate, sample
from shade.test_samplers import sky_of
from support.directions import frame_about, squares
from support.probe import Probe

DRAWN = 40_960
"""As many as `test_principled.sample` draws at random."""

SURFACES = {
    "metal": Surface(0.2, metallic=1.0),
    "plastic": Surface(0.35),
    "diffuse": Surface(1.0, specular=0.0),
    "glass": Surface(0.5, transmission=1.0),
}
FRAME = frame_about(NORMAL)
"""Rows: the axes of the surface, whose normal is the third."""

WO = unit(FRAME @ (2 * (unit(CENTER) @ NORMAL) * NORMAL - unit(CENTER)) + (0.1, -0.1, 0.0))
"""The viewer, in these axes; a mirror would show the light's edge."""

Drawn = tuple[Array, Array, Array]
"""Directions (n, 3), radiance by density (n,), density (n,)."""
Seen = Callable[[Array], tuple[Array, Array]]
"""Radiance and density of directions, zero where the light is not."""


def light_named(probe: Probe, name: str) -> tuple[Drawn, Seen]:
    light = LIGHTS.get(name) or directional(unit(CENTER), 30.0)
    found = probe("area_light_sample", [(0, 0, 0)], squares(DRAWN, 2), light=light)
    drawn: Array = found.astype(np.float64)

    def seen(wi: Array) -> tuple[Array, Array]:
        hit = probe("area_light_hit", [(0, 0, 0)], wi, light=light).astype(np.float64)
        there = hit[:, 0] >= 0
        return np.where(there, hit[:, 1], 0), np.where(there, hit[:, 2], 0)

    return (drawn[:, :3], np.pi * drawn[:, 4], drawn[:, 5]), seen


def sky(probe: Probe) -> tuple[Drawn, Seen]:
    """Cells, some of them bright; radiance and density need not be alike."""
    radiance = np.linspace(0.2, 1.0, 45).reshape(5, 9)
    radiance[1, 2] = 12.0
    sine = np.sin(np.linspace(0.0, np.pi, 5))[:, None]
    texels = sky_of(np.repeat(radiance[..., None], 3, axis=-1), (radiance + 0.3) * sine)
    up = unit((0.2, 0.9, -0.3))
    given: Any = {
        "sky": texels,
        "frame": {"map_x": frame_about(up)[0], "background_up": up, "map_size": 4},
    }
    found = probe("environment_light_sample", squares(DRAWN, 2), **given).astype(np.float64)

    def seen(wi: Array) -> tuple[Array, Array]:
        light = probe("environment_light", wi, **given).astype(np.float64)
        return light[:, 0], light[:, 3]

    return (found[:, :3], found[:, 3] / found[:, 6], found[:, 6]), seen


def mean(values: Array) -> tuple[float, float]:
    """With its standard error."""
    return float(values.mean()), float(values.std() / sqrt(len(values)))


def heuristic(one: Array, other: Array) -> Array:
    """The power heuristic (Veach, Guibas 1995)."""
    return np.asarray(one**2 / np.maximum(one**2 + other**2, 1e-300))


@pytest.mark.parametrize("light", [*(name for name in LIGHTS if name != "sun"), "low sun", "sky"])
@pytest.mark.parametrize("name", SURFACES)
def test_light_by_either_sampler_and_by_both(probe: Probe, name: str, light: str) -> None:
    surface = SURFACES[name]
    (wi, radiance, density), seen = sky(probe) if light == "sky" else light_named(probe, light)
    value, pdf = evaluate(probe, surface, WO, wi @ FRAME.T)
    of_light = value[:, 0] / np.pi * radiance

    drawn = sample(probe, surface, WO, seed=3)
    shown, other = seen(drawn.wi @ FRAME)
    of_surface = drawn.weight[:, 0] * shown

    both = (
        mean(of_light * heuristic(density, pdf)),
        mean(of_surface * heuristic(drawn.pdf, other)),
    )
    found = [
        mean(of_light),
        mean(of_surface),
        (both[0][0] + both[1][0], sqrt(both[0][1] ** 2 + both[1][1] ** 2)),
    ]
    for number, (one, error) in enumerate(found):
        assert one > 1e-3
        for another, other_error in found[:number]:
            # Five standard errors, and the rounding of directions of a narrow highlight.
            assert abs(one - another) < 5 * sqrt(error**2 + other_error**2) + 1e-3 * one
    assert found[2][1] < 0.02 * found[2][0]  # else the comparison tells nothing
