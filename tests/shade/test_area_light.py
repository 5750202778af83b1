"""Lights and backgrounds as functions: closed forms, float64, samples against rays."""

from typing import Any

import numpy as np
import pytest

from raytracer.system.layout import enum_value
from reference.radiometry import (
    disk_solid_angles,
    polygon_irradiance,
    rectangle_solid_angle,
    sphere_irradiance,
)
from reference.scene import Array, unit
from support.directions import squares
from support.probe import Probe

SIDE = 128
NORMAL = unit((0.3, 1.0, -0.2))
"""Of the surface that the light falls on, at the origin."""

Light = dict[str, Any]


def point(center: Array, radius: float, falloff: str = "none") -> Light:
    return {
        "kind": enum_value("LightKind", "point"),
        "falloff": enum_value("Falloff", falloff),
        "vector": center,
        "extent": radius,
    }


def directional(towards: Array, angle: float) -> Light:
    """angle: in degrees, of the whole cone."""
    extent = np.sin(np.radians(angle) / 2) ** 2
    return {"kind": enum_value("LightKind", "directional"), "vector": towards, "extent": extent}


def flat(kind: str, center: Array, u: Array, v: Array) -> Light:
    area = float(np.linalg.norm(np.cross(u, v))) * (np.pi if kind == "disk" else 4)
    normal = unit(np.cross(u, v))
    return {
        "kind": enum_value("LightKind", kind),
        "vector": center, "u": u, "v": v, "normal": normal, "extent": area,
    }  # fmt: skip


CENTER = np.array([0.8, 2.0, 0.5])
U, V = np.array([1.1, 0.2, 0.0]), np.array([-0.1, 0.55, 0.9])
V = V - (V @ U) / (U @ U) * U
if np.cross(U, V) @ CENTER > 0:
    V = -V  # it shines towards the origin
ROUND = np.linalg.norm(V) / np.linalg.norm(U) * U

LIGHTS: dict[str, Light] = {
    "point": point(CENTER, 0.7),
    "fading point": point(CENTER, 0.7, "inverse-square"),
    "sun": directional(unit(CENTER), 0.53),
    "overcast": directional(unit(CENTER), 180.0),
    "rectangle": flat("rectangle", CENTER, U, V),
    "disk": flat("disk", CENTER, ROUND, V),
}


def points() -> Array:
    """The centres of the cells of the unit square, (SIDE^2, 2)."""
    line = (np.arange(SIDE) + 0.5) / SIDE
    return np.stack(np.meshgrid(line, line, indexing="ij"), axis=-1).reshape(-1, 2)


def samples(probe: Probe, light: Light, position: Any = (0, 0, 0)) -> Array:
    """Rows of wi, distance, attenuation and density, (n, 6)."""
    found = probe("area_light_sample", [position], points(), light=light).astype(np.float64)
    assert np.isfinite(found).all()
    return found


def irradiance(
    probe: Probe, light: Light, normal: Array = NORMAL, position: Any = (0, 0, 0)
) -> float:
    """By samples; of a light of colour 1, divided by pi."""
    found = samples(probe, light, position)
    return float((found[:, 4] * np.maximum(found[:, :3] @ normal, 0)).mean())


# ---- what arrives


@pytest.mark.parametrize("falloff", ["none", "inverse-square"])
def test_light_of_a_sphere_does_not_depend_on_its_radius(probe: Probe, falloff: str) -> None:
    """A surface that sees all of it gets what it gets from a point, times the cosine."""
    distance = float(np.linalg.norm(CENTER))
    wanted = float(unit(CENTER) @ NORMAL) / (distance**2 if falloff == "inverse-square" else 1)
    for radius in (1e-4, 0.05, 0.4, 0.9):
        found = irradiance(probe, point(CENTER, radius, falloff))
        assert found == pytest.approx(wanted, rel=2e-4)


