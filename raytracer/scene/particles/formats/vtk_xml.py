"""Points of VTK's XML files (.vtp, .vtu, .vts), with arrays in text, base64, or appended.

Arrays may be compressed by zlib or LZMA, block by block. Cells are not read.
"""

from __future__ import annotations

import lzma
import zlib
from base64 import b64decode
from collections.abc import Iterator
from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.integers import narrowed
from raytracer.scene.particles.loaded import LoadedSource

MEMORY = 10  # bytes of memory per byte of the XML part of a file

TYPES = {
    "Int8": "i1", "UInt8": "u1", "Int16": "i2", "UInt16": "u2", "Int32": "i4", "UInt32": "u4",
    "Int64": "i8", "UInt64": "u8", "Float32": "f4", "Float64": "f8",
}  # fmt: skip
"""Types of arrays, as NumPy dtypes."""

MAX_RATIO = 1100  # largest compression ratio accepted; deflate reaches 1,033
RATIO_BYTES = 1 << 26  # size up to which any ratio is accepted
MAX_COMPONENTS = 1000  # most components of an array

_APPENDED = b"<AppendedData"


class Source(LoadedSource):
    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        require_room(self.name, file.size)
        content = file.read(file.size)
        text, mark, rest = content.partition(_APPENDED)
        require_room(self.name, MEMORY * len(text))
        if b"<!DOCTYPE" in text or b"<!ENTITY" in text:
            raise DataFileError(f"{self.name}: has a DOCTYPE, which files of VTK do not have")
        self._appended, self._is_raw = b"", False
        if mark:
            head, _, data = rest.partition(b">")
            self._is_raw = b'"raw"' in head or b"'raw'" in head
            self._appended = data[data.find(b"_") + 1 :]
            text += b"</VTKFile>"
        try:
            self._root = ElementTree.fromstring(text)
        except ElementTree.ParseError as problem:
            raise DataFileError(f"{self.name}: is not XML ({problem})") from None
        if self._root.tag != "VTKFile":
            raise DataFileError(f"{self.name}: is not a file of VTK, but <{shown(self._root.tag)}>")
        self._order = ">" if self._root.get("byte_order") == "BigEndian" else "<"
        self._word = 8 if self._root.get("header_type") == "UInt64" else 4
        self._compressor = self._root.get("compressor", "")

    def read(self) -> dict[str, NDArray[Any]]:
        pieces = [self._piece(piece) for piece in self._root.iter("Piece")]
        if not pieces:
            kind = shown(self._root.get("type", "?"))
            raise DataFileError(f"{self.name}: has no points: its type is {kind}")
        names = [name for name in pieces[0] if all(name in piece for piece in pieces)]
        columns = {}
        for name in names:
            parts = [piece[name] for piece in pieces]
            if len({part.shape[1:] for part in parts}) == 1:
                columns[name] = np.concatenate(parts) if len(parts) > 1 else parts[0]
        return columns

    def _piece(self, piece: ElementTree.Element) -> dict[str, NDArray[Any]]:
        """Return the points of a piece and their arrays."""
        element = piece.find("Points/DataArray")
        if element is None:
            raise DataFileError(f"{self.name}: there are no points (element <Points>)")
        points = self._array(element)
        if points.ndim != 2 or points.shape[1] != 3:
            raise DataFileError(f"{self.name}: the points have the shape {points.shape}")
        columns = {"position": points}
        for each in piece.findall("PointData/DataArray"):
            name = each.get("Name", "")
            if name and name not in columns and each.get("type") in TYPES:
                values = self._array(each)
                if len(values) == len(points):
                    columns[name] = values
        return columns

    def _array(self, element: ElementTree.Element) -> NDArray[Any]:
        kind, name = element.get("type", ""), shown(element.get("Name", "Points"))
        width = element.get("NumberOfComponents", "1")
        known = kind in TYPES and width.isdecimal() and 0 < int(width[:9]) <= MAX_COMPONENTS
        if not known:
            raise DataFileError(f"{self.name}: the array '{name}' has an unknown type or width")
        dtype = np.dtype(self._order + TYPES[kind])
        form = element.get("format", "ascii")
        if form == "ascii":
            words = (element.text or "").split()
            try:
                values = np.array(words, np.float64) if dtype.kind == "f" else _integers(words)
            except (ValueError, OverflowError):
                raise DataFileError(
                    f"{self.name}: the array '{name}' has an invalid number"
                ) from None
            values = narrowed(values, dtype, self.name, name)
        else:
            data = self._bytes(element, form, name)
            values = np.frombuffer(data[: len(data) // dtype.itemsize * dtype.itemsize], dtype)
            values = values.astype(dtype.newbyteorder("="), copy=False)
        components = int(width)
        if len(values) % components:
            raise DataFileError(f"{self.name}: the array '{name}' is incomplete")
        return values.reshape(-1, components) if components > 1 else values

    def _bytes(self, element: ElementTree.Element, form: str, name: str) -> bytes:
        if form == "appended":
            offset = element.get("offset", "")
            if not offset.isdecimal() or int(offset[:18]) >= len(self._appended):
                raise DataFileError(f"{self.name}: the array '{name}' starts beyond the end")
            text = self._appended[int(offset[:18]) :]
            is_raw = self._is_raw
        else:
            text, is_raw = (element.text or "").strip().encode(), False
        try:
            return self._unpacked(text, is_raw) if self._compressor else self._plain(text, is_raw)
        except (ValueError, IndexError, zlib.error, lzma.LZMAError):
            raise DataFileError(
                f"{self.name}: the array '{name}' is damaged or incomplete"
            ) from None

    def _plain(self, text: bytes, is_raw: bool) -> bytes:
        """Return the bytes after their size word."""
        (size,) = self._words(text, is_raw, 1)
        data = _first(text, is_raw, self._word + size)
        if len(data) < self._word + size:
            raise ValueError
        return data[self._word :]

    def _unpacked(self, text: bytes, is_raw: bool) -> bytes:
        """Return the bytes of compressed blocks.

        The header has the number of blocks, their size, the size of the last, and the compressed
        sizes.
        """
        (count,) = self._words(text, is_raw, 1)
        length = (3 + count) * self._word
        if length > len(text):
            raise ValueError
        _, block, last, *sizes = self._words(text, is_raw, 3 + count)
        total = sum(sizes)
        data = _first(text[length if is_raw else _encoded_length(length) :], is_raw, total)
        if len(data) < total:
            raise ValueError
        expected = block * max(count - 1, 0) + (last or block if count else 0)
        if expected > max(RATIO_BYTES, MAX_RATIO * max(total, 1)):
            raise ValueError
        require_room(self.name, expected)
        return b"".join(self._blocks(data, sizes, max(block, last)))

    def _blocks(self, data: bytes, sizes: list[int], most: int) -> Iterator[bytes]:
        """Yield the decompressed blocks, each of at most `most` bytes."""
        place = 0
        for size in sizes:
            piece = data[place : place + size]
            place += size
            if self._compressor == "vtkZLibDataCompressor":
                yield zlib.decompressobj().decompress(piece, most)
            elif self._compressor == "vtkLZMADataCompressor":
                yield lzma.LZMADecompressor().decompress(piece, most)
            else:
                raise DataFileError(
                    f"{self.name}: is compressed by {shown(self._compressor)}; write it with zlib "
                    "or without compression"
                )

    def _words(self, text: bytes, is_raw: bool, count: int) -> list[int]:
        """Return the words of a header. Raises ValueError."""
        data = _first(text, is_raw, count * self._word)
        return [int(word) for word in np.frombuffer(data, f"{self._order}u{self._word}", count)]


def _integers(words: list[str]) -> NDArray[Any]:
    """Parse integers as int64, or uint64 if needed. Raises ValueError, OverflowError."""
    values = [int(word) for word in words]
    return np.array(values, np.uint64 if max(values, default=0) >= 1 << 63 else np.int64)


def _encoded_length(size: int) -> int:
    return -(-size // 3) * 4


def _first(text: bytes, is_raw: bool, size: int) -> bytes:
    """Return the first `size` bytes of raw data or base64, or fewer."""
    if is_raw:
        return text[:size]
    return b64decode(text[: _encoded_length(size)] + b"==")[:size]
