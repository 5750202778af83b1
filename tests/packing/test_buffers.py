"""The digest names the picture; dtypes and constants are those of the kernels; their includes."""

import re
from collections.abc import Iterable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from raytracer import RenderSettings, Scene, SphereSet, _core
from raytracer.config.tone_settings import CURVES
from raytracer.model.camera import CAMERA_TYPES
from raytracer.model.lights import FALLOFFS, LIGHTS
from raytracer.model.materials import MATERIALS
from raytracer.model.render_space import Space
from raytracer.model.settings import FILTERS, INTEGRATORS
from raytracer.packing import buffers
from raytracer.packing.buffers import SceneBuffers, SphereColumns
from raytracer.packing.pack import pack
from raytracer.system import layout
from raytracer.system.resources import kernels_folder


@pytest.fixture
def packed() -> SceneBuffers:
    rng = np.random.default_rng(5)
    return pack(Scene.from_arrays(rng.random((50, 3)), 0.1, rng.random((50, 3))))


def test_digest_is_that_of_the_content(packed: SceneBuffers) -> None:
    columns = SphereColumns(*(column.copy() for column in packed.placed))
    copy = replace(packed, placed=columns, view=packed.view.but())
    assert copy.digest() == packed.digest()
    assert packed.digest().startswith(f"{buffers.DIGEST_VERSION}-")
    assert len(packed.digest().partition("-")[2]) == 32


@pytest.mark.parametrize("threads", [1, 2])
def test_a_tree_is_built_by_as_many_threads_as_asked_for(
    packed: SceneBuffers, monkeypatch: pytest.MonkeyPatch, threads: int
) -> None:
    build, asked = _core.build_bvh, list[int]()

    def built(columns: Any, count: int, *rest: Any) -> Any:
        asked.append(count)
        return build(columns, count, *rest)

    monkeypatch.setattr(_core, "build_bvh", built)
    buffers.build_bvh(packed, threads)
    assert asked == [threads]


COLUMNS = SphereColumns._fields
OF_VIEW = ("camera", "lights", "materials", "sky")
# the table of emitters is made of the others
NOT_ARRAYS = ("placed", "view", "space", "emitters")
OTHERS = [f.name for f in fields(SceneBuffers) if f.name not in NOT_ARRAYS]


# Shapes and types of arrays that the scene does not have.
ADDED: dict[str, tuple[Any, Any]] = {
    "axis": ((50, 3), "f4"), "shapes": ((1, 8), "f4"), "opacity": (50, "u2"), "form": (50, "u1"),
    **dict.fromkeys(("color_id", "material_id", "large_id", "end_row"), (50, "i4")),
}  # fmt: skip


@pytest.mark.parametrize("name", [*COLUMNS, *OF_VIEW, *OTHERS])
def test_digest_sees_every_array(packed: SceneBuffers, name: str) -> None:
    placed: Any = packed.placed
    owner = packed.view if name in OF_VIEW else placed if name in COLUMNS else packed
    value = getattr(owner, name)
    if name in ADDED:
        changed = np.zeros(*ADDED[name])
    elif name in ("large", "sky", "images"):
        changed = np.zeros(1, value.dtype)
    else:
        changed = value.copy()
        changed.view(np.uint8).reshape(-1)[0] ^= 1
    other: dict[str, Any] = {name: changed}
    if name in COLUMNS:
        other = {"placed": placed._replace(**other)}
    if name in OF_VIEW:
        other = {"view": replace(packed.view, **other)}
    assert replace(packed, **other).digest() != packed.digest()


def test_digest_sees_render_space(packed: SceneBuffers) -> None:
    center, scale = packed.space
    for space in (Space(center, 2.0 * scale), Space((0.25, *center[1:]), scale)):
        assert replace(packed, space=space).digest() != packed.digest()


def test_digest_by_several_threads(packed: SceneBuffers, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(buffers, "DIGEST_BLOCK", 64)
    several = packed.digest()
    assert several == packed.digest()
    x, y, z, radius = packed.placed
    columns = SphereColumns(x[::-1].copy(), y, z, radius[::-1].copy())
    moved = replace(packed, placed=columns)
    assert moved.digest() != several


def frame_fields() -> list[tuple[str, str]]:
    """Part and name of every field of a Frame that is in a picture."""
    frame = layout.struct_dtype("Frame")
    return [
        (part, name)
        for part in frame.names or ()
        for name in frame[part].names or ()
        if not name.startswith("pad") and name not in ("sample_begin", "sample_count")
    ]


def test_digest_sees_every_field_of_the_frame() -> None:
    packed = pack(Scene(spheres=(SphereSet(np.eye(3), 0.1),)), RenderSettings(integrator="ao"))
    for part, name in frame_fields():
        frame = packed.view.frame.copy()
        frame[part][name] += 1 if frame[part][name].max() < 1e30 else -1e38
        assert (
            replace(packed, view=replace(packed.view, frame=frame)).digest() != packed.digest()
        ), (part, name)


@pytest.mark.parametrize("name", [*layout.load_layout()])
def test_fields_tile_the_struct(name: str) -> None:
    """No hidden padding: it is named, and sizes are multiples of 16."""
    size, fields = layout.load_layout()[name]
    end = 0
    for field, kind, count, offset in fields:
        if name == "Material" and field in MATERIALS:
            end = 0  # the parameters of all kinds are in the same place
        assert offset == end or (name == "Material" and field == "kind")
        numbers = layout.struct_dtype(kind) if kind in layout.load_layout() else np.dtype(kind)
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
    assert set(words) == set(layout.enum_values(name))


def test_constants() -> None:
    assert (
        layout.kernel_constant("kToneBins") == layout.struct_dtype("FilmHistogram")["bins"].shape[0]
    )
    assert (
        layout.kernel_constant("kWarpTileWidth") * layout.kernel_constant("kWarpTileHeight") == 32
    )


ROOT = kernels_folder()
# Read by both compilers, from the bottom up: a header includes its own layer and those below.
SHARED = ["core", "geom", "bvh", "shade", "integrator", "film"]
# Film lies beside these, on lights' layer.
APART = {("film", name) for name in ("geom", "bvh", "integrator")}
# Read by one compiler: what each may include besides itself.
ONE_SIDED = {"cpu": SHARED, "cuda": SHARED, "ladders": [*SHARED, "cuda"], "peers": []}
SUFFIXES = {
    **{name: {".h"} for name in SHARED},
    "cpu": {".h", ".cpp"},
    "cuda": {".cuh", ".cu"},
    "ladders": {".cuh", ".cu"},
    "peers": {".h", ".cu"},  # programs for the host, which call libraries
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
