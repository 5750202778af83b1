"""Arrays of a page: what a reader of the format finds is what was written."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.exporting.sections import Section, encode85, section_of


def decoded(section: Section, kind: str) -> NDArray[Any]:
    """Read a section digit by digit, apart from the code that writes it."""
    values = [85 if letter == ord("x") else letter - 35 for letter in section.text if letter > 32]
    values = [ord("<") - 35 if value == 85 else value for value in values]
    data = b""
    for start in range(0, len(values), 5):
        word = 0
        for value in values[start : start + 5]:
            word = 85 * word + value
        data += word.to_bytes(4, "big")
    about = section.about
    read = zlib.decompress(data[: about["bytes"]])
    rows, planes = about["rows"], about["planes"]
    words = [
        sum(read[plane * rows + row] << (8 * plane) for plane in range(planes))
        for row in range(rows)
    ]
    if about["delta"]:
        total, sums = 0, []
        for word in words:
            total += (word >> 1) ^ -(word & 1)
            sums.append(total % 2**32)
        words = sums
    width = np.dtype(kind).itemsize
    return np.array(words, np.uint64).astype(f"u{width}").view(kind)


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "i4", "f4"])
@pytest.mark.parametrize("rows", [1, 2, 7, 1000])
def test_numbers_come_back(kind: str, rows: int) -> None:
    rng = np.random.default_rng(rows)
    if kind == "f4":
        values = rng.normal(0.0, 1e3, rows).astype(kind)
        values[0] = np.nan
    else:
        ends = np.iinfo(kind)
        values = rng.integers(ends.min, ends.max, rows, kind, endpoint=True)
        values[0] = ends.min
        values[-1] = ends.max
    np.testing.assert_array_equal(decoded(section_of(values), kind), values)


@pytest.mark.parametrize("kind", ["u4", "i4"])
def test_a_ramp_is_stored_as_differences(kind: str) -> None:
    values = (np.arange(5000) * 7 - 3000).astype(kind)
    section = section_of(values)
    assert section.about["delta"]
    assert section.nbytes < 200
    np.testing.assert_array_equal(decoded(section, kind), values)


def test_no_letter_ends_a_script() -> None:
    letters = set(encode85(bytes(range(256)) * 64) + encode85(b"\xff" * 8))
    assert not letters & set(b"<&\"'\\") - set(b"&'\\")
    assert ord("<") not in letters
    assert all(10 <= letter < 127 for letter in letters)


def test_five_letters_are_four_bytes() -> None:
    random = np.random.default_rng(1).bytes(400_000)
    assert len(encode85(random).replace(b"\n", b"")) == 500_000
