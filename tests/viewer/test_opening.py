"""The size of a new window, and the sentences for machines that cannot open one."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.errors import DisplayError, UserError
from raytracer.viewer import opening
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


def test_a_picture_that_fits_is_shown_as_large_as_it_is() -> None:
    assert fitting((1280, 720), (1920, 1080)) == (1280, 720)
    assert fitting((3840, 2160), (1920, 1080)) == (1728, 972)


def test_sentences_say_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    error = RuntimeError("nothing there")
    monkeypatch.delenv("DISPLAY", raising=False)
    assert opening._no_display(error, False).startswith("there is no display: start the preview")
    monkeypatch.setenv("DISPLAY", ":77")
    assert "the display :77 does not answer" in opening._no_display(error, False)
    assert "libegl1" in opening._no_display(error, True)
    for offscreen in (False, True):
        sentence = opening._missing_library('Library "GL" not found.', offscreen)
        assert 'Library "GL" not found): install lib' in sentence
        no_opengl = opening._no_opengl(error, offscreen)
        assert "offers no OpenGL 3.3 (nothing there): install" in no_opengl
        assert "offers no OpenGL 3.3: install" in opening._no_opengl(RuntimeError(), offscreen)
        assert ("--offscreen" in no_opengl) != offscreen
    assert DisplayError.exit_code == 2
    assert issubclass(DisplayError, UserError)
