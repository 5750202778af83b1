"""Arrays as columns: stored ones, and those of a frame that is taken as a whole, as of small
formats, of what libraries parse, and of objects; which of them are coordinates."""

from abc import abstractmethod
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from functools import cached_property, partial
from importlib import import_module
from math import prod
from typing import IO, Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile
from raytracer.model import particle_names as naming
from raytracer.model import quantities
from raytracer.model.particle_source import (
    Box,
    Column,
    FrameTime,
    Particles,
    column_kind,
    forward_property,
)
from raytracer.particles.columns import SIZES, ColumnSource
from raytracer.system.memory import require_room

is_isolated = False  # whether this is a worker of `isolated`, which may import libraries
confine: Callable[[], object] = int  # keeps a worker from other files, once a library is imported

Bonds = tuple[NDArray[np.int64] | None, dict[str, NDArray[Any]]]  # pairs (M, 2), values per bond
NO_BONDS: Bonds = None, {}


class LazyColumn(NamedTuple):
    """A column whose values, (N, ...), are made when they are needed."""

    dtype: np.dtype[Any]  # or another one of the same kind
    shape: tuple[int, ...]
    read: Callable[[], Any]
    unit: str = ""
    quantity: Any = None  # the unit as an object of its package, which converts


class FrameContent(NamedTuple):
    """What a reader takes of a frame.

    Columns are arrays or entries. Those without a value per particle, and of other types than
    numbers and texts, are left out.
    """

    columns: dict[str, Any]
    box: Box | None = None
    time: FrameTime | None = None
    bonds: Callable[[], Bonds] = lambda: NO_BONDS
    rows: int | None = None  # number of particles; None is the length of the coordinates
    frames: int = 1  # of the file


class StoredArray(Protocol):
    """An array, in memory or in a file."""

    @property
    def shape(self) -> tuple[int, ...]: ...
    @property
    def dtype(self) -> np.dtype[Any]: ...


class ArraySource(ColumnSource):
    """Arrays (N, ...). If the centres are frames, (T, N, 3), others may be (T, N, ...); if they
    are (3, N), others may be (K, N).

    A format states `stored` and `values`, or `read`, which is called when the first of the values
    of a frame is needed.
    """

    memory: ClassVar[int] = 1  # bytes per byte of the file, or of its frame, while it is parsed
    of_frame: ClassVar[tuple[str, ...]] = ("taken", "stored", "_bonds", "centers", "_shape")

    def read(self) -> FrameContent | dict[str, NDArray[Any]]:
        """Return the frame, or only its columns, each (N, ...); texts as bytes."""
        return {}

    @cached_property
    def taken(self) -> FrameContent:
        result = self.read()
        return result if isinstance(result, FrameContent) else FrameContent(result)

    @cached_property
    def stored(self) -> Mapping[str, StoredArray]:
        """The arrays by name."""
        columns: dict[str, StoredArray] = {}
        for name, value in self.taken.columns.items():
            each = value if isinstance(value, LazyColumn) else np.asarray(value)
            if each.dtype.kind == "O" and _holds_texts(value):
                each = LazyColumn(np.dtype("S"), each.shape, partial(encode_objects, value))
            if column_kind(each.dtype):
                columns[str(name)] = each
        return columns

    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        """Return an array, of one that moves a frame: numbers in native order, texts as bytes."""
        each: Any = self.stored[name]
        values = np.asarray(each.read() if isinstance(each, LazyColumn) else each)
        if column_kind(each.dtype) == "text":
            if values.dtype.kind == "M":
                values = np.datetime_as_string(values)
            values = values if values.dtype.kind == "S" else encode_objects(values)
        elif values.dtype.kind not in "iufb":
            raise self.error(f"{self.noun} '{quote(name)}' does not hold numbers")
        values = values if frame is None else values[frame]
        order = values.dtype.newbyteorder("=")
        return values if values.dtype.isnative else values.astype(order)

    def unit(self, name: str) -> str:
        return getattr(self.stored[name], "unit", "") or naming.parse_unit(name)

    @cached_property
    def _bonds(self) -> Bonds:
        return self.taken.bonds()

    box = forward_property("taken", "box")
    time = forward_property("taken", "time")
    bonds = property(lambda self: self._bonds[0])
    bond_columns = property(lambda self: self._bonds[1])

    @cached_property
    def centers(self) -> str | None:
        """The array of coordinates, or None."""
        return find_coordinates(self.stored)

    @cached_property
    def _shape(self) -> tuple[int, ...]:
        """Shape of the centres, or of x; () without any."""
        name = self.centers or naming.find_usual_name("x", self.stored)
        return () if name is None else self.stored[name].shape

    @property
    def rows(self) -> int | None:
        if self.taken.rows is not None or not self._shape:
            return self.taken.rows
        return self._shape[1 if has_frames(self._shape) or is_transposed(self._shape) else 0]

    @property
    def count(self) -> int | None:
        return self.rows

    @property
    def frames(self) -> int | None:
        return self._shape[0] if has_frames(self._shape) else self.taken.frames

    def moves(self, name: str) -> bool:
        """Whether the first axis of an array is time."""
        return has_frames(self._shape) and self.shape_of(name)[:2] == self._shape[:2]

    def is_turned(self, name: str) -> bool:
        """Whether the last axis of an array is that of the particles."""
        shape = self.shape_of(name)
        return is_transposed(self._shape) and shape[1:] == (self.rows,) != shape[:1]

    def shape_of(self, name: str) -> tuple[int, ...]:
        return self.stored[name].shape if name in self.stored else ()

    @property
    def columns(self) -> Mapping[str, Column]:
        rows, columns = self.rows, {}
        for name, each in self.stored.items():
            shape = each.shape[:: -1 if self.is_turned(name) else 1][self.moves(name) :]
            if shape and (rows is None or shape[0] == rows):
                columns[name] = Column(column_kind(each.dtype), shape[1:], self.unit(name))
        return columns

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        stored = [(self.stored[name], self.moves(name)) for name in names]
        require_room(self.name, sum(
            each.dtype.itemsize * prod(each.shape[moves:]) for each, moves in stored
            if not isinstance(each, np.ndarray)
        ))  # fmt: skip
        return {name: self.orient(name) for name in names}

    def orient(self, name: str) -> NDArray[Any]:
        """Return the values of the frame, (N, ...)."""
        values = self.values(name, self.frame if self.moves(name) else None)
        return np.ascontiguousarray(values.T) if self.is_turned(name) else values

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


