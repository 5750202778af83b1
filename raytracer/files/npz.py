"""Reading of NumPy's files, `.npy` and `.npz`, with sizes and checksums checked.

`numpy.load` copies the members of an archive in small pieces. Here an uncompressed member, the
usual case, is read directly into its array, and its CRC-32 is computed while each piece is in a
core's cache. The shape of a header is compared with the size of the file before memory is
allocated.
"""

from __future__ import annotations

import io
import struct
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import IO, TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.lib import format as npy

from raytracer._native import core
from raytracer.errors import DataFileError, shown, suggestion
from raytracer.files.access import OpenFile, copy_limited, memory_share, reading
from raytracer.memory import require_room
from raytracer.resources import thread_count

if TYPE_CHECKING:
    from numpy.typing import NDArray

HEADER_BYTES = 1 << 16
"""Longest header of an array; NumPy reads 10,000 letters of it."""

MOST_DIMENSIONS = 64
"""Most dimensions of an array of NumPy."""

PIECE = 1 << 20
"""Bytes of a compressed member that are read at a time."""

HUGE_PAGE = 1 << 21
"""Bytes of a huge page (x86-64, most ARM)."""

SLICE = 1 << 28
"""Bytes of an uncompressed member that are read between two polls for Ctrl-C."""

MOST_THREADS = 8
"""Most threads that read a file: with more, memory is the limit for files in the page cache."""

ENTRY_MEMORY = 24
"""Bytes of memory for each byte of an archive's directory."""

SMALL_DIRECTORY = 1 << 16
"""Bytes of a directory, of some thousand arrays, that are read on any machine."""

RATIO = 1100
"""Largest ratio of sizes of a compressed member: that of deflate is below 1,033."""

RATIO_BYTES = 1 << 26
"""Largest decompressed size for which a larger ratio is accepted."""

MOST_NAMES = 8
"""Most names of arrays in one message."""

_USUAL_TYPES = frozenset(("|u1", "<i4", "<i8", "<f4", "<f8"))
"""Types of the headers that are read without NumPy's parser."""

_USUAL_DIGITS = 18
"""Most digits of a length in these headers: every such number is below 2^63."""

_LOCAL_HEADER = struct.Struct("<4s5H3L2H")
_LOCAL_MAGIC = b"PK\x03\x04"
_END = struct.Struct("<4s4H2LH")
_END_MAGIC = b"PK\x05\x06"
_END_64 = struct.Struct("<4sQ2H2L4Q")
_LOCATOR_64 = struct.Struct("<4sLQL")
_ENCRYPTED = 1


class Header(NamedTuple):
    """The header of an array: shape, whether it is in Fortran order, type."""

    shape: tuple[int, ...]
    fortran_order: bool
    dtype: np.dtype[Any]

    @property
    def nbytes(self) -> int:
        """Bytes of the array's values."""
        return prod(self.shape) * self.dtype.itemsize


def read_npy(file: OpenFile, index: int | None = None) -> NDArray[Any]:
    """Read the array of an .npy file.

    Args:
        file: the file.
        index: of one item along the first axis, which alone is read; None reads all.

    Raises:
        DataFileError: the file is broken, or shorter than its header says.
        MemoryNeedError: the array does not fit.
    """
    with reading(file.source, ".npy"):
        file.file.seek(0)
        header = read_header(file.file, file.source)
        _require_bytes(header, file.size - file.file.tell(), file.source)
        by_row = index is not None and not header.fortran_order
        item = header._replace(shape=header.shape[1:]) if by_row else header
        require_room(file.source, item.nbytes)
        if by_row:
            file.file.seek((index or 0) * item.nbytes, io.SEEK_CUR)
        array = _copied(file.file, item, file.source)
        return array if by_row or index is None else array[index]


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
        if usual := _usual_header(text):
            return usual
        packed = io.BytesIO(struct.pack("<I", len(text)) + text)
        try:
            shape, fortran_order, dtype = npy.read_array_header_2_0(packed)
        except MemoryError:
            raise
        except Exception as problem:  # what it says are the words of a parser of Python
            raise DataFileError(
                f"{label}: its header is damaged: it describes no array of NumPy"
            ) from problem
        if any(isinstance(n, bool) or n < 0 for n in shape) or _is_beyond(shape, dtype):
            raise DataFileError(f"{label}: has the impossible shape {shown(str(shape))}")
        if not dtype.itemsize or dtype.subdtype:  # which `numpy.empty` makes larger than it says
            raise DataFileError(
                f"{label}: holds values of the type {shown(str(dtype))}, not numbers"
            )
    twice = dtype.names is None and any(text.count(key) > 1 for key in (b"'shape'", b"'descr'"))
    if twice:  # of which the last would count
        raise DataFileError(f"{label}: its header is damaged: a key stands there twice")
    if dtype.hasobject:
        raise DataFileError(
            f"{label}: holds objects of Python (pickle), which are not read; save numbers"
        )
    return Header(shape, fortran_order, dtype)


