"""Owen-scrambled Sobol points: prefixes, strata, independence; and the filters that use them."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sample_points = pytest.importorskip("raytracer._core").__dict__.get("sample_points")
pytestmark = pytest.mark.skipif(sample_points is None, reason="no probe for sample points")

SEEDS = st.integers(0, 2**32 - 1)
PIXELS = st.integers(0, 2**16)


def points(seed: int, x: int, y: int, count: int) -> np.ndarray:
    """The first points of a pixel, float32 (count, 2)."""
    result = sample_points(seed, x, y, count)
    assert result.shape == (count, 2)
    assert result.dtype == np.float32
    return np.asarray(result)


@given(seed=SEEDS, x=PIXELS, y=PIXELS)
def test_points_are_in_the_unit_square_and_stable(seed: int, x: int, y: int) -> None:
    many = points(seed, x, y, 200)
    assert ((many >= 0) & (many < 1)).all()
    np.testing.assert_array_equal(many[:37], points(seed, x, y, 37))


@given(seed=SEEDS, x=PIXELS, y=PIXELS, power=st.integers(0, 10), block=st.integers(0, 3))
def test_every_elementary_interval_holds_one_point(
    seed: int, x: int, y: int, power: int, block: int
) -> None:
    """Each aligned block of 2^k points is a (0, k, 2)-net in base 2."""
    count = 2**power
    block_points = points(seed, x, y, (block + 1) * count)[block * count :]
    for across in range(power + 1):
        columns = np.floor(block_points[:, 0] * 2**across)
        rows = np.floor(block_points[:, 1] * 2 ** (power - across))
        cells = columns * 2 ** (power - across) + rows
        assert len(np.unique(cells)) == count, f"{2**across} columns"


def test_pixels_and_seeds_have_points_of_their_own() -> None:
    first = {points(s, x, y, 1).tobytes() for s in range(4) for x in range(20) for y in range(20)}
    assert len(first) > 1590
    assert len({points(0, 3, 4, 16).tobytes(), points(1, 3, 4, 16).tobytes()}) == 2


def test_first_points_are_spread_evenly_over_pixels() -> None:
    first = np.array([points(7, x, y, 1)[0] for x in range(64) for y in range(64)])
    cells, _, _ = np.histogram2d(first[:, 0], first[:, 1], bins=8, range=[[0, 1], [0, 1]])
    # Chi-squared with 63 degrees of freedom: beyond 124 once in 200,000.
    assert ((cells - 64) ** 2 / 64).sum() < 124
    correlation = np.corrcoef(first.T)[0, 1]
    assert abs(correlation) < 0.07
    neighbours = np.corrcoef(first[:-64, 0], first[64:, 0])[0, 1]
    assert abs(neighbours) < 0.07


def test_the_two_coordinates_are_scrambled_independently() -> None:
    late = np.array([points(s, 5, 6, 16)[9] - 0.5 for s in range(2000)])
    assert abs(late.mean(axis=0)).max() < 0.03
    assert abs(np.corrcoef(late.T)[0, 1]) < 0.09


def test_low_bits_are_scrambled_too() -> None:
    """An Owen scramble leaves no bit of a coordinate constant over seeds."""
    bits = np.array([points(s, 1, 2, 3)[2] for s in range(400)])
    words = (bits * 2**24).astype(np.uint32)
    share = ((words[..., None] >> np.arange(24)) & 1).mean(axis=0)
    assert ((share > 0.35) & (share < 0.65)).all()
