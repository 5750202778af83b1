"""Dtypes, choices and constants are those of the kernels, whose files include one way."""

import re
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pytest

from raytracer import layout
from raytracer.film.tone_settings import CURVES
from raytracer.resources import kernels
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


ROOT = Path(str(kernels()))
# Read by both compilers, from the bottom up: a header includes its own layer and those below.
SHARED = ["core", "geom", "bvh", "shade", "integrator", "film"]
# Film lies beside these, on lights' layer.
APART = {("film", name) for name in ("geom", "bvh", "integrator")}
# Read by one compiler: what each may include besides itself.
ONE_SIDED = {"cpu": SHARED, "cuda": SHARED, "ladders": [*SHARED, "cuda"]}
SUFFIXES = {
    **{name: {".h"} for name in SHARED},
    "cpu": {".h", ".cpp"},
    "cuda": {".cuh", ".cu"},
    "ladders": {".cuh", ".cu"},
}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.MULTILINE)
# Where core/structs.h takes the lists of fields of headers, and nothing else of them.
LISTS = re.compile(
    r"^#define RT_FIELD_LISTS\n(.*?)^#undef RT_FIELD_LISTS\n", re.MULTILINE | re.DOTALL
)
SOURCES = sorted(
    path for path in ROOT.rglob("*") if path.suffix in {".h", ".hpp", ".cpp", ".cuh", ".cu"}
)


def layer(path: Path) -> str:
    return path.relative_to(ROOT).parts[0]


def included(path: Path) -> list[Path]:
    """What a file includes by name in quotes, as files."""
    names = INCLUDE.findall(LISTS.sub("", path.read_text(encoding="utf-8")))
    return [(path.parent / name).resolve() for name in names]


def allowed(unit: str) -> set[str]:
    """The folders that a folder's files may include, its own among them."""
    if unit in ONE_SIDED:
        return {unit, *ONE_SIDED[unit]}
    below = SHARED[: SHARED.index(unit) + 1]
    return {name for name in below if (unit, name) not in APART}


def test_includes_go_one_way() -> None:
    for path in SOURCES:
        unit = layer(path)
        assert path.suffix in SUFFIXES[unit], f"{path}: kernels/{unit} holds {SUFFIXES[unit]}"
        for target in included(path):
            assert target.is_file(), f"{path}: {target}: give the path from the including file"
            assert layer(target) in allowed(unit), f"{path} must not include {target}"
