"""Trajectories and restarts in NetCDF (.nc, .ncdf, .ncrst): conventions of AMBER and LAMMPS.

The classic formats CDF-1, CDF-2 and CDF-5 (Unidata, "NetCDF classic format specification"): a
header lists dimensions, attributes and variables; variables with the unlimited dimension `frame`
are interleaved in records, one per frame. All numbers are big endian. NetCDF-4 is HDF5.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.source import Box, Column, Moment, Particles, kind_of, moment_of

MAX_HEADER = 1 << 22  # most bytes of a header; AMBER's have about 2,000
ATOM, FRAME = "atom", "frame"  # dimensions of particles and of frames in the conventions

TYPES = ("", "i1", "S1", ">i2", ">i4", ">f4", ">f8", "u1", ">u2", ">u4", ">i8", ">u8")
"""NumPy's names of the types, by their number in the file; 7 and above are CDF-5."""

_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12


class Variable(NamedTuple):
    """A variable."""

    dimensions: tuple[str, ...]  # names of its dimensions
    shape: tuple[int, ...]  # sizes of the dimensions; 0 for the unlimited one
    dtype: np.dtype[Any]  # type of the values
    attributes: dict[str, Any]  # texts as bytes, numbers as arrays
    start: int  # offset of its values in the file, for records that of the first

    @property
    def has_records(self) -> bool:
        return self.shape[:1] == (0,)

    @property
    def has_frames(self) -> bool:
        return self.has_records or self.dimensions[:1] == (FRAME,)

    @property
    def shape_now(self) -> tuple[int, ...]:
        """Shape of the values of a frame."""
        return self.shape[self.has_frames :]

    @property
    def bytes(self) -> int:
        return prod(self.shape_now) * self.dtype.itemsize

    def text(self, name: str, default: str = "") -> str:
        value = self.attributes.get(name)
        return (
            value.decode("utf-8", "replace").strip("\0 ") if isinstance(value, bytes) else default
        )


