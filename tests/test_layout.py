"""The dtypes follow the struct list of the kernels."""

from __future__ import annotations

import numpy as np
import pytest

from raytracer import layout
from raytracer.errors import RaytracerError

# Sizes in bytes that files and buffers rely on; the static_assert in structs.h says the same.
SIZES = {"Camera": 64, "Light": 32, "Material": 32, "Frame": 128, "Node": 80}


@pytest.mark.parametrize(("name", "size"), SIZES.items())
def test_size(name: str, size: int) -> None:
    assert layout.dtype(name).itemsize == size


@pytest.mark.parametrize("name", SIZES)
def test_fields_tile_the_struct(name: str) -> None:
    """No hidden padding: it is named, and sizes are multiples of 16."""
    size, fields = layout.table()[name]
    end = 0
    for _, kind, count, offset in fields:
        assert offset == end
        end += np.dtype(kind).itemsize * count
    assert end == size
    assert size % 16 == 0


def test_shapes_and_kinds() -> None:
    camera = np.zeros(2, layout.dtype("Camera"))
    assert camera["origin"].shape == (2, 3)
    assert camera["origin"].dtype == np.float32
    assert camera["kind"].shape == (2,)
    assert camera["kind"].dtype == np.int32
    assert layout.dtype("Frame")["seed"] == np.uint32


def test_unknown_struct() -> None:
    with pytest.raises(RaytracerError, match=r"no struct 'Sphere'.*Camera"):
        layout.dtype("Sphere")
