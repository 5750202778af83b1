"""Frames of a particle file: their number, and one of them by number.

In text formats a frame is a piece of the file: its bytes are copied to a temporary file for the
format's reader. Other formats find frames themselves. Where the pieces of a large file start is
found once, and cached as a NumPy file of int64 in the user's cache folder, whose name is a hash of
path, size and times of change. A digest follows the array, because a wrong index would show another
frame.
"""

import hashlib
import os
import re
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from raytracer.config.errors import DataFileError, pluralize, quote
from raytracer.files.access import OpenFile, copy_to_temporary
from raytracer.files.output import cache_folder, read_cached, temporary_file
from raytracer.model.particle_source import FrameTime, ParticleSource
from raytracer.particles.lines import read_first_line
from raytracer.particles.registry import Format

PIECE = 1 << 20  # bytes that are copied at a time
TIME_BYTES = 1 << 16  # bytes of a frame that state its time
MIN_BYTES = 1 << 24  # size from which an index is cached: scanning smaller files takes 10 ms
FOLDER = "raytracer-frames"  # a name of our own: files are removed in it
INDEX = re.compile(r"[0-9a-f]{32}\.npy")
MAX_KEPT = 500  # most indices in the folder; the oldest are removed
SEAL_BYTES = 32
SAMPLES, SAMPLE_BYTES = 32, 64  # places of the file in the digest of its index


def find_frames(source: ParticleSource, file: OpenFile) -> tuple[int, NDArray[np.int64] | None]:
    """Return the number of frames of a file, and where they start if they are pieces of it, with
    the end of the last, (F + 1,).

    Counting them may read the whole file. Raises DataFileError: the file is damaged."""
    if not source.has_pieces:
        return 1 if source.frames is None else source.frames, None
    starts = find_starts(source, file)
    return len(starts) - 1, starts


def open_at_frame(
    form: Format, source: ParticleSource, content: OpenFile, file: OpenFile, inner: str, frame: int
) -> ParticleSource:
    """Return the source of one frame; negative numbers count from the end. Raises DataFileError:
    there is no such frame, or the file is damaged.

    Args:
        source: of the content in the format `form`.
        content, file: the file, decompressed, and as opened.
        inner: path of the particles in it, or "".
    """
    count, starts = find_frames(source, file)
    number = check_frame(frame, count, content.source)
    if starts is None or count == 1:
        source.go_to(number)
        return source
    piece = open_piece(form, source, content, starts, inner, number)
    rest = "" if source.surrounded else read_first_line(content, int(starts[-1])).strip()
    if rest:
        piece.notes.append(("", (  # as in a file being written
            f"{content.source}: frame {count} is incomplete and left out, from '{quote(rest, 40)}' "
            f"on; there are {pluralize(count, 'complete frame')}"
        )))  # fmt: skip
    return piece


def open_piece(
    form: Format, source: ParticleSource, content: OpenFile, starts: NDArray[np.int64], inner: str,
    number: int,
) -> ParticleSource:  # fmt: skip
    """Return the source of a frame that is a piece of a text. starts: as of `find_frames`; others
    as in `open_at_frame`. Raises DataFileError: the frame is damaged."""
    spans = [(int(starts[number]), int(starts[number + 1]))]
    if source.surrounded:
        spans = [(0, int(starts[0])), *spans, (int(starts[-1]), content.size)]
    descriptor = content.file.fileno()
    part = copy_to_temporary(content.path, f"{content.source}: frame {number}",
                  partial(_write_spans, descriptor, spans))  # fmt: skip
    piece = form.open(part, inner)
    piece.units = piece.units or source.units
    return piece


def read_times(
    form: Format, source: ParticleSource, content: OpenFile, file: OpenFile, inner: str
) -> list[FrameTime | None]:
    """Return the time of each frame; source, content, file: as in `open_at_frame`."""
    count, starts = find_frames(source, file)
    if starts is None or count == 1:
        times = [source.time]
        for frame in range(1, count):
            source.go_to(frame)
            times.append(source.time)
        return times
    times, descriptor = [], content.file.fileno()
    for start, end in pairwise(starts.tolist()):
        for last in (min(end, start + TIME_BYTES), end):  # a format may need the whole frame
            spans = [(0, int(starts[0])), (start, last)][not source.surrounded :]
            part = copy_to_temporary(
                content.path, content.source, partial(_write_spans, descriptor, spans)
            )
            with suppress(DataFileError):
                times.append(form.open(part, inner).time)
                break
        else:
            times.append(None)
    return times


