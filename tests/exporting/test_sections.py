"""Arrays of a page: what a reader of the format finds is what was written."""

import zlib
from base64 import b64decode
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from raytracer.exporting.sections import Section, section_of


def decoded(section: Section, kind: str) -> NDArray[Any]:
    """Read a section number by number, apart from the code that writes it."""
    about = section.about
    read = zlib.decompress(b64decode(section.text))
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
    assert len(section.text) < 200
    np.testing.assert_array_equal(decoded(section, kind), values)
