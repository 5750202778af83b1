"""Chi-squared tests of samplers against their densities: lights, emitters, the sky, the lens."""

from math import sqrt
from typing import Any

import numpy as np
import pytest

from raytracer.packing.environment_map import fill_quads
from raytracer.packing.lighting import make_alias_table
from raytracer.system.layout import struct_dtype
from reference.scene import Array, unit
from shade.test_area_light import CENTER, LIGHTS
from support.directions import DRAWN, RINGS, SECTORS, check, counted, expected, frame_about, squares
from support.probe import Probe

# ---- lights of a scene file


@pytest.mark.parametrize("name", LIGHTS)
def test_lights(probe: Probe, name: str) -> None:
    """Point with a radius, directional with an angle, rectangle and disk."""
    light = LIGHTS[name]
    found = probe("area_light_sample", [(0, 0, 0)], squares(DRAWN, 2), light=light)
    wi = found[:, :3].astype(np.float64)
    axis = unit(CENTER)
    low = 1 - (1 - float((wi @ axis).min())) * 1.02

    def density(directions: Array) -> Array:
        hit = probe("area_light_hit", [(0, 0, 0)], directions, light=light).astype(np.float64)
        return np.where(hit[:, 0] >= 0, hit[:, 2], 0)

    check(counted(wi, axis, low), expected(density, axis, low))
    np.testing.assert_allclose(found[:, 5], density(wi), rtol=1e-3, atol=found[:, 5].max() * 0.02)


# ---- spheres that send out light


def table_of(spheres: list[Any], radiance: Array) -> tuple[Any, float]:
    """Emitters as they are packed, and one by the sum of their weights."""
    table = np.zeros(len(spheres), struct_dtype("Emitter"))
    for row, (center, radius) in zip(table, spheres, strict=True):
        row["center"], row["radius"] = center, radius
    table["radiance"] = radiance
    weight = radiance.max(axis=1) * table["radius"].astype(np.float64) ** 2
    table["share"] = weight / weight.sum()
    table["threshold"], table["alias"] = make_alias_table(weight / weight.sum())
    table["sphere"] = np.arange(len(spheres))
    return table, 1 / float(weight.sum())


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (0.4, 2.1, 0.0)], ids=["outside", "inside"])
def test_emitters(probe: Probe, place: Any) -> None:
    """Each is chosen by its power, and its directions have its density; the cones overlap."""
    spheres = [((0, 2, 0), 0.6), ((0.7, 2.6, 0.2), 0.9), ((-3, 1, 1), 0.2)]
    radiance = np.array([(1.0, 0.5, 0.2), (0.1, 0.4, 0.3), (8.0, 8.0, 9.0)])
    table, scale = table_of(spheres, radiance)
    position = np.array(place)
    drawn = probe("emitter_sample", [place], squares(DRAWN, 3), emitters=table, integer=3)
    wi, chosen = drawn[:, :3].astype(np.float64), np.ascontiguousarray(drawn[:, 6]).view(np.uint32)
    shares = table["share"].astype(np.float64) * DRAWN
    counts = np.bincount(chosen, minlength=3)
    assert (np.abs(counts - shares) < 5 * np.sqrt(shares)).all()
    for number, (center, radius) in enumerate(spheres):
        way = np.array(center) - position
        distance, axis = float(np.linalg.norm(way)), unit(way)
        low = sqrt(1 - (radius / distance) ** 2) if radius < distance else -1.0

        def density(directions: Array, number: int = number) -> Array:
            row = np.full(len(directions), number, np.uint32)
            frame = {"emitter_scale": scale, "emitter_reach": 1e9}
            found = probe("emitter_pdf", [place], row, emitters=table, frame=frame)
            return np.broadcast_to(found[:, 0].astype(np.float64), len(directions))

        own = chosen == number
        found, wanted = counted(wi[own], axis, low), expected(density, axis, low)
        check(found, wanted * own.sum() / shares[number])
        assert wanted.sum() == pytest.approx(shares[number], rel=1e-3)
        np.testing.assert_allclose(drawn[own, 5], density(wi[own]), rtol=1e-4)


NEAR = 2.0**-21
"""Twice the error of a computed surface point, by the larger of centre and radius."""


