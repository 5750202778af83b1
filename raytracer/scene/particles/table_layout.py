"""Layout of a text table: separator, column names, first row.

Lines before the names that start with `#`, `%` or `//` are comments. The names may be in the last
of them, as `numpy.savetxt` writes them, if the next line has numbers.
"""

from __future__ import annotations

import re
from typing import NamedTuple

from raytracer.files.access import OpenFile
from raytracer.scene.particles.naming import usual
from raytracer.scene.particles.text_table import cells_of

SEPARATORS = (",", ";", "\t")  # separators of cells; without any of these, white space

COMMENTS = ("#", "%", "//")

HEAD_LINES = 1000  # most comment and blank lines before the names of the columns


class TableLayout(NamedTuple):
    """The layout of a table.

    Args:
        separator: one character; None is any white space.
        columns: names, in order; [] without a line of names.
        skip: lines before the first row.
        first: the first row, or "".
        line: number of the line with the names, from 1.
    """

    separator: str | None
    columns: list[str]
    skip: int
    first: str
    line: int

    def cells(self, line: str) -> list[str]:
        """Return the cells of a row, without white space and quotes around them."""
        return cells_of(line, self.separator)

    @property
    def named(self) -> bool:
        """Whether the columns have names, not numbers."""
        return any(self.columns) and not is_numbers(self.columns)


def read_layout(file: OpenFile) -> TableLayout:
    """Return the layout of a table; without names it has no columns.

    Raises:
        DataFileError: a line is too long, or not UTF-8.
    """
    lines = file.lines(2)
    if _is_comment(lines[0]):
        lines = file.lines(HEAD_LINES + 1)
    last = next((i for i, line in enumerate(lines[:-1]) if not _is_comment(line)), -1)
    following = lines[last + 1]
    lines = lines[: last + 1] if last >= 0 else [line for line in lines if line]  # "" marks the end
    comments = [line for line in lines if line.strip() and _is_comment(line)]
    comment = comments[-1] if comments else ""
    if last >= 0:
        separator = separator_of(lines[-1])
        cells = cells_of(lines[-1], separator)
        names = _names(comment, separator)
        if (
            comment
            and not _has_axes(cells)
            and (_has_axes(names) or (is_numbers(cells) and len(names) == len(cells)))
        ):
            return _layout(separator, names, lines[:-1], lines[-1])
        return _layout(separator, cells, lines, following)
    separator = separator_of(comment)
    return _layout(separator, _names(comment, separator), lines, "")


def _is_comment(line: str) -> bool:
    """Whether a line is blank or a comment."""
    return not line.strip() or line.lstrip().startswith(COMMENTS)


def _layout(separator: str | None, names: list[str], before: list[str], first: str) -> TableLayout:
    return TableLayout(separator, names, len(before), first, max(len(before), 1))


def separator_of(line: str) -> str | None:
    """Return the separator of a line: the commonest of `SEPARATORS` outside quotes."""
    bare = re.sub(r'"[^"]*"', "", line)
    best = max(SEPARATORS, key=bare.count)
    return best if bare.count(best) else None


def _names(comment: str, separator: str | None) -> list[str]:
    return cells_of(comment.strip(" \r\n").lstrip("#%/"), separator)


def _has_axes(names: list[str]) -> bool:
    return all(usual(axis, names) for axis in "xyz")


def is_numbers(cells: list[str]) -> bool:
    """Whether all cells are numbers, with a decimal point or comma."""
    try:
        [float(cell.replace(",", ".")) for cell in cells]
    except ValueError:
        return False
    return bool(cells)