class Source(ColumnSource):
    noun = "variable"
    lacks_atoms = True

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        header = Header(file)
        self._variables, self._records = header.variables, header.records
        sides = [each for each in self._variables.values() if each.has_records]
        padded = sum(-(-each.bytes // 4) * 4 for each in sides)
        self._record = sides[0].bytes if len(sides) == 1 else padded
        self._end = max((each.start + each.bytes for each in sides), default=0)
        self._moving = [each for each in self._variables.values() if ATOM in each.dimensions]
        if not self._moving:
            raise self.error(
                f"has no dimension '{ATOM}', so it is not a trajectory by the conventions of AMBER"
            )
        self._atoms = self._moving[0].shape[self._moving[0].dimensions.index(ATOM)]

    @property
    def count(self) -> int | None:
        return self._atoms

    @cached_property
    def frames(self) -> int | None:
        """Number of complete frames; the header of an incomplete file may state more."""
        each = next((each for each in self._moving if each.dimensions[:1] == (FRAME,)), None)
        if each is None or not each.has_records:
            return 1 if each is None else each.shape[0]
        after = self.file.size - self._end
        whole = 0 if after < 0 else 1 + after // self._record if self._record else self._records
        return min(whole, self._records)

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        columns = {}
        for name, each in self._variables.items():
            dimensions = each.dimensions[each.dimensions[:1] == (FRAME,) :]
            kind, shape = kind_of(each.dtype), each.shape[len(each.dimensions) - len(dimensions) :]
            if dimensions[:1] == (ATOM,) and kind != "text" and len(dimensions) <= 2:
                columns[name] = Column(kind, shape[1:], each.text("units"))
        return columns

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        cells = sum(prod(self.columns[name].shape) for name in names)
        require_room(self.name, 8 * self._atoms * cells)
        columns = {name: self._values(name) for name in names}
        for name, values in columns.items():
            scale = self._variables[name].attributes.get("scale_factor")
            if scale is not None and values.dtype.kind == "f":
                columns[name] = values * np.asarray(scale, values.dtype)
        return columns

    def particles(self, names: Mapping[str, str]) -> Particles:
        if not self.frames:
            raise self.error("has no complete frame")
        return super().particles(names)

    @property
    def box(self) -> Box | None:
        """The cell of the frame: lengths, angles, and the origin that LAMMPS adds."""
        if not {"cell_lengths", "cell_angles"} <= self._variables.keys() or not self.frames:
            return None
        sizes = [self._values(name) for name in ("cell_lengths", "cell_angles")]
        cell = cell_of(np.concatenate(sizes)) if sizes[0].shape == (3,) == sizes[1].shape else None
        if cell is None or "cell_origin" not in self._variables:
            return cell
        x, y, z = self._values("cell_origin").tolist()
        return cell._replace(origin=(x, y, z))

    @property
    def time(self) -> Moment | None:
        if "time" not in self._variables or not self.frames:
            return None
        values = self._values("time").reshape(-1)
        unit = self._variables["time"].text("units", "picosecond")
        return moment_of(values[0], "ps" if unit == "picosecond" else unit) if len(values) else None

    def _values(self, name: str) -> NDArray[Any]:
        """Return the values of a variable, for the frame if it has frames."""
        each = self._variables[name]
        step = self._record if each.has_records else each.bytes * each.has_frames
        place = each.start + self.frame * step
        if place + each.bytes > self.file.size:
            raise self.error(f"is incomplete: values of '{shown(name)}' are missing")
        self.file.file.seek(place)
        values = np.frombuffer(self.file.file.read(each.bytes), each.dtype).reshape(each.shape_now)
        return values.astype(each.dtype.newbyteorder("="))


class Header:
    """The header of a file: `variables` by name, and the number of `records`.

    Raises:
        DataFileError: the file is damaged.
    """

    def __init__(self, file: OpenFile) -> None:
        file.file.seek(0)
        self._data = file.file.read(min(MAX_HEADER, file.size))
        self._source = file.source
        version = self._data[3] if self._data[:3] == b"CDF" and len(self._data) > 3 else 0
        if version not in (1, 2, 5):
            raise DataFileError(
                f"{file.source}: is damaged, or not a NetCDF file (CDF-1, CDF-2 or CDF-5)"
            )
        self._place = 4
        self._size_bytes = 8 if version == 5 else 4  # of a count
        self._start_bytes = 4 if version == 1 else 8  # of an offset
        records = self._size()
        is_open = records == (1 << 8 * self._size_bytes) - 1  # still being written: use the size
        self.records = 1 << 62 if is_open else records
        dimensions = [(self._name(), self._size()) for _ in self._listed(_DIMENSIONS)]
        self._attributes()
        self.variables = dict(self._variable(dimensions) for _ in self._listed(_VARIABLES))

    def _variable(self, known: list[tuple[str, int]]) -> tuple[str, Variable]:
        name = self._name()
        places = [self._size() for _ in range(self._limited(self._size(), len(self._data)))]
        attributes, dtype = self._attributes(), self._type()
        self._size()  # size in bytes, known from the dimensions
        start = self._integer(self._start_bytes)
        used = [known[self._limited(place, len(known) - 1)] for place in places]
        shape = tuple(size for _, size in used)
        if 0 in shape[1:]:
            raise self._damaged()
        return name, Variable(tuple(each for each, _ in used), shape, dtype, attributes, start)

    def _attributes(self) -> dict[str, Any]:
        attributes = {}
        for _ in self._listed(_ATTRIBUTES):
            name, dtype = self._name(), self._type()
            data = self._bytes(self._size() * dtype.itemsize)
            attributes[name] = data if dtype.kind == "S" else np.frombuffer(data, dtype)
        return attributes

    def _listed(self, tag: int) -> range:
        """Return the indices of a list's items; the tag of an empty list is 0."""
        stated, count = self._integer(4), self._size()
        if stated not in (0, tag) or (stated == 0 and count):
            raise self._damaged()
        return range(self._limited(count, len(self._data)))  # each item takes at least a byte

    def _type(self) -> np.dtype[Any]:
        number = self._integer(4) or len(TYPES)  # there is no type 0
        return np.dtype(TYPES[self._limited(number, len(TYPES) - 1)])

    def _name(self) -> str:
        return self._bytes(self._size()).decode("utf-8", "replace")

    def _size(self) -> int:
        return self._integer(self._size_bytes)

    def _limited(self, number: int, most: int) -> int:
        """Return a number within a limit. Raises DataFileError."""
        if number > most:
            raise self._damaged()
        return number

    def _integer(self, size: int) -> int:
        return int.from_bytes(self._bytes(size), "big")

    def _bytes(self, size: int) -> bytes:
        """Return the next bytes, and skip the padding to a multiple of four."""
        data = self._data[self._place : self._place + size]
        self._place += -(-size // 4) * 4
        if len(data) < size:
            raise self._damaged()
        return data

    def _damaged(self) -> DataFileError:
        return DataFileError(f"{self._source}: is damaged: the header of the NetCDF file is wrong")
