"""Sources that are objects of other packages: their arrays as columns.

The adapter of a package serves its objects, and the files that the package reads: it opens a file,
in a process of `isolated`, as such an object.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.source import Column, Particles, kind_of, more_frames, no_atoms

if TYPE_CHECKING:
    from numpy.typing import NDArray


class Entry(NamedTuple):
    """A column of an object, and the function that gives its values, (N, ...)."""

    column: Column
    read: Callable[[], Any]


class ObjectSource(ColumnSource):
    """An object that holds particles. Values are read when they are asked for, without a copy
    where the package gives its own array.

    Args:
        value: the object.
        name: what messages call it.
        variant: of a file, the ending by which its format is known.
    """

    def __init__(self, value: Any, name: str, variant: str = "") -> None:
        self.value = value
        self.name = name
        self.variant = variant
        self.frame = 0
        self.is_chosen = False
        self.notes = []

    @abstractmethod
    def entries(self) -> Mapping[str, Entry]:
        """Return the columns by name."""

    def forget(self) -> None:
        """Forget what was kept of the frame."""
        for name in [each for each in vars(self) if hasattr(type(self), each)]:
            if isinstance(getattr(type(self), name), cached_property):
                delattr(self, name)

    @cached_property
    def _entries(self) -> Mapping[str, Entry]:
        return self.entries()

    @property
    def columns(self) -> Mapping[str, Column]:
        return {name: entry.column for name, entry in self._entries.items()}

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        return {name: self._values(name) for name in names}

    def _values(self, name: str) -> NDArray[Any]:
        """Return a column as an array: numbers in native order, texts as bytes."""
        import numpy as np

        column, read = self._entries[name]
        given = read()
        if column.kind == "text":
            return given if getattr(given, "dtype", np.dtype("O")).kind == "S" else encoded(given)
        values = np.asarray(given)
        if values.dtype.kind not in "iufbS":
            raise DataFileError(f"{self.name}: {self.noun} '{shown(name)}' holds no numbers")
        return values if values.dtype.isnative else values.astype(values.dtype.newbyteorder("="))


class LibraryFile(ObjectSource):
    """Mixed into the adapter of a library: a frame of a file that the library reads.

    Attributes:
        memory: bytes for each byte of a frame while it is read.
    """

    memory: ClassVar[int] = 16

    def __init__(self, file: OpenFile, variant: str) -> None:
        super().__init__(None, file.source, variant)
        self.file = file
        self.value, self._frames = self.opened(0)

    @abstractmethod
    def opened(self, frame: int) -> tuple[Any, int]:
        """Return a frame as an object of the library, and the number of frames."""

    @property
    def frames(self) -> int | None:
        return self._frames

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.forget()
        self.value, self._frames = self.opened(frame)

    @property
    def has_coordinates(self) -> bool:
        """Whether the file holds coordinates."""
        return True

    def particles(self, names: Mapping[str, str]) -> Particles:
        if not self.has_coordinates:
            raise DataFileError(
                f"{self.name}: holds atoms without coordinates: render a trajectory of them, with "
                f"--topology {shown(self.name)}"
            )
        result = super().particles(names)
        if result.labels is None:
            result.notes.append(no_atoms(self.name))
        if self._frames > 1 and not self.is_chosen:
            result.notes.append(("", more_frames(self.name, self._frames)))
        return result

    def require_frame(self, frames: int = 1) -> None:
        """Refuse a file of which a frame does not fit into memory."""
        require_room(self.name, self.memory * self.file.size // max(frames, 1))


def held(array: Any) -> Entry | None:
    """Return the entry of an array that the object holds; None if it is none of numbers or texts.

    Args:
        array: (N, ...).
    """
    kind = kind_of(array.dtype)
    if not kind or array.ndim < 1:
        return None
    return Entry(Column(kind, tuple(array.shape[1:])), lambda: array)


def entries_of(arrays: Mapping[str, Any], count: int) -> dict[str, Entry]:
    """Return the entries of those arrays that have a value for each of `count` particles."""
    import numpy as np

    found: dict[str, Entry] = {}
    for name, value in arrays.items():
        entry = held(np.asarray(value))
        if entry is not None and np.shape(value)[:1] == (count,):
            found[str(name)] = entry
    return found


def encoded(values: Any) -> NDArray[Any]:
    """Return texts as an array of bytes, (N,); what is missing is empty.

    Args:
        values: texts or objects, (N,).
    """
    from raytracer.scene.particles.loaded import texts

    return texts(["" if value is None or value != value else str(value) for value in values])
