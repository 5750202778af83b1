"""Bytes of a file, read straight into arrays."""

from pathlib import Path

import numpy as np
import pytest

from raytracer.files.pieces import PIECE, Stretch, read_stretches


@pytest.mark.parametrize("size", [0, 1, PIECE, 4 * PIECE + 3])
def test_bytes_of_a_file(tmp_path: Path, size: int) -> None:
    content = np.random.default_rng(1).integers(0, 256, size + 5, np.uint8)
    path = tmp_path / "a.bin"
    path.write_bytes(content.tobytes())
    first, second = np.zeros(size, np.uint8), np.zeros(4, np.uint8)
    with path.open("rb") as file:
        assert read_stretches(file.fileno(), [Stretch(5, first), Stretch(1, second)])
        assert file.tell() == 0
        assert not read_stretches(file.fileno(), [Stretch(6, np.zeros(size, np.uint8))]) or not size
    np.testing.assert_array_equal(first, content[5:])
    np.testing.assert_array_equal(second, content[1:5])


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    with (tmp_path / "a.bin").open("wb") as file, pytest.raises(OSError, match="descriptor"):
        read_stretches(file.fileno(), [Stretch(0, np.zeros(4 * PIECE, np.uint8))])
