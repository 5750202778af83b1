"""The scenes that peers render as well: files, counts of rays, generators."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import raytracer
from raytracer.benchmark import peer_scenes
from raytracer.benchmark.peer_scenes import FIXED_VIEW, PeerScene, View
from raytracer.errors import DataFileError, UserError

SIDE_VIEW = View((2.1, 1.7, 2.5), (0.5, 0.5, 0.5), (0.0, 0.0, 1.0), 28.0, (3.0, 4.0, 1.5))


def nearest(
    spheres: NDArray[np.float64], origins: NDArray[np.float64], directions: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Distance along each unit ray to the first sphere before it (infinite for none), and which."""
    to = spheres[None, :, :3] - origins[:, None]
    along = (to * directions[:, None]).sum(axis=2)
    left = spheres[None, :, 3] ** 2 - (to**2).sum(axis=2) + along**2
    entry = along - np.sqrt(np.maximum(left, 0.0))
    distance = np.where((left >= 0.0) & (entry > 1e-7), entry, np.inf)
    first = distance.argmin(axis=1)
    return distance[np.arange(len(first)), first], first


def brute_force(given: PeerScene, width: int, height: int) -> tuple[int, int]:
    """Hits and lit pixels by the peer's rules: every ray against every sphere, in float64."""
    view, spheres = given.view, given.spheres.astype(np.float64)
    eye = np.array(view.eye)
    forward = np.array(view.look_at) - eye
    forward /= np.linalg.norm(forward)
    right = np.cross(forward, view.up)
    right /= np.linalg.norm(right)
    half = np.tan(np.deg2rad(view.vertical_fov) / 2)
    u = (2 * (np.arange(width) + 0.5) / width - 1) * half * width / height
    v = (1 - 2 * (np.arange(height) + 0.5) / height) * half
    rays = forward + u[None, :, None] * right + v[:, None, None] * np.cross(right, forward)
    rays = (rays / np.linalg.norm(rays, axis=2, keepdims=True)).reshape(-1, 3)
    distance, first = nearest(spheres, np.broadcast_to(eye, rays.shape), rays)
    hit = np.isfinite(distance)
    points = eye + rays[hit] * distance[hit, None]
    normals = (points - spheres[first[hit], :3]) / spheres[first[hit], 3:]
    to_light = np.array(view.light) - points
    length = np.linalg.norm(to_light, axis=1)
    to_light /= length[:, None]
    blocked = nearest(spheres, points + 1e-6 * normals, to_light)[0] < length
    return int(hit.sum()), int((~blocked & ((normals * to_light).sum(axis=1) > 0)).sum())


@pytest.mark.parametrize("view", [FIXED_VIEW, SIDE_VIEW])
def test_the_scene_hits_and_lights_what_the_peers_rules_say(view: View) -> None:
    given = PeerScene("cube", peer_scenes.random_cube(60).spheres, view)
    image = raytracer.render(peer_scenes.to_scene(given, 72, 48), backend="cpu")
    assert image.film.samples == 1
    hits, lit = peer_scenes.counts(image.film.sums)
    expected = brute_force(given, 72, 48)
    assert 300 < expected[1] < expected[0] < 72 * 48
    assert abs(hits - expected[0]) <= 1
    assert abs(lit - expected[1]) <= 2


def test_the_brightest_and_the_darkest_pixel_are_those_of_the_protocol() -> None:
    ball = PeerScene("ball", np.array([[0, 0, 0, 0.5]], np.float32))
    lamp_behind_camera = View((0, 0, 3), (0, 0, 0), (0, 1, 0), 10.0, (0, 0, 100))
    lamp_behind_ball = View((0, 0, 3), (0, 0, 0), (0, 1, 0), 10.0, (0, 0, -100))
    for view, value in ((lamp_behind_camera, 0.95), (lamp_behind_ball, 0.05)):
        scene = peer_scenes.to_scene(PeerScene("ball", ball.spheres, view), 9, 9)
        assert raytracer.render(scene, backend="cpu").array[4, 4, :3] == pytest.approx(value)


def test_embree_files_come_back_as_they_were(tmp_path: Path) -> None:
    given = PeerScene("cube", peer_scenes.random_cube(7).spheres, SIDE_VIEW)
    base = peer_scenes.write_embree(given, tmp_path)
    found = peer_scenes.read_embree(base)
    assert (found.name, found.view, found.ground) == ("cube", SIDE_VIEW, False)
    assert np.array_equal(found.spheres, given.spheres)


