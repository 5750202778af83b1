"""How a picture is cut into launches."""

from itertools import chain, pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.backends.cuda.launch import (
    GROWTH,
    MIN_SAMPLES,
    TARGET_SECONDS,
    Pacer,
    Picture,
    pieces,
    side_by_side,
)

TILE = (8, 4)


def picture(width: int, height: int, samples: int = 1, first: int = 0) -> Picture:
    return Picture(width, height, TILE, first, samples)


@given(
    width=st.integers(1, 300),
    height=st.integers(1, 300),
    samples=st.integers(1, 5),
    first=st.integers(0, 1000),
    rates=st.lists(st.floats(1e3, 1e8), min_size=1, max_size=5),
    budget=st.integers(512, 1 << 16),
)
def test_pieces_cover_every_sample_of_every_tile_once_and_in_order(
    width: int, height: int, samples: int, first: int, rates: list[float], budget: int
) -> None:
    whole = picture(width, height, samples, first)
    pacer = Pacer(budget)
    next_sample = [first] * whole.tiles
    for index, piece in enumerate(pieces(whole, pacer)):
        assert piece.tiles > 0
        for tile in range(piece.tile_begin, piece.tile_end):
            assert next_sample[tile] == piece.sample_begin
            next_sample[tile] += piece.sample_count
        work = piece.tiles * whole.tile_pixels * piece.sample_count
        # a crumb may join the last piece of a sample
        assert work <= max(pacer.budget * 1.5, whole.tile_pixels)
        pacer.record(work, work / rates[index % len(rates)])
    assert set(next_sample) == {first + samples}


@given(
    width=st.integers(1, 100),
    rows=st.lists(st.integers(1, 9), min_size=1, max_size=6),
    samples=st.integers(1, 9),
    budget=st.integers(1, 1 << 16),
)
def test_groups_cover_every_sample_of_their_bands_once_and_in_order(
    width: int, rows: list[int], samples: int, budget: int
) -> None:
    """Every other stretch of rows is a band; the last one ends at any row."""
    edges = [0, *(4 * sum(rows[: k + 1]) for k in range(len(rows)))]
    edges[-1] -= 3
    bands = list(pairwise(edges))[::2]
    whole = picture(width, edges[-1], samples, first=7)
    pacer = Pacer(budget)
    seen: dict[int, list[int]] = {}
    for group in side_by_side(whole, bands, pacer):
        assert len(group) == len(bands)
        numbers = [n for band in group for n in range(band[0].tile_begin, band[0].tile_end)]
        assert len(numbers) == len(set(numbers))
        assert len({len(band) for band in group}) == 1
        for piece in chain.from_iterable(group):
            for tile in range(piece.tile_begin, piece.tile_end):
                new = range(piece.sample_begin, piece.sample_begin + piece.sample_count)
                seen.setdefault(tile, []).extend(new)
    inside = {
        row * whole.tiles_x + column
        for y0, y1 in bands
        for row in range(y0 // 4, -(-y1 // 4))
        for column in range(whole.tiles_x)
    }
    assert set(seen) == inside
    assert all(each == list(range(7, 7 + samples)) for each in seen.values())


def test_slow_card_is_brought_down_to_the_target() -> None:
    rate = 5e6
    pacer = Pacer()
    lengths = []
    for piece in pieces(picture(1920, 1080, samples=8), pacer):
        work = piece.tiles * 32 * piece.sample_count
        lengths.append(work / rate)
        pacer.record(work, work / rate)
    assert max(lengths[1:]) <= 1.5 * TARGET_SECONDS
    assert len(lengths) == pytest.approx(1920 * 1080 * 8 / rate / TARGET_SECONDS, rel=0.3)


def test_fast_card_grows_step_by_step() -> None:
    rate = 2e9
    pacer = Pacer()
    works = []
    for piece in pieces(picture(1920, 1080, samples=256), pacer):
        works.append(piece.tiles * 32 * piece.sample_count)
        pacer.record(works[-1], works[-1] / rate)
    assert all(later <= earlier * GROWTH for earlier, later in pairwise(works))
    assert max(works) / rate == pytest.approx(TARGET_SECONDS, rel=0.1)


def test_budget_never_falls_below_what_fills_a_gpu() -> None:
    pacer = Pacer()
    pacer.record(samples=32, seconds=100.0)
    assert pacer.budget == MIN_SAMPLES
    pacer = Pacer(500)
    pacer.record(samples=500, seconds=100.0)
    assert pacer.budget == 500
