"""Dtypes, numbers of choices and constants are those of the kernels' lists."""

from collections.abc import Iterable

import numpy as np
import pytest

from raytracer import layout
from raytracer.film.tone_settings import CURVES
from raytracer.scene.camera import CAMERA_TYPES
from raytracer.scene.lights import FALLOFFS, LIGHTS
from raytracer.scene.materials import MATERIALS
from raytracer.settings import FILTERS, INTEGRATORS


@pytest.mark.parametrize("name", [*layout.table()])
def test_fields_tile_the_struct(name: str) -> None:
    """No hidden padding: it is named, and sizes are multiples of 16."""
    size, fields = layout.table()[name]
    end = 0
    for field, kind, count, offset in fields:
        if name == "Material" and field in MATERIALS:
            end = 0  # the parameters of all kinds are in the same place
        assert offset == end or (name == "Material" and field == "kind")
        numbers = layout.dtype(kind) if kind in layout.table() else np.dtype(kind)
        end = offset + numbers.itemsize * count
    assert end == size
    assert size % 16 == 0 or name.endswith("Parameters")


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
