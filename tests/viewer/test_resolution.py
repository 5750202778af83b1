"""How fine a moving picture is: the levels, when they change, and that a frame fits its time."""

from statistics import mode

from hypothesis import given
from hypothesis import strategies as st

from raytracer.viewer.resolution import (
    COARSE_FRAME_BUDGET,
    FINER_MARGIN,
    FRAME_BUDGET,
    HALF,
    LEVELS,
    MIN_RENDER_BUDGET,
    SLACK,
    ResolutionController,
    next_size,
    size_at,
)

FULL = (1280, 720)
FULLS = st.tuples(st.integers(1, 8000), st.integers(1, 8000))
COSTS = st.floats(1e-11, 1e-4)  # seconds a pixel


def play(
    cost: float, resolution: ResolutionController, fixed: float = 0.0, frames: int = 300
) -> list[int]:
    """The levels of frames at one cost a pixel, and seconds that each takes at any size."""
    levels = []
    for step in range(frames):
        levels.append(resolution.level)
        width, height = resolution.choose(FULL)
        noise = 1.0 + 0.03 * (-1) ** step  # as frames vary
        resolution.record(width * height, noise * cost * width * height, fixed)
    return levels


def usual(levels: list[int]) -> int:
    """The level of most frames, after the first ones."""
    return mode(levels[50:])


@given(cost=COSTS, start=st.integers(0, len(LEVELS) - 1), fixed=st.floats(0.0, 0.02))
def test_a_moving_frame_takes_no_longer_than_it_may(cost: float, start: int, fixed: float) -> None:
    """20 frames/s, 25 above half the window's resolution; coarser only where it would be slower."""
    level = usual(play(cost, ResolutionController(start), fixed))
    size, half = size_at(level, FULL), size_at(HALF, FULL)
    seconds = cost * size[0] * size[1] + fixed
    if level < len(LEVELS) - 1:
        allowed = COARSE_FRAME_BUDGET if level >= HALF else FRAME_BUDGET
        assert seconds <= max(allowed, fixed + MIN_RENDER_BUDGET) * SLACK * 1.05
    if level > HALF:
        assert cost * half[0] * half[1] + fixed > COARSE_FRAME_BUDGET * FINER_MARGIN * 0.95


@given(full=FULLS, cost=COSTS, level=st.integers(0, len(LEVELS) - 1))
def test_finer_ends_at_the_full_size_in_a_few_steps(
    full: tuple[int, int], cost: float, level: int
) -> None:
    resolution = ResolutionController()
    resolution.learn(1, cost)
    size, steps = size_at(level, full), 0
    while size != full:
        step = next_size(size, full, resolution, 0.35)
        assert all(a <= b for a, b in zip(size, step, strict=True))
        assert step != size
        if resolution.seconds(full) <= 0.35:
            assert step == full
        size, steps = step, steps + 1
    assert steps <= 13
    assert next_size(full, full, resolution, 0.35) == full
