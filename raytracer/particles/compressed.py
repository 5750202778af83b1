"""Compressed files (.gz, .bz2, .xz, .zst, .zip), decompressed into a temporary file for reading."""

import codecs
import os
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import IO, Any, cast

from raytracer.config.errors import DataFileError, quote
from raytracer.files.access import OpenFile, copy_to_temporary, translate_errors
from raytracer.system.memory import format_size
from raytracer.system.resources import available_memory

PIECE = 1 << 20  # bytes that are decompressed at a time
UTF16, ZIP = "utf-16", "zipfile"
MAGIC = {
    b"\x1f\x8b": ("gzip", ".gz"),
    b"BZh": ("bz2", ".bz2"),
    b"\xfd7zXZ\x00": ("lzma", ".xz"),
    b"\x28\xb5\x2f\xfd": ("zstandard", ".zst"),
    b"PK\x03\x04": (ZIP, ".zip"),
    b"\xff\xfe": (UTF16, ""),
    b"\xfe\xff": (UTF16, ""),
}
"""Module that decompresses, and file ending, by the first bytes of a file; texts in UTF-16 become
UTF-8. An archive of ZIP is read if it has one file, and is none of NumPy or of a spreadsheet."""

ZST, ZST_SKIPPED = 0xFD2FB528, 0x184D2A50  # first four bytes of frames of Zstandard (RFC 8878)
ZST_HEAD = 18  # longest header of a frame
HIDDEN = ("__MACOSX/", ".")  # starts of names of members that other programs add
MAX_RATIO = 2000  # largest compression ratio accepted; deflate reaches 1,033
RATIO_BYTES = 1 << 26  # size up to which any ratio is accepted
MAX_DEPTH = 4  # most times that a file is decompressed
MAX_BYTES = 1 << 32  # most bytes of a decompressed file where the free memory is unknown
MAX_KEPT = 4  # most decompressed files that are kept: a set has a trajectory and a topology
SUFFIXES = tuple(suffix for _, suffix in MAGIC.values() if suffix)


_kept: ContextVar[dict[tuple[str, int, int], OpenFile] | None] = ContextVar("kept", default=None)


@contextmanager
def keep_decompressed() -> Iterator[None]:
    """In the block, decompress each file once, even if it is opened for each frame."""
    before = _kept.get()
    token = _kept.set({} if before is None else before)
    try:
        yield
    finally:
        _kept.reset(token)


def decompress(file: OpenFile) -> OpenFile:
    """Return the decompressed content of a file; an uncompressed one as it is. Raises
    DataFileError: the file is damaged, larger than memory, or its library is not installed."""
    for _ in range(MAX_DEPTH + 1):
        file.file.seek(0)
        start = file.file.read(8)
        file.file.seek(0)
        module, suffix = next((MAGIC[each] for each in MAGIC if start.startswith(each)), ("", ""))
        member = _find_member(file) if module == ZIP else ""
        if not module or (module == ZIP and not member):
            break
        kept, key = _kept.get(), (str(file.path.absolute()), file.size, file.modified)
        if kept is None or key not in kept:
            path = file.path.with_suffix("") if file.path.suffix.lower() == suffix else file.path
            path = path.with_name(Path(member).name) if member else path
            with translate_errors(file.source, suffix):
                stream = _open_stream(file, module, member)
                ended: list[EOFError] = []
                content = copy_to_temporary(path, file.source, partial(_copy, stream, file, ended))
                if module == "zstandard" and not _is_whole(file, import_module(module)):
                    ended.append(EOFError("its last frame is incomplete"))
                if ended and not content.size:
                    raise ended[0]
            content.cut = file.cut or "".join(map(str, ended))
            file.file.seek(0)
            kept = {} if kept is None else kept
            if len(kept) == MAX_KEPT:
                kept.pop(next(iter(kept)))
            kept[key] = content
        file = kept[key]
        if module == UTF16:
            break
    else:
        raise DataFileError(f"{file.source}: is compressed more than {MAX_DEPTH} times")
    return file