def test_light_of_a_sphere_that_the_horizon_cuts(probe: Probe) -> None:
    center, radius = np.array([2.0, 0.5, 0.0]), 1.2
    distance = float(np.linalg.norm(center))
    for normal in (unit((0, 1, 0)), unit((-0.5, 1, 0.3)), unit((-0.2, 1, 0.8))):
        cosine = float(unit(center) @ normal)
        wanted = float(sphere_irradiance(cosine, distance, radius)) * (distance / radius) ** 2
        found = irradiance(probe, point(center, radius), normal)
        assert found == pytest.approx(wanted / np.pi, rel=2e-3)


@pytest.mark.parametrize("angle", [0.05, 0.53, 20.0, 180.0])
def test_light_of_a_cone_does_not_depend_on_its_angle(probe: Probe, angle: float) -> None:
    found = irradiance(probe, directional(NORMAL, angle), NORMAL)
    assert found == pytest.approx(1, rel=2e-4)


def test_light_of_a_rectangle(probe: Probe) -> None:
    corners = [CENTER + a * U + b * V for a, b in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
    wanted = polygon_irradiance((0, 0, 0), NORMAL, corners) / np.pi
    found = irradiance(probe, LIGHTS["rectangle"])
    assert found == pytest.approx(wanted, rel=1e-3)


@pytest.mark.parametrize("aside", [0.0, 0.6, 3.0])
def test_light_of_a_disk(probe: Probe, aside: float) -> None:
    """Parallel to the surface at a height of 1, its axis at a distance from the point."""
    light = flat("disk", np.array([aside, 1.0, 0]), np.array([0.8, 0, 0]), np.array([0, 0, 0.8]))
    z = 1 + aside**2 + 0.8**2
    wanted = (1 - (z - 2 * 0.8**2) / np.sqrt(z**2 - 4 * (0.8 * aside) ** 2)) / 2
    found = irradiance(probe, light, np.array([0.0, 1.0, 0.0]))
    assert found == pytest.approx(wanted, rel=1e-3)


def test_nothing_shines_backwards(probe: Probe) -> None:
    behind = 2 * CENTER
    for name in ("rectangle", "disk"):
        assert (samples(probe, LIGHTS[name], behind)[:, 4] == 0).all()
        wi = unit(CENTER - behind + points()[:, :1] * U)
        assert (probe("area_light_hit", [behind], wi, light=LIGHTS[name])[:, 0] < 0).all()


def test_a_surface_within_a_lamp(probe: Probe) -> None:
    """It gets light from the hemisphere about the lamp's centre, and nothing is in the way."""
    light = point(CENTER, 10.0)
    found = samples(probe, light)
    assert (found[:, 3] == 0).all()
    assert irradiance(probe, light, unit(CENTER)) == pytest.approx(1, rel=1e-3)
    hit = probe("area_light_hit", [[0, 0, 0]], found[:, :3], light=light)
    assert (hit[:, 0] == 0).all()
    np.testing.assert_allclose(hit[:, 2], found[:, 5], rtol=1e-5)


# ---- rectangles and disks by solid angle

AXES = np.stack([unit((0.8, 0.2, -0.3)), np.zeros(3), np.zeros(3)])
AXES[1] = unit(np.cross(AXES[0], (0.1, 0.9, 0.4)))
AXES[2] = np.cross(AXES[0], AXES[1])
"""Of the lights below, as rows: their longer side, their shorter side, and from the point to them.
"""

PLACES = [
    (0, 0),
    (0.5, 0),
    (0.3, 0.1),
    (0.99, 0.02),
    (1.01, 0),
    (1.2, 0.4),
    (0, 1.5),
    (4, 3),
    (20, 7),
]
HEIGHTS = [0.001, 0.01, 0.1, 1.0, 5.0, 20.0]


def near_light(
    kind: str, x: float, y: float, z: float, width: float = 0.3, unit: float = 1
) -> Light:
    """A light of half sides 1 and `width`, or of radius 1, in units of `unit`."""
    width = 1.0 if kind == "disk" else width
    along, across, towards = AXES * unit
    light = flat(kind, x * along + y * across + z * towards, along, -width * across)
    assert light["normal"] @ towards < 0
    return light


def solid_angle(kind: str, x: float, y: float, z: float, width: float = 0.3) -> float:
    if kind == "disk":
        return float(disk_solid_angles(float(np.hypot(x, y)), z).sum())
    return float(rectangle_solid_angle(x - 1, x + 1, y - width, y + width, z))


@pytest.mark.parametrize("unit", [1.0, 1e-4, 1e5])
@pytest.mark.parametrize("kind", ["rectangle", "disk"])
def test_the_density_is_one_by_the_solid_angle(probe: Probe, kind: str, unit: float) -> None:
    """Of samples and of rays alike; float32 knows a height to 1e-7 of the distance aside."""
    for x, y in PLACES:
        for z in HEIGHTS:
            for width in (0.3, 0.001) if kind == "rectangle" else (1.0,):
                light = near_light(kind, x, y, z, width, unit)
                drawn = probe("area_light_sample", [(0, 0, 0)], squares(64, 2), light=light)
                wanted = 1 / solid_angle(kind, x, y, z, width)
                allowed = 3e-5 + 1e-6 * np.hypot(x, y) / z
                np.testing.assert_allclose(drawn[:, 5], wanted, rtol=allowed)
                np.testing.assert_allclose(np.pi * drawn[:, 4] * drawn[:, 5], 1, rtol=1e-6)
                hit = probe("area_light_hit", [(0, 0, 0)], drawn[:, :3], light=light)
                met = hit[:, 0] > 0
                assert met.mean() > (0.9 if width > 0.01 and allowed < 1e-4 else 0.0)
                np.testing.assert_array_equal(hit[met, 2], drawn[0, 5])


def chi_squared(found: Array, wanted: Array) -> None:
    """Five standard deviations; cells of few samples count together."""
    full = wanted > 8
    found = np.append(found[full], found[~full].sum())
    wanted = np.append(wanted[full], max(wanted[~full].sum(), 1))
    chi2 = float(((found - wanted) ** 2 / wanted).sum())
    assert chi2 < len(wanted) + 5 * np.sqrt(2 * len(wanted))


def edges_of(values: Array, low: float, high: float, count: int) -> Array:
    """The ends of cells with about as many of the values each."""
    inner = np.quantile(values, np.arange(1, count) / count)
    return np.concatenate([[low], np.clip(inner, low, high), [high]])


DRAWN = 40_000


def drawn_places(probe: Probe, light: Light) -> Array:
    """Where samples are on the light: along its sides from the foot of the point, (DRAWN, 2)."""
    drawn = probe("area_light_sample", [(0, 0, 0)], squares(DRAWN, 2), light=light)
    return np.asarray((drawn[:, :3].astype(np.float64) * drawn[:, 3:4]) @ AXES[:2].T)


@pytest.mark.parametrize("z", [0.002, 0.05, 1.0, 10.0])
@pytest.mark.parametrize("place", [(0, 0), (-0.4, 0.1), (0.97, -0.28), (1.3, 0.6), (-8, 2)])
def test_samples_of_a_rectangle_are_uniform_in_solid_angle(
    probe: Probe, place: Any, z: float
) -> None:
    """In cells along both sides, by the closed form of each."""
    x, y = drawn_places(probe, near_light("rectangle", place[0], place[1], z)).T
    of_x, of_y = (
        edges_of(v, c - h, c + h, 12) for v, c, h in ((x, place[0], 1), (y, place[1], 0.3))
    )
    x, y = np.clip(x, of_x[0], of_x[-1]), np.clip(y, of_y[0], of_y[-1])
    found, *_ = np.histogram2d(x, y, [of_x, of_y])
    cells = rectangle_solid_angle(of_x[:-1, None], of_x[1:, None], of_y[:-1], of_y[1:], z)
    chi_squared(found.ravel(), cells.ravel() * DRAWN / cells.sum())


@pytest.mark.parametrize("z", [0.002, 0.05, 1.0, 10.0])
@pytest.mark.parametrize("aside", [0.0, 0.4, 0.97, 1.04, 1.5, 8.0])
def test_samples_of_a_disk_are_uniform_in_solid_angle(probe: Probe, aside: float, z: float) -> None:
    """In rings about its centre, and in sectors about the foot of the point."""
    x, y = drawn_places(probe, near_light("disk", aside, 0, z)).T
    edges = edges_of(np.hypot(x - aside, y), 0, 1, 24)
    edges = np.unique(np.maximum(edges, 1e-3))
    inner = [disk_solid_angles(aside / r, z / r).sum() for r in edges]
    found, _ = np.histogram(np.hypot(x - aside, y), [0, *edges[:-1], 2])
    chi_squared(found, np.diff([0, *inner]) * DRAWN / inner[-1])
    sectors = disk_solid_angles(aside, z, 24)
    widest = np.pi if aside < 1 else np.arcsin(1 / aside)
    turn = np.clip(np.arctan2(y, x), -widest, widest)
    found, _ = np.histogram(turn, 24, (-widest, widest))
    chi_squared(found, sectors * DRAWN / sectors.sum())


@pytest.mark.parametrize("z", [1e-6, 1e-3, 0.05, 0.7])
@pytest.mark.parametrize("kind", ["rectangle", "disk"])
def test_light_of_a_near_rectangle_or_disk(probe: Probe, kind: str, z: float) -> None:
    """Of a surface that faces it: Lambert's polygon, and the closed form of a parallel disk."""
    for x in (0.0, 0.6, 1.7):
        light = near_light(kind, x, 0, z)
        if kind == "disk":
            square = 1 + z**2 + x**2
            wanted = (1 - (square - 2) / np.sqrt(square**2 - 4 * x**2)) / 2
        else:
            corners = [(x + a, b, z) for a, b in ((1, 0.3), (-1, 0.3), (-1, -0.3), (1, -0.3))]
            wanted = polygon_irradiance((0, 0, 0), (0, 0, 1), corners) / np.pi
        assert irradiance(probe, light, AXES[2]) == pytest.approx(wanted, rel=2e-3, abs=1e-6)


@pytest.mark.parametrize("kind", ["rectangle", "disk"])
@pytest.mark.parametrize("unit", [1.0, 2.0**-40, 2.0**50])
def test_samples_from_anywhere_are_finite(probe: Probe, kind: str, unit: float) -> None:
    """In the plane, on an edge, a corner or the middle, behind, far away, with any pair of random
    numbers; no sample is more than the light of the whole hemisphere."""
    ends = np.array([0, 2.0**-24, 0.25, 0.5, 0.75, 1 - 2.0**-24])
    pairs = np.stack(np.meshgrid(ends, ends), axis=-1).reshape(-1, 2)
    sides = (0, 0.3, 0.5, 1, 1.5, 31.9, 32.1, 1e6)
    for x in sides:
        for y in (0, 0.3, 0.7, 1):
            for z in (-1.0, -1e-7, 0.0, 1e-30, 1e-10, 1e-4, 1.0, 40.0, 1e6):
                if unit > 1 and max(x, abs(z)) > 1e3:
                    continue
                light = near_light(kind, x, y, max(z, 1.0), unit=unit)
                light["vector"] = np.array([x, y, z]) * unit
                light["u"], light["v"] = (unit, 0, 0), (0, -light_width(kind) * unit, 0)
                light["normal"] = (0, 0, -1)
                drawn = probe("area_light_sample", [(0, 0, 0)], pairs, light=light)
                assert np.isfinite(drawn).all()
                assert np.abs(np.linalg.norm(drawn[:, :3], axis=1) - 1).max() < 1e-6
                assert (drawn[:, 3] >= 0).all()
                assert (drawn[:, 4] >= 0).all()
                assert (drawn[:, 4] <= 2 * (1 + 1e-5)).all()
                assert (z > 0) or (drawn[:, 4:] == 0).all()
                hit = probe("area_light_hit", [(0, 0, 0)], drawn[:, :3], light=light)
                assert np.isfinite(hit).all()


def light_width(kind: str) -> float:
    return 1.0 if kind == "disk" else 0.3


def test_beside_the_change_to_areas_the_light_is_the_same(probe: Probe) -> None:
    """Lights farther than 32 half sides are sampled by area."""
    for kind in ("rectangle", "disk"):
        near, far = (near_light(kind, 0, 0, z) for z in (31.999, 32.001))
        found = [irradiance(probe, light, AXES[2]) for light in (near, far)]
        assert found[0] == pytest.approx(found[1], rel=3e-4)


# ---- samples and rays


@pytest.mark.parametrize("name", LIGHTS)
def test_a_ray_along_a_sample_meets_the_light(probe: Probe, name: str) -> None:
    """At its distance, with its density and the radiance that the sample's factor stands for."""
    light = LIGHTS[name]
    for position in ((0, 0, 0), (-0.4, 0.1, 0.3)):
        drawn = samples(probe, light, position)
        hit = probe("area_light_hit", [position], drawn[:, :3], light=light).astype(np.float64)
        edge = (np.abs(points() - 0.5) > 0.49).any(axis=1)  # may miss by rounding
        assert np.abs(np.linalg.norm(drawn[:, :3], axis=1) - 1).max() < 1e-6
        t, radiance, pdf = hit[~edge].T
        assert (t >= 0).all()
        # Where the ray grazes a sphere, the distance has half the digits.
        assert np.abs(t / drawn[~edge, 3] - 1).max() < (2e-3 if "point" in name else 1e-5)
        np.testing.assert_allclose(pdf, drawn[~edge, 5], rtol=1e-4)
        np.testing.assert_allclose(radiance / (np.pi * pdf), drawn[~edge, 4], rtol=1e-3)


HALF_ULP = 2.0**-24
POSITION = np.random.default_rng(1).uniform(-20, 20, (10_000, 3)).astype(np.float32)


@pytest.mark.parametrize("falloff", ["none", "inverse-square"])
def test_point_light(probe: Probe, falloff: str) -> None:
    vector = np.array([1.5, -2.25, 4.0])
    light = {
        "kind": enum_value("LightKind", "point"),
        "falloff": enum_value("Falloff", falloff),
        "vector": vector,
    }
    found = probe("light_sample", POSITION, light=light).astype(np.float64)
    to_light = vector - POSITION.astype(np.float64)
    distance = np.linalg.norm(to_light, axis=1)
    assert np.abs(found[:, :3] - unit(to_light)).max() < 6 * HALF_ULP
    assert np.abs(found[:, 3] / distance - 1).max() < 8 * HALF_ULP
    attenuation = 1 / distance**2 if falloff == "inverse-square" else np.ones(len(distance))
    assert np.abs(found[:, 4] / attenuation - 1).max() < 12 * HALF_ULP


def test_directional_light(probe: Probe) -> None:
    """The same everywhere, and nothing is behind it."""
    vector = unit((0.3, 0.9, -0.2)).astype(np.float32)
    light = {"kind": enum_value("LightKind", "directional"), "vector": vector}
    found = probe("light_sample", POSITION, light=light)
    assert (found[:, :3] == vector).all()
    assert (found[:, 3] == np.float32(3e38)).all()
    assert (found[:, 4] == 1).all()


BOTTOM, TOP, UP = (0.1, 0.5, 2.0), (0.9, 0.2, 0.0), unit((0.2, 1.0, -0.3))
FRAME = {
    "height": 480,
    "background_bottom": BOTTOM,
    "background_top": TOP,
    "background_up": UP,
    "background_kind": enum_value("BackgroundKind", "gradient"),
}


def test_backgrounds(probe: Probe) -> None:
    rows = np.arange(480)
    directions = unit(np.random.default_rng(1).normal(size=(5000, 3)))
    for function, given, height in (
        ("background_row", rows, 1 - (rows + 0.5) / 480),
        ("background_direction", directions, (1 + directions @ UP) / 2),
    ):
        wanted = np.array(BOTTOM) + height[:, None] * (np.array(TOP) - BOTTOM)
        found = probe(function, given, frame=FRAME)
        np.testing.assert_allclose(found, wanted, atol=1e-6 if given is rows else 2e-6)


@pytest.mark.parametrize("function", ["background_row", "background_direction"])
def test_a_transparent_background_is_black(probe: Probe, function: str) -> None:
    frame = FRAME | {"background_kind": enum_value("BackgroundKind", "transparent")}
    columns = [3] if function == "background_row" else [[[0.0, 1.0, 0.0]]]
    assert (probe(function, *columns, frame=frame) == 0).all()
