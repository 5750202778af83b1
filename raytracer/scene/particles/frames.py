"""Frames of a particle file: their number, and one of them by number.

In text formats a frame is a piece of the file: its bytes are copied to a temporary file for the
format's reader. Other formats find frames themselves. Where the pieces of a large file start is
found once, and cached as a NumPy file of int64 in the user's cache folder, whose name is a hash of
path, size and time of change.
"""

import hashlib
import os
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import IO

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, counted, shown
from raytracer.files.access import OpenFile, copied
from raytracer.files.output import cache_folder, temporary
from raytracer.scene.particles.lines import first_line_from
from raytracer.scene.particles.registry import Format
from raytracer.scene.particles.source import ParticleSource

PIECE = 1 << 20  # bytes that are copied at a time
MIN_BYTES = 1 << 24  # size from which an index is cached: scanning smaller files takes 10 ms
MAX_KEPT = 500  # most indices in the folder; the oldest are removed


def frames_of(source: ParticleSource, file: OpenFile) -> tuple[int, NDArray[np.int64] | None]:
    """Return the number of frames of a file, and where they start if they are pieces of it, with
    the end of the last, (F + 1,).

    Counting them may read the whole file. Raises DataFileError: the file is damaged."""
    if not source.has_pieces:
        return 1 if source.frames is None else source.frames, None
    starts = starts_of(source, file)
    return len(starts) - 1, starts


def at_frame(
    form: Format, source: ParticleSource, content: OpenFile, file: OpenFile, inner: str, frame: int
) -> ParticleSource:
    """Return the source of one frame; negative numbers count from the end. Raises DataFileError:
    there is no such frame, or the file is damaged.

    Args:
        source: of the content in the format `form`.
        content, file: the file, decompressed, and as opened.
        inner: path of the particles in it, or "".
    """
    count, starts = frames_of(source, file)
    number = checked(frame, count, content.source)
    if starts is None or count == 1:
        source.go_to(number)
        return source
    piece = piece_of(form, source, content, starts, inner, number)
    rest = "" if source.surrounded else first_line_from(content, int(starts[-1])).strip()
    if rest:
        piece.notes.append(("", (  # as in a file being written
            f"{content.source}: frame {count} is incomplete and left out, from '{shown(rest, 40)}' "
            f"on; there are {counted(count, 'complete frame')}"
        )))  # fmt: skip
    return piece


def piece_of(
    form: Format, source: ParticleSource, content: OpenFile, starts: NDArray[np.int64], inner: str,
    number: int,
) -> ParticleSource:  # fmt: skip
    """Return the source of a frame that is a piece of a text. starts: as of `frames_of`; others as
    in `at_frame`. Raises DataFileError: the frame is damaged."""
    spans = [(int(starts[number]), int(starts[number + 1]))]
    if source.surrounded:
        spans = [(0, int(starts[0])), *spans, (int(starts[-1]), content.size)]
    descriptor = content.file.fileno()
    part = copied(content.path, f"{content.source}: frame {number}",
                  partial(_write_spans, descriptor, spans))  # fmt: skip
    return form.open(part, inner)


def checked(frame: int, count: int, name: str) -> int:
    """Return the number of a frame from 0. Raises DataFileError if there is no such frame."""
    if -count <= frame < count:
        return frame % count
    if count == 0:
        raise DataFileError(f"{name}: holds no frames")
    which = f", 0 to {count - 1:,}, or -{count:,} to -1 from the end" if count > 1 else ", number 0"
    raise DataFileError(
        f"{name}: there is no frame {frame:,}: it has {counted(count, 'frame')}{which}"
    )


def _write_spans(descriptor: int, spans: Iterable[tuple[int, int]], target: IO[bytes]) -> None:
    for start, end in spans:
        while start < end and (piece := os.pread(descriptor, min(PIECE, end - start), start)):
            target.write(piece)  # a truncated one is reported by the reader
            start += len(piece)


def starts_of(source: ParticleSource, file: OpenFile) -> NDArray[np.int64]:
    """Return the start of each frame of a source, and the end of the last, (F + 1,); `file` is the
    file before decompression."""
    path = None
    if file.size >= MIN_BYTES and not file.is_standard_input:
        state = (file.path.absolute(), type(source).__module__, file.size, file.modified)
        name = hashlib.blake2b(os.fsencode("\0".join(map(str, state))), digest_size=16).hexdigest()
        with suppress(RuntimeError):  # there may be no home folder
            path = cache_folder("frames") / f"{name}.npy"
    if path is None:
        return np.asarray(source.frame_starts(), np.int64)
    with suppress(OSError, ValueError, EOFError, TypeError):
        starts: NDArray[np.int64] = np.load(path, allow_pickle=False)
        is_index = starts.dtype == np.int64 and starts.ndim == 1 and len(starts) > 1
        if is_index and 0 <= starts[0] <= starts[-1] <= source.file.size and (
            np.diff(starts) >= 0).all():  # fmt: skip
            return starts
    starts = np.asarray(source.frame_starts(), np.int64)
    _write(path, starts)
    return starts


def _write(path: Path, starts: NDArray[np.int64]) -> None:
    """Write an index atomically; failures, such as a full disk, are ignored."""
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        kept = sorted(path.parent.glob("*.npy"), key=lambda each: each.stat().st_mtime)
        for old in kept[: max(len(kept) - MAX_KEPT + 1, 0)]:
            old.unlink(missing_ok=True)
        with temporary(path.parent) as new, new.open("wb") as stream:
            np.save(stream, starts)
            stream.close()
            new.replace(path)
