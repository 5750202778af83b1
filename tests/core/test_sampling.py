"""Owen-scrambled Sobol points: prefixes, strata, independence; and the filters that use them."""

from collections.abc import Callable
from math import erf, sqrt

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.system.layout import enum_value
from reference.scene import Array
from support.directions import DRAWN, check, counted, expected, squares
from support.probe import Floats, Probe

SEEDS = st.integers(0, 2**32 - 1)
PIXELS = st.integers(0, 2**16)


USES = 4  # kinds of decision at a bounce
DIMENSIONS = st.tuples(st.integers(0, 40), st.integers(0, USES - 1))  # bounce, use


# Points of a pixel are drawn by one function of one target: test_targets_agree is for the others.
Points = Callable[..., Floats]


@pytest.fixture(scope="session")
def points(probes: Callable[[str], Probe]) -> Points:
    """Returns points(seed, x, y, count, dimension=(0, 0)).

    The first points of a pixel for a use at a bounce, float32 (count, 2).
    """
    probe = probes("portable scalar")

    def points(
        seed: int, x: int, y: int, count: int, dimension: tuple[int, int] = (0, 0)
    ) -> Floats:
        rows = np.empty((count, 6), np.uint32)
        rows[:] = seed, x, y, 0, *dimension
        rows[:, 3] = np.arange(count)
        return probe("sample_points", rows)

    return points


@given(seed=SEEDS, x=PIXELS, y=PIXELS, dimension=DIMENSIONS)
def test_points_are_in_the_unit_square_and_stable(
    points: Points, seed: int, x: int, y: int, dimension: tuple[int, int]
) -> None:
    many = points(seed, x, y, 200, dimension)
    assert ((many >= 0) & (many < 1)).all()
    np.testing.assert_array_equal(many[:37], points(seed, x, y, 37, dimension))


@pytest.mark.parametrize("dimension", [(0, 0), (0, 1), (3, 2)])
def test_targets_agree(probe: Probe, points: Points, dimension: tuple[int, int]) -> None:
    """All give the same bits, and a number is the first coordinate of its point."""
    rng = np.random.default_rng(1)
    x, y = rng.integers(0, 5000, (2, 101), dtype=np.uint32)
    for sample in (0, 1, 2, 1000):
        given = (5, sample, *dimension)
        found = probe("sample_2d", x, y, integer=given)
        wanted = [points(5, *p, sample + 1, dimension)[sample] for p in zip(x, y, strict=True)]
        np.testing.assert_array_equal(found, wanted)
        np.testing.assert_array_equal(probe("sample_1d", x, y, integer=given), found[:, :1])


@given(
    seed=SEEDS, x=PIXELS, y=PIXELS, power=st.integers(0, 10), block=st.integers(0, 3),
    dimension=DIMENSIONS,
)  # fmt: skip
def test_every_elementary_interval_holds_one_point(
    points: Points, seed: int, x: int, y: int, power: int, block: int, dimension: tuple[int, int]
) -> None:
    """Each aligned block of 2^k points is a (0, k, 2)-net in base 2."""
    count = 2**power
    block_points = points(seed, x, y, (block + 1) * count, dimension)[block * count :]
    for across in range(power + 1):
        columns = np.floor(block_points[:, 0] * 2**across)
        rows = np.floor(block_points[:, 1] * 2 ** (power - across))
        cells = columns * 2 ** (power - across) + rows
        assert len(np.unique(cells)) == count, f"{2**across} columns"


def test_points_of_the_filter_are_sobol_points_scrambled(points: Points) -> None:
    """A scramble may swap the halves: which half is that of a bit of the index, or its opposite.

    In the first coordinate of the lowest bit, in the second of the sum of all bits.
    """
    for x in range(20):
        u, v = points(3, x, 5, 64).T
        lowest = np.arange(64) & 1
        parity = np.array([index.bit_count() & 1 for index in range(64)])
        for coordinate, half in ((u, lowest), (v, parity)):
            right = coordinate >= 0.5
            assert (right == half).all() or (right == 1 - half).all()


@pytest.mark.parametrize("other", [(0, 1), (0, 2), (0, 3), (1, 0), (1, 1), (7, 2)])
def test_dimensions_are_independent(points: Points, other: tuple[int, int]) -> None:
    """Pairs of coordinates of two dimensions, over pixels and samples, fill a grid evenly."""
    pairs = []
    for x in range(64):
        a, b = points(11, x, 3, 64), points(11, x, 3, 64, other)
        pairs += [np.c_[a[:, i], b[:, j]] for i in range(2) for j in range(2)]
    across, up = np.concatenate(pairs).T
    cells, _, _ = np.histogram2d(across, up, bins=8, range=[[0, 1], [0, 1]])
    expected = cells.sum() / 64
    # Points of one sequence for both would fill 8 cells of the 64. Stratified numbers deviate less
    # than independent ones, for which chi-squared with 63 degrees of freedom exceeds 124 once in
    # 200,000.
    assert ((cells - expected) ** 2 / expected).sum() < 124
    assert abs(np.corrcoef(across, up)[0, 1]) < 0.03


