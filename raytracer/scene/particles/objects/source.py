"""Sources that are objects of other packages: their arrays as columns.

The adapter of a package serves its objects, and the files that the package reads: in a worker of
`isolated` it opens a file as such an object.
"""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.loaded import texts
from raytracer.scene.particles.source import Box, Column, Moment, Particles, kind_of, of

Bonds = tuple[NDArray[np.int64] | None, dict[str, NDArray[Any]]]  # pairs (M, 2), values per bond
NO_BONDS: Bonds = None, {}


class Entry(NamedTuple):
    """A column of an object, and a function that returns its values, (N, ...)."""

    column: Column
    read: Callable[[], Any]


class Frame(NamedTuple):
    """What an adapter takes from an object.

    Columns are arrays, or an `Entry` of what is converted when it is read. Arrays without a value
    per particle, and of other types than numbers and texts, are left out.
    """

    rows: int
    columns: Mapping[str, Any]
    box: Box | None = None
    time: Moment | None = None
    bonds: Callable[[], Bonds] = lambda: NO_BONDS


class ObjectSource(ColumnSource):
    """An object with particles; values are read on demand, without a copy if possible.

    Args:
        value: the object.
        name: name in messages.
        variant: for a file, the ending that states its format.
    """

    of_frame = ("taken", "_entries", "_bonds")

    def __init__(self, value: Any, name: str, variant: str = "") -> None:
        self.value = value
        self.name = name
        self.variant = variant
        self.frame = 0
        self.is_chosen = False
        self.notes = []

    @abstractmethod
    def take(self) -> Frame:
        """Return the particles of the object, at the frame."""

    @cached_property
    def taken(self) -> Frame:
        return self.take()

    @cached_property
    def _bonds(self) -> Bonds:
        return self.taken.bonds()

    count = of("taken", "rows")
    box = of("taken", "box")
    time = of("taken", "time")
    bonds = property(lambda self: self._bonds[0])
    bond_columns = property(lambda self: self._bonds[1])

    @cached_property
    def _entries(self) -> Mapping[str, Entry]:
        entries = {}
        for name, value in self.taken.columns.items():
            if isinstance(value, Entry):
                entries[str(name)] = value
                continue
            array = np.asarray(value)
            if (kind := kind_of(array.dtype)) and array.shape[:1] == (self.count,):
                entries[str(name)] = Entry(Column(kind, array.shape[1:]), array.view)
        return entries

    @property
    def columns(self) -> Mapping[str, Column]:
        return {name: entry.column for name, entry in self._entries.items()}

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return {name: self._values(name) for name in names}

    def _values(self, name: str) -> NDArray[Any]:
        """Return a column as an array: numbers in native order, texts as bytes."""
        column, read = self._entries[name]
        given = read()
        if column.kind == "text":
            return given if getattr(given, "dtype", np.dtype("O")).kind == "S" else encoded(given)
        values = np.asarray(given)
        if values.dtype.kind not in "iufbS":
            raise self.error(f"{self.noun} '{shown(name)}' does not hold numbers")
        return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


class LibraryFile(ObjectSource):
    """Mixin of an adapter: a frame of a file that its library reads.

    Attributes:
        memory: bytes per byte of a frame while it is read.
        has_coordinates: whether it is more than a list of atoms.
    """

    memory: ClassVar[int] = 16
    lacks_atoms = True
    has_coordinates = True

    def __init__(self, file: OpenFile, variant: str) -> None:
        super().__init__(None, file.source, variant)
        self.file = file
        self.value, self._frames = self.opened(0)

    @abstractmethod
    def opened(self, frame: int) -> tuple[Any, int]:
        """Return a frame as an object of the library, and the number of frames."""

    frames = property(lambda self: self._frames)

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.value, self._frames = self.opened(frame)

    def particles(self, names: Mapping[str, str]) -> Particles:
        if not self.has_coordinates:
            raise self.error(
                "has atoms without coordinates: render their trajectory with --topology "
                f"{shown(self.name)}"
            )
        return super().particles(names)

    def require_frame(self, frames: int = 1) -> None:
        """Refuse a file if a frame does not fit into memory."""
        require_room(self.name, self.memory * self.file.size // max(frames, 1))


def texts_of(values: Any) -> Entry:
    return Entry(Column("text"), lambda: values)


def encoded(values: Any) -> NDArray[Any]:
    """Encode texts or objects, (N,), as bytes; missing values are empty."""
    return texts(["" if value is None or value != value else str(value) for value in values])
