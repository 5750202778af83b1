"""Parsing of kernel headers: kernels/README.md describes the keys."""

import re
from math import prod
from typing import Any

from raytracer.errors import suggestion
from raytracer.variants.kernel import Best, MapRequest, VariantError

KEYS = ("title", "idea", "block", "source")
LADDER_KEYS = ("constant", "alignment", "layout", "shows", "dtypes", "sizes")
EVERY_KEY = (
    *KEYS, "grid", "threads", "shared", "flags", "needs", *LADDER_KEYS, "maps", "best", "product"
)  # fmt: skip
# Options for nvcc that a header may set: those that affect arithmetic or registers. Other options
# could read files that the cache key of a cubin does not cover.
FLAGS = ("fmad", "ftz", "maxrregcount", "prec-div", "prec-sqrt", "use_fast_math")
OLDEST = "sm_75+"  # of the GPUs that kernels are compiled for: `needs` without an entry
MAX_BOX = 256  # CUDA driver API, cuTensorMapEncodeTiled
MAX_BLOCK_THREADS = 1024  # CUDA programming guide, table of technical specifications

_HEADER_LINE = re.compile(r"//\s?([a-z]+):\s*(.*)")
_CONTINUATION = re.compile(r"//\s{2,}(\S.*)")
# What the entries of a key look like, and what to say of others.
_ENTRIES = {
    "block": (
        r"(\d+)(?:\s*x\s*(\d+))?(?:\s*x\s*(\d+))?",
        "is not a thread block: write it like 128 or 16x16, with 1 to "
        f"{MAX_BLOCK_THREADS} threads in all",
    ),
    "needs": (
        r"sm_\d+[af+]?",
        "is not an architecture: write sm_80+ for that and all later ones, or sm_90a for that one "
        "alone",
    ),
    "maps": (
        r"([a-z]\w*) (\d+)x(\d+)(?: swizzle(32|64|128))?",
        "is not a tensor map: write an array, rows x columns of a box (each at most "
        f"{MAX_BOX}) and the swizzle, like a 128x64 swizzle128",
    ),
    "best": (
        r"([a-z]\w*)((?: \d+)+)(?: ([a-z]\w*))?",
        "does not name sizes: write an axis with its sizes and, if it matters, a type, like "
        "n 4 8 float32",
    ),
    "flags": (
        rf"--({'|'.join(FLAGS)})(?:=\w+)?",
        f"give options of nvcc out of {', '.join(f'--{name}' for name in FLAGS)}, like "
        "--fmad=false",
    ),
    "sizes": (r"any", "give any"),
}


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


def entries(
    header: dict[str, str], key: str, place: str, separator: str = ","
) -> list[re.Match[str]]:
    """Return the entries of a key, matched; raise VariantError for those of another form."""
    matches = []
    for entry in filter(None, map(str.strip, header.get(key, "").split(separator))):
        match = re.fullmatch(_ENTRIES[key][0], entry)
        if match is None:
            raise _refused(place, key, entry)
        matches.append(match)
    return matches


def _refused(place: str, key: str, entry: str) -> VariantError:
    return VariantError(f"{place}: {key} {entry!r} {_ENTRIES[key][1]}")


def flags(header: dict[str, str], place: str) -> tuple[str, ...]:
    return tuple(match[0] for match in entries(header, "flags", place, " "))


def fields(header: dict[str, str], place: str) -> dict[str, Any]:
    """Return the fields of `Kernel` that a header sets; raise VariantError for invalid ones."""
    for key in KEYS:
        if not header.get(key):
            raise VariantError(f"{place}: the header lacks a value for {key!r}; add `// {key}: …`")
    (block,) = entries(header, "block", place)
    sizes = tuple(int(size or 1) for size in block.groups())
    if not 1 <= prod(sizes) <= MAX_BLOCK_THREADS:
        raise _refused(place, "block", header["block"])
    needs = entries({"needs": OLDEST, **_given(header, "needs")}, "needs", place)
    return {
        "block": sizes,
        "needs": tuple(match[0] for match in needs),
        "flags": flags(header, place),
        "used": header.get("threads", ""),
        **_given(header, "title", "idea", "source", "grid", "shared"),
    }


def ladder_fields(header: dict[str, str], place: str) -> dict[str, Any]:
    maps = []
    for match in entries(header, "maps", place):
        rows, cols, swizzle = (int(size or 0) for size in match.groups()[1:])
        if not 1 <= min(rows, cols) <= max(rows, cols) <= MAX_BOX:
            raise _refused(place, "maps", match[0])
        maps.append(MapRequest(match[1], rows, cols, swizzle))
    best = [
        Best(match[1], tuple(map(int, match[2].split())), match[3] or "")
        for match in entries(header, "best", place)
    ]
    entries(header, "sizes", place)
    return _given(header, *LADDER_KEYS) | {"maps": tuple(maps), "best": tuple(best)}


def _given(header: dict[str, str], *keys: str) -> dict[str, Any]:
    return {key: header[key] for key in keys if header.get(key)}
