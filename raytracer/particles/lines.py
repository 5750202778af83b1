"""Lines of large texts, counted and searched piece by piece."""

import os
import re
from collections import deque
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

import numpy as np

from raytracer.config.errors import DataFileError
from raytracer.files.access import MAX_LINE_BYTES, OpenFile

BLOCK_BYTES = 1 << 20  # bytes that are read at a time
FEW_BYTES = 1 << 13  # the same where the next frame is searched, which is near
HEAD_BYTES = 1 << 12  # longest line that can be a number of atoms
MAX_DIGITS = 18  # most digits of a number of atoms

COUNT = r"(?i:n_?atoms\s*+[=:]?\s*+|atoms\s*+[=:]\s*+)?(\d{1,18})(?i:\s+(?:atoms|particles))?"
"""A number of atoms, alone or with a word: "6", "6 atoms", "natoms = 6"."""

LAST_BYTES = 64  # longest line that can have a number alone
MAX_BROKEN = 1000  # most frames of a file that may be too short

BOM = b"\xef\xbb\xbf"


def read_pieces(file: OpenFile, place: int = 0, size: int = 0) -> Iterator[bytes]:
    """Yield a text from an offset to the end that it had when it was opened, piece by piece; the
    file position does not change. size: of a piece in bytes; 0: the usual one."""
    size = size or BLOCK_BYTES
    while piece := os.pread(file.file.fileno(), min(size, max(file.size - place, 0)), place):
        place += len(piece)
        yield piece


def find_starting_lines(file: OpenFile, text: bytes) -> Iterator[int]:
    """Yield the offsets of lines that start with a text."""
    place, rest = 0, b"\n"  # `rest` ends before the byte `place`
    wanted = b"\n" + text
    for piece in read_pieces(file):
        block = rest + piece
        at = block.find(wanted)
        while at >= 0:
            yield place - len(rest) + at + 1
            at = block.find(wanted, at + len(wanted))
        place += len(piece)
        rest = block[-len(wanted) + 1 :]


def count_lines(file: OpenFile) -> int:
    """Return an upper bound of the number of lines, blank ones included."""
    codes = (np.frombuffer(piece, np.uint8) for piece in read_pieces(file))
    ends = (np.count_nonzero(each == 10) + np.count_nonzero(each == 13) for each in codes)
    return 1 + int(sum(ends))


def lacks_end(file: OpenFile) -> bool:
    """Whether the last line of a text is complete but has no line end: it has as many words as
    the one before, and its last number as many decimals.

    A file that is being written may end within a line, or within a number.
    """
    size = min(MAX_LINE_BYTES, file.size)
    tail = os.pread(file.file.fileno(), size, file.size - size)
    if not tail or tail.endswith(b"\n"):
        return False
    *others, last = [line.split() for line in tail.splitlines()]
    if not others or not others[-1]:
        return True
    decimals = [words[-1].partition(b".")[2] for words in (others[-1], last) if words]
    return len(last) >= len(others[-1]) and len(decimals[-1]) >= len(decimals[0])


def read_first_line(file: OpenFile, place: int) -> str:
    """Return the first nonblank line after an offset, or ""."""
    for piece in read_pieces(file, place):
        if text := piece.strip():
            return text.splitlines()[0].decode("utf-8", "replace")
    return ""


class LineEnds:
    """Steps through a text by numbers of lines, from an offset on."""

    def __init__(self, file: OpenFile, place: int = 0) -> None:
        self._file, self._place = file, place
        self._pieces = read_pieces(file, place)
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


