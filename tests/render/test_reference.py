"""The reference itself against closed forms."""

from __future__ import annotations

import numpy as np
import pytest

from reference import (
    Light,
    Material,
    View,
    camera_rays,
    check_hits,
    check_lit,
    closest_hit,
    occluded,
    render,
    render_bounds,
)
from support.scenes import KEY, one_ball, random_scene


def test_hits_at_every_distance() -> None:
    far = np.array([2.0, 1e2, 1e4, 1e6, 1e8])
    origin = np.stack([np.zeros(5), np.full(5, 0.6), far], axis=1)
    direction = np.tile([0.0, 0, -1], (5, 1))
    t, index = closest_hit(np.zeros((1, 3)), np.ones(1), origin, direction)
    assert index.tolist() == [0] * 5
    np.testing.assert_allclose(t, far - 0.8, rtol=1e-15)


def test_from_inside_the_far_side_is_hit_and_faces_the_viewer() -> None:
    scene = one_ball(View((0, 0, 0.5), (0, 0, 0), vertical_fov=10.0)).but(
        lights=(Light("point", (0, 0, 0)),), ambient=(0, 0, 0)
    )
    assert render(scene, 3, 3)[1, 1, 0] == pytest.approx(1.0)
    outside = scene.but(lights=(Light("directional", (0, 0, 1)),))
    assert render(outside, 3, 3)[1, 1, 0] == 0.0


def test_a_ray_does_not_meet_the_surface_it_leaves() -> None:
    rng = np.random.default_rng(1)
    normal = rng.normal(size=(1000, 3))
    normal /= np.linalg.norm(normal, axis=1, keepdims=True)
    out = normal + 0.999 * normal[::-1]
    out *= np.sign((out * normal).sum(axis=1))[:, None]
    out /= np.linalg.norm(out, axis=1, keepdims=True)
    for radius in (1e-6, 1.0, 1e6):
        skin = np.full(1000, 1e-11 * radius)
        centers, radii = np.zeros((2, 3)), np.full(2, radius)
        everywhere = np.full(1000, np.inf)
        assert not occluded(centers, radii, normal * radius, out, everywhere, skin).any()
        assert occluded(centers, radii, normal * radius, -out, everywhere, skin).all()


def test_bounds_hold_their_own_centre_and_are_tight_away_from_edges() -> None:
    scene = random_scene(3, 40, mirror=True)
    low, high = render_bounds(scene, 48, 32)
    middle = render(scene, 48, 32)
    assert ((low <= middle) & (middle <= high)).all()
    assert ((high - low).max(axis=-1) < 0.02).mean() > 0.85


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