def check_frame(frame: int, count: int, name: str) -> int:
    """Return the number of a frame from 0. Raises DataFileError if there is no such frame."""
    if -count <= frame < count:
        return frame % count
    if count == 0:
        raise DataFileError(f"{name}: holds no frames")
    which = f", 0 to {count - 1:,}, or -{count:,} to -1 from the end" if count > 1 else ", number 0"
    raise DataFileError(
        f"{name}: there is no frame {frame:,}: it has {pluralize(count, 'frame')}{which}"
    )


def _write_spans(descriptor: int, spans: Iterable[tuple[int, int]], target: IO[bytes]) -> None:
    for start, end in spans:
        while start < end and (piece := os.pread(descriptor, min(PIECE, end - start), start)):
            target.write(piece)  # a truncated one is reported by the reader
            start += len(piece)


def find_starts(source: ParticleSource, file: OpenFile) -> NDArray[np.int64]:
    """Return the start of each frame of a source, and the end of the last, (F + 1,); `file` is the
    file before decompression."""
    if file.size < MIN_BYTES or file.is_standard_input:
        return np.asarray(source.frame_starts(), np.int64)
    status = os.fstat(file.file.fileno())
    state = (file.path.absolute(), type(source).__module__, status.st_dev, status.st_ino,
             file.size, file.modified, status.st_ctime_ns)  # fmt: skip
    key = hashlib.blake2b(os.fsencode("\0".join(map(str, state))), digest_size=16).hexdigest()
    with suppress(OSError, ValueError, DataFileError):
        return _read(cache_folder(FOLDER) / f"{key}.npy", source.file, key)
    starts = np.asarray(source.frame_starts(), np.int64)
    with suppress(OSError):  # such as a full disk
        _write(cache_folder(FOLDER) / f"{key}.npy", starts, _seal(source.file, key, starts))
    return starts


def _read(path: Path, file: OpenFile, key: str) -> NDArray[np.int64]:
    """Read an index. Raises OSError, ValueError, DataFileError: there is none of this file."""
    from raytracer.files.npz import read_header

    content = read_cached(path, PIECE + 8 * file.size)
    body, stream = content[:-SEAL_BYTES], BytesIO(content)
    header = read_header(stream, str(path))
    starts = np.frombuffer(body, np.int64, offset=stream.tell())
    if header.dtype != np.int64 or header.shape != starts.shape or len(starts) < 2:
        raise ValueError
    ordered = starts[0] >= 0 and starts[-1] <= file.size and (np.diff(starts) >= 0).all()
    if not ordered or _seal(file, key, starts) != content[-SEAL_BYTES:]:
        raise ValueError
    return starts


def _seal(file: OpenFile, key: str, starts: NDArray[np.int64]) -> bytes:
    """Return a digest of an index, of the state of its file and of what stands at some starts: of
    this file and not of another, or of one that was changed in place."""
    digest = hashlib.blake2b(key.encode() + starts.tobytes(), digest_size=SEAL_BYTES)
    for start in starts[:: max(len(starts) // SAMPLES, 1)].tolist():
        digest.update(os.pread(file.file.fileno(), SAMPLE_BYTES, start))
    return digest.digest()


def _write(path: Path, starts: NDArray[np.int64], seal: bytes) -> None:
    """Write an index atomically, and remove the oldest ones. Raises OSError."""
    kept = [each for each in path.parent.iterdir() if INDEX.fullmatch(each.name)]
    kept.sort(key=lambda each: each.lstat().st_mtime)
    for old in kept[: max(len(kept) - MAX_KEPT + 1, 0)]:
        old.unlink(missing_ok=True)
    with temporary_file(path.parent) as new, new.open("wb") as stream:
        np.save(stream, starts)
        stream.write(seal)
        stream.close()
        new.chmod(0o600)
        new.replace(path)
