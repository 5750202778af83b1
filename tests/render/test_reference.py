"""The reference itself against closed forms."""

import numpy as np

from reference import Material, camera_rays, check_hits, check_lit, closest_hit, render
from support.scenes import KEY, random_scene


def test_the_judges_accept_the_reference_and_reject_faults() -> None:
    scene = random_scene(5, 60).but(lights=(KEY,))
    origin, direction = camera_rays(scene.view, 48, 32)
    _, hit = closest_hit(scene.centers, scene.radii, origin, direction)
    assert check_hits(scene.centers, scene.radii, origin, direction, hit).wrong.size == 0
    broken = np.where(hit == hit.max(), -1, hit)
    assert check_hits(scene.centers, scene.radii, origin, direction, broken).wrong.size > 0

    white = scene.but(colors=np.ones((1, 3)), materials=(Material(ambient=0.0),), material_id=0)
    black = white.but(bottom=(0, 0, 0), top=(0, 0, 0))
    lit = render(black, 48, 32)[..., 0].ravel() > 0
    args = (scene.centers, scene.radii, origin, direction, hit)
    fine = check_lit(*args, lit, KEY)
    assert fine.wrongly_dark.size == fine.wrongly_lit.size == 0
    assert fine.decided > 0.95 * (hit >= 0).sum()
    assert check_lit(*args, ~lit, KEY).wrongly_dark.size > 0
    assert check_lit(*args, ~lit, KEY).wrongly_lit.size > 0
