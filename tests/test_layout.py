"""Dtypes, numbers of choices and constants are those of the kernels' lists."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
import pytest

from raytracer import layout
from raytracer.film.tone_settings import CURVES
from raytracer.scene.camera import CAMERA_TYPES
from raytracer.scene.lights import FALLOFFS, LIGHTS
from raytracer.scene.materials import MATERIALS
from raytracer.settings import FILTERS, INTEGRATORS

# Sizes in bytes that files and buffers rely on; the static_assert in structs.h says the same.
SIZES = {"Camera": 64, "Light": 80, "Material": 48, "Node": 80}
SIZES |= {"Film": 32, "Sampler": 32, "Integrator": 32, "Environment": 64, "SceneInfo": 32}
SIZES |= {"Frame": 432}


@pytest.mark.parametrize("name", SIZES)
def test_fields_tile_the_struct(name: str) -> None:
    """No hidden padding: it is named, and sizes are multiples of 16."""
    size, fields = layout.table()[name]
    end = 0
    for field, kind, count, offset in fields:
        if name == "Material" and field in MATERIALS:
            end = 0  # the parameters of all kinds are in the same place
        assert offset == end
        numbers = layout.dtype(kind) if kind in layout.table() else np.dtype(kind)
        end += numbers.itemsize * count
    assert end == size
    assert size % 16 == 0


# Words of options and scene files, which are known without the extension, by the kernels' enums.
WORDS = {
    "CameraKind": CAMERA_TYPES,
    "LightKind": LIGHTS,
    "MaterialKind": MATERIALS,
    "IntegratorKind": INTEGRATORS,
    "Falloff": FALLOFFS,
    "FilterKind": FILTERS,
    "ToneCurve": CURVES,
}


@pytest.mark.parametrize(("name", "words"), WORDS.items())
def test_words_are_those_of_the_kernels(name: str, words: Iterable[str]) -> None:
    assert set(words) == set(layout.enum(name))


def test_constants() -> None:
    assert layout.constant("kToneBins") == layout.dtype("FilmHistogram")["bins"].shape[0]
    assert layout.constant("kWarpTileWidth") * layout.constant("kWarpTileHeight") == 32
