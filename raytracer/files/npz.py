"""Reads NumPy's `.npy` and `.npz`; sizes are checked before memory is allocated."""

import io
import struct
import zipfile
from collections import Counter
from math import prod
from typing import IO, Any, NamedTuple

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, quote, suggest
from raytracer.files.access import OpenFile, translate_errors
from raytracer.system.memory import require_room

PIECE = 1 << 20  # bytes of a member that are read at a time


class Header(NamedTuple):
    """The header of an array: shape, whether it is in Fortran order, type."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        return prod(self.shape) * self.dtype.itemsize


def read_npy(file: OpenFile, index: int | None = None) -> NDArray[Any]:
    """Read the array of an .npy file, or one item along its first axis. Raises DataFileError, or
    MemoryNeedError if it does not fit."""
    with translate_errors(file.source, ".npy"):
        file.file.seek(0)
        header = read_header(file.file, file.source)
        require_bytes(header, file.size - file.file.tell(), file.source)
        return _values(file.file, header, index, file.source)


def read_header(stream: IO[bytes], label: str) -> Header:
    """Read the header of an array of plain values; the stream then stands at its values."""
    with translate_errors(label, ".npy"):
        version = npy.read_magic(stream)
        read = npy.read_array_header_1_0 if version[0] == 1 else npy.read_array_header_2_0
        header = Header(*read(stream))
    if header.dtype.hasobject or any(length < 0 for length in header.shape):
        raise DataFileError(
            f"{label}: has Python objects (pickle), which are not read, or an impossible shape: "
            "save numbers"
        )
    return header


def require_bytes(header: Header, there: int, label: str) -> None:
    """Refuse a header that states more values than there are bytes."""
    if header.nbytes > there:
        raise DataFileError(
            f"{label}: is incomplete: its header states {quote(str(header.shape))} values of "
            f"{header.dtype.itemsize} bytes, but {there:,} bytes follow"
        )


def _values(stream: IO[bytes], header: Header, index: int | None, label: str) -> NDArray[Any]:
    """Return the array whose values follow in a stream, or one item along its first axis."""
    if index is not None and header.fortran_order:
        return _read_strided(stream, header, index, label)
    if index is not None:
        header = header._replace(shape=header.shape[1:])
        stream.seek(index * header.nbytes, io.SEEK_CUR)
    require_room(label, header.nbytes)
    values = np.empty(header.nbytes, np.uint8)
    left = memoryview(values)  # type: ignore[arg-type]
    while len(left):  # in pieces, so that Ctrl-C is heard
        count = stream.readinto(left[:PIECE])  # type: ignore[attr-defined]
        if not count:
            raise DataFileError(f"{label}: is incomplete")
        left = left[count:]
    return values.view(header.dtype).reshape(
        header.shape, order="F" if header.fortran_order else "C"
    )


def _read_strided(stream: IO[bytes], header: Header, index: int, label: str) -> NDArray[Any]:
    """Return one item along the first axis of an array in Fortran order, whose values lie
    `shape[0]` apart. A memory map would end the process if the file became shorter."""
    apart, *shape = header.shape
    size = header.dtype.itemsize
    require_room(label, prod(shape) * size)
    values = np.empty(prod(shape), header.dtype)
    start = stream.tell() + index * size
    many = max(PIECE // (apart * size), 1)  # values of a piece
    for first in range(0, len(values), many):
        part = values[first : first + many]
        count = ((len(part) - 1) * apart + 1) * size
        stream.seek(start + first * apart * size)
        if len(data := stream.read(count)) < count:
            raise DataFileError(f"{label}: is incomplete")
        part[:] = np.frombuffer(data, header.dtype)[::apart]
    return values.reshape(shape, order="F")


class Archive:
    """An .npz file: arrays by name. Raises DataFileError if its directory is damaged."""

    def __init__(self, file: OpenFile) -> None:
        self.file = file
        self.source = file.source
        with translate_errors(file.source, ".npz"):
            try:
                self._zip = zipfile.ZipFile(file.file)
            except zipfile.BadZipFile:
                raise DataFileError(
                    f"{file.source}: is not an .npz file, or is incomplete"
                ) from None
        names = [entry.filename.removesuffix(".npy") for entry in self._zip.infolist()]
        self.members = dict(zip(names, self._zip.infolist(), strict=True))
        if len(self.members) < len(names):  # of which only the last would be found
            self._zip.close()
            name, count = Counter(names).most_common(1)[0]
            raise DataFileError(
                f"{file.source}: has {count:,} arrays named '{quote(name)}': keep one of each name"
            )

    def __enter__(self) -> "Archive":
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def label(self, name: str) -> str:
        return f"{self.source}: array '{quote(name)}'"

    def require_room(self, names: list[str]) -> None:
        """Refuse arrays that do not fit into memory together."""
        entries = [self._entry(name) for name in names]
        require_room(self.source, sum(entry.file_size for entry in entries))

    def array(self, name: str, index: int | None = None) -> NDArray[Any]:
        """Read one array, or an item along its first axis; of a stored member, only the item is
        read. Raises DataFileError: there is none, or it is damaged or has a wrong CRC-32."""
        label, entry = self.label(name), self._entry(name)
        with self.stream(entry) as stream, translate_errors(label, ".npy"):
            header = read_header(stream, label)
            require_bytes(header, entry.file_size - stream.tell(), label)
            if index is not None and entry.compress_type == zipfile.ZIP_STORED:
                file = self.file.file  # some versions of `zipfile` seek slowly
                file.seek(entry.header_offset + 26)
                names = sum(struct.unpack("<2H", file.read(4)))
                file.seek(entry.header_offset + 30 + names + stream.tell())
                return _values(file, header, index, label)
            values = _values(stream, header, index, label)
            while index is None and stream.read(PIECE):  # the sum is compared at the end
                pass
        return values

    def stream(self, entry: zipfile.ZipInfo) -> IO[bytes]:
        """Return a stream of a member; its CRC is checked at the end. Raises DataFileError."""
        with translate_errors(self.label(entry.filename.removesuffix(".npy")), ".npz"):
            return self._zip.open(entry)

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self.members.get(name)
        if entry is None:
            hint = suggest(name, self.members)
            raise DataFileError(f"{self.source}: there is no array named '{quote(name)}'; {hint}")
        return entry