def is_compressed(start: bytes) -> bool:
    """Whether a file with these first bytes is compressed."""
    return start.startswith(tuple(MAGIC))


def strip_endings(path: Path) -> str:
    """Return the name of a file without its ending, and without that of its compression."""
    return Path(path.stem).stem if path.suffix.lower() in SUFFIXES else path.stem


def _find_member(file: OpenFile) -> str:
    """Return the name of the only file in an archive, "" if such archives are read as they are."""
    if file.path.suffix.lower() != ".zip":
        return ""
    from zipfile import ZipFile

    with translate_errors(file.source, ".zip"), ZipFile(file.file) as archive:
        names = [each.filename for each in archive.infolist() if not each.is_dir()]
    file.file.seek(0)
    names = [name for name in names if not name.startswith(HIDDEN)]
    if all(name.endswith(".npy") for name in names):
        return ""
    if len(names) > 1:
        listed = ", ".join(quote(name) for name in names[:3]) + ", ..." * (len(names) > 3)
        raise DataFileError(f"{file.source}: is an archive of {len(names):,} files ({listed}): "
                            "unpack it and name one")  # fmt: skip
    return names[0]


def _open_stream(file: OpenFile, module: str, member: str) -> IO[bytes]:
    stream: Any
    if module == ZIP:
        from zipfile import ZipFile

        return ZipFile(file.file).open(member)
    if module == UTF16:
        stream = codecs.EncodedFile(file.file, "utf-8", UTF16)
    elif module == "zstandard":
        try:
            library: Any = import_module(module)
        except ImportError:
            raise DataFileError(
                f"{file.source}: reading .zst needs zstandard: pip install 'raytracer[zst]', or "
                "decompress the file first"
            ) from None
        stream = library.ZstdDecompressor().stream_reader(
            file.file, read_across_frames=True, closefd=False
        )
    else:
        stream = import_module(module).open(file.file, "rb")
    return cast("IO[bytes]", stream)


def _copy(stream: IO[bytes], file: OpenFile, ended: list[EOFError], copy: IO[bytes]) -> None:
    """Copy what is decompressed, up to where the data end too early: then `ended` has the error."""
    limit, total = available_memory() or MAX_BYTES, 0
    # `read1` returns all that precedes an early end; that of a recoder does not recode
    recodes = isinstance(stream, codecs.StreamRecoder)
    read: Any = stream.read if recodes else getattr(stream, "read1", stream.read)
    while piece := _read(read, ended):
        total += len(piece)
        if total > min(limit, max(RATIO_BYTES, MAX_RATIO * file.size)):
            what = "the free memory" if total > limit else "so it is damaged or hostile"
            raise DataFileError(
                f"{file.source}: {file.size:,} bytes decompress to more than {format_size(total)}, "
                f"{what}"
            )
        copy.write(piece)


def _read(read: Any, ended: list[EOFError]) -> bytes:
    try:
        piece: bytes = read(PIECE)
    except EOFError as error:
        ended.append(error)
        return b""
    return piece


def _is_whole(file: OpenFile, zstandard: Any) -> bool:
    """Whether a file of Zstandard, whose library does not tell, has all blocks of its last
    frame."""
    descriptor, place = file.file.fileno(), 0
    while place < file.size:
        head = os.pread(descriptor, ZST_HEAD, place)
        magic = int.from_bytes(head[:4], "little")
        if magic & ~0xF == ZST_SKIPPED:
            place += 8 + int.from_bytes(head[4:8], "little")
            continue
        if magic != ZST:
            return True  # other data, of which the library tells
        try:
            place += int(zstandard.frame_header_size(head))
            checksum = 4 * bool(zstandard.get_frame_parameters(head).has_checksum)
        except zstandard.ZstdError:
            return False
        is_last = False
        while not is_last:
            block = int.from_bytes(os.pread(descriptor, 3, place), "little")
            is_last = bool(block & 1) or place >= file.size
            place += 3 + (1 if block >> 1 & 3 == 1 else block >> 3)  # a run of one byte, or others
        place += checksum
    return place == file.size
