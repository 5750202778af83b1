"""Text in windows of any size: nothing overlaps, nothing is wider or higher than the window."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.viewer.controls import GROUPS, help_rows
from raytracer.viewer.panels import help_pages


@given(columns=st.integers(20, 250), rows=st.integers(4, 100))
def test_help_has_everything_under_its_heading_on_pages_that_fit(columns: int, rows: int) -> None:
    pages = help_pages(columns, rows)
    for page in pages:
        assert len(page) <= rows
        assert max(map(len, page)) <= max(columns, len("  Right drag, Shift drag"))
    words = " ".join(" ".join(line for line in page) for page in pages).split()
    for heading in GROUPS:
        assert heading.split()[-1] in words
    for keys, meaning in help_rows():
        assert set(keys.split()) <= set(words)
        assert set(meaning.split()) <= set(words)


@pytest.mark.parametrize(("columns", "rows"), [(156, 46), (236, 68), (300, 90)])
def test_help_in_a_usual_window_is_one_page(columns: int, rows: int) -> None:
    (page,) = help_pages(columns, rows)
    assert page[0].startswith(GROUPS[0])
    assert all("page" not in line.lower() or "Page" in line for line in page)
