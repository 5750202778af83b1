"""Parsing of kernel headers."""

from __future__ import annotations

import re
from math import prod
from typing import Any

from raytracer.errors import suggestion
from raytracer.variants.kernel import Best, MapRequest, Requirement, VariantError

KEYS = ("title", "idea", "block", "needs", "source")
KERNEL_KEYS = ("grid", "threads", "shared", "scratch", "flags")
LADDER_KEYS = (
    "steps",
    "constant",
    "alignment",
    "tile",
    "layout",
    "shows",
    "dtypes",
    "sizes",
)
EVERY_KEY = (*KEYS, *KERNEL_KEYS, *LADDER_KEYS, "maps", "best", "product")
# Options for nvcc that a header may set: those that affect arithmetic or registers. Other options
# could read files that the cache key of a cubin does not cover.
FLAGS = ("fmad", "ftz", "maxrregcount", "prec-div", "prec-sqrt", "use_fast_math")
MAX_BOX = 256  # CUDA driver API, cuTensorMapEncodeTiled
MAX_BLOCK_THREADS = 1024  # CUDA programming guide, table of technical specifications

_HEADER_LINE = re.compile(r"//\s?([a-z]+):\s*(.*)")
_CONTINUATION = re.compile(r"//\s{2,}(\S.*)")
_BLOCK = re.compile(r"\d+(?:\s*x\s*\d+){0,2}")
_MAP = re.compile(r"([a-z]\w*) (\d+)x(\d+)(?: swizzle(32|64|128))?(?: as (\w+))?")
_BEST = re.compile(r"(always)|([a-z]\w*)((?: \d+)+)(?: ([a-z]\w*))?")
_NEEDS = re.compile(r"sm_(\d+)(?:([af])|(\+))?")
_FLAG = re.compile(r"--([a-z_-]+)(?:=\w+)?")


def parse_header(text: str, place: str) -> dict[str, str]:
    """Read the `// key: value` lines before the first line that is not a comment."""
    header: dict[str, str] = {}
    key = None
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.startswith("//"):
            break
        if match := _HEADER_LINE.fullmatch(line.rstrip()):
            key, value = match.groups()
            if key not in EVERY_KEY:
                hint = suggestion(key, EVERY_KEY)
                raise VariantError(f"{place}, line {number}: unknown key {key!r}; {hint}")
            if key in header:
                raise VariantError(f"{place}, line {number}: {key!r} occurs twice; keep one")
            header[key] = value.strip()
        elif key is not None and (match := _CONTINUATION.fullmatch(line.rstrip())):
            header[key] = f"{header[key]} {match[1]}".strip()
    return header


def require(header: dict[str, str], place: str) -> None:
    """Raise VariantError if a mandatory key is missing."""
    for key in KEYS:
        if not header.get(key):
            raise VariantError(f"{place}: the header lacks a value for {key!r}; add `// {key}: …`")


def parse_flags(text: str, place: str) -> tuple[str, ...]:
    """Split a `flags:` line; raise VariantError for an option that is not in FLAGS."""
    for word in text.split():
        match = _FLAG.fullmatch(word)
        if match is None or match[1] not in FLAGS:
            raise VariantError(
                f"{place}: flags {word!r}: give options of nvcc out of "
                f"{', '.join(f'--{name}' for name in FLAGS)}, like --fmad=false"
            )
    return tuple(text.split())


def parse_block(text: str, place: str) -> tuple[int, int, int]:
    """Read a `block:` line."""
    sizes = [int(size) for size in text.split("x")] if _BLOCK.fullmatch(text) else []
    if not sizes or not 1 <= prod(sizes) <= MAX_BLOCK_THREADS:
        raise VariantError(
            f"{place}: block {text!r} is not a thread block: write it like 128 or 16x16, "
            f"with 1 to {MAX_BLOCK_THREADS} threads in all"
        )
    x, y, z = (*sizes, 1, 1)[:3]
    return x, y, z


def parse_maps(text: str, place: str) -> tuple[MapRequest, ...]:
    """Read a `maps:` line."""
    requests = []
    for entry in filter(None, (part.strip() for part in text.split(","))):
        match = _MAP.fullmatch(entry)
        if match is None or not all(1 <= int(match[i]) <= MAX_BOX for i in (2, 3)):
            raise VariantError(
                f"{place}: maps {entry!r} is not a tensor map: write an array, rows x columns of a "
                f"box (each at most {MAX_BOX}) and the swizzle, like a 128x64 swizzle128"
            )
        array, rows, cols, swizzle, name = match.groups()
        requests.append(MapRequest(array, int(rows), int(cols), int(swizzle or 0), name or ""))
    return tuple(requests)


def parse_best(text: str, place: str) -> tuple[Best, ...]:
    """Read a `best:` line."""
    best = []
    for entry in filter(None, (part.strip() for part in text.split(","))):
        match = _BEST.fullmatch(entry)
        if match is None:
            raise VariantError(
                f"{place}: best {entry!r} does not name sizes: write always, or an axis with its "
                "sizes and, if it matters, a type, like n 4 8 float32"
            )
        _, axis, sizes, dtype = match.groups()
        best.append(Best(axis or "", tuple(map(int, (sizes or "").split())), dtype or ""))
    return tuple(best)


def parse_needs(text: str, place: str) -> tuple[Requirement, ...]:
    """Read a `needs:` line."""
    requirements = []
    for entry in (part.strip() for part in text.split(",")):
        match = _NEEDS.fullmatch(entry)
        if match is None:
            raise VariantError(
                f"{place}: needs {entry!r} is not an architecture: write sm_80+ for that and "
                "all later ones, or sm_90a for that one alone"
            )
        requirements.append(Requirement(int(match[1]), match[2] or "", bool(match[3])))
    return tuple(requirements)


def fields(header: dict[str, str], place: str) -> dict[str, Any]:
    """Return the fields of `Kernel` that a header sets."""
    return {
        "title": header["title"],
        "idea": header["idea"],
        "block": parse_block(header["block"], place),
        "needs": parse_needs(header["needs"], place),
        "source": header["source"],
        "flags": parse_flags(header.get("flags", ""), place),
        "used": header.get("threads", ""),
        **{key: header[key] for key in ("grid", "shared", "scratch") if header.get(key)},
    }
