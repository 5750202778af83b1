"""Trajectories and restarts in NetCDF (.nc, .ncdf, .ncrst): conventions of AMBER and LAMMPS.

The classic formats CDF-1, CDF-2 and CDF-5 (Unidata, "NetCDF classic format specification"): a
header lists dimensions, attributes and variables; variables with the unlimited dimension `frame`
are interleaved in records, one per frame. All numbers are big endian. NetCDF-4 is HDF5.
"""

from collections.abc import Mapping
from functools import cached_property
from io import BytesIO
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile
from raytracer.model.particle_source import Box, FrameTime, Particles, parse_time
from raytracer.particles.array_source import ArraySource
from raytracer.particles.cell import cell_from_sizes

MAX_HEADER = 1 << 22  # most bytes of a header; AMBER's have about 2,000
ATOM, FRAME = "atom", "frame"  # dimensions in the conventions

TYPES = ("", "i1", "S1", ">i2", ">i4", ">f4", ">f8", "u1", ">u2", ">u4", ">i8", ">u8")
"""NumPy's names of the types, by their number in the file; 7 and above are CDF-5."""


class Variable(NamedTuple):
    """A variable."""

    shape: tuple[int, ...]  # (T, ...) if it is of frames
    dtype: np.dtype[Any]
    dimensions: tuple[str, ...]
    attributes: Mapping[str, NDArray[Any]]
    start: int  # offset of its first value in the file
    step: int = 0  # bytes from a frame to the next; 0 if it is not of frames

    @property
    def bytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize

    def text(self, name: str) -> str:
        value = self.attributes.get(name, np.zeros(0, "S1"))
        return value.tobytes().decode("utf-8", "replace").strip("\0 ")


class Source(ArraySource):
    noun = "variable"

    @cached_property
    def stored(self) -> dict[str, Variable]:
        return _variables(self.file)

    @property
    def lacks_atoms(self) -> bool:  # type: ignore[override]
        return any(ATOM in each.dimensions for each in self.stored.values())

    def unit(self, name: str) -> str:
        return self.stored[name].text("units")

    def particles(self, names: Mapping[str, str]) -> Particles:
        if self._shape[:1] == (0,) and len(self._shape) == 3:
            raise self.error("has no complete frame")
        return super().particles(names)

    @property
    def box(self) -> Box | None:
        """The cell of the frame: lengths, angles, and the origin that LAMMPS adds."""
        if not {"cell_lengths", "cell_angles"} <= self.stored.keys():
            return None
        sizes = [self.values(name, self.frame) for name in ("cell_lengths", "cell_angles")]
        cell = (
            cell_from_sizes(np.concatenate(sizes))
            if sizes[0].shape == (3,) == sizes[1].shape
            else None
        )
        if cell is None or "cell_origin" not in self.stored:
            return cell
        x, y, z = self.values("cell_origin", self.frame).tolist()
        return cell._replace(origin=(x, y, z))

    @property
    def time(self) -> FrameTime | None:
        if "time" not in self.stored:
            return None
        unit = self.unit("time") or "picosecond"
        (time,) = self.values("time", self.frame).reshape(-1)[:1]
        return parse_time(time, "ps" if unit == "picosecond" else unit)

    def values(self, name: str, frame: int | None) -> NDArray[Any]:
        each = self.stored[name]
        shape = each.shape[bool(each.step) :]
        self.file.file.seek(each.start + each.step * (frame or 0))
        data = self.file.file.read(prod(shape) * each.dtype.itemsize)
        if len(data) < prod(shape) * each.dtype.itemsize:
            raise self.error(f"is incomplete: values of '{quote(name)}' are missing")
        values = np.frombuffer(data, each.dtype).reshape(shape)
        values = values.astype(each.dtype.newbyteorder("="))
        scale = each.attributes.get("scale_factor")
        is_scaled = scale is not None and values.dtype.kind == "f"
        return values * np.asarray(scale, values.dtype) if is_scaled else values


def _variables(file: OpenFile) -> dict[str, Variable]:
    """Return the variables of a file by name, with its complete frames: the header of an incomplete
    file may state more.

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
        return name, Variable(
            tuple(length for _, length in used), dtype, tuple(each for each, _ in used), about,
            number(offset),
        )  # fmt: skip

    records = number()
    if records == (1 << 8 * size) - 1:  # still being written: use the size
        records = 1 << 62
    known = [(text(), number()) for _ in listed()]
    attributes()
    found = dict(variable() for _ in listed())
    sides = {name: each._replace(shape=each.shape[1:]) for name, each in found.items()
             if each.shape[:1] == (0,)}  # fmt: skip
    record = sum(-(-each.bytes // 4) * 4 for each in sides.values())
    if len(sides) == 1:
        (record,) = (each.bytes for each in sides.values())
    end = max((each.start + each.bytes for each in sides.values()), default=0)
    whole = min(1 + (file.size - end) // record, records) if record else 0
    for name, each in found.items():
        if name in sides:
            found[name] = each._replace(shape=(max(whole, 0), *each.shape[1:]), step=record)
        elif each.dimensions[:1] == (FRAME,):
            found[name] = each._replace(step=each.bytes // max(each.shape[0], 1))
    return found
