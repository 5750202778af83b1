"""Trajectories and restarts in NetCDF (.nc, .ncdf, .ncrst): conventions of AMBER and LAMMPS.

The classic formats CDF-1, CDF-2 and CDF-5 (Unidata, "NetCDF classic format specification"): a
header lists dimensions, attributes and variables; variables with the unlimited dimension `frame`
are interleaved in records, one per frame. All numbers are big endian. NetCDF-4 is HDF5.
"""

from collections.abc import Mapping, Sequence
from functools import cached_property
from io import BytesIO
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


class Variable(NamedTuple):
    """A variable."""

    dimensions: tuple[str, ...]  # names of those of a frame
    shape: tuple[int, ...]  # of the values of a frame
    frames: int | None  # None if it is not of frames; 0 for the unlimited number of records
    dtype: np.dtype[Any]  # type of the values
    attributes: Mapping[str, NDArray[Any]]
    start: int  # offset of its values in the file, for records that of the first

    @property
    def bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def text(self, name: str) -> str:
        value = self.attributes.get(name, np.zeros(0, "S1"))
        return value.tobytes().decode("utf-8", "replace").strip("\0 ")


class Source(ColumnSource):
    noun = "variable"
    lacks_atoms = True

    def __init__(self, file: OpenFile, variant: str = "") -> None:
        super().__init__(file, variant)
        self._variables, self._records = _header_of(file)
        sides = [each for each in self._variables.values() if each.frames == 0]
        padded = sum(-(-each.bytes // 4) * 4 for each in sides)
        self._record = sides[0].bytes if len(sides) == 1 else padded
        self._end = max((each.start + each.bytes for each in sides), default=0)
        self._atoms = [each for each in self._variables.values() if ATOM in each.dimensions]
        if not self._atoms:
            raise self.error(
                f"has no dimension '{ATOM}', so it is not a trajectory by the conventions of AMBER"
            )

    @property
    def count(self) -> int | None:
        return self._atoms[0].shape[self._atoms[0].dimensions.index(ATOM)]

    @cached_property
    def frames(self) -> int | None:
        """Number of complete frames; the header of an incomplete file may state more."""
        stated = next((each.frames for each in self._atoms if each.frames is not None), 1)
        after = self.file.size - self._end
        if stated or not self._record:
            return stated or self._records
        return min(1 + after // self._record if after >= 0 else 0, self._records)

    @cached_property
    def columns(self) -> Mapping[str, Column]:
        return {name: Column(kind_of(each.dtype), each.shape[1:], each.text("units"))
                for name, each in self._variables.items() if each.dimensions[:1] == (ATOM,)
                and each.dtype.kind != "S" and len(each.shape) <= 2}  # fmt: skip

    def load(self, names: Sequence[str]) -> dict[str, NDArray[Any]]:
        cells = sum(prod(self.columns[name].shape) for name in names)
        require_room(self.name, 8 * int(self.count or 0) * cells)
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
        unit = self._variables["time"].text("units") or "picosecond"
        (time,) = self._values("time").reshape(-1)[:1]
        return moment_of(time, "ps" if unit == "picosecond" else unit)

    def _values(self, name: str) -> NDArray[Any]:
        """Return the values of a variable, for the frame if it has frames."""
        each = self._variables[name]
        step = 0 if each.frames is None else each.bytes if each.frames else self._record
        place = each.start + self.frame * step
        if place + each.bytes > self.file.size:
            raise self.error(f"is incomplete: values of '{shown(name)}' are missing")
        self.file.file.seek(place)
        values = np.frombuffer(self.file.file.read(each.bytes), each.dtype).reshape(each.shape)
        return values.astype(each.dtype.newbyteorder("="))


def _header_of(file: OpenFile) -> tuple[dict[str, Variable], int]:
    """Return the variables of a file by name, and its number of records.

    Raises:
        ValueError, IndexError: the header is damaged.
    """
    file.file.seek(0)
    data = BytesIO(file.file.read(MAX_HEADER))
    magic, version = data.read(3), data.read(1)[:1].hex()
    if magic != b"CDF" or version not in ("01", "02", "05"):
        raise DataFileError(
            f"{file.source}: is damaged, or not a NetCDF file (CDF-1, CDF-2 or CDF-5)"
        )
    size, offset = 8 if version == "05" else 4, 4 if version == "01" else 8

    def values(dtype: np.dtype[Any], count: int) -> NDArray[Any]:
        raw = data.read(count * dtype.itemsize)
        data.seek(-len(raw) % 4, 1)  # all are padded to four bytes
        return np.frombuffer(raw, dtype, count)

    def number(width: int = size) -> int:
        return int(values(np.dtype(f">u{width}"), 1)[0])

    def text() -> str:
        return values(np.dtype("S1"), number()).tobytes().decode("utf-8", "replace")

    def listed() -> range:
        number(4)  # what the list is of
        return range(number())

    def attributes() -> dict[str, NDArray[Any]]:
        return {text(): values(np.dtype(TYPES[number(4)]), number()) for _ in listed()}

    def variable() -> tuple[str, Variable]:
        name = text()
        used = [known[number()] for _ in range(number())]
        about, dtype = attributes(), np.dtype(TYPES[number(4)])
        number()  # size in bytes, known from the dimensions
        has_frames = bool(used) and (used[0][1] == 0 or used[0][0] == FRAME)
        inner = used[has_frames:]
        return name, Variable(
            tuple(each for each, _ in inner), tuple(length for _, length in inner),
            used[0][1] if has_frames else None, dtype, about, number(offset),
        )  # fmt: skip

    records = number()
    if records == (1 << 8 * size) - 1:  # still being written: use the size
        records = 1 << 62
    known = [(text(), number()) for _ in listed()]
    attributes()
    return dict(variable() for _ in listed()), records