def test_pixels_and_seeds_have_points_of_their_own(points: Points) -> None:
    first = {points(s, x, y, 1).tobytes() for s in range(4) for x in range(20) for y in range(20)}
    assert len(first) > 1590
    assert len({points(0, 3, 4, 16).tobytes(), points(1, 3, 4, 16).tobytes()}) == 2


def test_first_points_are_spread_evenly_over_pixels(points: Points) -> None:
    first = np.array([points(7, x, y, 1)[0] for x in range(64) for y in range(64)])
    cells, _, _ = np.histogram2d(first[:, 0], first[:, 1], bins=8, range=[[0, 1], [0, 1]])
    # Chi-squared with 63 degrees of freedom: beyond 124 once in 200,000.
    assert ((cells - 64) ** 2 / 64).sum() < 124
    correlation = np.corrcoef(first.T)[0, 1]
    assert abs(correlation) < 0.07
    neighbours = np.corrcoef(first[:-64, 0], first[64:, 0])[0, 1]
    assert abs(neighbours) < 0.07


def test_the_two_coordinates_are_scrambled_independently(points: Points) -> None:
    late = np.array([points(s, 5, 6, 16)[9] - 0.5 for s in range(2000)])
    assert abs(late.mean(axis=0)).max() < 0.03
    assert abs(np.corrcoef(late.T)[0, 1]) < 0.09


def test_low_bits_are_scrambled_too(points: Points) -> None:
    """An Owen scramble leaves no bit of a coordinate constant over seeds."""
    bits = np.array([points(s, 1, 2, 3)[2] for s in range(400)])
    words = (bits * 2**24).astype(np.uint32)
    share = ((words[..., None] >> np.arange(24)) & 1).mean(axis=0)
    assert ((share > 0.35) & (share < 0.65)).all()


def quantiles(probe: Probe, name: str, radius: float, u: Array) -> Array:
    """Offsets in pixels that the kernels give for u in [0, 1)."""
    kind = enum_value("FilterKind", name)
    return probe("filter_sample", u, integer=kind, number=radius)[:, 0].astype(np.float64)


def cumulative(name: str, radius: float, x: Array) -> Array:
    """Share of each filter below an offset."""
    if name == "box":
        return np.asarray(0.5 + x / (2 * radius))
    if name == "tent":
        side = np.clip(1 - np.abs(x) / radius, 0, 1) ** 2 / 2
        return np.where(x < 0, side, 1 - side)
    cut = erf(3 / sqrt(2))
    return np.array([0.5 + erf(3 * v / radius / sqrt(2)) / (2 * cut) for v in x])


@pytest.mark.parametrize("radius", [0.5, 4.0])
@pytest.mark.parametrize("name", ["box", "tent", "gaussian"])
def test_filters_are_the_quantiles_of_their_distributions(
    probe: Probe, name: str, radius: float
) -> None:
    u = (np.arange(4096) + 0.5) / 4096
    offset = quantiles(probe, name, radius, u)
    np.testing.assert_allclose(cumulative(name, radius, offset), u, atol=2e-6)
    assert (np.diff(offset) >= 0).all()
    assert (
        np.abs(quantiles(probe, name, radius, np.array([0, 1 - 2.0**-24]))).max() <= radius * 1.0001
    )


def test_the_point_filter_has_no_offset(probe: Probe) -> None:
    assert (quantiles(probe, "point", 1.0, np.linspace(0, 0.99, 100)) == 0).all()


NORMALS = [(0, 0, 1), (0, 0, -1), (1, 0, 0), (0.6, 0, -0.8), (-0.36, 0.48, -0.8)]


@pytest.mark.parametrize("normal", NORMALS)
def test_cosine_hemisphere(probe: Probe, normal: tuple[float, float, float]) -> None:
    """Unit, above the surface, and as many in each cell as there ought to be."""
    n, drawn = np.array(normal, np.float64), 2 * DRAWN
    wi = probe("cosine_hemisphere", [n], squares(drawn, 2)).astype(np.float64)
    assert np.abs(np.linalg.norm(wi, axis=1) - 1).max() < 4e-7
    assert (wi @ n > -1e-6).all()
    check(counted(wi, n, 0.0), expected(lambda each: each @ n / np.pi, n, 0.0, drawn))


def test_the_edge_of_the_unit_square_is_a_direction(probe: Probe) -> None:
    corners = np.array([(0, 0), (0, 1), (1, 0), (1, 1), (1 - 2**-24, 0.5)], np.float32)
    wi = probe("cosine_hemisphere", np.array([(0.0, 0.6, 0.8)], np.float32), corners)
    assert np.abs(np.linalg.norm(wi, axis=1) - 1).max() < 4e-7
