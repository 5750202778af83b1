"""Lines of large texts, counted and searched piece by piece."""

import os
import re
from collections.abc import Iterator

import numpy as np

from raytracer.errors import DataFileError, shown
from raytracer.files.access import MAX_LINE_BYTES, OpenFile

BLOCK_BYTES = 1 << 20  # bytes that are read at a time
HEAD_BYTES = 1 << 12  # longest line that can be a number of atoms
MAX_DIGITS = 18  # most digits of a number of atoms

COUNT = r"(?i:n_?atoms\s*[=:]?\s*|atoms\s*[=:]\s*)?(\d{1,18})(?i:\s+(?:atoms|particles))?"
"""A number of atoms, alone or with a word: "6", "6 atoms", "natoms = 6"."""

BOM = b"\xef\xbb\xbf"


def pieces(file: OpenFile, place: int = 0) -> Iterator[bytes]:
    """Yield a text from an offset to its end, piece by piece; the file position does not change."""
    while piece := os.pread(file.file.fileno(), BLOCK_BYTES, place):
        place += len(piece)
        yield piece


def starts_with(file: OpenFile, text: bytes) -> Iterator[int]:
    """Yield the offsets of lines that start with a text."""
    place, rest = 0, b"\n"  # `rest` ends before the byte `place`
    wanted = b"\n" + text
    for piece in pieces(file):
        block = rest + piece
        at = block.find(wanted)
        while at >= 0:
            yield place - len(rest) + at + 1
            at = block.find(wanted, at + len(wanted))
        place += len(piece)
        rest = block[-len(wanted) + 1 :]


def count_lines(file: OpenFile) -> int:
    """Return an upper bound of the number of lines, blank ones included."""
    codes = (np.frombuffer(piece, np.uint8) for piece in pieces(file))
    ends = (np.count_nonzero(each == 10) + np.count_nonzero(each == 13) for each in codes)
    return 1 + int(sum(ends))


def lacks_end(file: OpenFile) -> bool:
    """Whether the last line of a text is complete but has no line end: it has as many words as
    others.

    A file that is being written may end within a line.
    """
    size = min(MAX_LINE_BYTES, file.size)
    tail = os.pread(file.file.fileno(), size, file.size - size)
    *others, last = [line.split() for line in tail.splitlines()] or [[]]
    return not tail.endswith(b"\n") and bool(tail) and (not others or len(last) >= len(others[-1]))


def first_line_from(file: OpenFile, place: int) -> str:
    """Return the first nonblank line after an offset, or ""."""
    for piece in pieces(file, place):
        if text := piece.strip():
            return text.splitlines()[0].decode("utf-8", "replace")
    return ""


class LineEnds:
    """Steps through a text by numbers of lines, from an offset on."""

    def __init__(self, file: OpenFile, place: int = 0) -> None:
        self._file, self._place = file, place
        self._pieces = pieces(file, place)
        self._ends = np.zeros(0, np.int64)  # of the next lines in the piece

    def after(self, count: int) -> int | None:
        """Return the offset after that many more lines, or None if the text ends before."""
        while count > len(self._ends):
            count -= len(self._ends)
            piece = next(self._pieces, b"")
            if not piece:
                return None
            ends = np.flatnonzero(np.frombuffer(piece, np.uint8) == ord("\n"))
            self._ends = ends + (self._place + 1)
            self._place += len(piece)
            if self._place >= self._file.size and lacks_end(self._file):
                self._ends = np.append(self._ends, self._place)
        end = self._ends[count - 1]
        self._ends = self._ends[count:]
        return int(end)


def counted_frames(file: OpenFile, place: int, more: int) -> list[int]:
    """Return the starts of frames that state their number of lines. Raises DataFileError: a number
    is invalid.

    Args:
        place: index of the line of a frame that begins with the number, from 0.
        more: further lines of a frame.

    Returns:
        Offset of each complete frame, and the end of the last; without any, start and end of the
        file.
    """
    lines, starts = LineEnds(file), [0]
    while True:
        count = _count_at(file, starts[-1], place, len(starts) - 1)
        end = None if count is None else lines.after(count + more)
        if end is None:
            return starts if len(starts) > 1 else [0, file.size]
        starts.append(end)


def _count_at(file: OpenFile, start: int, place: int, frame: int) -> int | None:
    """Return the number that a frame states, or None at the end of the file."""
    text = os.pread(file.file.fileno(), HEAD_BYTES * (1 + place), start)
    rows = text.splitlines()
    if len(rows) <= place or not text.strip():
        return None
    line = rows[place].removeprefix(BOM).strip()
    if count := re.match(rf"{COUNT}(?!\S)".encode(), line):
        return int(count[1])
    word = line.partition(b" ")[0]
    if not word and not rows[0].strip():
        return None  # blank lines at the end
    what = shown(word.decode("utf-8", "replace"), 40)
    raise DataFileError(
        f"{file.source}: frame {frame}, at byte {start:,}: '{what}' is not the number of atoms"
    )
