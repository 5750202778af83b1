"""Single lines of long texts, found by counting, block by block."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

from raytracer.files.access import LINE_BYTES, OpenFile

if TYPE_CHECKING:
    from concurrent.futures import Future

    import numpy as np
    from numpy.typing import NDArray

BLOCK_BYTES = 1 << 17
"""Text looked through at a time: it stays in a core's cache."""


COUNT_BYTES = 1 << 22
"""Text counted at a time."""

LINES_BYTES = 1 << 20
"""Text in which lines are counted, and then found, at a time."""

Result = TypeVar("Result")


@contextmanager
def aside(function: Callable[[], Result]) -> Iterator[Future[Result]]:
    """Run a function on a thread beside the block, which does not end before it.

    NumPy's parser takes one core; counting, which releases the interpreter, takes another one.
    """
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(1) as pool:
        yield pool.submit(function)


def pieces(file: OpenFile) -> Iterator[bytes]:
    """Yield a text from its start to its end, `COUNT_BYTES` at a time; keeps the file's place."""
    place, descriptor = 0, file.file.fileno()
    while piece := os.pread(descriptor, COUNT_BYTES, place):
        place += len(piece)
        yield piece


def starts_with(file: OpenFile, text: bytes) -> Iterator[int]:
    """Yield the bytes of a text at which its lines begin with certain letters."""
    place, rest = 0, b"\n"  # `rest` ends before the byte `place`
    wanted = b"\n" + text
    for piece in pieces(file):
        block = rest + piece
        first = place - len(rest)
        found = block.find(wanted)
        while found >= 0:
            yield first + found + 1
            found = block.find(wanted, found + len(wanted))
        place += len(piece)
        rest = block[-len(wanted) + 1 :]


def count_code(text: bytes, code: str) -> int:
    """Return how often a character is in a text; where it is frequent, faster than `bytes.count`.

    Args:
        text: any length.
        code: one character of ASCII.
    """
    import numpy as np

    return int(np.count_nonzero(np.frombuffer(text, np.uint8) == ord(code)))


def count_lines(file: OpenFile) -> int:
    """Return how many lines a text has at most, blank ones included."""
    return 1 + sum(count_code(piece, "\n") + count_code(piece, "\r") for piece in pieces(file))


def has_lines(file: OpenFile, count: int) -> bool:
    """Whether a text may have more lines than `count`, blank ones included; False is certain."""
    found = 0
    last = b""
    for piece in pieces(file):
        found += count_code(piece, "\n")
        if found > count or b"\r" in piece:
            return True
        last = piece
    return found + (not last.endswith(b"\n")) > count


def lacks_end(file: OpenFile) -> bool:
    """Whether the last line of a text is whole and lacks its end: it has as many words as others.

    A file that is being written may end within a line.
    """
    size = min(LINE_BYTES, file.size)
    tail = os.pread(file.file.fileno(), size, file.size - size)
    rows = tail.splitlines()
    if len(rows) < 2 or tail.endswith(b"\n"):
        return bool(rows) and not tail.endswith(b"\n")
    return len(rows[-1].split()) >= len(rows[-2].split())


def has_ink(text: bytes) -> bool:
    """Whether a line holds more than spaces."""
    return any(code > ord(" ") for code in text)


def pick_line(file: OpenFile, index: int) -> str | None:
    """Return a line of a text by its number among those that are not blank, from 0, or None.

    As `numpy.loadtxt` has it, lines end with LF, CR LF or CR, and blank ones do not count.

    Raises:
        DataFileError: a line is longer than `LINE_BYTES`.
    """
    file.file.seek(0)
    rest = b""
    while block := file.file.read(BLOCK_BYTES):
        text = rest + block
        end = max(text.rfind(b"\n"), text.rfind(b"\r")) + 1
        whole, rest = text[:end], text[end:]
        if len(rest) > LINE_BYTES:
            raise file.too_long()
        lines = _count_lines(whole)
        if index < lines:
            return _pick(whole, index)
        index -= lines
    return _pick(rest, index) if index < len(_inked(rest)) else None


def _count_lines(text: bytes) -> int:
    """Return how many lines are not blank in a text that ends with the end of a line."""
    import numpy as np

    codes = np.frombuffer(text, np.uint8)
    breaks = (codes == ord("\n")) | (codes == ord("\r"))
    ended = int(np.count_nonzero(breaks[1:] > breaks[:-1]))
    if np.count_nonzero(breaks[1:] & (codes[:-1] > ord(" "))) == ended:
        return ended  # the usual case, twice as fast: no line ends with a space
    ends = np.flatnonzero(breaks)
    # From the end of the line before, so that no line is empty; ends are smaller than ink.
    starts = np.concatenate([[0], ends[:-1]])
    return int(np.count_nonzero(np.maximum.reduceat(codes, starts) > ord(" ")))


def _pick(text: bytes, index: int) -> str:
    """Return a line by its number among those that are not blank."""
    return _inked(text)[index].decode("utf-8", "replace")


def _inked(text: bytes) -> list[bytes]:
    """Return the lines that are not blank."""
    return [line for line in text.splitlines() if has_ink(line)]


class LinesAhead:
    """Goes through a text by numbers of lines; a piece of it is looked through once."""

    def __init__(self, file: OpenFile) -> None:
        self._file = file
        self._place = 0  # of the piece
        self._next = 0  # byte at which the next line begins
        self._codes: NDArray[np.uint8] | None = None
        self._ends: NDArray[np.intp] | None = None  # of the lines in the piece
        self._used = 0  # how many of these are behind

    def after(self, count: int) -> int | None:
        """Return the byte behind that many more lines, or None if the text ends before."""
        while count:
            if self._codes is None and not self._read():
                return None
            assert self._codes is not None
            there = self._there()
            if count <= there:
                return self._take(count)
            count -= there
            self._drop()
        return self._next

    def _there(self) -> int:
        """Return how many ends of lines are ahead in the piece."""
        import numpy as np

        assert self._codes is not None
        if self._ends is not None:
            return len(self._ends) - self._used
        return int(np.count_nonzero(self._codes == ord("\n")))

    def _take(self, count: int) -> int:
        """Go behind lines that end in the piece."""
        import numpy as np

        assert self._codes is not None
        if self._ends is None:
            self._ends = np.flatnonzero(self._codes == ord("\n"))
        self._used += count
        self._next = self._place + int(self._ends[self._used - 1]) + 1
        return self._next

    def _read(self) -> bool:
        """Read the next piece; False at the end of the text."""
        import numpy as np

        data = os.pread(self._file.file.fileno(), LINES_BYTES, self._place)
        if not data:
            return False
        if self._place + len(data) >= self._file.size and lacks_end(self._file):
            data += b"\n"
        self._codes, self._ends, self._used = np.frombuffer(data, np.uint8), None, 0
        return True

    def _drop(self) -> None:
        """Leave the piece."""
        assert self._codes is not None
        self._place += len(self._codes)
        self._codes = self._ends = None
        self._used = 0
