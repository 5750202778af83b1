"""Point clouds and meshes in PLY (.ply), in text or binary: the vertices.

A header names elements and their properties; then follow the rows of each element. Elements
before the vertices may have no lists, as the length of their rows would be unknown.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import DataFileError, shown
from raytracer.files.access import LINE_BYTES, OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.integers import narrowed
from raytracer.scene.particles.loaded import LoadedSource
from raytracer.scene.particles.text_table import read_columns

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEAD_LINES = 10_000
"""Most lines of a header."""

TYPES = {
    "char": "i1", "int8": "i1", "uchar": "u1", "uint8": "u1", "short": "i2", "int16": "i2",
    "ushort": "u2", "uint16": "u2", "int": "i4", "int32": "i4", "uint": "u4", "uint32": "u4",
    "float": "f4", "float32": "f4", "double": "f8", "float64": "f8", "int64": "i8",
    "uint64": "u8", "long": "i8",
}  # fmt: skip
"""Types of properties, as NumPy writes them."""

ORDERS = {"ascii": "", "binary_little_endian": "<", "binary_big_endian": ">"}


class Element(NamedTuple):
    """An element: its name, number of rows, and properties with their types ("" for a list)."""

    name: str
    rows: int
    properties: list[tuple[str, str]]


class Source(LoadedSource):
    """A .ply file."""

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._order = ""
        self._head = 0
        self._elements: list[Element] = []
        self._read_head()
        self._place = next(
            (i for i, each in enumerate(self._elements) if each.name == "vertex"), -1
        )
        if self._place < 0:
            raise DataFileError(f"{self.name}: there is no element 'vertex'")
        for element in self._elements[: self._place + 1]:
            if any(not kind for _, kind in element.properties):
                raise DataFileError(
                    f"{self.name}: the element '{shown(element.name)}' has a list; write the "
                    "vertices first, without lists"
                )

    @property
    def count(self) -> int | None:
        return self._elements[self._place].rows

    def read(self) -> dict[str, NDArray[Any]]:
        import numpy as np

        vertex = self._elements[self._place]
        names = [name for name, _ in vertex.properties]
        if len(set(names)) < len(names) or not names:
            raise DataFileError(f"{self.name}: the vertices have no properties, or one twice")
        kinds = [(name, f"{self._order or '<'}{kind}") for name, kind in vertex.properties]
        dtype = np.dtype(kinds)
        require_room(self.name, vertex.rows * max(dtype.itemsize, 1) if self._order else 0)
        table = self._binary(dtype) if self._order else self._text(dtype)
        columns: dict[str, NDArray[Any]] = {}
        for name in names:
            column = table[name]
            columns[name] = (
                column if column.dtype.isnative else column.astype(column.dtype.newbyteorder("="))
            )
        return _merged(columns)

    def _read_head(self) -> None:
        """Read the header."""
        stream = self.file.file
        stream.seek(0)
        for number in range(1, HEAD_LINES + 1):
            raw = stream.readline(LINE_BYTES)
            words = raw.decode("utf-8", "replace").split()
            if number == 1 and words != ["ply"]:
                raise DataFileError(f"{self.name}: is no PLY file")
            if not raw:
                break
            if words == ["end_header"]:
                self._head, self._lines = stream.tell(), number
                return
            if words and not self._keep(words):
                text = shown(" ".join(words), 40)
                raise DataFileError(f"{self.name}: line {number}: '{text}' is no line of a header")
        raise DataFileError(f"{self.name}: the header has no end")

    def _keep(self, words: list[str]) -> bool:
        """Keep what a line of the header says; whether it is one."""
        match words:
            case ["ply" | "comment" | "obj_info", *_]:
                return True
            case ["format", order, *_] if order in ORDERS:
                self._order = ORDERS[order]
                return True
            case ["element", name, count] if count.isdecimal() and len(count) <= 15:
                self._elements.append(Element(name, int(count), []))
                return True
            case ["property", "list", _, _, name] if self._elements:
                self._elements[-1].properties.append((name, ""))
                return True
            case ["property", kind, name] if self._elements and kind in TYPES:
                self._elements[-1].properties.append((name, TYPES[kind]))
                return True
        return False

    def _binary(self, dtype: Any) -> NDArray[Any]:
        """Return the rows of the vertices of a binary file."""
        import numpy as np

        before = sum(
            each.rows * sum(int(kind[1:]) for _, kind in each.properties)
            for each in self._elements[: self._place]
        )
        size = self._elements[self._place].rows * dtype.itemsize
        if self._head + before + size > self.file.size:
            raise DataFileError(f"{self.name}: is cut short")
        self.file.file.seek(self._head + before)
        return np.frombuffer(self.file.file.read(size), dtype)

    def _text(self, dtype: Any) -> NDArray[Any]:
        """Return the rows of the vertices of a text."""
        import numpy as np

        count = self._elements[self._place].rows
        before = sum(each.rows for each in self._elements[: self._place])
        names = {name: place for place, name in enumerate(dtype.names)}
        most = min(count, self.file.size // (2 * len(names)) + 1)
        require_room(self.name, most * (8 * len(names) + dtype.itemsize))
        table = np.zeros((0, len(names)))
        if count:
            skip = self._lines + before
            table, _ = read_columns(self.file, names, {}, skiprows=skip, max_rows=most)
        if len(table) != count:
            raise DataFileError(
                f"{self.name}: {count} vertices are announced, but there are {len(table)}; is it "
                "cut short?"
            )
        rows = np.empty(count, dtype)
        for name, place in names.items():
            rows[name] = narrowed(table[:, place], dtype[name], self.name, name)
        return rows


def _merged(columns: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    """Return columns with red, green and blue as one array of colours, if they are there."""
    import numpy as np

    for prefix in ("", "diffuse_"):
        parts = [f"{prefix}{name}" for name in ("red", "green", "blue")]
        if all(part in columns for part in parts):
            color = np.stack([columns.pop(part) for part in parts], axis=1)
            return columns | {"color": color}
    return columns
