"""Hit points and normals, seen through light: red from +x, green from +y, blue from +z."""

from __future__ import annotations

import numpy as np
import pytest

from reference import Light, Material, RefScene, View, camera_rays, closest_hit
from reference.scene import Array, unit
from support.closed_forms import edge_distance
from support.project import shoot
from support.scenes import one_ball, random_scene

WIDTH, HEIGHT = 64, 48
MATT = (Material(ambient=0.0, diffuse=1.0),)


def sunlight(sign: float) -> tuple[Light, ...]:
    """Three directional lights along the axes, or against them."""
    colors: list[tuple[float, float, float]] = [(1, 0, 0), (0, 1, 0), (0, 0, 1)]
    axes: list[tuple[float, float, float]] = [(sign * r, sign * g, sign * b) for r, g, b in colors]
    return tuple(
        Light("directional", (-x, -y, -z), color=color)
        for (x, y, z), color in zip(axes, colors, strict=True)
    )


def shown_normals(scene: RefScene, backend: str) -> Array:
    """Normals (h * w, 3) that the shading of a white matt scene without shadows shows."""
    white = scene.but(
        materials=MATT,
        material_id=np.zeros(1, np.int64),
        colors=np.ones((1, 3)),
        ambient=(0, 0, 0),
        bottom=(0, 0, 0),
        top=(0, 0, 0),
    )
    plus, minus = (
        shoot(white.but(lights=sunlight(sign)), WIDTH, HEIGHT, backend=backend, shadows=False)
        for sign in (1.0, -1.0)
    )
    return np.asarray((plus - minus)[..., :3].reshape(-1, 3).astype(np.float64))


def exact_normals(scene: RefScene) -> tuple[Array, Array]:
    """Normals that face the viewer (nan where nothing is hit), and the cosine of incidence."""
    origin, direction = camera_rays(scene.view, WIDTH, HEIGHT)
    t, hit = closest_hit(scene.centers, scene.radii, origin, direction)
    point = origin + np.where(hit >= 0, t, np.nan)[:, None] * direction
    normal = unit(point - scene.centers[hit])
    cosine = (normal * direction).sum(axis=1)
    return -normal * np.sign(cosine)[:, None], np.abs(cosine)


@pytest.mark.parametrize("ortho", [False, True], ids=["perspective", "orthographic"])
def test_normals_of_many_spheres(backend: str, ortho: bool) -> None:
    scene = random_scene(51, 80, ortho=ortho)
    expected, cosine = exact_normals(scene)
    shown = shown_normals(scene, backend)
    hit = np.isfinite(cosine)
    # Where the surface is grazed a hair's breadth sideways is a long way along it.
    safe = hit & (cosine > 0.05)
    error = np.linalg.norm(shown - expected, axis=1)
    assert safe.sum() > 400
    # An edge between two spheres may fall on either side of a pixel's centre.
    assert (error[safe] * cosine[safe] > 3e-5).sum() <= 1
    np.testing.assert_allclose(np.linalg.norm(shown[safe], axis=1), 1, atol=1e-5)
    assert (shown[~hit] == 0).mean() > 0.999


@pytest.mark.parametrize("radius", [1e-3, 1e4])
@pytest.mark.parametrize("ratio", [1.05, 2.0, 50.0, 2000.0])
def test_one_sphere_at_many_distances(backend: str, radius: float, ratio: float) -> None:
    position = tuple((unit((0.48, 0.6, 0.64)) * radius * ratio).tolist())
    fov = min(120.0, 2.3 * float(np.degrees(np.arcsin(1 / ratio))))
    scene = one_ball(View(position, (0, 0, 0), vertical_fov=fov), radius)
    expected, cosine = exact_normals(scene)
    shown = shown_normals(scene, backend)
    place = 6 * ratio * 2.0**-24
    safe = -edge_distance(scene.view, WIDTH, HEIGHT, (0, 0, 0), radius).ravel() > 2 * place
    error = np.linalg.norm(shown - expected, axis=1)
    assert safe.sum() > 500
    assert (error[safe] * cosine[safe] <= place + 2e-6).all()


@pytest.mark.parametrize("eye", [(0.0, 0.0, 0.0), (0.5, -0.3, 0.2), (0.0, 0.0, 0.999)])
def test_from_inside_normals_face_the_viewer(backend: str, eye: tuple[float, float, float]) -> None:
    view = View(eye, (0.3, 0.4, -1.0), vertical_fov=90.0)
    scene = one_ball(view)
    expected, cosine = exact_normals(scene)
    np.testing.assert_allclose(shown_normals(scene, backend), expected, atol=2e-5)
    assert np.isfinite(cosine).all()


def test_a_camera_on_the_surface_looks_through_or_away(backend: str) -> None:
    """From a point of the surface: outwards nothing is seen, inwards the far side."""
    outwards = one_ball(View((0, 0, 1.0), (0, 0, 2), vertical_fov=60.0))
    assert (shown_normals(outwards, backend) == 0).all()
    inwards = one_ball(View((0, 0, 1.0), (0, 0, 0), vertical_fov=60.0))
    np.testing.assert_allclose(
        np.linalg.norm(shown_normals(inwards, backend), axis=1), 1, atol=1e-5
    )
