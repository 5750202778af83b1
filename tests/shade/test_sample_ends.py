"""Samplers at the ends of their random numbers: no sample carries more than radiance by density.

The densities and the radiance are computed in float64, apart from the kernels. A sample without a
density carries nothing.
"""

from itertools import product
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.packing.environment_map import fill_quads, sampling_density
from raytracer.system.layout import struct_dtype
from reference.scene import Array
from shade.test_area_light import CENTER, LIGHTS
from shade.test_principled import MIXTURES, Surface, at, row
from shade.test_samplers import table_of
from support.probe import Floats, Probe

SMALLEST = float(np.finfo(np.float32).smallest_subnormal)
ENDS = np.array([0.0, SMALLEST, 2.0**-24, 0.5, 1 - 2.0**-24], np.float32)
LINE = np.sort(np.concatenate([ENDS, (np.arange(29) + 0.5) / np.float32(29)])).astype(np.float32)


def grid(*numbers: NDArray[Any]) -> NDArray[Any]:
    """Every combination, (n, number of arguments)."""
    return np.stack(np.meshgrid(*numbers, indexing="ij"), -1).reshape(-1, len(numbers))


def about(edges: Array) -> Floats:
    """Numbers in [0, 1): the edges and their neighbours in float32."""
    near = np.clip(np.unique(np.asarray(edges).ravel()), 0.0, 1.0).astype(np.float32)
    both = [np.nextafter(near, np.float32(end)) for end in (-1.0, 2.0)]
    every = np.concatenate([near, *both])
    return np.unique(every[(every >= 0) & (every < 1)])


# ---- the environment map

ROWS = 4
CORNERS = (ROWS + 1, 2 * ROWS + 1)


def radiance_of(name: str) -> Floats:
    """Radiance at the corners of a map, linear RGB (ROWS + 1, 2 ROWS + 1, 3)."""
    rng = np.random.default_rng(3)
    radiance = rng.uniform(0.1, 1.0, (*CORNERS, 3))
    if name == "sun":
        radiance[1, 2] = 1e4
    if name == "bright poles":
        radiance[[0, -1]] = 50.0
    if name == "night":
        radiance *= 1e-12
        radiance[2, 5] = 3.0
    if name == "black but for a corner":
        radiance[:] = 0.0
        radiance[2, 5] = 1.0
    radiance[:, -1] = radiance[:, 0]  # the first and the last column are one
    radiance[[0, -1]] = radiance[[0, -1], :1]  # a pole is a point
    return radiance.astype(np.float32)


