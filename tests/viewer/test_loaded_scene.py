"""Loaded scenes: the packed scene of a view with edits, the sphere at a pixel and its outline."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.typing import NDArray

import raytracer
from raytracer import DirectionalLight, Scene
from raytracer.packing.pack import repack_view
from raytracer.viewer import orbit_camera as moves
from raytracer.viewer.content import Edits
from raytracer.viewer.loaded_scene import LoadedScene
from raytracer.viewer.orbit_camera import OrbitCamera
from raytracer.viewer.picking import CORNERS, trace_outline
from reference.hit import closest_hit
from support.previews import assert_same_view, balls, hit_id, loaded_scene_of, pixel_ray, view_of
from support.views import views

SIZE = (64, 48)
LIGHT = DirectionalLight((1.0, -2.0, -0.5))


def fresh(loaded_scene: LoadedScene, view: OrbitCamera, size: tuple[int, int], edits: Edits) -> Any:
    """The packed scene without the cache."""
    settings = loaded_scene.job.settings.override(width=size[0], height=size[1])
    return repack_view(
        loaded_scene.buffers, edits.apply_to(loaded_scene.scene), settings, view.pose
    )


def test_a_camera_that_moves_into_glass_or_below_the_ground_is_as_if_it_was_there() -> None:
    """What it is in, and whether it sees the ground, is no part of the packed camera."""
    glass = {"glass": raytracer.Principled(transmission=1.0)}
    scene = Scene(
        [raytracer.SphereSet([[0.0, 0.0, 0.0], [1.0, 0.0, -0.5]], 1.0, material="glass")],
        materials=glass, ground=raytracer.Ground(),
        render=raytracer.RenderSettings(integrator="path", width=64, height=48),
    )  # fmt: skip
    loaded_scene = loaded_scene_of(scene)
    frames = []
    for place in ((0.0, 1.0, 6.0), (0.0, 0.1, 0.5), (0.0, -2.0, 6.0), (0.0, 1.0, 6.0)):
        view = view_of(loaded_scene.buffers, position=place, look_at=(0.0, 0.0, -2.0))
        found = loaded_scene.pack_view(view, SIZE, Edits())
        assert_same_view(found, fresh(loaded_scene, view, SIZE, Edits()))
        frames.append(found.frame)
    media = [frame["media"].tobytes() for frame in frames]
    assert media[1] != media[0] == media[2] == media[3]
    assert [int(frame["scene"]["large_count"][0]) for frame in frames] == [1, 1, 0, 1]


@pytest.mark.parametrize("lights", [None, (LIGHT,), ()])
def test_every_look_is_as_if_made_anew(lights: Any) -> None:
    """After any change: of camera, size, light, background, or back."""
    loaded_scene = loaded_scene_of(balls(lights=lights))
    start = view_of(loaded_scene.buffers)
    views = [
        start,
        moves.orbit(start, 0.4, 0.2),
        moves.toggle_projection(moves.pan(start, 0.1, 0.2)),
    ]
    many = [
        Edits(),
        Edits(lights=(LIGHT,)),
        Edits(lights=(LIGHT, DirectionalLight((0.0, -1.0, 0.0)))),
        Edits(background="gray"),
        Edits(lights=(LIGHT,), background="transparent"),
    ]
    rng = np.random.default_rng(8)
    for _ in range(60):
        view, edits = views[rng.integers(3)], many[rng.integers(len(many))]
        size = ((64, 48), (48, 64), (200, 100))[rng.integers(3)]
        seen = loaded_scene.pack_view(view, size, edits)
        assert_same_view(seen, fresh(loaded_scene, view, size, edits))
        assert seen is not loaded_scene.pack_view(view, size, edits), "a request is known by it"


@pytest.mark.parametrize("kind", ["perspective", "orthographic"])
def test_hit_is_the_nearest_sphere_of_all(kind: str) -> None:
    """Against every sphere in float64, for every pixel of several views."""
    loaded_scene = loaded_scene_of(balls(300))
    b = loaded_scene.buffers
    centers = b.centers.astype(np.float64)
    radius = b.radius.astype(np.float64)
    view = view_of(b, type=kind)
    for turn in ((0.0, 0.0), (1.0, 0.5), (2.5, -1.2)):
        turned = moves.orbit(view, *turn)
        seen = loaded_scene.pack_view(turned, SIZE, Edits())
        pixels = [(x, y) for y in range(0, SIZE[1], 3) for x in range(0, SIZE[0], 3)]
        rays = np.array([pixel_ray(turned, x + 0.5, y + 0.5, SIZE) for x, y in pixels])
        _, index = closest_hit(centers, radius, rays[:, 0], rays[:, 1])
        found = [hit_id(loaded_scene, seen, x, y) for x, y in pixels]
        expected = [None if i < 0 else int(i) for i in index]
        wrong = [n for n, (a, b) in enumerate(zip(found, expected, strict=True)) if a != b]
        assert len(wrong) <= 2, "an edge, or two spheres at one depth, may round either way"
        assert sum(e is not None for e in expected) > 50
        assert sum(e is None for e in expected) > 20


def test_a_place_beside_spheres_shows_the_nearest_in_the_picture() -> None:
    """Of two at the same place the one in front; not one that is nearer to the camera elsewhere."""
    centers = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 3.0], [1.0, 0.0, 5.0]])
    camera = raytracer.Camera(position=(0, 0, 20), look_at=(0, 0, 0), type="orthographic", height=3)
    scene = Scene.from_arrays(centers, 0.002, camera=camera)
    loaded_scene = loaded_scene_of(
        scene, width=300, height=300
    )  # each is less than half a pixel wide
    seen = loaded_scene.pack_view(
        moves.make_initial_view(camera, loaded_scene.buffers, 1.0), (300, 300), Edits()
    )
    assert [hit_id(loaded_scene, seen, x, y) for x, y in ((147, 150), (247, 150))] == [
        None,
        None,
    ]
    assert hit_id(loaded_scene, seen, 147, 151, reach=4) == 1
    assert hit_id(loaded_scene, seen, 247, 151, reach=4) == 2
    assert hit_id(loaded_scene, seen, 160, 150, reach=4) is None
    found = loaded_scene.find_hit(seen, 147, 151, reach=4)
    assert found is not None
    np.testing.assert_allclose(found.point, (0.0, 0.0, 3.002), atol=3e-3)


def test_solids_are_counted_behind_all_particles_where_some_are_hidden() -> None:
    hidden = replace(loaded_scene_of(balls()), numbers=np.array([1]))
    count = hidden.all_particles.count
    assert [hidden.find_number(prim_id) for prim_id in (0, 1, 2)] == [1, count, count + 1]


WINDOW = (800, 600)


def passes(view: OrbitCamera, center: NDArray[np.float64], x: float, y: float) -> float:
    """How near the ray through a place of the window, from the lower left, comes to a point."""
    origin, direction = pixel_ray(view, x, WINDOW[1] - y, WINDOW)
    return float(np.linalg.norm(np.cross(center - origin, direction)))


@given(view=views(), seed=st.integers(0, 10_000), radius=st.floats(1e-3, 0.8))
def test_rays_through_the_outline_touch_the_sphere(
    view: OrbitCamera, seed: int, radius: float
) -> None:
    rng = np.random.default_rng(seed)
    axes = view.pose.axes
    away = rng.uniform(0.1, 2.0) * radius + rng.uniform(0.0, 6.0) * (seed % 2)
    side = rng.uniform(-1.0, 1.0, 2) * (
        view.pose.half if view.orthographic else view.pose.half * away
    )
    center = view.pose.eye + away * axes.forward + side[0] * axes.right + side[1] * axes.up
    corners = np.array(trace_outline(view, center, radius, WINDOW))
    if not len(corners):  # a part of it is beside or behind the eye
        offset = center - view.pose.eye
        assert not view.orthographic
        assert offset @ axes.forward <= radius
        return
    assert corners.shape == (CORNERS, 2)
    middle = corners.mean(axis=0)
    assume(np.linalg.norm(corners - middle, axis=1).max() < 1e5)
    for x, y in corners:
        assert passes(view, center, x, y) == pytest.approx(radius, rel=1e-6)
    inside, outside = (middle + (corners - middle) * factor for factor in (0.999, 1.001))
    assert all(passes(view, center, x, y) < radius for x, y in inside)
    assert all(passes(view, center, x, y) > radius for x, y in outside)


@given(view=views(), radius=st.floats(0.01, 1.0))
def test_nothing_is_drawn_around_the_eye_or_behind_it(view: OrbitCamera, radius: float) -> None:
    forward = view.pose.axes.forward
    assert trace_outline(view, view.pose.eye - 3.0 * forward, radius, WINDOW) == []
    if not view.orthographic:
        assert trace_outline(view, view.pose.eye + 0.9 * radius * forward, radius, WINDOW) == []