def test_emitters_have_one_density_for_both_strategies(probe: Probe) -> None:
    """The weights of a sample of the light and of a ray that meets it have sum 1, from outside of
    it, inside and on either side of its surface; the way to it ends where it does."""
    spheres = [((0, 2, 0), 0.6), ((0.7, 2.6, 0.2), 0.9), ((400, 1, 1), 0.2), ((1, 0, -1), 30.0)]
    radiance = np.array([(1.0, 0.5, 0.2), (0.1, 0.4, 0.3), (800.0, 80.0, 9.0), (0.01, 0.02, 0.01)])
    table, _ = table_of(spheres, radiance)
    table["share"] = 0.25
    table["threshold"] = 1.0
    rng = np.random.default_rng(8)
    centers, radii = np.array([c for c, _ in spheres], np.float64), np.array([0.6, 0.9, 0.2, 30.0])
    radii = radii.astype(np.float32).astype(np.float64)
    count = 4000
    about, other = rng.integers(0, 4, (2, count))
    normal = unit(rng.normal(size=(count, 3)))
    height = rng.choice([-0.9, -0.5, -1e-3, 0.0, 1e-2, 1.0, 40.0], count)
    error = NEAR * np.maximum(np.abs(centers).max(axis=1), radii)[about]
    reach = (
        radii[about] * (1 + height) + np.where(height == 0, rng.choice([-1, 1], count), 0) * error
    )
    place = (centers[about] + reach[:, None] * normal).astype(np.float32)
    across = (place - np.where(height == 0, 2 * error, 0)[:, None] * normal).astype(np.float32)
    drawn = probe("emitter_sample", place, (other + 0.5) / 4, rng.random((count, 2)),
                  emitters=table, integer=4).astype(np.float64)  # fmt: skip
    assert (np.ascontiguousarray(drawn[:, 6].astype(np.float32)).view(np.uint32) == other).all()
    # The scale makes of the weight what the table has as share.
    weight = (radiance.max(axis=1) * radii**2)[other]
    for start in (place, across):
        scaled = np.empty(count)
        for number in range(4):
            own = other == number
            row = np.full(own.sum(), number, np.uint32)
            frame = {"emitter_scale": 0.25 / weight[own][0], "emitter_reach": 1e9}
            found = probe("emitter_pdf", start[own], row, emitters=table, frame=frame)
            scaled[own] = found[:, 0]
        of_ray = 10.0 ** rng.uniform(-3, 3, count)
        weights = [probe("power_heuristic", a, b)[:, 0].astype(np.float64)
                   for a, b in ((drawn[:, 5], of_ray), (of_ray, scaled))]  # fmt: skip
        np.testing.assert_allclose(sum(weights), 1.0, atol=3e-4)
    # Where a ray meets the sphere, away from its surface and from rays that touch it.
    way = centers[other] - place.astype(np.float64)
    wi = unit(drawn[:, :3])
    middle = (way * wi).sum(axis=1)
    half2 = radii[other] ** 2 - ((way - middle[:, None] * wi) ** 2).sum(axis=1)
    half = np.sqrt(np.maximum(half2, 0))
    inside = np.linalg.norm(way, axis=1) < radii[other]
    wanted = np.where(inside, middle + half, middle - half)
    clear = (half > 0.02 * radii[other]) & ((height != 0) | (about != other))
    assert drawn[clear, 7].all()
    assert (drawn[clear, 3] <= wanted[clear]).all()
    gap = np.where(inside, 1e-4, 2e-3) * radii[other] + 2e-5 * np.abs(place).max(axis=1)
    gap += 2e-5 * np.abs(centers).max(axis=1)[other]
    assert (drawn[clear, 3] >= (wanted - gap)[clear]).all()
    assert clear.mean() > 0.7


# ---- the environment map