def test_a_ground_is_noticed_and_left_out(tmp_path: Path) -> None:
    base = peer_scenes.write_embree(peer_scenes.random_cube(3), tmp_path)
    config = base.with_suffix(".cfg")
    config.write_text(config.read_text() + "ground -0.5 12\n")
    given = peer_scenes.read_embree(base)
    assert given.ground
    again = peer_scenes.write_embree(peer_scenes.without_ground(given), tmp_path)
    assert not peer_scenes.read_embree(again).ground


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("spheres 3", "spheres 4", "number of spheres"),
        ("eye ", "eye x", "cannot be read"),
        ("light ", "lamp ", "light x y z"),
    ],
)
def test_broken_embree_files_are_refused(tmp_path: Path, old: str, new: str, says: str) -> None:
    base = peer_scenes.write_embree(peer_scenes.random_cube(3), tmp_path)
    config = base.with_suffix(".cfg")
    config.write_text(config.read_text().replace(old, new))
    with pytest.raises(DataFileError, match=says):
        peer_scenes.read_embree(base)


def test_optix_files_are_raw_and_of_the_fixed_view_alone(tmp_path: Path) -> None:
    given = peer_scenes.random_cube(5)
    path = peer_scenes.write_optix(given, tmp_path)
    assert path.stat().st_size == 5 * 16
    assert np.array_equal(peer_scenes.read_optix(path).spheres, given.spheres)
    with pytest.raises(UserError, match="fixed camera"):
        peer_scenes.write_optix(PeerScene("other", given.spheres, SIDE_VIEW), tmp_path)


def test_the_random_cube_is_filled_to_its_share() -> None:
    spheres = peer_scenes.random_cube(1000).spheres.astype(np.float64)
    assert (4 / 3 * np.pi * spheres[:, 3] ** 3).sum() == pytest.approx(0.08, rel=1e-5)
    assert np.abs(spheres[:, :3]).max() <= 0.5


@pytest.mark.parametrize("name", ["sphereflake:820", "pile:300"])
def test_generated_scenes_fill_the_view(name: str) -> None:
    given = peer_scenes.generated(name)
    reach = np.linalg.norm(given.spheres[:, :3], axis=1) + given.spheres[:, 3]
    assert reach.max() == pytest.approx(peer_scenes.FITTED, rel=1e-5)
    scene = peer_scenes.to_scene(given, 48, 48)
    hits, lit = peer_scenes.counts(raytracer.render(scene, backend="cpu").film.sums)
    assert 400 < hits < 48 * 48
    assert 100 < lit < hits


def test_the_camera_is_inside_the_cloud_and_in_no_sphere() -> None:
    given = peer_scenes.generated("inside:20000")
    to_eye = given.spheres[:, :3] - np.array(FIXED_VIEW.eye)
    assert (to_eye.min(axis=0) < -0.4).all()
    assert (to_eye.max(axis=0) > 0.4).all()
    assert (np.linalg.norm(to_eye, axis=1) > 1.5 * given.spheres[:, 3]).all()
    hits, _ = peer_scenes.counts(
        raytracer.render(peer_scenes.to_scene(given, 32, 32), backend="cpu").film.sums
    )
    assert hits > 0.95 * 32 * 32


@pytest.mark.parametrize("name", ["r1k", "pile:many", "cloud"])
def test_unknown_scenes_are_refused(name: str) -> None:
    with pytest.raises(UserError, match="give sphereflake, pile, inside"):
        peer_scenes.generated(name)


def test_random_capsules_in_both_formats(tmp_path: Path) -> None:
    given = peer_scenes.generated("capsules:50")
    assert given.count == 50
    scene = peer_scenes.to_scene(given, 48, 32)
    assert (scene.count, scene.capsule_count) == (0, 50)
    assert given.ends is not None
    length = np.linalg.norm(given.ends - given.spheres[:, :3], axis=1)
    assert length == pytest.approx(peer_scenes.SLENDER * given.spheres[:, 3], rel=1e-4)
    raw = np.fromfile(peer_scenes.write_optix(given, tmp_path), np.float32).reshape(-1, 8)
    assert np.array_equal(raw[:, :4], given.spheres)
    assert np.array_equal(raw[:, 4:7], given.ends)
    base = peer_scenes.write_embree(given, tmp_path)
    assert "capsules 50" in base.with_suffix(".cfg").read_text(encoding="utf-8")
    assert base.with_suffix(".f32").read_bytes() == raw.tobytes()
