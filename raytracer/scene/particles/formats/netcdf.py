"""Trajectories and restarts in NetCDF (.nc, .ncdf, .ncrst): conventions of AMBER, and of LAMMPS.

The classic formats CDF-1, CDF-2 and CDF-5 (Unidata, "NetCDF classic format specification"): a
header lists dimensions, attributes and variables; variables with the unlimited dimension `frame`
lie side by side in records, one for each frame. All numbers are big endian. NetCDF-4 is HDF5.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from math import prod
from typing import TYPE_CHECKING, Any, NamedTuple

from raytracer.errors import DataFileError, shown
from raytracer.files.access import OpenFile
from raytracer.memory import require_room
from raytracer.scene.particles.cell import cell_of
from raytracer.scene.particles.columns import ColumnSource
from raytracer.scene.particles.source import (
    Box,
    Column,
    Moment,
    Particles,
    kind_of,
    moment_of,
    no_atoms,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

MOST_HEADER = 1 << 22
"""Most bytes of a header; one of AMBER has about 2,000."""

ATOM, FRAME = "atom", "frame"
"""Dimensions of particles and of frames in the conventions."""

TYPES = ("", "i1", "S1", ">i2", ">i4", ">f4", ">f8", "u1", ">u2", ">u4", ">i8", ">u8")
"""NumPy's names of the types, by their number in the file; those from 7 on are of CDF-5."""

_DIMENSIONS, _VARIABLES, _ATTRIBUTES = 10, 11, 12


class Variable(NamedTuple):
    """A variable.

    Args:
        dimensions: their names.
        shape: sizes of the dimensions; the unlimited one has 0.
        dtype: NumPy's name of the type.
        attributes: texts as bytes, numbers as arrays.
        start: byte at which its values begin, of the first record where it has records.
    """

    dimensions: tuple[str, ...]
    shape: tuple[int, ...]
    dtype: str
    attributes: dict[str, Any]
    start: int

    @property
    def has_records(self) -> bool:
        """Whether the first dimension is the unlimited one."""
        return bool(self.shape) and self.shape[0] == 0

    @property
    def bytes(self) -> int:
        """Bytes of the values, of one record where it has records."""
        import numpy as np

        return prod(self.shape[self.has_records :]) * np.dtype(self.dtype).itemsize


