"""Which spheres are described by their surface, and where it is."""

from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import raytracer
from raytracer.buffers import SceneBuffers
from raytracer.scene.packing.large_spheres import MAX_LARGE
from raytracer.scene.packing.pack import pack
from raytracer.warning import collected


def packed(*large: tuple[tuple[float, float, float], float]) -> SceneBuffers:
    sets = [raytracer.SphereSet([[0.0, 1.0, 0.0], [3.0, 1.0, 0.5]], 1.0)]
    sets += [raytracer.SphereSet([center], radius) for center, radius in large]
    return pack(raytracer.Scene(spheres=sets))


@pytest.mark.parametrize("gap", [0.0, 0.25, -3.0])
@pytest.mark.parametrize("radius", [2.0**20, 2.0**50])
def test_the_height_of_the_middle_above_the_surface(radius: float, gap: float) -> None:
    """Exact, where the float32 centre and radius are wrong by R / 2^24."""
    buffers = packed(((0.0, -radius - gap, 0.0), radius))
    row = buffers.large[0]
    assert buffers.large_id.tolist() == [2]
    assert buffers.frame["scene"]["large_count"][0] == 1
    assert row["prim"] == 2
    np.testing.assert_array_equal(np.round(row["normal"], 6), (0, -1, 0))
    middle = Fraction(float(buffers.center[1]))
    length = Fraction(radius) + Fraction(gap) + middle
    height = (length**2 - Fraction(radius) ** 2) / (2 * length)
    assert row["height"] * buffers.scale == pytest.approx(float(height), rel=2e-7)


def test_a_sphere_around_everything_stays_as_it_is() -> None:
    with collected() as warnings:
        buffers = packed(((0.0, 0.0, 0.0), 4e8))
    assert len(buffers.large) == 0
    assert not warnings


def test_surfaces_beyond_the_limit_are_a_warning() -> None:
    """Specks in two places, of which only one is the middle."""
    specks = raytracer.SphereSet([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0], [0.0, 0.0, 1.0]], 1e-7)
    balls = raytracer.SphereSet([[0.0, 0.0, 0.0], [0.0, -1.0, -1.0]], 1.0)
    with collected() as warnings:
        buffers = pack(raytracer.Scene(spheres=[specks, balls]))
    assert buffers.large_id.tolist() == [3]
    assert len(warnings) == 1
    assert "number 4, a sphere" in warnings[0]
    assert "1e6" in warnings[0]


@pytest.mark.parametrize(("size", "warned"), [(1e5, False), (1e8, True)])
def test_other_solids_beyond_the_limit_are_a_warning(size: float, warned: bool) -> None:
    small = raytracer.SphereSet([[0.0, 1.0, 0.0]], 1.0)
    wide = raytracer.EllipsoidSet([[0.0, -size, 0.0]], (size, size, size))
    with collected() as warnings:
        pack(raytracer.Scene(spheres=[small], ellipsoids=[wide]))
    assert any("number 1, a solid" in each for each in warnings) == warned


def test_at_most_sixteen() -> None:
    walls = [((-1e7 - k, 0.0, 0.0), 1e7) for k in range(MAX_LARGE + 4)]
    with collected() as warnings:
        buffers = packed(*walls)
    assert len(buffers.large) == MAX_LARGE
    assert (np.diff(buffers.large_id) > 0).all()
    assert len(warnings) == 1


BELOW = 2.0**24
"""Radius of a sphere whose top is at y = 0, below two of radius 1."""


@pytest.mark.parametrize(
    ("clip", "described"),
    [
        ({"keep": "z < 1e9"}, 1),  # kept whole
        ({"remove": "y > 1"}, 1),
        ({"keep": "z < 0.5"}, 1),  # cut
        ({"remove": "x > 0 and z > 0"}, 1),
        ({"keep": "y > 0.5"}, 0),  # not there
        ({"remove": "y < 0.5"}, 0),
    ],
)
def test_planes_that_leave_a_part_of_a_large_sphere(clip: dict[str, str], described: int) -> None:
    small = raytracer.SphereSet([[0.0, 1.0, 0.0], [3.0, 1.0, -0.5]], 1.0)
    large = raytracer.SphereSet([[0.0, -BELOW, 0.0]], BELOW)
    with collected() as warnings:
        buffers = pack(raytracer.Scene(spheres=[small, large], clip=raytracer.Clip(**clip)))
    assert len(buffers.large) == described
    assert not warnings


def test_a_clipped_scene_on_a_large_sphere_that_is_whole_is_the_scene_without_clipping() -> None:
    small = raytracer.SphereSet([[0.0, 1.0, 0.0], [3.0, 1.0, -0.5]], 1.0, "red")
    large = raytracer.SphereSet([[0.0, -BELOW, 0.0]], BELOW, "gray")
    camera = raytracer.Camera(position=(1.0, 4.0, 9.0), look_at=(1.0, 0.5, 0.0))
    scene = raytracer.Scene([small, large], camera)
    size: dict[str, Any] = {"width": 96, "height": 64, "samples": 1, "backend": "cpu"}
    plain, clipped = (
        raytracer.render(scene, clip=clip, **size).to_uint8().astype(int)
        for clip in (None, "z < 1e9")
    )
    np.testing.assert_array_equal(clipped, plain)
