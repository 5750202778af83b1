"""Points of VTK's legacy files (.vtk), in text or binary, with the arrays of point data.

Each section follows a line of words; sections that are not needed are skipped.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.integers import narrowed
from raytracer.scene.particles.loaded import LoadedSource

TYPES = {
    "char": "i1", "unsigned_char": "u1", "short": "i2", "unsigned_short": "u2", "int": "i4",
    "unsigned_int": "u4", "long": "i8", "unsigned_long": "u8", "float": "f4", "double": "f8",
    "vtktypeint64": "i8", "vtktypeint32": "i4", "vtkidtype": "i4", "vtktypeuint64": "u8",
}  # fmt: skip
"""Types of arrays, as NumPy dtypes."""

DATASETS = ("POLYDATA", "UNSTRUCTURED_GRID", "STRUCTURED_GRID")  # types of data that have points
MEMORY = 4  # bytes of memory per byte of the file while it is parsed
MAX_LINE_BYTES = 1 << 12  # longest line of words before a section

_WORDS = {
    "POINTS": 3, "POINT_DATA": 2, "CELL_DATA": 2, "SCALARS": 3, "VECTORS": 3, "NORMALS": 3,
    "TENSORS": 3, "COLOR_SCALARS": 3, "TEXTURE_COORDINATES": 4, "FIELD": 3, "LOOKUP_TABLE": 3,
    "CELL_TYPES": 2, "VERTICES": 3, "LINES": 3, "POLYGONS": 3, "TRIANGLE_STRIPS": 3, "CELLS": 3,
    "METADATA": 1, "DIMENSIONS": 1,
}  # fmt: skip
"""Least words of the line before each section."""

_WIDTHS = {"VECTORS": 3, "NORMALS": 3, "TENSORS": 9}


class Source(LoadedSource):
    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        require_room(self.name, MEMORY * file.size)
        self._content = file.read(file.size)
        self._place = 0
        first, _, form = (self._line() for _ in range(3))
        if not first.startswith("# vtk DataFile"):
            raise DataFileError(f"{self.name}: is not a legacy file of VTK")
        self._is_binary = form.strip().upper() == "BINARY"
        self._color_type = "unsigned_char" if self._is_binary else "float"  # 0 to 1 in text
        words = self._words()
        if words[:1] != ["DATASET"] or words[1:2] == []:
            raise self._wrong(words)
        if words[1].upper() not in DATASETS:
            raise DataFileError(f"{self.name}: has no points: it is {shown(words[1])}")
        self._head = self._place

    def read(self) -> dict[str, NDArray[Any]]:
        self._place = self._head
        self._columns: dict[str, NDArray[Any]] = {}
        self._rows, self._of_points = 0, False  # for the next arrays
        while words := self._words():
            self._section(words)
        if "position" not in self._columns:
            raise DataFileError(f"{self.name}: there are no points (section POINTS)")
        count = len(self._columns["position"])
        return {name: each for name, each in self._columns.items() if len(each) == count}

    def _section(self, words: list[str]) -> None:
        """Read or skip a section that begins with these words."""
        kind = words[0].upper()
        if len(words) < _WORDS.get(kind, len(words) + 1):
            raise self._wrong(words)
        self._section_name = " ".join(words[:2])
        if kind == "POINTS":
            self._columns["position"] = self._array(self._count(words[1]), 3, words[2])
        elif kind in ("POINT_DATA", "CELL_DATA"):
            self._rows, self._of_points = self._count(words[1]), kind == "POINT_DATA"
        elif kind == "SCALARS":
            start = self._place
            if self._words()[:1] != ["LOOKUP_TABLE"]:
                self._place = start
            self._keep(words[1], words[3] if len(words) > 3 else "1", words[2])
        elif kind in _WIDTHS:
            self._keep(words[1], str(_WIDTHS[kind]), words[2])
        elif kind == "COLOR_SCALARS":
            self._keep(words[1], words[2], self._color_type)
        elif kind == "TEXTURE_COORDINATES":
            self._keep(words[1], words[2], words[3])
        elif kind == "FIELD":
            for _ in range(self._count(words[2])):
                self._field()
        elif kind == "LOOKUP_TABLE":
            self._array(self._count(words[2]), 4, self._color_type)
        elif kind == "CELL_TYPES":
            self._array(self._count(words[1]), 1, "int")
        elif kind == "METADATA":
            while self._line().strip():
                pass
        elif kind != "DIMENSIONS":
            self._skip_cells(words)

    def _keep(self, name: str, width: str, kind: str, rows: int | None = None) -> None:
        """Read an array, and keep it if it belongs to the points."""
        values = self._array(self._rows if rows is None else rows, self._count(width), kind)
        if self._of_points and name != "position":
            self._columns[name] = values

    def _field(self) -> None:
        words = self._words()
        if words[:1] == ["METADATA"]:
            self._section(words)
            words = self._words()
        if len(words) < 4:
            raise self._wrong(words)
        name, width, count, kind = words[:4]
        self._section_name = name
        if kind in ("string", "bit"):
            raise DataFileError(
                f"{self.name}: the array '{shown(name)}' holds values of type {kind}"
            )
        self._keep(name, width, kind, self._count(count))

    def _skip_cells(self, words: list[str]) -> None:
        """Skip cells: point indices, or in version 5 offsets and indices separately."""
        count, size = self._count(words[1]), self._count(words[2])
        start = self._place
        inner = self._words()
        if inner[:1] != ["OFFSETS"] or len(inner) != 2:
            self._place = start
            self._array(size, 1, "int")
            return
        self._array(count, 1, inner[1])
        inner = self._words()
        if inner[:1] != ["CONNECTIVITY"] or len(inner) != 2:
            raise self._wrong(inner)
        self._array(size, 1, inner[1])

    def _array(self, count: int, width: int, kind: str) -> NDArray[Any]:
        """Return the next numbers, (N,) or (N, K)."""
        if kind.lower() not in TYPES or width < 1:
            raise DataFileError(f"{self.name}: '{shown(kind)}' is not a type of numbers")
        dtype = np.dtype(f">{TYPES[kind.lower()]}")
        total = count * width
        left = len(self._content) - self._place
        if total * (dtype.itemsize if self._is_binary else 2) > left + 1:
            raise self._cut(total)
        values = self._binary(total, dtype) if self._is_binary else self._text(total, dtype)
        return values.reshape(-1, width) if width > 1 else values

    def _binary(self, total: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        values = np.frombuffer(self._content, dtype, total, self._place)
        self._place += total * dtype.itemsize
        if self._content[self._place : self._place + 1] == b"\n":
            self._place += 1
        return values.astype(dtype.newbyteorder("="))

    def _text(self, total: int, dtype: np.dtype[Any]) -> NDArray[Any]:
        """Return numbers from text, over any number of lines."""
        words: list[bytes] = []
        while len(words) < total:
            if self._place >= len(self._content):
                raise self._cut(total)
            end = self._line_end()
            words += self._content[self._place : end].split()
            self._place = end + 1
        try:
            values = np.array([float(word) for word in words[:total]], np.float64)
        except ValueError:
            raise DataFileError(f"{self.name}: expected {total:,} numbers, found a text") from None
        return narrowed(values, dtype, self.name, self._section_name)

    def _line_end(self) -> int:
        end = self._content.find(b"\n", self._place)
        return len(self._content) if end < 0 else end

    def _line(self) -> str:
        end = self._line_end()
        if end - self._place > MAX_LINE_BYTES:
            raise DataFileError(f"{self.name}: a line of words is too long for a legacy file")
        line = self._content[self._place : end].decode("utf-8", "replace")
        self._place = min(end + 1, len(self._content))
        return line

    def _words(self) -> list[str]:
        """Return the words of the next nonblank line; [] at the end."""
        while self._place < len(self._content):
            if words := self._line().split():
                return words
        return []

    def _count(self, word: str) -> int:
        if not (word.isascii() and word.isdecimal() and len(word) <= 15):
            raise DataFileError(f"{self.name}: '{shown(word, 40)}' is not a count")
        return int(word)

    def _cut(self, total: int) -> DataFileError:
        return DataFileError(f"{self.name}: is incomplete: {total:,} numbers are stated")

    def _wrong(self, words: list[str]) -> DataFileError:
        text = shown(" ".join(words), 40)
        return DataFileError(f"{self.name}: there is no section '{text}'")