def sky_of(radiance: Array, density: Array) -> Array:
    """A map with these values at the corners, (n + 1, 2 n + 1, 3) and (n + 1, 2 n + 1)."""
    corners, size = density.size, len(density) - 1
    texels = np.zeros(corners + 2 * ((size**2 - 1) // 3) + 1, struct_dtype("EnvironmentTexel"))
    texels["radiance"][:corners] = radiance.reshape(-1, 3)
    cells = (density[1:] + density[:-1])[:, 1:] + (density[1:] + density[:-1])[:, :-1]
    texels["density"][:corners] = 4 * density.ravel() / cells.mean()
    fill_quads(texels[corners:].view(struct_dtype("EnvironmentQuad")), cells)
    return texels


SKIES = ["noise", "one corner", "black half", "even"]


def corners_of(name: str) -> tuple[Array, Array]:
    """Radiance and density at the corners of four cells a side."""
    rng = np.random.default_rng(2)
    density = rng.random((5, 9)) ** 3 + 0.02
    if name == "noise":
        density[1, 2] += 4.0
    if name == "one corner":
        density[:] = 0.0
        density[2, 5] = 1.0
    if name == "black half":
        density[:, :5] = 0.0
    if name == "even":
        density[:] = 1.0
    density *= np.sin(np.linspace(0.0, np.pi, 5))[:, None]
    return rng.random((5, 9, 3)), density


@pytest.mark.parametrize("name", SKIES)
def test_sky(probe: Probe, name: str) -> None:
    """Bright cells beside dark ones, over the whole sphere, turned."""
    texels = sky_of(*corners_of(name))
    up = unit((0.2, 0.9, -0.3))
    frame = {"map_x": frame_about(up)[0], "background_up": up, "map_size": 4}
    drawn = probe("environment_light_sample", squares(4 * DRAWN, 2), sky=texels, frame=frame)
    wi = drawn[:, :3].astype(np.float64)
    assert np.abs(np.linalg.norm(wi, axis=1) - 1).max() < 1e-6

    def density(directions: Array) -> Array:
        return probe("environment_light", directions, sky=texels, frame=frame)[:, 3].astype(
            np.float64
        )

    check(counted(wi, up, -1.0), expected(density, up, -1.0, 4 * DRAWN))
    seen = probe("environment_light", wi, sky=texels, frame=frame)
    np.testing.assert_allclose(seen, drawn[:, 3:], rtol=2e-3, atol=1e-4)


@pytest.mark.parametrize("name", SKIES)
def test_strata_of_the_square_stay_whole_on_the_sky(probe: Probe, name: str) -> None:
    """Numbers at the ends of their range have directions too; neighbours are neighbours."""
    texels = sky_of(*corners_of(name))
    frame = {"map_x": (1, 0, 0), "background_up": (0, 0, 1), "map_size": 4}
    ends = np.array([0.0, 2.0**-24, 0.25, 0.5, 1 - 2.0**-24], np.float32)
    pairs = np.stack(np.meshgrid(ends, ends), axis=-1).reshape(-1, 2)
    drawn = probe("environment_light_sample", pairs, sky=texels, frame=frame)
    assert np.isfinite(drawn).all()
    np.testing.assert_allclose(np.linalg.norm(drawn[:, :3], axis=1), 1.0, atol=1e-6)
    if name != "even":
        return
    u, v = np.meshgrid((np.arange(64) + 0.5) / 64, (np.arange(64) + 0.5) / 64)
    grid = np.stack([u, v], axis=-1).reshape(-1, 2)
    wi = probe("environment_light_sample", grid, sky=texels, frame=frame)[:, :3].reshape(64, 64, 3)
    for axis in (0, 1):
        step = np.linalg.norm(np.diff(wi.astype(np.float64), axis=axis), axis=-1)
        assert step.max() < 0.2


# ---- the lens


def test_lens(probe: Probe) -> None:
    """Rays start on a disc, everywhere alike, and meet in the plane that is in focus."""
    camera = {"origin": (1, 2, 3), "forward": (0, 0, -1), "right": (0.5, 0, 0), "up": (0, 0.3, 0),
              "lens_radius": 0.25, "focus_distance": 4.0}  # fmt: skip
    rays = probe("lens_ray", [(0.4, -0.7)], squares(DRAWN, 2), camera=camera).astype(np.float64)
    origin, direction = rays[:, :3] - (1, 2, 3), rays[:, 3:]
    assert np.abs(origin[:, 2]).max() < 1e-6
    part = (origin[:, 0] ** 2 + origin[:, 1] ** 2) / 0.25**2
    assert part.max() < 1 + 1e-5
    turn = np.arctan2(origin[:, 1], origin[:, 0]) / (2 * np.pi) % 1
    cell = np.minimum(part * RINGS, RINGS - 1).astype(int) * SECTORS
    cell += np.minimum(turn * SECTORS, SECTORS - 1).astype(int)
    counts = np.bincount(cell, minlength=RINGS * SECTORS)
    check(counts.astype(np.float64), np.full(RINGS * SECTORS, DRAWN / (RINGS * SECTORS)))
    meets = origin + direction * (4.0 / -direction[:, 2])[:, None]
    np.testing.assert_allclose(meets, np.broadcast_to((0.8, -0.84, -4), meets.shape), atol=1e-5)
