"""Which text goes where in a window, counted in letters and lines: all letters are equally wide."""

from __future__ import annotations

from dataclasses import dataclass, field
from textwrap import wrap

from raytracer.viewer.controls import help_groups

ASIDE, BELOW = 4, 2
"""Letters between two panels side by side, and lines between two below each other."""

COLUMNS = 3
"""Most columns of the help."""

NARROWEST = 14
"""Letters of the shortest line that a meaning is broken into."""

LOWEST = 8
"""Lines of the shortest column of help."""


@dataclass(frozen=True)
class Corners:
    """The lines of the two panels at the top.

    left, right: of the upper left and the upper right one. lowered: lines above the right one,
        where the two do not fit side by side.
    """

    left: list[str] = field(default_factory=list)
    right: list[str] = field(default_factory=list)
    lowered: int = 0


def corners(status: list[str], picked: list[str], columns: int, rows: int) -> Corners:
    """Place what is said of the scene and of the picked sphere, so that they do not overlap.

    Where there is no room for both, the later lines of `status` are left out, then those of
    `picked`.

    columns, rows: letters and lines that the window has room for.
    """
    if columns < 1 or rows < 1:
        return Corners()
    left, right = (fitted(lines, columns, len(lines)) for lines in (status, picked))
    if not right or not left or _width(left) + ASIDE + _width(right) <= columns:
        return Corners(left[:rows], fitted(right, columns, rows))
    for kept in range(len(left), 0, -1):
        if kept + BELOW + len(right) <= rows:
            return Corners(left[:kept], right, kept + BELOW)
    return Corners([], fitted(right, columns, rows))


def help_pages(columns: int, rows: int) -> list[list[str]]:
    """The lines of the help, page by page; keys and mouse under their headings.

    columns, rows: as for `corners`.
    """
    columns, rows = max(columns, 1), max(rows, 2 * BELOW)
    wide = min(_width([line for block in _blocks(1000) for line in block]), columns)
    blocks = _blocks(wide)
    aside = min(max((columns + ASIDE) // (wide + ASIDE), 1), COLUMNS)
    for height in range(min(LOWEST, rows), rows + 1):
        filled = _flow(blocks, height)
        if len(filled) <= aside:
            return [_beside(filled, wide)]
    filled = _flow(blocks, rows - BELOW)
    pages = [filled[first : first + aside] for first in range(0, len(filled), aside)]
    count = len(pages)
    ends = [
        f"page {n} of {count}; H: {'next' if n < count else 'close'}" for n in range(1, count + 1)
    ]
    return [[*_beside(page, wide), "", end] for page, end in zip(pages, ends, strict=True)]


def broken(text: str, columns: int) -> list[str]:
    """Lines of at most so many letters, broken between words, or within one that is longer."""
    lines = (wrap(line, columns) or [""] for line in text.split("\n"))
    return [part for parts in lines for part in parts]


def fitted(lines: list[str], columns: int, rows: int) -> list[str]:
    """As much of the text as there is room for."""
    return [_clipped(line, columns) for line in _cut(lines, rows)]


def _blocks(columns: int) -> list[list[str]]:
    """The lines of every group, of so many letters at most unless a key takes more."""
    return [[heading, *_rows(rows, columns)] for heading, rows in help_groups()]


def _rows(rows: list[tuple[str, str]], columns: int) -> list[str]:
    wide = max(len(keys) for keys, _ in rows)
    room = columns - wide - 4
    lines = []
    for keys, meaning in rows:
        if room >= NARROWEST:
            first, *more = wrap(meaning, room)
            lines += [f"  {keys:<{wide}}  {first}", *(" " * (wide + 4) + line for line in more)]
        else:  # keys above their meaning
            lines += [f"  {keys}", *(f"    {line}" for line in wrap(meaning, max(columns - 4, 1)))]
    return lines


def _flow(blocks: list[list[str]], height: int) -> list[list[str]]:
    """Columns of that height; a block is broken only if it is higher, and a heading stays."""
    columns: list[list[str]] = [[]]
    for block in blocks:
        lines = ["", *block] if columns[-1] else block
        if len(columns[-1]) + len(lines) > height and columns[-1]:
            columns.append([])
            lines = block
        columns[-1] += lines[:height]
        columns += [lines[first : first + height] for first in range(height, len(lines), height)]
    return columns


def _beside(columns: list[list[str]], wide: int) -> list[str]:
    """The lines of columns side by side."""
    high = max(map(len, columns))
    filled = [column + [""] * (high - len(column)) for column in columns]
    gap = " " * ASIDE
    return [
        gap.join(f"{part:<{wide}}" for part in line).rstrip() for line in zip(*filled, strict=True)
    ]


def _width(lines: list[str]) -> int:
    return max(map(len, lines), default=0)


def _clipped(line: str, columns: int) -> str:
    return line if len(line) <= columns else line[: columns - 1] + "…"


def _cut(lines: list[str], rows: int) -> list[str]:
    if len(lines) <= rows:
        return lines
    return [*lines[: rows - 1], f"… {len(lines) - rows + 1} more"]