def _usual_header(text: bytes) -> Header | None:
    """Return a header that is, letter by letter, what NumPy writes for usual numbers; else None.

    NumPy has Python's own parser read it, which takes longer than reading 100 KB of values.
    """
    order = "', 'fortran_order': False, 'shape': ("
    descr, _, rest = text.decode("latin-1").partition(order)
    lengths, end, _ = rest.partition("), }")
    descr = descr.removeprefix("{'descr': '")
    numbers = lengths.removesuffix(",").split(", ")
    if descr not in _USUAL_TYPES or len(numbers) > 2 or len(lengths) > 2 * _USUAL_DIGITS:
        return None
    if not all(map(str.isdecimal, numbers)):
        return None
    shape, dtype = tuple(map(int, numbers)), np.dtype(descr)
    written = f"{{'descr': '{descr}{order}{str(shape)[1:-1]}{end}".ljust(len(text) - 1) + "\n"
    if written.encode() != text or _is_beyond(shape, dtype):
        return None
    return Header(shape, False, dtype)


def _is_beyond(shape: tuple[int, ...], dtype: np.dtype[Any]) -> bool:
    """Whether NumPy has no arrays of that shape, empty ones included."""
    return len(shape) > MOST_DIMENSIONS or (
        prod(max(n, 1) for n in shape) * max(dtype.itemsize, 1) >= 1 << 63
    )


def _require_bytes(header: Header, there: int, label: str) -> None:
    """Refuse a header that says more values than there are bytes."""
    if header.nbytes > there:
        raise DataFileError(
            f"{label}: is cut short: its header says {shown(str(header.shape))} values of "
            f"{header.dtype.itemsize} bytes, and {there:,} bytes follow"
        )


def _empty(header: Header) -> tuple[NDArray[Any], NDArray[np.uint8]]:
    """Return an array without values yet, and its bytes in the order of the file."""
    target = empty_bytes(header.nbytes)
    order: Literal["F", "C"] = "F" if header.fortran_order else "C"
    return target.view(header.dtype).reshape(header.shape, order=order), target


def empty_bytes(size: int) -> NDArray[np.uint8]:
    """Return bytes without values yet; many of them begin where a huge page can.

    NumPy asks the system for huge pages from 4 MiB on. Memory begins anywhere, though, and the
    pages of 4 KiB up to the first huge one are a fault each.
    """
    if size < HUGE_PAGE:
        return np.empty(size, np.uint8)
    room = np.empty(size + HUGE_PAGE, np.uint8)
    start = -room.__array_interface__["data"][0] % HUGE_PAGE
    return room[start : start + size]


