"""The size of a new window, and the sentences for machines that cannot open one."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from raytracer.viewer.opening import MARGIN, fitting

SIDES = st.integers(1, 10_000)


@given(size=st.tuples(SIDES, SIDES), screen=st.tuples(SIDES, SIDES))
def test_a_window_fits_the_screen_in_the_shape_of_the_picture(
    size: tuple[int, int], screen: tuple[int, int]
) -> None:
    found = fitting(size, screen)
    for side, wanted, room in zip(found, size, screen, strict=True):
        assert 1 <= side <= max(wanted, 1)
        assert side <= max(MARGIN * room, 1.0)
    factor = min(1.0, *(MARGIN * s / w for s, w in zip(screen, size, strict=True)))
    for side, wanted in zip(found, size, strict=True):
        assert abs(side - factor * wanted) <= 1.0
