"""The arithmetic of kernel headers: grids and shared memory from sizes, and nothing else."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from raytracer.variants.kernel import VariantError, whole_numbers


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
    with pytest.raises(VariantError, match=words):
        whole_numbers(text, {"n": 1000, "m": 33})


@given(st.integers(1, 2**60), st.integers(1, 2**20))
def test_division_is_exact_at_any_size(n: int, tile: int) -> None:
    assert whole_numbers(f"ceil(n / {tile})", {"n": n}) == (-(-n // tile),)