class Map:
    """A map as it is packed, and in float64."""

    def __init__(self, radiance: Floats) -> None:
        density = sampling_density(radiance)
        self.radiance, self.density = radiance.astype(np.float64), density.astype(np.float64)
        self.cells = (self.density[1:] + self.density[:-1])[:, 1:] / 4
        self.cells += (self.density[1:] + self.density[:-1])[:, :-1] / 4
        texels = np.zeros(
            density.size + 2 * ((ROWS**2 - 1) // 3) + 1, struct_dtype("EnvironmentTexel")
        )
        texels["radiance"][: density.size] = radiance.reshape(-1, 3)
        texels["density"][: density.size] = density.ravel()
        fill_quads(texels[density.size :].view(struct_dtype("EnvironmentQuad")), self.cells)
        frame = {"map_x": (1, 0, 0), "background_up": (0, 0, 1), "map_size": ROWS}
        self.uniform: Any = {"sky": texels, "frame": frame}

    def light(self, u: Array, v: Array) -> tuple[Array, Array]:
        """Radiance (n, 3) and density per solid angle (n,) at points of the map."""
        x, y = np.clip(u, 0, 1) * 2 * ROWS, np.clip(v, 0, 1) * ROWS
        column = np.minimum(x.astype(int), 2 * ROWS - 1)
        line = np.minimum(y.astype(int), ROWS - 1)
        across, down = (x - column)[:, None], (y - line)[:, None]
        both = np.concatenate([self.radiance, self.density[..., None]], axis=-1)
        top = both[line, column] * (1 - across) + both[line, column + 1] * across
        below = both[line + 1, column] * (1 - across) + both[line + 1, column + 1] * across
        found = top * (1 - down) + below * down
        sine = np.sin(np.pi * np.minimum(v, 1 - v))
        pdf = np.divide(found[:, 3], 2 * np.pi**2 * sine, out=np.zeros(len(v)), where=sine > 0)
        return found[:, :3], pdf

    def edges(self) -> Floats:
        """Points of the unit square at the edges of each row, column and cell, (n, 2)."""
        halves = self.cells[:, :ROWS], self.cells[:, ROWS:]
        first = halves[0].sum() / self.cells.sum()
        spans = ((0.0, first), (first, 1.0))
        points = [
            point
            for half, span in zip(halves, spans, strict=True)
            for point in _edges(half, span, (0.0, 1.0))
        ]
        return np.concatenate(points)


def _edges(cells: Array, u: tuple[float, float], v: tuple[float, float]) -> list[Floats]:
    """Of a block of cells, which a block of the unit square is warped to."""
    ends = about(np.array([*u, *v]))
    middle = np.array([sum(u) / 2, sum(v) / 2], np.float32)
    here = grid(np.concatenate([about(np.array(u)), middle[:1]]),
                np.concatenate([about(np.array(v)), middle[1:]]))  # fmt: skip
    if len(cells) == 1:
        return [here, grid(ends, ends)]
    side, points = len(cells) // 2, [here]
    top = _first(cells[:side].sum(), cells[side:].sum(), v)
    for rows, part in ((cells[:side], (v[0], top)), (cells[side:], (top, v[1]))):
        left = _first(rows[:, :side].sum(), rows[:, side:].sum(), u)
        points += _edges(rows[:, :side], (u[0], left), part)
        points += _edges(rows[:, side:], (left, u[1]), part)
    return points


def _first(one: float, other: float, span: tuple[float, float]) -> float:
    """Where a span is divided by two weights."""
    share = one / (one + other) if one + other > 0 else 0.5
    return span[0] + share * (span[1] - span[0])


MAPS = ["noise", "sun", "bright poles", "night", "black but for a corner"]


@pytest.mark.parametrize("name", MAPS)
def test_environment_map(probe: Probe, name: str) -> None:
    """Also at the poles, where there is radiance but no density."""
    shown = Map(radiance_of(name))
    points = np.concatenate([grid(ENDS, ENDS), shown.edges()])
    drawn = probe("sample_environment", points, **shown.uniform).astype(np.float64)
    assert np.isfinite(drawn).all()
    wi, carried, pdf = drawn[:, :3], np.pi * drawn[:, 3:6], drawn[:, 6]
    assert (carried[pdf == 0] == 0).all()
    # Beside the poles the density of the map is by its own rounding: the bound is that of all.
    fine = grid((np.arange(512) + 0.5) / 512, np.append(0.5, np.arange(1, 256)) / 256)
    radiance, density = shown.light(*fine.T)
    lit = density > 0
    assert (carried.max(axis=0) <= 1.01 * (radiance[lit] / density[lit, None]).max(axis=0)).all()
    # Elsewhere it is that of the direction.
    v = np.arctan2(np.hypot(wi[:, 0], wi[:, 1]), wi[:, 2]) / np.pi
    u = 0.5 - np.arctan2(wi[:, 1], wi[:, 0]) / (2 * np.pi)
    radiance, density = shown.light(u, v)
    clear = density > 1e-3 * density.max()
    assert clear.sum() > 100
    bound = radiance[clear] / density[clear, None]
    np.testing.assert_allclose(carried[clear], bound, rtol=2e-3, atol=1e-6 * bound.max())


def test_the_zenith_has_no_density(probe: Probe) -> None:
    """The corner of the unit square that shows it is drawn once in ten million samples."""
    shown = Map(radiance_of("noise"))
    drawn = probe("sample_environment", [(0.3, 0.0), (0.9, SMALLEST)], **shown.uniform)
    assert (drawn[0, 2:] == (1, 0, 0, 0, 0)).all()
    assert drawn[1, 2] == 1
    assert np.pi * drawn[1, 3:6].max() < 4 * np.pi * shown.radiance.max() * 10


# ---- lamps

PLACES = [
    (0.0, 0.0, 0.0),
    (30.0, -20.0, 11.0),
    CENTER + np.array([0.5, 0, 0]),
    CENTER - np.array([0.7, 0, 0]),
]


@pytest.mark.parametrize("place", PLACES, ids=["near", "far", "within", "on it"])
@pytest.mark.parametrize("name", LIGHTS)
def test_lamps(probe: Probe, name: str, place: Any) -> None:
    light = LIGHTS[name]
    drawn = probe("area_light_sample", [place], grid(LINE, LINE), light=light).astype(np.float64)
    assert np.isfinite(drawn).all()
    carried, pdf = np.pi * drawn[:, 4], drawn[:, 5]
    assert (carried[pdf == 0] == 0).all()
    if name in ("rectangle", "disk"):  # of radiance 1
        assert (carried <= (1 + 1e-5) / np.where(pdf > 0, pdf, 1.0)).all()
        return
    distance = float(np.linalg.norm(np.array(place) - CENTER))
    extent = float(light["extent"])
    sine2 = (
        extent if "towards" in light or name in ("sun", "overcast") else (extent / distance) ** 2
    )
    sine2 = min(sine2, 1.0)
    fades = distance**-2 if name == "fading point" else 1.0
    versine = sine2 / (1 + np.sqrt(1 - sine2))
    np.testing.assert_allclose(pdf, 1 / (2 * np.pi * versine), rtol=1e-3)
    bound = fades / sine2 * 2 * np.pi * versine
    np.testing.assert_allclose(carried, bound, rtol=1e-3)


# ---- emitters

BALLS: list[Any] = [((0, 2, 0), 0.6), ((0.7, 2.6, 0.2), 0.9), ((-3, 1, 1), 0.2), ((0, 0, 0), 30.0)]
POWERS = np.array([(1.0, 0.5, 0.2), (0.1, 0.4, 0.3), (8.0, 8.0, 9.0), (1e-3, 1e-3, 1e-3)])


@pytest.mark.parametrize(
    "place", [(0.5, 0, 0.1), (0.1, 2.2, 0.1), (0.0, 2.0, 0.0), (90.0, 0.0, 0.0)]
)
def test_emitters(probe: Probe, place: Any) -> None:
    """From outside of them and within, at the centre of one, and at the edges of each choice."""
    table, _ = table_of(BALLS, POWERS)
    table["share"][2], count = 1e-44, len(BALLS)
    cells = np.arange(count) + np.stack([np.zeros(count), table["threshold"], np.ones(count)])
    numbers = grid(np.concatenate([ENDS, about(cells / count)]), ENDS, ENDS)
    drawn = probe("emitter_sample", [place], numbers, emitters=table, integer=count)
    assert np.isfinite(drawn).all()
    chosen = np.ascontiguousarray(drawn[:, 6]).view(np.uint32)
    assert set(chosen) == set(range(count))
    carried, pdf = np.pi * drawn[:, 4].astype(np.float64), drawn[:, 5].astype(np.float64)
    for number, (center, radius) in enumerate(BALLS):
        distance2 = float(((np.array(center) - place) ** 2).sum())
        sine2 = radius**2 / distance2 if distance2 > radius**2 else 1.0
        versine = sine2 / (1 + np.sqrt(1 - sine2)) if sine2 < 1 else 2.0
        own, share = chosen == number, float(table["share"][number])
        wanted = share / (2 * np.pi * versine)
        if share < 1e-38:  # it has no inverse
            assert (carried[own] == 0).all()
            continue
        np.testing.assert_allclose(pdf[own], wanted, rtol=1e-3)
        np.testing.assert_allclose(carried[own], 1 / wanted, rtol=1e-3)


# ---- lobes of materials

KINDS = [
    *MIXTURES,
    Surface(0.0, transmission=1.0),
    Surface(0.0, transmission=1.0, coat=1.0),
    Surface(0.0, metallic=1.0),
    Surface(0.3, 0.0, 1.0, 0.0, 0.0, 0.0),
    Surface(0.3, 0.0, 1.0, 0.0, 0.0, 1.0),
]


@pytest.mark.parametrize("inside", [False, True])
@pytest.mark.parametrize("color", [(1, 1, 1), (0, 0, 0), (1e-30, 1e-38, 1.0)])
def test_lobes(probe: Probe, color: Any, inside: bool) -> None:
    """Whichever lobe the last number chooses: its value by the density of the direction."""
    numbers = grid(LINE[::3], LINE[::3], LINE)
    numbers = np.concatenate([numbers, grid(ENDS, ENDS, LINE)])
    for kind, cosine in product(KINDS, (1e-6, 1e-3, 0.3, 1.0)):
        wo = at(cosine, 0.3)
        given = row(kind, wo, color, inside)
        drawn = probe("principled_sample", given, numbers).astype(np.float64)
        assert np.isfinite(drawn).all(), kind
        wi, weight, pdf = drawn[:, :3], drawn[:, 3:6], drawn[:, 6]
        eta2 = np.where(wi[:, 2] < 0, kind.ior ** (-2 if inside else 2), 1.0)
        assert (eta2[:, None] * weight).max() < 6, (kind, cosine)
        found = probe("principled_eval", given, wi.astype(np.float32)).astype(np.float64)
        value, again = found[:, :3], found[:, 3]
        smooth = pdf > 0
        bound = value[smooth] / (np.pi * np.where(again > 0, again, np.inf))[smooth, None]
        # The direction is rounded: a narrow highlight changes by it.
        assert (weight[smooth] <= 1.05 * bound + 1e-3).all(), (kind, cosine)


@pytest.mark.parametrize(("diffuse", "mirror"), [(1, 0), (0, 1), (0, 0), (0.5, 0.5), (1, 1e-30),
                                                 (1e-30, 1e-38), (1e-42, 0)])  # fmt: skip
def test_lobes_of_phong(probe: Probe, diffuse: float, mirror: float) -> None:
    """The diffuse part and the mirror, by their probabilities."""
    numbers = grid(ENDS, ENDS, LINE)
    drawn = probe("scattering_sample", [(diffuse, mirror, *at(0.4))], numbers).astype(np.float64)
    assert np.isfinite(drawn).all()
    assert (drawn[:, 3:6] <= 1 + 1e-6).all()
    scattered = (1 - np.float64(np.float32(mirror))) * diffuse
    assert drawn[:, 3].max() == pytest.approx(scattered + mirror, rel=1e-5, abs=1e-37)
    assert (drawn[:, 6] <= 1 / np.pi + 1e-6).all()


# ---- weights


def test_weights_of_the_power_heuristic(probe: Probe) -> None:
    """Those of both have sum 1; a sample whose density is 0, or has no inverse, has none."""
    sizes = np.array([0, SMALLEST, 5e-38, 1e-30, 1e-12, 0.3, 1, 7, 1e12, 1e30, 3e38], np.float32)
    both = grid(sizes, sizes)
    one, other = (probe("power_heuristic", pair)[:, 0].astype(np.float64)
                  for pair in (both, both[:, ::-1]))  # fmt: skip
    assert ((one >= 0) & (one <= 1)).all()
    least = np.finfo(np.float32).tiny
    assert (one[both[:, 0] < least] == 0).all()
    some = both.max(axis=1) >= least
    np.testing.assert_allclose((one + other)[some], 1.0, atol=3e-7)
    a, b = (np.maximum(column.astype(np.float64), 1e-60) for column in both[some].T)
    np.testing.assert_allclose(one[some], a**2 / (a**2 + b**2), atol=3e-7)
