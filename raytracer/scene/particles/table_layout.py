"""Layout of a text table: its separator, the names of its columns, where its rows begin.

Lines before the names that start with `#`, `%` or `//` are comments. The names may stand in the
last of them, as `numpy.savetxt` writes them, if the line after it holds numbers.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import NamedTuple

from raytracer.files.access import OpenFile
from raytracer.scene.particles.lines import count_code, pieces
from raytracer.scene.particles.naming import usual

SEPARATORS = (",", ";", "\t")
"""What stands between two cells; where there is none of these, any white space."""

COMMENTS = ("#", "%", "//")

HEAD_LINES = 1000
"""Most comment and blank lines before the names of the columns."""


class TableLayout(NamedTuple):
    """The layout of a table.

    Args:
        separator: one character; None is any white space.
        columns: names, in their order; [] without a line of names.
        skip: lines before the first row.
        inked: lines before the first row that are not blank.
        first: the first row, or "".
        line: number of the line with the names, from 1.
    """

    separator: str | None
    columns: list[str]
    skip: int
    inked: int
    first: str
    line: int

    def cells(self, line: str) -> list[str]:
        """Return the cells of a row, without white space and quotes around them."""
        return _cells(line, self.separator)

    @property
    def named(self) -> bool:
        """Whether the columns have names, not numbers."""
        return any(self.columns) and not _is_numbers(self.columns)


def read_layout(file: OpenFile) -> TableLayout:
    """Return the layout of a table; of a file without names it has no columns.

    Raises:
        DataFileError: a line is too long, or not UTF-8.
    """
    lines = file.lines(2)
    if _is_comment(lines[0]):
        lines = file.lines(HEAD_LINES + 1)
    last = next((i for i, line in enumerate(lines[:-1]) if not _is_comment(line)), -1)
    following = lines[last + 1]
    lines = lines[: last + 1] if last >= 0 else [line for line in lines if line]  # "" is the end
    comments = [line for line in lines if line.strip() and _is_comment(line)]
    comment = comments[-1] if comments else ""
    if last >= 0:
        separator = separator_of(lines[-1])
        cells = _cells(lines[-1], separator)
        names = _names(comment, separator)
        if (
            comment
            and not _has_axes(cells)
            and (_has_axes(names) or (_is_numbers(cells) and len(names) == len(cells)))
        ):
            return _layout(separator, names, lines[:-1], lines[-1])
        return _layout(separator, cells, lines, following)
    separator = separator_of(comment)
    return _layout(separator, _names(comment, separator), lines, "")


def _is_comment(line: str) -> bool:
    """Whether a line is blank or a comment."""
    return not line.strip() or line.lstrip().startswith(COMMENTS)


def _layout(separator: str | None, names: list[str], before: list[str], first: str) -> TableLayout:
    inked = sum(bool(line.strip()) for line in before)
    return TableLayout(separator, names, len(before), inked, first, max(len(before), 1))


def separator_of(line: str) -> str | None:
    """Return what separates the cells of a line: the commonest of `SEPARATORS` beyond quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    best = max(SEPARATORS, key=bare.count)
    return best if bare.count(best) else None


def _names(comment: str, separator: str | None) -> list[str]:
    """Return the names in a comment."""
    return _cells(comment.strip(" \r\n").lstrip("#%/"), separator)


def _cells(line: str, separator: str | None) -> list[str]:
    if separator is None:
        return [cell.strip('"') for cell in line.split()]
    if line.count('"') % 2 or '"' not in line:  # one that is never closed quotes nothing
        return [cell.strip().strip('"') for cell in line.strip("\r\n").split(separator)]
    import csv

    rows = list(csv.reader([line.strip("\r\n")], delimiter=separator, skipinitialspace=True))
    return [cell.strip() for cell in rows[0]] if rows else []


def _has_axes(names: list[str]) -> bool:
    """Whether names are those of coordinates."""
    return all(usual(axis, names) for axis in "xyz")


def _is_numbers(cells: list[str]) -> bool:
    """Whether all cells are numbers, with a decimal point or a decimal comma."""
    try:
        [float(cell.replace(",", ".")) for cell in cells]
    except ValueError:
        return False
    return bool(cells)


class Marks(NamedTuple):
    """What is in a table without parsing it: separators in its rows, and whether it has quotes."""

    separators: int
    quotes: bool


def count_marks(file: OpenFile, layout: TableLayout) -> Marks:
    """Count the separators of all rows; at the speed of memory."""
    separators, quotes = 0, False
    if layout.separator is not None:
        head = "".join(file.lines(layout.skip)) if layout.skip else ""
        separators -= head.count(layout.separator)
    for piece in pieces(file):
        if layout.separator is not None:
            separators += count_code(piece, layout.separator)
        quotes = quotes or b'"' in piece
    return Marks(separators, quotes)


def long_row(file: OpenFile, layout: TableLayout) -> tuple[int, int] | None:
    """Return line number and number of cells of the first row with more cells than names, or None.

    Empty cells at the end of a row do not count.
    """
    limit = len(layout.columns)
    with Path(file.name).open(encoding="utf-8-sig") as text:
        for number, line in enumerate(text, 1):
            if number <= layout.skip or (
                layout.separator is not None and line.count(layout.separator) < limit
            ):
                continue
            cells = layout.cells(line)
            while cells and not cells[-1]:
                cells.pop()
            if len(cells) > limit:
                return number, len(cells)
    return None
