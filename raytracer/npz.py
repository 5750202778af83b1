"""Arrays of NumPy in files, `.npy` and `.npz`: read in place, with every size and sum checked.

`numpy.load` copies the members of an archive in small pieces. Here an uncompressed member, the
usual case, is read straight into its array, and its CRC-32 is computed beside the reading. What a
header says of shapes is compared with the bytes that are there before memory is taken.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import IO, TYPE_CHECKING, Any

import numpy as np
from numpy.lib import format as npy

from raytracer.door import OpenFile, copy_limited, memory_share, reading
from raytracer.errors import DataFileError, shown, suggestion
from raytracer.memory import require_room

if TYPE_CHECKING:
    from concurrent.futures import Future, ThreadPoolExecutor

    from numpy.typing import NDArray

HEADER_BYTES = 1 << 16
"""Longest header of an array; NumPy takes 10,000 letters of it."""

PIECE = 1 << 22
"""Bytes that are read, and summed beside, at a time."""

ENTRY_MEMORY = 24
"""Bytes of memory for each byte of an archive's directory."""

RATIO = 1100
"""Largest ratio of sizes of a compressed member: that of deflate is below 1,033."""

RATIO_BYTES = 1 << 26
"""Size up to which a larger ratio does no harm."""

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_LOCAL_MAGIC = b"PK\x03\x04"
_END = struct.Struct("<4s4H2LH")
_END_MAGIC = b"PK\x05\x06"
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_ENCRYPTED = 1


@dataclass(frozen=True)
class Header:
    """What an array's header says: shape, whether columns go first, and the type."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the array's values."""
        return prod(self.shape) * self.dtype.itemsize


def read_npy(file: OpenFile) -> NDArray[Any]:
    """Read the array of an .npy file.

    Raises:
        DataFileError: the file is broken, or shorter than its header says.
        MemoryNeedError: the array does not fit.
    """
    with reading(file.source, ".npy"):
        file.file.seek(0)
        header = read_header(file.file, file.source)
        _require_bytes(header, file.size - file.file.tell(), file.source)
        require_room(file.source, header.nbytes)
        return _filled(file.file, header, file.source)


def read_header(stream: IO[bytes], label: str) -> Header:
    """Read the header of an array; the stream then stands at its values.

    Raises:
        DataFileError: there is no header, or it describes no array of plain values.
    """
    with reading(label, ".npy"):
        start = stream.read(8)
        if start[:6] != b"\x93NUMPY" or start[6:7] not in (b"\1", b"\2", b"\3"):
            raise DataFileError(f"{label}: is not an array of NumPy")
        major = start[6]
        width = 2 if major == 1 else 4
        length = int.from_bytes(copy_limited(stream, width, label), "little")
        if length > HEADER_BYTES:
            raise DataFileError(f"{label}: its header of {length:,} bytes is damaged")
        text = copy_limited(stream, length, label)
        if major == 3:  # in UTF-8 for the names of fields, which matter to nobody here
            text = text.decode("utf-8").encode("latin-1", "replace")
        packed = io.BytesIO(struct.pack("<I", len(text)) + text)
        shape, fortran_order, dtype = npy.read_array_header_2_0(packed)
        if any(isinstance(n, bool) or n < 0 for n in shape):
            raise DataFileError(f"{label}: has the impossible shape {shown(str(shape))}")
    if dtype.hasobject:
        raise DataFileError(
            f"{label}: holds objects of Python (pickle), which are not read; save numbers"
        )
    return Header(shape, fortran_order, dtype)


def _require_bytes(header: Header, there: int, label: str) -> None:
    """Refuse a header that says more values than there are bytes."""
    if header.nbytes > there:
        raise DataFileError(
            f"{label}: is cut short: its header says {shown(str(header.shape))} values of "
            f"{header.dtype.itemsize} bytes, and {there:,} bytes follow"
        )