def find_counted_frames(file: OpenFile, place: int, more: int, words: int = 0) -> list[int]:
    """Return the starts of frames that state their number of rows. Blank lines between frames are
    skipped, and so is other text.

    A frame that ends too early, as of a run that was killed and continued, ends where the next one
    begins: its reader reports it. Raises DataFileError: a number is invalid.

    Args:
        place: index of the line of a frame that states the number, from 0.
        more: further lines of a frame.
        words: number of further words on that line.

    Returns:
        Offset of each frame that is followed by another or complete, and the end of the last;
        without any, start and end of the file.
    """
    heads = _Heads(file, place, min(more, 2), words)
    lines, starts, broken = LineEnds(file), [0], 0
    while True:
        head = heads.at(starts[-1])
        if head.blank:
            starts[-1] = lines.after(head.blank) or file.size
            continue
        end = None if head.rows is None else lines.after(head.rows + more)
        if end is not None and not (head.rows and heads.is_before(end)):
            starts.append(end)
            continue
        if head.rows is None and len(starts) == 1:
            raise DataFileError(f"{file.source}: frame 0, at byte 0: there is no number of atoms")
        # Either this frame or the one before is too short, or other text follows it.
        last = len(starts) - (1 if head.rows is not None else 2)
        found = None if starts[-1] >= file.size else heads.after(starts[last])
        if found is None:
            return starts if len(starts) > 1 else [0, file.size]
        broken += 1
        if broken > MAX_BROKEN:
            raise DataFileError(f"{file.source}: more than {MAX_BROKEN:,} frames are incomplete")
        starts[last + 1 :] = [found]
        lines = LineEnds(file, found)


class _Head(NamedTuple):
    """The start of a frame: blank lines before it, or else the number that it states; None if
    there is other text, or none."""

    blank: int = 0
    rows: int | None = None


class _Heads:
    """Finds the starts of frames that state their number of rows; see `find_counted_frames`.

    Args:
        first: index of the first row of a frame.
    """

    def __init__(self, file: OpenFile, place: int, first: int, words: int) -> None:
        self._file, self._place, self._first = file, place, first
        self._pattern = re.compile(rf"{COUNT}(?:\s+\S+){{{words}}}".encode())

    def at(self, start: int) -> _Head:
        """Return what is at an offset, where a line begins."""
        size = HEAD_BYTES * (1 + self._place)
        text = os.pread(self._file.file.fileno(), max(min(size, self._file.size - start), 0), start)
        rows = text.splitlines()
        blank = next((place for place, row in enumerate(rows) if row.strip()), len(rows))
        for before in range(min(blank + 1, len(rows) - self._place)):  # a title may be blank
            count = self._count(rows[before + self._place])
            if count is not None:
                return _Head(before) if before else _Head(0, count)
        is_blank = blank == len(rows) and start + size < self._file.size
        return _Head(max(blank - 1, 1) if is_blank else 0)

    def is_before(self, end: int) -> bool:
        """Whether the line before an offset has a number alone, so that it is no row."""
        begin = max(end - LAST_BYTES, 0)
        text = os.pread(self._file.file.fileno(), end - begin, begin)
        return self._count(text.splitlines()[-1]) is not None

    def after(self, start: int) -> int | None:
        """Return the offset of the next frame after the start of one, or None: a line with a number
        alone, and a row where there are any. In the header of the first frame, where a comment may
        be a number, only if this has no rows."""
        place, number, window = start, 0, deque[tuple[int, bytes]](maxlen=self._first + 1)
        for line in chain(_read_lines(self._file, start), [b""] * self._first):
            window.append((place, line))
            place += len(line)
            if len(window) <= self._first:
                continue
            if number == 0:
                has_rows = _is_row(line)
            elif (stated := window[self._place][1]).endswith(b"\n") and (
                (count := self._count(stated)) is not None
            ):  # fmt: skip
                in_header = number + self._place < self._first
                if (count == 0 or _is_row(line)) and not (in_header and has_rows):
                    return window[0][0]
            number += 1
        return None

    def _count(self, line: bytes) -> int | None:
        """Return the number of rows that a line states, or None."""
        stated = self._pattern.fullmatch(line.removeprefix(BOM).strip())
        return int(stated[1]) if stated else None


def _is_row(line: bytes) -> bool:
    """Whether a line has three numbers."""
    words = line.decode("latin-1").split()
    return (
        sum(1 for word in words if re.fullmatch(r"[-+.\deEdD]+|(?i:[-+]?(?:nan|inf))", word)) >= 3
    )


def _read_lines(file: OpenFile, start: int) -> Iterator[bytes]:
    """Yield the lines of a text from an offset on, with their ends; very long ones in parts."""
    rest = b""
    for piece in read_pieces(file, start, FEW_BYTES):
        *lines, rest = (rest + piece).splitlines(keepends=True) or [b""]
        yield from lines
        if len(rest) > MAX_LINE_BYTES:
            yield rest
            rest = b""
    yield rest
