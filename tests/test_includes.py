"""Which file of kernels/ may include which: `Layers` of kernels/README.md."""

import re
from pathlib import Path

from raytracer.resources import kernels

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
