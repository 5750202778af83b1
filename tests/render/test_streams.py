"""Rays in large lists meet what rays alone meet (kernels/cpu/stream.h).

Parts of a picture therefore equal the picture.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reference import RefScene
from support.project import shoot
from support.scenes import random_scene

SIZE = (64, 64)  # one tile, whose rays are traced together
AO: dict[str, Any] = {"integrator": "ao", "ao_samples": 2}


def of_many_scales() -> RefScene:
    """Small spheres, and some so far away that their rays share no boxes."""
    scene = random_scene(3, 400)
    centers = scene.centers * np.where(np.arange(400) % 50 == 0, 3e4, 1.0)[:, None]
    radii = np.where(np.arange(400) % 50 == 0, 3e3, scene.radii)
    return scene.but(centers=centers, radii=radii)


@pytest.mark.parametrize("scene", [random_scene(7, 2000), of_many_scales()], ids=["even", "scales"])
@pytest.mark.parametrize("light", [AO, {"integrator": "path", "max_depth": 4}], ids=["ao", "path"])
def test_rays_of_a_tile_meet_what_rays_of_a_pixel_meet(
    scene: RefScene, light: dict[str, Any]
) -> None:
    whole = shoot(scene, *SIZE, backend="cpu", **light)
    assert len(np.unique(whole)) > 100
    for x, y in np.random.default_rng(5).integers(0, 64, (40, 2)).tolist():
        part = shoot(scene, *SIZE, backend="cpu", crop=(x, y, x + 1, y + 1), **light)
        np.testing.assert_array_equal(part[0, 0], whole[y, x], err_msg=f"pixel {x}, {y}")
