"""What is a click, a double click, a drag."""

from __future__ import annotations

import pytest

from raytracer.viewer.clicks import DOUBLE_CLICK_SECONDS, Clicks

STILL = 4.0


@pytest.fixture
def clicks() -> Clicks:
    return Clicks(STILL)


def click(clicks: Clicks, x: float, y: float, when: float) -> int:
    """Press and release at one place."""
    clicks.press(x, y)
    return clicks.release(x, y, when)


def test_two_quick_clicks_at_one_place_are_a_double_click(clicks: Clicks) -> None:
    assert click(clicks, 50.0, 50.0, 10.0) == 1
    assert click(clicks, 52.0, 51.0, 10.0 + 0.9 * DOUBLE_CLICK_SECONDS) == 2


def test_quick_clicks_at_different_places_are_single_ones(clicks: Clicks) -> None:
    assert click(clicks, 50.0, 50.0, 10.0) == 1
    assert click(clicks, 50.0 + STILL, 51.0, 10.1) == 1
    assert click(clicks, 50.0 + STILL, 51.0, 10.2) == 2  # of the second and the third


def test_a_drag_is_no_click(clicks: Clicks) -> None:
    assert click(clicks, 50.0, 50.0, 10.0) == 1
    clicks.press(50.0, 50.0)
    assert not clicks.dragged(52.0, 51.0)  # a hand shakes
    assert clicks.dragged(53.0, 52.0)
    assert clicks.dragged(50.0, 50.0)  # and stays a drag
    assert clicks.release(50.0, 50.0, 10.1) == 0
    assert click(clicks, 50.0, 50.0, 10.2) == 1  # a drag between two clicks parts them
