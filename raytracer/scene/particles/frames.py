"""Frames of a particle file: their number, and one of them by number.

In text formats a frame is a piece of the file: its bytes are copied to a temporary file for the
format's reader. The pieces are found once and cached (see `frame_index`). Other formats find frames
themselves.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from raytracer.errors import DataFileError, counted
from raytracer.files.access import OpenFile
from raytracer.scene.particles.frame_index import starts_of
from raytracer.scene.particles.lines import HEAD_BYTES
from raytracer.scene.particles.registry import Format
from raytracer.scene.particles.source import Notes, ParticleSource

PIECE = 1 << 20  # bytes that are copied at a time


@dataclass(frozen=True)
class Frames:
    """The frames of a file."""

    count: int  # number of frames
    # offsets of the frames, and the end of the last one, int64 (count + 1,); None if frames are not
    # pieces of the file
    starts: NDArray[np.int64] | None = None


def frames_of(source: ParticleSource, file: OpenFile) -> Frames:
    """Return the frames of a file; counting them may read all of it.

    Raises:
        DataFileError: the file is damaged.
    """
    if not source.has_pieces:
        frames = source.frames
        return Frames(1 if frames is None else frames)
    starts = starts_of(source, file)
    return Frames(len(starts) - 1, starts)


@contextmanager
def at_frame(
    form: Format, content: OpenFile, file: OpenFile, inner: str, frame: int
) -> Iterator[ParticleSource]:
    """Yield the source of one frame; negative numbers count from the end.

    Args:
        form: the format.
        content: the file, decompressed.
        file: the file as opened.
        inner: path of the particles in it, or "".
        frame: number of the frame.

    Raises:
        DataFileError: there is no such frame, or the file is damaged.
    """
    source = form.open(content, inner)
    frames = frames_of(source, file)
    number = checked(frame, frames.count, content.source)
    if frames.starts is None or frames.count == 1:
        source.go_to(number)
        yield source
        return
    with _piece(content, frames, number, source.surrounded) as part:
        piece = form.open(part, inner)
        piece.notes = _rest_of(content, frames, source)
        yield piece


def checked(frame: int, count: int, name: str) -> int:
    """Return the number of a frame from 0. Raises DataFileError if there is no such frame."""
    if -count <= frame < count:
        return frame % count
    if count == 0:
        raise DataFileError(f"{name}: holds no frames")
    there = counted(count, "frame")
    which = f"0 to {count - 1:,}, or -{count:,} to -1 from the end" if count > 1 else "frame 0"
    raise DataFileError(f"{name}: there is no frame {frame:,}: it has {there}, {which}")


@contextmanager
def _piece(content: OpenFile, frames: Frames, number: int, surrounded: bool) -> Iterator[OpenFile]:
    """Yield one frame as a separate file, together with the text around all frames."""
    from tempfile import TemporaryFile

    assert frames.starts is not None
    spans = [(int(frames.starts[number]), int(frames.starts[number + 1]))]
    if surrounded:
        before, after = (0, int(frames.starts[0])), (int(frames.starts[-1]), content.size)
        spans = [before, *spans, after]
    with TemporaryFile() as copy:
        for start, end in spans:
            _copy(content.file.fileno(), start, end, copy)
        copy.flush()
        copy.seek(0)
        stream: Any = copy
        yield OpenFile(stream, content.path, f"{content.source}: frame {number}")


def _copy(descriptor: int, start: int, end: int, target: IO[bytes]) -> None:
    while start < end:
        piece = os.pread(descriptor, min(PIECE, end - start), start)
        if not piece:
            return  # truncated since; the reader reports it
        target.write(piece)
        start += len(piece)


def _rest_of(content: OpenFile, frames: Frames, source: ParticleSource) -> Notes:
    """Return the warning about an incomplete last frame, as in a file being written."""
    assert frames.starts is not None
    rest = os.pread(content.file.fileno(), HEAD_BYTES, int(frames.starts[-1]))
    if source.surrounded or not rest.strip():
        return []
    complete = counted(frames.count, "complete frame")
    return [("", (
        f"{content.source}: frame {frames.count} is incomplete and left out; there are {complete}"
    ))]  # fmt: skip
