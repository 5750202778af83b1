"""Sizes that files of VTK state, checked before the library allocates memory for them.

In XML an array has as many values as its piece has points, or cells, times its components. If it is
binary, a header states its bytes, or the number and the sizes of its compressed blocks.
"""

import os
import re
from binascii import Error, a2b_base64
from collections.abc import Iterator
from math import prod
from typing import Literal

from raytracer.config.errors import MemoryNeedError, quote
from raytracer.files.access import OpenFile
from raytracer.particles.isolated import choose_memory_limit
from raytracer.system.memory import format_size

PIECE = 1 << 20  # bytes that are searched at a time
MAX_TAG = 1 << 12  # bytes of a tag, or of a line, that may be in two of them
MAX_SPACE = 1 << 10  # most bytes before a header
COUNTS = {
    "Points": "NumberOfPoints", "PointData": "NumberOfPoints", "Cells": "NumberOfCells",
    "CellData": "NumberOfCells", "Verts": "NumberOfVerts", "Lines": "NumberOfLines",
    "Strips": "NumberOfStrips", "Polys": "NumberOfPolys", "RowData": "NumberOfRows",
    "FieldData": "NumberOfTuples", "Coordinates": "NumberOfPoints",
}  # fmt: skip
"""The attribute, of the piece or of the array, with the number of tuples in each section."""

_TAG = re.compile(
    rf"<(VTKFile|Piece|DataArray|Array|AppendedData|{'|'.join(COUNTS)})(?=[\s/>])([^<>]*)>".encode()
)
_ATTRIBUTE = re.compile(r"\b(\w+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_LEGACY = re.compile(
    rb"\n(?:(POINTS|POINT_DATA|CELL_DATA|CELLS|CELL_TYPES|VERTICES|LINES|POLYGONS|TRIANGLE_STRIPS)"
    rb"[ \t]+(\d{1,18})|([^\s\0]{1,200})[ \t]+(\d{1,18})[ \t]+(\d{1,18})[ \t]+[a-z_]{3,20}"
    rb"(?=[ \t\r]*\n))",
    re.IGNORECASE,
)
"""Section of a legacy file and its number of points or cells; array of a field, its numbers of
components and of tuples."""

LEGACY_POINT, LEGACY_VALUE = 12, 4  # bytes of a point, and of a value: mostly of float32


def require_sizes(file: OpenFile, is_xml: bool) -> None:
    """Raise MemoryNeedError if the arrays of a file state more memory than it may take."""
    arrays = list(_find_xml_arrays(file) if is_xml else _arrays_of_legacy(file))
    file.file.seek(0)
    total, limit = sum(size for _, size in arrays), choose_memory_limit(file.size)
    if total > limit:
        name, _ = max(arrays, key=lambda each: each[1])
        raise MemoryNeedError(
            f"{file.source}: its arrays, mostly '{quote(name, 80)}', state {format_size(total)} of "
            f"values, and {file.size:,} bytes may take at most {format_size(limit)} of memory: if "
            "it is not damaged, write it without compression, or a part of it"
        )


def _arrays_of_legacy(file: OpenFile) -> Iterator[tuple[str, int]]:
    for match, _ in _find_matches(file, _LEGACY, b"\n"):
        section, count, name, width, rows = match.groups()
        if section:
            yield section.decode(), LEGACY_POINT * int(count)
        else:
            yield name.decode("utf-8", "replace"), LEGACY_VALUE * int(width) * int(rows)


def _find_xml_arrays(file: OpenFile) -> Iterator[tuple[str, int]]:
    """Yield the name of each array and the bytes that it states."""
    about: dict[str, str] = {}
    piece: dict[str, str] = {}
    section = ""
    appended: list[tuple[str, int, int]] = []  # names of arrays, their sizes and places
    for match, end in _find_matches(file, _TAG, b"<"):
        tag, given = match[1].decode(), _attributes(match[2])
        if tag == "VTKFile":
            about = given
        elif tag == "Piece":
            piece = given
        elif tag in COUNTS:
            section = tag
        elif tag == "AppendedData":
            start = _find_first_letter(file, end)
            encoded = given.get("encoding") != "raw"
            for name, size, place in appended:
                yield name, max(size, _stated_bytes(file, start + 1 + place, encoded, about))
            return
        else:
            name, size = given.get("Name", section), _array_bytes(section, given, piece)
            if given.get("format") == "appended":
                appended.append((name, size, _parse_count(given.get("offset"))))
            elif given.get("format") == "binary":
                yield (
                    name,
                    max(size, _stated_bytes(file, _find_first_letter(file, end), True, about)),
                )
            else:
                yield name, size


def _array_bytes(section: str, array: dict[str, str], piece: dict[str, str]) -> int:
    """Return the bytes of an array by its type and the numbers of its tuples and components."""
    bits = re.search(r"\d{1,3}$", array.get("type", ""))
    tuples = _parse_count((piece | array).get(COUNTS.get(section, "")))
    if section in ("Points", "PointData") and (extent := piece.get("Extent", "").split()):
        ends = [_parse_count(word) for word in extent]
        tuples = prod(last - first + 1 for first, last in zip(ends[::2], ends[1::2], strict=False))
    width = _parse_count(array.get("NumberOfComponents")) or 1
    return max(tuples, 0) * max(width, 0) * (int(bits[0]) if bits else 8) // 8


def _stated_bytes(file: OpenFile, place: int, encoded: bool, about: dict[str, str]) -> int:
    """Return the bytes that the header of a binary array states, and its library allocates."""
    word = 8 if about.get("header_type") == "UInt64" else 4
    order: Literal["big", "little"] = "big" if about.get("byte_order") == "BigEndian" else "little"

    def words(count: int) -> list[int]:
        size = -(-count * word // 3) * 4 if encoded else count * word
        head = os.pread(file.file.fileno(), size, min(place, file.size))
        try:
            head = a2b_base64(head) if encoded else head
        except Error:
            return []
        starts = range(0, count * word, word)
        return [int.from_bytes(head[start : start + word], order) for start in starts]

    if not about.get("compressor"):
        return sum(words(1))
    blocks, size, last, *_ = (*words(3), 0, 0, 0)
    packed = words(3 + blocks)[3:] if blocks * word <= file.size else []
    return max((blocks - 1) * size + (last or size), size, word * blocks, *packed, 0)


def _find_first_letter(file: OpenFile, place: int) -> int:
    """Return the offset of the first letter that is no space."""
    text = os.pread(file.file.fileno(), MAX_SPACE, place)
    return place + len(text) - len(text.lstrip())


def _attributes(text: bytes) -> dict[str, str]:
    found = _ATTRIBUTE.findall(text.decode("utf-8", "replace"))
    return {name: one or other for name, one, other in found}


def _parse_count(text: str | None) -> int:
    """Return a whole number, 0 for another text."""
    return int(text) if text and re.fullmatch(r"\s*-?[0-9]{1,18}\s*", text) else 0


def _find_matches(
    file: OpenFile, pattern: re.Pattern[bytes], start: bytes
) -> Iterator[tuple[re.Match[bytes], int]]:
    """Yield the matches in a file, and where they end; each is after a byte `start`."""
    file.file.seek(0)
    rest, offset = b"", 0
    while piece := file.file.read(PIECE):
        text = rest + piece
        end = text.rfind(start) if len(piece) == PIECE else len(text)
        end = max(end, len(text) - MAX_TAG)
        yield from ((each, offset + each.end()) for each in pattern.finditer(text)
                    if each.start() < end)  # fmt: skip
        rest = text[end:]
        offset += end
