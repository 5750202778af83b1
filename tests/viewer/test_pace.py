"""How fine a moving picture is: the levels, when they change, and that a frame fits its time."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.viewer.pace import FINER, FRAME, HALF, LEVELS, SLOWEST, Pace, at, finer

FULL = (1280, 720)
FULLS = st.tuples(st.integers(1, 8000), st.integers(1, 8000))
COSTS = st.floats(1e-11, 1e-4)  # seconds a pixel


def settled(cost: float, full: tuple[int, int] = FULL, start: int = 5) -> Pace:
    """The pace after many frames at one cost a pixel."""
    pace = Pace(start)
    for _ in range(50):
        width, height = pace.choose(full)
        pace.record(width * height, cost * width * height)
    return pace


def test_levels_go_from_the_full_size_down_and_half_is_one() -> None:
    assert LEVELS[0] == 1.0
    assert LEVELS[HALF] == 0.5
    assert list(LEVELS) == sorted(LEVELS, reverse=True)
    assert at(0, FULL) == FULL
    assert at(HALF, FULL) == (640, 360)


@given(full=FULLS, level=st.integers(0, len(LEVELS) - 1))
def test_a_size_has_a_pixel_and_no_more_than_the_window(full: tuple[int, int], level: int) -> None:
    for side, whole in zip(at(level, full), full, strict=True):
        assert 1 <= side <= whole
        assert abs(side - whole * LEVELS[level]) <= 0.5 or side == 1


def test_the_first_frame_is_a_guess() -> None:
    pace = Pace()
    assert pace.choose(FULL) == at(LEVELS.index(0.25), FULL)
    assert pace.seconds(FULL) == 0.0
    assert Pace(level=0).choose(FULL) == FULL


@given(cost=COSTS, start=st.integers(0, len(LEVELS) - 1))
def test_a_moving_frame_takes_no_longer_than_it_may(cost: float, start: int) -> None:
    """20 frames/s at half the window's resolution; coarser only where that would be slower."""
    pace = settled(cost, start=start)
    size = pace.choose(FULL)
    seconds = cost * size[0] * size[1]
    if pace.level < HALF:
        assert seconds <= FRAME * 1.001
    elif pace.level == HALF:
        assert seconds <= SLOWEST * 1.001
        assert seconds < 1.0 / 20.0
    else:
        half = at(HALF, FULL)
        assert cost * half[0] * half[1] > SLOWEST * FINER * 0.999
    finest = [n for n in range(pace.level) if cost * at(n, FULL)[0] * at(n, FULL)[1] < FRAME / 2]
    assert not finest, "a finer one would take half of its time"


@given(cost=COSTS, start=st.integers(0, len(LEVELS) - 1))
def test_at_a_steady_cost_the_level_does_not_alternate(cost: float, start: int) -> None:
    pace = settled(cost, start=start)
    chosen = set()
    for step in range(20):
        width, height = pace.choose(FULL)
        chosen.add((width, height))
        noise = 1.0 + 0.05 * (-1) ** step  # as frames vary
        pace.record(width * height, noise * cost * width * height)
    assert len(chosen) == 1


def test_finer_needs_more_room_than_staying() -> None:
    """The cost at which a level is left for a coarser one is not that at which it comes back."""
    pixels = FULL[0] * FULL[1]
    stays = settled(FRAME / pixels * 0.95, start=0)
    comes = settled(FRAME / pixels * 0.95, start=1)
    assert stays.level == 0
    assert comes.level == 1
    assert settled(FRAME / pixels * FINER * 0.95, start=1).level == 0
    assert settled(FRAME / pixels * 1.05, start=0).level == 1


def test_a_scene_that_nothing_is_quick_enough_for_is_shown_coarsest() -> None:
    pace = settled(1.0)
    assert pace.choose(FULL) == at(len(LEVELS) - 1, FULL)


def test_it_learns_within_a_few_frames() -> None:
    pace = settled(1e-4 / 9216)
    pace.record(100, 100 * 1e-5)
    pace.record(100, 100 * 1e-5)
    assert pace.per_pixel == pytest.approx(0.75e-5, rel=0.01)
    assert Pace().per_pixel == 0.0
    pace = Pace()
    pace.record(0, 1.0)  # a picture without pixels teaches nothing absurd
    assert pace.per_pixel == 1.0


@given(full=FULLS, cost=COSTS, level=st.integers(0, len(LEVELS) - 1))
def test_finer_ends_at_the_full_size_in_a_few_steps(
    full: tuple[int, int], cost: float, level: int
) -> None:
    pace = settled(cost, full)
    size, steps = at(level, full), 0
    while size != full:
        step = finer(size, full, pace, 0.35)
        assert all(a <= b for a, b in zip(size, step, strict=True))
        assert step != size
        if pace.seconds(full) <= 0.35:
            assert step == full
        size, steps = step, steps + 1
    assert steps <= 13
    assert finer(full, full, pace, 0.35) == full
