"""How fine a moving picture is, and how it gets to the window."""

from statistics import mode
from types import SimpleNamespace
from typing import Any
from unittest.mock import MagicMock, call

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.backends.cuda import pictures
from raytracer.config.errors import BackendError
from raytracer.viewer.presenters import Presenter
from raytracer.viewer.progressive_film import (
    BUDGETS,
    COARSE_FRAME_BUDGET,
    FRAME_BUDGET,
    HALF,
    LEVELS,
    MIN_RENDER_BUDGET,
    SLACK,
    ResolutionController,
    choose_next_size,
    find_level_size,
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
    size, half = find_level_size(level, FULL), find_level_size(HALF, FULL)
    seconds = cost * size[0] * size[1] + fixed
    if level < len(LEVELS) - 1:
        allowed = COARSE_FRAME_BUDGET if level >= HALF else FRAME_BUDGET
        assert seconds <= max(allowed, fixed + MIN_RENDER_BUDGET) * SLACK * 1.05
    if level > HALF:
        assert cost * half[0] * half[1] + fixed > COARSE_FRAME_BUDGET * 0.95


@pytest.mark.parametrize("start", [1, 4])
def test_a_level_is_kept_a_little_longer_than_it_is_chosen(start: int) -> None:
    """Else it would change with every disturbance: at a cost just above the budget of a level
    frames stay at that level, and at the next coarser one, whichever they were at."""
    pixels = 1000
    for level, share in ((start, 1.0), (start + 1, (LEVELS[start + 1] / LEVELS[start]) ** 2)):
        resolution = ResolutionController(level)
        for _ in range(5):
            resolution.record(pixels, 1.05 * BUDGETS[start] * share)
            assert resolution.level == level


@given(full=FULLS, cost=COSTS, level=st.integers(0, len(LEVELS) - 1))
def test_finer_ends_at_the_full_size_in_a_few_steps(
    full: tuple[int, int], cost: float, level: int
) -> None:
    resolution = ResolutionController()
    resolution.learn(1, cost)
    size, steps = find_level_size(level, full), 0
    while size != full:
        step = choose_next_size(size, full, resolution, 0.35)
        assert all(a <= b for a, b in zip(size, step, strict=True))
        assert step != size
        if resolution.seconds(full) <= 0.35:
            assert step == full
        size, steps = step, steps + 1
    assert steps <= 13
    assert choose_next_size(full, full, resolution, 0.35) == full


SIZE = (64, 48)
CUDA: Any = SimpleNamespace(has_own_memory=True, number=1)


@pytest.fixture
def driver(monkeypatch: pytest.MonkeyPatch) -> MagicMock:
    """Instead of CUDA and OpenGL: its `Interop`, `to_host` of pictures, and `canvas`."""
    driver = MagicMock()
    driver.canvas.texture = 7
    monkeypatch.setattr(pictures, "Interop", driver.Interop)
    return driver


def present(shown: Presenter, driver: MagicMock, size: tuple[int, int] = SIZE) -> None:
    shown.present(SimpleNamespace(size=size, to_host=driver.to_host))


def test_interop_as_long_as_it_works(driver: MagicMock) -> None:
    shown = Presenter(CUDA, driver.canvas)
    for size in (SIZE, SIZE, (32, 24)):
        present(shown, driver, size)
    assert shown.label == "CUDA-OpenGL interop"
    assert driver.canvas.allocate.call_args_list == [call(SIZE), call((32, 24))]
    assert driver.Interop().copy.call_count == 3
    driver.to_host.assert_not_called()


@pytest.mark.parametrize("fails", ["the mapping", "the texture"])
def test_interop_that_fails_later_is_left_for_the_host(driver: MagicMock, fails: str) -> None:
    shown = Presenter(CUDA, driver.canvas)
    present(shown, driver)
    broken = driver.Interop().copy if fails == "the mapping" else driver.Interop
    broken.side_effect, count = BackendError(f"CUDA: {fails} is refused; restart"), 0
    for size in (SIZE if fails == "the mapping" else (80, 60), SIZE):
        present(shown, driver, size)
        count = count or driver.Interop.call_count
    assert driver.canvas.fill.call_count == 2
    assert driver.Interop.call_count == count, "it is not tried again"
    assert shown.label == f"page-locked memory (interop failed: CUDA: {fails} is refused)"
    driver.to_host.side_effect = BackendError("the GPU is lost")
    with pytest.raises(BackendError, match="the GPU is lost"):
        present(shown, driver)
