"""The arithmetic of kernel headers: grids and shared memory from sizes, and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.variants.arithmetic import ExpressionError, whole_numbers
from raytracer.variants.discovery import discover
from raytracer.variants.kernel import LADDERS, Launch, Variant

HEADER = """\
// title: Sum
// idea: none
// block: 16x8
{more}// needs: sm_80+
// source: none
"""


def variant(folder: Path, *more: str) -> Variant:
    place = folder / LADDERS / "sum"
    place.mkdir(parents=True)
    lines = "".join(f"// {line}\n" for line in more)
    (place / "01_a.cu").write_text(HEADER.format(more=lines))
    return discover("sum", folder)[0]


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("7", (7,)),
        ("ceil(n / 128), ceil(m / 64)", (8, 1)),
        ("min(ceil(n / 256), 16 * sm), max(m, 3), 1", (4, 33, 1)),
        ("floor(n / 3) - -1", (334,)),
        ("4 * (n // 7 + 2)", (576,)),
    ],
)
def test_values(text: str, values: tuple[int, ...]) -> None:
    assert whole_numbers(text, {"n": 1000, "m": 33, "sm": 132}) == values


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("n / 3", "not a whole number"),
        ("", "not understood"),
        ("n / (m - m)", "divides by zero"),
        ("'os'", "not understood"),
        ("k + 1", "'k' has no value"),
        ("ceil(1, 2)", "not understood"),
    ],
)
def test_refused(text: str, words: str) -> None:
    with pytest.raises(ExpressionError, match=words):
        whole_numbers(text, {"n": 1000, "m": 33})


@given(st.integers(1, 2**60), st.integers(1, 2**20))
def test_division_is_exact_at_any_size(n: int, tile: int) -> None:
    assert whole_numbers(f"ceil(n / {tile})", {"n": n}) == (-(-n // tile),)


def test_launch_of_a_variant(tmp_path: Path) -> None:
    found = variant(tmp_path, "grid: ceil(n / block), 2", "shared: 4 * block", "layout: b_rows")
    assert (found.threads, found.layout) == (128, "b_rows")
    assert found.launch({"n": 129}, 132) == Launch((2, 2, 1), 512, (16, 8, 1))
    assert found.launch({"n": 1}, 1).grid == (1, 2, 1)