class Source(ColumnSource):
    """A NetCDF file."""

    noun = "variable"

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        header = Header(file)
        self._variables = header.variables
        self._records = header.records
        sides = [each for each in self._variables.values() if each.has_records]
        padded = sum(-(-each.bytes // 4) * 4 for each in sides)
        self._record = sides[0].bytes if len(sides) == 1 else padded
        held = [each.shape[each.dimensions.index(ATOM)] for each in self._variables.values()
                if ATOM in each.dimensions]  # fmt: skip
        if not held:
            raise DataFileError(
                f"{self.name}: is a NetCDF file without a dimension '{ATOM}', so it holds no "
                "particles as the conventions of AMBER store them"
            )
        self._atoms = held[0]

    @property
    def count(self) -> int | None:
        return self._atoms

    @cached_property
    def frames(self) -> int | None:
        """Number of whole frames: the header may say more, where a file was cut short."""
        for each in self._variables.values():
            if each.dimensions[:1] == (FRAME,) and ATOM in each.dimensions:
                return self._whole if each.has_records else each.shape[0]
        return 1

    @property
    def _whole(self) -> int:
        """Number of whole records in the file."""
        ends = [each.start + each.bytes for each in self._variables.values() if each.has_records]
        after = self.file.size - max(ends)
        there = 0 if after < 0 else 1 + after // self._record if self._record else self._records
        return min(there, self._records)

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        import numpy as np

        found = {}
        for name, each in self._variables.items():
            dimensions = each.dimensions[each.dimensions[:1] == (FRAME,) :]
            kind = kind_of(np.dtype(each.dtype))
            if dimensions[:1] == (ATOM,) and kind != "text" and len(dimensions) <= 2:
                shape = each.shape[len(each.dimensions) - len(dimensions) + 1 :]
                unit = each.attributes.get("units", b"")
                found[name] = Column(kind, shape, _text(unit))
        return found

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        import numpy as np

        require_room(self.name, sum(8 * prod((self._atoms, *self.columns[each].shape))
                                    for each in names))  # fmt: skip
        found = {}
        for name in names:
            values = self._values(name)
            scale = self._variables[name].attributes.get("scale_factor")
            if scale is not None and values.dtype.kind == "f":
                values = values * np.asarray(scale, values.dtype)
            found[name] = values
        return found

    def particles(self, names: Mapping[str, str]) -> Particles:
        if not self.frames:
            raise DataFileError(f"{self.name}: holds no whole frame; is it cut short?")
        result = super().particles(names)
        if result.labels is None:
            result.notes.append(no_atoms(self.name))
        return result

    @property
    def box(self) -> Box | None:
        """The cell of the frame: lengths, angles, and the origin that LAMMPS adds."""
        if not {"cell_lengths", "cell_angles"} <= self._variables.keys() or not self.frames:
            return None
        lengths, angles = (self._values(name).tolist() for name in ("cell_lengths", "cell_angles"))
        if len(lengths) != 3 or len(angles) != 3:
            return None
        found = cell_of(tuple(lengths), tuple(angles))
        if found is None or "cell_origin" not in self._variables:
            return found
        x, y, z = self._values("cell_origin").tolist()
        return found._replace(origin=(x, y, z))

    @property
    def time(self) -> Moment | None:
        if "time" not in self._variables or not self.frames:
            return None
        values = self._values("time").reshape(-1)
        unit = _text(self._variables["time"].attributes.get("units", b"picosecond"))
        return moment_of(values[0], "ps" if unit == "picosecond" else unit) if len(values) else None

    def _values(self, name: str) -> NDArray[Any]:
        """Return a variable, of those with frames that of the frame."""
        import numpy as np

        each = self._variables[name]
        shape, place = each.shape, each.start
        dtype = np.dtype(each.dtype)
        if each.has_records:
            place += self.frame * self._record
            shape = shape[1:]
        elif each.dimensions[:1] == (FRAME,):
            place += self.frame * prod(shape[1:]) * dtype.itemsize
            shape = shape[1:]
        size = prod(shape) * dtype.itemsize
        if place + size > self.file.size:
            raise DataFileError(f"{self.name}: is cut short: '{shown(name)}' is not all there")
        self.file.file.seek(place)
        values = np.frombuffer(self.file.file.read(size), dtype).reshape(shape)
        return values.astype(dtype.newbyteorder("="))


class Header:
    """The header of a file: `variables` by name, and the number of `records`.

    Raises:
        DataFileError: the file is damaged.
    """

    def __init__(self, file: OpenFile) -> None:
        file.file.seek(0)
        self._data = file.file.read(min(MOST_HEADER, file.size))
        self._source = file.source
        version = self._data[3] if self._data[:3] == b"CDF" and len(self._data) > 3 else 0
        if version not in (1, 2, 5):
            raise DataFileError(
                f"{file.source}: is damaged, or no NetCDF file of the formats CDF-1, CDF-2 or CDF-5"
            )
        self._place = 4
        self._size_bytes = 8 if version == 5 else 4  # of a number of things
        self._start_bytes = 4 if version == 1 else 8  # of the place of values
        records = self._size()
        is_open = records == (1 << 8 * self._size_bytes) - 1  # still being written: go by the size
        self.records = 1 << 62 if is_open else records
        dimensions = [(self._name(), self._size()) for _ in self._listed(_DIMENSIONS)]
        self._attributes()
        self.variables = dict(self._variable(dimensions) for _ in self._listed(_VARIABLES))

    def _variable(self, known: list[tuple[str, int]]) -> tuple[str, Variable]:
        name = self._name()
        places = [self._size() for _ in range(self._few(self._size()))]
        attributes = self._attributes()
        dtype = self._type()
        self._size()  # bytes of the values, which the dimensions say too
        start = self._integer(self._start_bytes)
        if any(place >= len(known) for place in places):
            raise self._damaged()
        names, sizes = zip(*(known[place] for place in places), strict=True) if places else ((), ())
        if 0 in sizes[1:]:
            raise self._damaged()
        return name, Variable(names, sizes, dtype, attributes, start)

    def _attributes(self) -> dict[str, Any]:
        import numpy as np

        found = {}
        for _ in self._listed(_ATTRIBUTES):
            name, dtype = self._name(), np.dtype(self._type())
            data = self._bytes(self._size() * dtype.itemsize)
            found[name] = data if dtype.kind == "S" else np.frombuffer(data, dtype)
        return found

    def _listed(self, tag: int) -> range:
        """Return the numbers of the things of a list, whose tag is 0 where it is empty."""
        found, count = self._integer(4), self._size()
        if found not in (0, tag) or (found == 0 and count):
            raise self._damaged()
        return range(self._few(count))

    def _type(self) -> str:
        number = self._integer(4)
        if not 0 < number < len(TYPES):
            raise self._damaged()
        return TYPES[number]

    def _name(self) -> str:
        return self._bytes(self._size()).decode("utf-8", "replace")

    def _size(self) -> int:
        return self._integer(self._size_bytes)

    def _few(self, count: int) -> int:
        """Return a number of things that each take bytes of the header."""
        if count > len(self._data):
            raise self._damaged()
        return count

    def _integer(self, size: int) -> int:
        return int.from_bytes(self._bytes(size), "big")

    def _bytes(self, size: int) -> bytes:
        """Return the next bytes; what fills them up to a multiple of four is left out."""
        data = self._data[self._place : self._place + size]
        self._place += -(-size // 4) * 4
        if len(data) < size:
            raise self._damaged()
        return data

    def _damaged(self) -> DataFileError:
        return DataFileError(f"{self._source}: is damaged: the header of the NetCDF file is wrong")


def _text(value: Any) -> str:
    """Return an attribute as a text; "" if it is none."""
    return value.decode("utf-8", "replace").strip("\0 ") if isinstance(value, bytes) else ""
