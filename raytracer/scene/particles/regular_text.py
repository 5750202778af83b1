"""Text tables by the compiled parser, block by block: numbers and words of regular rows.

It refuses whatever is unusual, without saying why; a slower parser then reads the file again, and
its messages name line and column.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from raytracer.files.access import LINE_BYTES, OpenFile
from raytracer.resources import thread_count

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

BLOCK_BYTES = 1 << 23
"""Text that is parsed at a time."""

HEAD_BYTES = 1 << 20
"""Most bytes before the rows."""

SKIPPED, NUMBER, OPTIONAL, TEXT = range(4)
"""Kinds of cells, as in `kernels/cpu/io/text_table.h`."""

SPACES, FIXED = "spaces", "fixed"
"""How lines are cut into cells, besides by a separator of one letter."""


class Rows(NamedTuple):
    """The rows of a text.

    Args:
        numbers: (N, K).
        texts: (N,) each.
        lacking: names of optional numbers that are missing somewhere, NaN there.
    """

    numbers: NDArray[np.float64]
    texts: list[NDArray[np.bytes_]]
    lacking: frozenset[str] = frozenset()


class FixedCell(NamedTuple):
    """A column at the same place of each line: its kind, and bytes from `start` to `stop`."""

    kind: int
    start: int
    stop: int


def table_rows(
    file: OpenFile,
    numbers: Sequence[int],
    texts: Mapping[int, int],
    separator: str | None,
    skip: int,
    most: int,
) -> Rows | None:
    """Return columns of a table, or None if it is not regular.

    Args:
        file: the open file.
        numbers: places of columns of numbers, from 0.
        texts: bytes that are kept, by the places of columns of texts.
        separator: one letter, or None for spaces.
        skip: lines before the first row.
        most: rows that are read at most.
    """
    import numpy as np

    if separator is not None and (len(separator) != 1 or not separator.isascii()):
        return None
    if set(numbers) & set(texts) or len(set(numbers)) < len(numbers):
        return None
    cells = np.zeros((max([*numbers, *texts], default=-1) + 1, 5), np.int32)
    for offset, place in enumerate(numbers):
        cells[place] = NUMBER, 0, 0, offset, 0
    offset = 0
    for place, width in texts.items():
        cells[place] = TEXT, 0, 0, offset, width
        offset += width
    split = SPACES if separator is None else separator
    table = _Table(cells, len(numbers), list(texts.values()), most)
    if not table.read(file, _after_lines(file, skip), split):
        return None
    return Rows(table.numbers[: table.rows], table.columns_of_texts())


def fixed_rows(
    file: OpenFile, cells: Mapping[str, FixedCell], records: Sequence[str], stop: str, most: int
) -> Rows | None:
    """Return columns that lie at the same places of each line, or None if they are not regular.

    Args:
        file: the open file.
        cells: by the names of the columns.
        records: letters, six each, with which rows begin.
        stop: six letters of the line that ends them.
        most: rows that are read at most.
    """
    import numpy as np

    layout = np.zeros((len(cells), 5), np.int32)
    count, offset, widths = 0, 0, []
    for place, (kind, start, end) in enumerate(cells.values()):
        is_text = kind == TEXT
        layout[place] = kind, start, end - start, offset if is_text else count, end - start
        if is_text:
            widths.append(end - start)
            offset += end - start
        else:
            count += 1
    table = _Table(layout, count, widths, most)
    if not table.read(file, 0, FIXED, tuple(records), stop):
        return None
    lacking = frozenset(name for name, flag in zip(cells, table.lacking, strict=True) if flag)
    return Rows(table.numbers[: table.rows], table.columns_of_texts(), lacking)


class _Table:
    """Arrays that are filled with rows; memory that no row needs is never touched.

    Args:
        cells: int32 (C, 5), for the parser.
        count: columns of numbers.
        widths: bytes of each column of texts.
        most: rows.
    """

    def __init__(
        self, cells: NDArray[np.int32], count: int, widths: Sequence[int], most: int
    ) -> None:
        import numpy as np

        self.cells, self.widths, self.rows = cells, list(widths), 0
        self.numbers = np.empty((most, count))
        kinds = [(f"text{place}", f"S{width}") for place, width in enumerate(widths)]
        self.texts = np.empty(most, np.dtype(kinds) if kinds else "u1")
        self.lacking = np.zeros(len(cells), np.uint8)

    def read(
        self, file: OpenFile, place: int, split: str, records: Sequence[str] = (), stop: str = ""
    ) -> bool:
        """Fill the arrays from a file; whether it is regular.

        Args:
            file: the open file.
            place: byte at which the first row begins.
            split, records, stop: for the parser.
        """
        import numpy as np

        from raytracer._native import core

        if place < 0:
            return False
        descriptor, threads = file.file.fileno(), thread_count()
        texts = self.texts.view(np.uint8).reshape(len(self.texts), -1)
        buffer = np.empty(min(BLOCK_BYTES, max(file.size - place, 0)) + LINE_BYTES + 1, np.uint8)
        held = 0
        while self.rows < len(self.numbers):
            there = os.preadv(descriptor, [buffer[held:-1].data], place + held)
            length = held + there
            if not there and length:  # the last line may lack its end
                buffer[length] = ord("\n")
                length += 1
            end = _last_break(buffer[:length])
            if end == 0:
                return length == 0
            rows, used, stopped = core().parse_rows(
                buffer[:end], split, self.cells, self.rows, self.numbers, texts,
                self.lacking, list(records), stop, threads,
            )  # fmt: skip
            if rows < 0:
                return False
            self.rows += rows
            if stopped or (not there and used == end):
                return True
            held = length - used
            buffer[:held] = buffer[used:length].copy()
            place += used
        return True

    def columns_of_texts(self) -> list[NDArray[np.bytes_]]:
        """Return the columns of texts, (N,) each."""
        return [self.texts[name][: self.rows] for name in self.texts.dtype.names or ()]


def _after_lines(file: OpenFile, count: int) -> int:
    """Return the byte after so many lines; -1 if one of them ends without a line feed."""
    head = os.pread(file.file.fileno(), HEAD_BYTES, 0)
    lines = head.split(b"\n", count)
    place = len(head) - len(lines[-1])
    if len(lines) <= count or head[:place].count(b"\r") != head[:place].count(b"\r\n"):
        return -1
    return place


def _last_break(text: NDArray[np.uint8]) -> int:
    """Return the number of bytes up to the end of the last whole line; 0 if there is none."""
    window = text[-LINE_BYTES:].tobytes()
    found = window.rfind(b"\n")
    return 0 if found < 0 else len(text) - len(window) + found + 1