def _filled(
    stream: IO[bytes], header: Header, label: str, checksum: _Checksum | None = None
) -> NDArray[Any]:
    """Read the values of an array into place."""
    flat = np.empty(prod(header.shape), header.dtype)
    target = memoryview(flat.view(np.uint8)) if flat.nbytes else memoryview(b"")  # type: ignore[arg-type]
    read = getattr(stream, "readinto", None)
    for start in range(0, len(target), PIECE):
        piece = target[start : start + PIECE]
        at = 0
        while at < len(piece):
            count = read(piece[at:]) if read else 0
            if not count:
                raise DataFileError(f"{label}: is cut short")
            at += count
        if checksum is not None:
            checksum.add(piece)
    return flat.reshape(header.shape, order="F" if header.fortran_order else "C")


class _Checksum:
    """The CRC-32 of pieces in their order; large ones are summed on a thread beside the reading."""

    def __init__(self, pool: Callable[[], ThreadPoolExecutor]) -> None:
        self._pool = pool
        self._sum = 0
        self._last: Future[int] | None = None

    def add(self, piece: bytes | memoryview) -> None:
        """Go on with a piece, which must not change any more."""
        before = self._last
        if before is None and len(piece) < PIECE:
            self._sum = zlib.crc32(piece, self._sum)
            return
        first = self._sum
        # The pool has one thread: the piece before is done when this one begins.
        self._last = self._pool().submit(
            lambda: zlib.crc32(piece, first if before is None else before.result())
        )

    def result(self) -> int:
        """Return the sum of all pieces."""
        return self._sum if self._last is None else self._last.result()


class Archive:
    """An .npz file: arrays by name.

    Args:
        file: the file, open.

    Raises:
        DataFileError: it is no archive, or its directory is damaged.
    """

    def __init__(self, file: OpenFile) -> None:
        self.file = file
        self.source = file.source
        self._pool: ThreadPoolExecutor | None = None
        self._sums: list[tuple[str, int, _Checksum]] = []
        _require_directory(file)
        try:
            with reading(file.source, ".npz"):
                self._zip = zipfile.ZipFile(file.file)
        except DataFileError as error:
            if isinstance(error.__cause__, zipfile.BadZipFile):
                raise DataFileError(
                    f"{file.source}: is not an .npz file, or is cut short"
                ) from error
            raise
        self.members = {
            entry.filename.removesuffix(".npy"): entry for entry in self._zip.infolist()
        }

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        if self._pool is not None:
            self._pool.shutdown(cancel_futures=True)
        self._zip.close()

    def _thread(self) -> ThreadPoolExecutor:
        """Return the thread for the sums, started when there is a first large piece."""
        from concurrent.futures import ThreadPoolExecutor

        if self._pool is None:
            self._pool = ThreadPoolExecutor(1)
        return self._pool

    def label(self, name: str) -> str:
        """What messages call an array."""
        return f"{self.source}: array '{shown(name)}'"

    def require_room(self, names: list[str]) -> None:
        """Refuse arrays that will not fit into memory together."""
        require_room(self.source, sum(self._entry(name).file_size for name in names))

    def array(self, name: str) -> NDArray[Any]:
        """Read one array; its sum is known to be right after `verify`, or when that is not needed.

        Raises:
            DataFileError: there is no such array, or its member is damaged.
        """
        entry, label = self._entry(name), self.label(name)
        with self.stream(entry) as stream, reading(label, ".npy"):
            header = read_header(stream, label)
            checksum = None
            left = entry.file_size - stream.tell()
            if isinstance(stream, _Stored):
                checksum = _Checksum(self._thread)
                self._sums.append((label, entry.CRC, checksum))
                stream.begin(checksum)
            _require_bytes(header, left, label)
            result = _filled(stream, header, label, checksum)
            while rest := stream.read(PIECE):  # zipfile compares the sum at the end
                if checksum is not None:
                    checksum.add(rest)
        return result

    def verify(self) -> None:
        """Wait for the sums of all arrays that were read. Raises DataFileError for a wrong one."""
        for label, expected, checksum in self._sums:
            if checksum.result() != expected:
                raise DataFileError(
                    f"{label}: is damaged: its bytes do not have the sum (CRC-32) that the "
                    "archive says"
                )
        self._sums.clear()

    @contextmanager
    def stream(self, entry: zipfile.ZipInfo) -> Iterator[IO[bytes]]:
        """Give a stream of one member, from its start to its end.

        That of an uncompressed one can seek at no cost and does not compute the sum.

        Raises:
            DataFileError: it is encrypted, of an unknown method, or its place or size is wrong.
        """
        label = self.label(entry.filename.removesuffix(".npy"))
        if entry.flag_bits & _ENCRYPTED:
            raise DataFileError(f"{label}: is encrypted, which is not read; save it without")
        if entry.compress_type == zipfile.ZIP_STORED:
            yield self._stored(entry, label)  # type: ignore[misc]
            return
        if entry.file_size > max(RATIO * entry.compress_size, RATIO_BYTES):
            raise DataFileError(
                f"{label}: says that {entry.compress_size:,} bytes hold {entry.file_size:,}, which "
                "is a damaged or a hostile file"
            )
        with reading(label, ".npz"):
            stream = self._zip.open(entry)
        with stream:
            yield stream

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self.members.get(name)
        if entry is None:
            hint = suggestion(name, self.members)
            raise DataFileError(f"{self.source}: there is no array named '{shown(name)}'; {hint}")
        return entry

    def _stored(self, entry: zipfile.ZipInfo, label: str) -> _Stored:
        """Return the bytes of an uncompressed member, after its local header was checked."""
        broken = DataFileError(f"{label}: does not lie where the archive says; is it cut short?")
        file = self.file.file
        file.seek(entry.header_offset)
        start = file.read(_LOCAL_HEADER.size)
        if len(start) < _LOCAL_HEADER.size:
            raise broken
        magic, *_, name_length, extra_length = _LOCAL_HEADER.unpack(start)
        name = file.read(name_length)
        # The local header repeats the name and may have other extra fields than the directory.
        begin = entry.header_offset + _LOCAL_HEADER.size + name_length + extra_length
        end = begin + entry.file_size
        utf8 = entry.flag_bits & 0x800
        same = name.decode("utf-8" if utf8 else "cp437", "replace") == entry.orig_filename
        if magic != _LOCAL_MAGIC or not same or entry.compress_size != entry.file_size:
            raise broken
        if end > self._zip.start_dir:
            raise broken
        file.seek(begin)
        return _Stored(file, begin, end)