def _copied(stream: IO[bytes], header: Header, label: str) -> NDArray[Any]:
    """Read the values of an array from a stream."""
    result, target = _empty(header)
    left = memoryview(target)  # type: ignore[arg-type]
    while len(left):
        count = stream.readinto(left[:PIECE])  # type: ignore[attr-defined]
        if not count:
            raise DataFileError(f"{label}: is cut short")
        left = left[count:]
    return result


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
        entries = self._zip.infolist()
        self.members = {entry.filename.removesuffix(".npy"): entry for entry in entries}
        if len(self.members) < len(entries):  # of which only the last would be found
            self._zip.close()
            raise _doubled(file.source, entries)

    def __enter__(self) -> Archive:
        return self

    def __exit__(self, *_: object) -> None:
        self._zip.close()

    def label(self, name: str) -> str:
        """What messages call an array."""
        return f"{self.source}: array '{shown(name)}'"

    def require_room(self, names: list[str]) -> None:
        """Refuse arrays that will not fit into memory together."""
        entries = [self._entry(name) for name in names]
        for entry in entries:
            self._require_possible(entry)
        require_room(self.source, sum(entry.file_size for entry in entries))

    def array(self, name: str) -> NDArray[Any]:
        """Read one array.

        Raises:
            DataFileError: there is no such array, its member is damaged, or its bytes do not have
                the CRC-32 that the archive says.
        """
        entry, label = self._entry(name), self.label(name)
        with self.stream(entry) as stream, reading(label, ".npy"):
            header = read_header(stream, label)
            _require_bytes(header, entry.file_size - stream.tell(), label)
            if isinstance(stream, _Stored):
                result, target = _empty(header)
                found = stream.fill(target)
            else:
                result = _copied(stream, header, label)
            rest = stream.read(PIECE)
            while rest:  # zipfile compares the sum when it comes to the end
                if isinstance(stream, _Stored):
                    found = zlib.crc32(rest, found)
                rest = stream.read(PIECE)
            if isinstance(stream, _Stored) and found != entry.CRC:
                raise DataFileError(
                    f"{label}: is damaged: its bytes do not have the sum (CRC-32) that the "
                    "archive says"
                )
        return result

    def item(self, name: str, index: int) -> NDArray[Any]:
        """Return one item of an array along its first axis; of a stored member it alone is read.

        Raises:
            DataFileError: the array is broken, or in Fortran order.
            MemoryNeedError: the item does not fit.
        """
        label = self.label(name)
        with reading(label, ".npz"), self.stream(self._entry(name)) as stream:
            header = read_header(stream, label)
            if header.fortran_order:
                raise DataFileError(
                    f"{label}: is in Fortran order: save its numpy.ascontiguousarray"
                )
            item = header._replace(shape=header.shape[1:])
            require_room(label, item.nbytes)
            stream.seek(stream.tell() + index * item.nbytes)
            values = bytearray(copy_limited(stream, item.nbytes, label))
            return np.frombuffer(values, item.dtype).reshape(item.shape)

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
        self._require_possible(entry)
        if entry.compress_type == zipfile.ZIP_STORED:
            yield self._stored(entry, label)  # type: ignore[misc]
            return
        with reading(label, ".npz"):
            stream = self._zip.open(entry)
        with stream:
            yield stream

    def _require_possible(self, entry: zipfile.ZipInfo) -> None:
        """Refuse a size that the directory says and that the file cannot hold."""
        label = self.label(entry.filename.removesuffix(".npy"))
        if max(entry.compress_size, 0) > self.file.size or (
            entry.compress_type == zipfile.ZIP_STORED and entry.file_size != entry.compress_size
        ):
            raise _misplaced(label)
        if entry.file_size > max(RATIO * entry.compress_size, RATIO_BYTES):
            raise DataFileError(
                f"{label}: says that {entry.compress_size:,} bytes hold {entry.file_size:,}, which "
                "is a damaged or a hostile file"
            )

    def _entry(self, name: str) -> zipfile.ZipInfo:
        entry = self.members.get(name)
        if entry is None:
            hint = suggestion(name, self.members)
            raise DataFileError(f"{self.source}: there is no array named '{shown(name)}'; {hint}")
        return entry

    def _stored(self, entry: zipfile.ZipInfo, label: str) -> _Stored:
        """Return the bytes of an uncompressed member, after its local header was checked."""
        broken = _misplaced(label)
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


def _doubled(source: str, entries: list[zipfile.ZipInfo]) -> DataFileError:
    """Return the error for an archive with several members of one name."""
    from collections import Counter

    counts = Counter(entry.filename.removesuffix(".npy") for entry in entries)
    names = [name for name, count in counts.items() if count > 1]
    listed = ", ".join(f"'{shown(name)}'" for name in names[:MOST_NAMES])
    more = f" and {len(names) - MOST_NAMES:,} others" if len(names) > MOST_NAMES else ""
    return DataFileError(
        f"{source}: holds more than one array named {listed}{more}; keep one of each name"
    )


def _misplaced(label: str) -> DataFileError:
    return DataFileError(f"{label}: does not lie where the archive says; is it cut short?")


class _Stored:
    """The bytes of an uncompressed member, as a stream."""

    def __init__(self, file: io.BufferedReader, begin: int, end: int) -> None:
        self._file = file
        self._begin = begin
        self._end = end

    def fill(self, target: NDArray[np.uint8]) -> int:
        """Read the bytes that follow into an array; gives the sum of all up to them.

        The file is read on several threads: each sums what is in its cache still.
        """
        place = self.tell()
        self.seek(0)
        found = zlib.crc32(self.read(place))
        descriptor, threads = self._file.fileno(), min(thread_count(), MOST_THREADS)
        for start in range(0, len(target), SLICE):  # Ctrl-C is heard in between
            part = target[start : start + SLICE]
            at = self._begin + place + start
            count, found = core().read_file(descriptor, at, part, found, threads)
            if count < len(part):
                raise DataFileError("is cut short")
        self.seek(place + len(target))
        return found

    def tell(self) -> int:
        return self._file.tell() - self._begin

    def seek(self, place: int) -> int:
        """Go to a place, counted from the start of the member."""
        return self._file.seek(min(self._begin + place, self._end)) - self._begin

    def read(self, size: int) -> bytes:
        return self._file.read(max(min(size, self._end - self._file.tell()), 0))


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
    size = min(size, file.size)
    if size > SMALL_DIRECTORY and size > memory_share(ENTRY_MEMORY):
        raise DataFileError(
            f"{file.source}: its directory takes {size:,} bytes; that is no .npz file of particles"
        )
    file.file.seek(0)
