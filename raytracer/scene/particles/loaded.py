"""Sources whose frames are taken as a whole: small formats, what libraries parse, and objects."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from importlib import import_module
from typing import IO, Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles import naming
from raytracer.scene.particles.array_source import ArraySource, Stored
from raytracer.scene.particles.source import Box, Moment, Particles, kind_of, of

is_isolated = False  # whether this is a worker of `isolated`, which may import libraries

Bonds = tuple[NDArray[np.int64] | None, dict[str, NDArray[Any]]]  # pairs (M, 2), values per bond
NO_BONDS: Bonds = None, {}


class Entry(NamedTuple):
    """A column whose values, (N, ...), are made when they are needed."""

    dtype: np.dtype[Any]  # or another one of the same kind
    shape: tuple[int, ...]
    read: Callable[[], Any]
    unit: str = ""


class Frame(NamedTuple):
    """What a reader takes of a frame.

    Columns are arrays or entries. Those without a value per particle, and of other types than
    numbers and texts, are left out.
    """

    columns: dict[str, Any]
    box: Box | None = None
    time: Moment | None = None
    bonds: Callable[[], Bonds] = lambda: NO_BONDS
    rows: int | None = None  # number of particles; None is the length of the coordinates
    frames: int = 1  # of the file


class LoadedSource(ArraySource):
    """A source that takes a frame when the first of its values is needed.

    Attributes:
        memory: bytes per byte of the file, or of its frame, while it is parsed.
    """

    memory: ClassVar[int] = 1
    of_frame = ("taken", "stored", "_bonds", *ArraySource.of_frame)

    @abstractmethod
    def read(self) -> Frame | dict[str, NDArray[Any]]:
        """Return the frame, or only its columns, each (N, ...); texts as bytes."""

    @cached_property
    def taken(self) -> Frame:
        result = self.read()
        return result if isinstance(result, Frame) else Frame(result)

    @cached_property
    def stored(self) -> dict[str, Stored]:
        columns: dict[str, Stored] = {}
        for name, value in self.taken.columns.items():
            each = value if isinstance(value, Entry) else np.asarray(value)
            if each.dtype.kind == "O" and _are_texts(value):
                each = Entry(np.dtype("S"), each.shape, partial(texts_of, value))
            if kind_of(each.dtype):
                columns[str(name)] = each
        return columns

    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        """Return an array, of one that moves a frame: numbers in native order, texts as bytes."""
        each: Any = self.stored[name]
        values = np.asarray(each.read() if isinstance(each, Entry) else each)
        if kind_of(each.dtype) == "text":
            values = values if values.dtype.kind == "S" else texts_of(values)
        elif values.dtype.kind not in "iufb":
            raise self.error(f"{self.noun} '{shown(name)}' does not hold numbers")
        values = values if frame is None else values[frame]
        order = values.dtype.newbyteorder("=")
        return values if values.dtype.isnative else values.astype(order)

    def unit(self, name: str) -> str:
        return getattr(self.stored[name], "unit", "") or naming.unit(name)

    @cached_property
    def _bonds(self) -> Bonds:
        return self.taken.bonds()

    box = of("taken", "box")
    time = of("taken", "time")
    bonds = property(lambda self: self._bonds[0])
    bond_columns = property(lambda self: self._bonds[1])

    @property
    def frames(self) -> int | None:
        return self.taken.frames if self.taken.frames > 1 else super().frames

    @property
    def rows(self) -> int | None:
        rows = self.taken.rows
        return super().rows if rows is None else rows

    def require_memory(self, frames: int = 1) -> None:
        """Raise MemoryNeedError if a frame of the file is too large to be parsed."""
        require_room(self.name, self.memory * self.file.size // max(frames, 1))

    def stream(self) -> IO[bytes]:
        """Return the file at its start. Raises MemoryNeedError."""
        self.require_memory()
        self.file.file.seek(0)
        return self.file.file

    def content(self) -> bytes:
        """Return all bytes of the file. Raises MemoryNeedError."""
        return self.stream().read(self.file.size)


class ObjectSource(LoadedSource):
    """An object of another package; its values are read on demand, without a copy if possible.

    The adapter of a package serves its objects, and the files that the package reads, which a
    worker of `isolated` opens as such an object.
    """

    def __init__(self, value: Any, name: str, variant: str = "") -> None:
        self.value = value
        self.name = name
        self.variant = variant
        self.frame = 0
        self.is_chosen = False
        self.notes = []


class LibraryFile(ObjectSource):
    """Mixin of an adapter: a frame of a file that its library reads.

    Attributes:
        has_coordinates: whether it is more than a list of atoms.
    """

    memory = 16
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


def library(module: str, source: str, extra: str) -> Any:
    """Import a library that reads a format, in a worker of `isolated`; `extra` installs it. Raises
    DataFileError: it is not installed."""
    if not is_isolated:
        raise RuntimeError(f"{module} is only for worker processes: see registry.LIBRARIES")
    try:
        return import_module(module)
    except ImportError:
        name = module.partition(".")[0]
        raise DataFileError(
            f"{source}: reading it needs {name}: pip install 'raytracer[{extra}]'"
        ) from None


def texts(words: Sequence[str]) -> NDArray[Any]:
    encoded = [word.encode("utf-8", "replace") for word in words]
    return np.array(encoded, f"S{max(map(len, encoded), default=1) or 1}")


def _are_texts(values: NDArray[Any]) -> bool:
    """Whether the first object of an array that is not missing is a text."""
    known = (value for value in values if value is not None and value == value)
    return values.dtype.kind == "O" and isinstance(next(known, None), str)


def texts_of(values: Any) -> NDArray[Any]:
    """Encode texts or objects, (N,), as bytes; missing values are empty."""
    return texts(["" if value is None or value != value else str(value) for value in values])