class _Stored:
    """The bytes of an uncompressed member, as a stream."""

    def __init__(self, file: io.BufferedReader, begin: int, end: int) -> None:
        self._file = file
        self._begin = begin
        self._end = end

    def begin(self, checksum: _Checksum) -> None:
        """Sum what was read so far, the header."""
        size = self.tell()
        self.seek(0)
        checksum.add(self.read(size))

    def tell(self) -> int:
        return self._file.tell() - self._begin

    def seek(self, place: int) -> int:
        """Go to a place, counted from the start of the member."""
        return self._file.seek(min(self._begin + place, self._end)) - self._begin

    def read(self, size: int) -> bytes:
        return self._file.read(max(min(size, self._end - self._file.tell()), 0))

    def readinto(self, target: memoryview) -> int:
        return self._file.readinto(target[: max(self._end - self._file.tell(), 0)])


def _require_directory(file: OpenFile) -> None:
    """Refuse an archive whose directory would take more memory than is free.

    Each entry becomes an object of half a kilobyte; a file can be all directory.
    """
    tail = min(file.size, (1 << 16) + _END.size)
    file.file.seek(file.size - tail)
    data = file.file.read(tail)
    at = data.rfind(_END_MAGIC)
    if at < 0 or len(data) - at < _END.size:
        raise DataFileError(f"{file.source}: is not an .npz file, or is cut short")
    size = _END.unpack_from(data, at)[5]
    if size == 0xFFFFFFFF and at >= _LOCATOR_64.size:
        place = _LOCATOR_64.unpack_from(data, at - _LOCATOR_64.size)[2]
        if place + _END_64.size <= file.size:
            file.file.seek(place)
            size = _END_64.unpack(file.file.read(_END_64.size))[8]
    if min(size, file.size) > memory_share(ENTRY_MEMORY):
        raise DataFileError(
            f"{file.source}: its directory takes {size:,} bytes; that is no .npz file of particles"
        )
    file.file.seek(0)
