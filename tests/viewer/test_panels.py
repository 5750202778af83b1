"""Text in windows of any size: nothing overlaps, nothing is wider or higher than the window."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.viewer.controls import GROUPS, help_rows
from raytracer.viewer.panels import COLUMN_GAP, ROW_GAP, Corners, apart, corners, help_pages

LINES = st.lists(st.text("abc ", min_size=1, max_size=60), max_size=12)


@given(status=LINES, picked=LINES, columns=st.integers(-3, 150), rows=st.integers(-3, 60))
def test_the_panels_at_the_top_are_apart_and_fit(
    status: list[str], picked: list[str], columns: int, rows: int
) -> None:
    layout = corners(status, picked, columns, rows)
    left, right = (max(map(len, lines), default=0) for lines in (layout.left, layout.right))
    assert max(left, right) <= max(columns, 0)
    assert max(len(layout.left), layout.lowered + len(layout.right)) <= max(rows, 0)
    if layout.left and layout.right and not layout.lowered:
        assert left + COLUMN_GAP + right <= columns
    if layout.lowered:
        assert layout.lowered >= len(layout.left) + ROW_GAP
    if picked and columns > 0 and rows > 0:
        assert layout.right, "what was asked for last stays"


def test_what_has_room_is_shown_whole() -> None:
    status, picked = ["a.toml   5 spheres", "finished"], ["sphere 3", "radius 2"]
    assert corners(status, picked, 40, 10) == Corners(status, picked)
    assert corners(status, picked, 24, 6) == Corners(status, picked, 4)
    assert corners(status, picked, 24, 5) == Corners(status[:1], picked, 3)
    assert corners(status, picked, 24, 2) == Corners([], picked)
    assert corners(status, picked * 3, 24, 4).right == [*picked, picked[0], "… 3 more"]
    assert corners(status, picked, 8, 20).left == ["a.toml …", "finished"]


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


@pytest.mark.parametrize(("columns", "rows"), [(60, 200), (156, 46), (300, 90)])
def test_headings_are_apart_from_the_rest_of_the_help(columns: int, rows: int) -> None:
    for page in help_pages(columns, rows):
        rest, heads = apart(page, GROUPS)
        both = [one.strip() and two.strip() for one, two in zip(rest, heads, strict=True)]
        assert [len(line) for line in rest] == [len(line) for line in heads]
        merged = [
            "".join(max(pair) for pair in zip(*lines, strict=True))
            for lines in zip(rest, heads, strict=True)
        ]
        assert merged == page
        found = [head for line in heads for head in GROUPS if head in line]
        assert sorted(found) == sorted(
            head for head in GROUPS if any(head in line for line in page)
        )
        assert any(both) == (columns > 100)  # columns beside each other