class ObjectSource(ArraySource):
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

    def choose(self, names: Mapping[str, str]) -> dict[str, str]:
        """Choose columns; lengths are then in the unit of the first coordinate."""
        chosen = super().choose(names)
        lengths = [chosen[part] for part in ("centers", *"xyz", *SIZES) if part in chosen]
        unit = getattr(self.stored[lengths[0]], "quantity", None)
        for name in lengths[1:]:
            each = self.stored[name]
            if isinstance(each, LazyColumn) and each.quantity is not None:
                self.stored[name] = self._convert_entry(name, each, unit)  # type: ignore[index]
        return chosen

    def _convert_entry(self, name: str, entry: LazyColumn, unit: Any) -> LazyColumn:
        times = quantities.conversion_factor(entry.quantity, "" if unit is None else unit)
        if times is None:
            problem = quantities.explain_wrong_unit(entry.quantity, unit)
            raise self.error(f"{self.noun} '{quote(name)}' {problem}, as the coordinates")
        return LazyColumn(
            np.dtype(float), entry.shape, lambda: np.asarray(entry.read()) * times, str(unit), unit
        )

    def particles(self, names: Mapping[str, str]) -> Particles:
        result = super().particles(names)
        stated = {self.unit(name) for name in result.columns["centers"]}
        result.unit = result.unit or (stated.pop() if len(stated) == 1 else "")
        return result


class LibraryFile(ObjectSource):
    """Mixin of an adapter: a frame of a file that its library reads."""

    memory = 16
    lacks_atoms = True
    has_coordinates = True  # whether it is more than a list of atoms

    def __init__(self, file: OpenFile, variant: str) -> None:
        super().__init__(None, file.source, variant)
        self.file = file
        self.value, self._frames = self.open_frame(0)

    @abstractmethod
    def open_frame(self, frame: int) -> tuple[Any, int]:
        """Return a frame as an object of the library, and the number of frames."""

    frames = property(lambda self: self._frames)

    def go_to(self, frame: int) -> None:
        super().go_to(frame)
        self.value, self._frames = self.open_frame(frame)

    def particles(self, names: Mapping[str, str]) -> Particles:
        if not self.has_coordinates:
            raise self.error(
                "has atoms without coordinates: render their trajectory with --topology "
                f"{quote(self.name)}"
            )
        return super().particles(names)


def import_library(module: str, source: str, extra: str) -> Any:
    """Import a library that reads a format, in a worker of `isolated`; `extra` installs it. Raises
    DataFileError: it is not installed."""
    if not is_isolated:
        raise RuntimeError(f"{module} is only for worker processes: see registry.LIBRARIES")
    try:
        imported = import_module(module)
        confine()
        return imported
    except ImportError:
        name = module.partition(".")[0]
        raise DataFileError(
            f"{source}: reading it needs {name}: pip install 'raytracer[{extra}]'"
        ) from None


def encode_texts(words: Sequence[str]) -> NDArray[Any]:
    encoded = [word.encode("utf-8", "replace") for word in words]
    return np.array(encoded, f"S{max(map(len, encoded), default=1) or 1}")


def _holds_texts(values: NDArray[Any]) -> bool:
    """Whether the first object of an array that is not missing is a text or a date."""
    known = (value for value in values if value is not None and value == value)
    return values.dtype.kind == "O" and isinstance(next(known, None), (str, date))


def encode_objects(values: Any) -> NDArray[Any]:
    """Encode texts or objects, (N,), as bytes; missing values are empty."""
    return encode_texts(["" if value is None or value != value else str(value) for value in values])


def find_coordinates(arrays: Mapping[str, StoredArray]) -> str | None:
    """Return the array of coordinates by its name and shape: of three or two, or with a row for
    each axis."""
    for width in (3, 2, 0):
        fit = [name for name, each in arrays.items()
               if (each.shape[1:] == (width,) or each.shape[2:] == (width,) if width
                   else is_transposed(each.shape))]  # fmt: skip
        if name := naming.find_usual_name("centers", fit):
            return name
    return None


def find_vectors(arrays: Mapping[str, StoredArray]) -> list[str]:
    """Return the arrays that may be coordinates without a usual name: (N, 3), (T, N, 3), (3, N)."""
    return [name for name, each in arrays.items()
            if each.dtype.kind == "f" and not naming.is_other_vector(name)
            and (each.shape[1:] == (3,) or has_frames(each.shape) or is_transposed(each.shape))
            ]  # fmt: skip


def has_frames(shape: Sequence[int]) -> bool:
    """Whether an array of coordinates has frames, (T, N, 3) or (T, N, 2)."""
    return len(shape) == 3 and shape[2] in (2, 3) and shape[0] > 0


def is_transposed(shape: Sequence[int], least: int = 4) -> bool:
    """Whether an array has a row for each axis, (3, N), N at least `least`."""
    return len(shape) == 2 and shape[0] == 3 and shape[1] >= least
